package local

import (
	"fmt"
	"math"

	"vramscope/pool"
	"vramscope/recorder"
)

// GPUOptions are the choices of a render on a card.
type GPUOptions struct {
	Memory    int64   // bytes that the render may take; 0 is half of what is free, 4 GiB at most
	Share     float64 // of Memory that it keeps in the device's default pool, 0 to 0.5
	Oversized bool    // Memory may be more than the card has free: only managed memory can be
}

// The bounds of a render on a card.
const (
	defaultGPUMemory = 4 << 30 // bytes, at most
	maximumShare     = 0.5     // of the limit, in the default pool
	smallReserve     = 16      // a card of less than 16 GiB keeps a sixteenth back
)

// NewGPU makes a card the device of a render. The render takes at most what the
// options allow, which is never more than the card has free now (its context
// is there already) less a reserve of 1 GiB, or of a sixteenth of a small card.
// The error is an *OptionError with the numbers, or the driver's. The card is
// closed by Close, also where NewGPU fails.
func NewGPU(card Card, options GPUOptions) (*GPU, error) {
	gpu, err := newGPU(card, options)
	if err != nil {
		_ = card.Close()
		return nil, err
	}
	return gpu, nil
}

func newGPU(card Card, options GPUOptions) (*GPU, error) {
	device := card.Device()
	free, total, err := card.MemoryInfo()
	if err != nil {
		return nil, err
	}
	reserve := min(pool.DefaultReserve, total/smallReserve)
	limit, err := memoryLimit(card, options, free, total, reserve)
	if err != nil {
		return nil, err
	}
	if !(options.Share >= 0 && options.Share <= maximumShare) {
		return nil, &OptionError{Program: called, Option: "share of the default pool", Reason: fmt.Sprintf("ask for 0 to %g, not %g", maximumShare, options.Share)}
	}
	return &GPU{Card: card, limit: limit, share: options.Share, identity: Identity{
		Program: fmt.Sprintf("host render #%d", device.Ordinal), Called: called,
		ID: device.UUID, Name: device.Name, Key: pool.DeviceKey{Kind: "cuda", Index: device.Ordinal},
		GPUs:   []recorder.GPU{{Ordinal: device.Ordinal, UUID: device.UUID, Name: device.Name}},
		Budget: limit, Reserve: reserve, Excess: max(total, 1), Queued: true,
		MemoryCall: callMemInfo, HeldCall: callHeldByGPU,
		Missing: map[string]string{"driver_reserved": "cuMemGetInfo does not say what the driver reserves; NVML does"},
	}}, nil
}

// called is what a render on a card is called in a sentence.
const called = "the host render"

// memoryLimit is how much the render may take.
func memoryLimit(card Card, options GPUOptions, free, total, reserve int64) (int64, error) {
	most := free - reserve
	refuse := func(what string) (int64, error) {
		device := card.Device()
		context := "its context"
		if bytes := card.ContextBytes(); bytes >= 0 {
			context += " of " + sizeText(bytes)
		}
		return 0, &OptionError{Program: called, Option: "memory", Reason: fmt.Sprintf(
			"%s: GPU %d (%s) has %s of %s free beside %s, and %s of that stay in reserve",
			what, device.Ordinal, device.Name, sizeText(free), sizeText(total), context, sizeText(reserve))}
	}
	if options.Oversized {
		most = math.MaxInt64
	}
	switch {
	case most < MinimumMemory:
		return refuse(fmt.Sprintf("it needs %s and there is no room for it", sizeText(MinimumMemory)))
	case options.Memory > most:
		return refuse(fmt.Sprintf("ask for at most %s, not %s", sizeText(most), sizeText(options.Memory)))
	case options.Memory == 0:
		return max(MinimumMemory, min(defaultGPUMemory, (free-reserve)/2)), nil
	}
	return options.Memory, nil
}
