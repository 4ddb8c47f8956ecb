//go:build cuda && linux && cgo

package cuda

import (
	"errors"
	"slices"
	"testing"

	"vramscope/arena"
	"vramscope/pool"
	"vramscope/pool/cuda/cudatest"
)

func asOutOfMemory(err error, full **pool.OutOfMemoryError) bool { return errors.As(err, full) }

func noEnvironment(string) (string, bool) { return "", false }

// Every tier stands over the device: it hands out memory that can be touched,
// meets the driver's out of memory as its rules say, and gives everything back.
func TestTiersOverTheDevice(t *testing.T) {
	for tier, stack := range map[pool.Tier][]string{
		pool.TierA:        {"Statistics", "Pool", "CUDA"},
		pool.TierB:        {"Statistics", "FailureCallback", "Pool", "CUDA"},
		pool.TierC:        {"Statistics", "Managed", "CUDA"},
		pool.TierFallback: {"CachingPool", "CUDA"},
	} {
		t.Run(tier.String(), func(t *testing.T) {
			if cudatest.Child(t, cudatest.Options{Memory: 2 << 30}) == nil {
				return
			}
			c := open(t, Options{})
			before := free(t, c)
			var report *pool.OutOfMemoryReport
			tiered, err := pool.NewTiered(pool.Options{
				Upstream: c, Tier: tier, LookupEnv: noEnvironment,
				ObserveOutOfMemory: func(r pool.OutOfMemoryReport) { report = &r },
			})
			if err != nil {
				t.Fatal(err)
			}
			type block struct {
				address pool.Address
				bytes   int64
			}
			var live []block
			for i := range 20 {
				b := block{bytes: int64(i+1) * 300_001}
				if b.address, err = tiered.Allocate(b.bytes, pool.Stream(i%3)); err != nil {
					t.Fatal(err)
				}
				if err := c.Fill(b.address, b.bytes, byte(i), pool.Stream(i%3)); err != nil {
					t.Fatal(err)
				}
				live = append(live, b)
			}
			if got := tiered.Stack(); !slices.Equal(got, stack) {
				t.Errorf("the stack is %q", got)
			}
			_, err = tiered.Allocate(3<<30, 0)
			var full *pool.OutOfMemoryError
			if !errors.As(err, &full) {
				t.Errorf("3 GiB of 2: %v", err)
			}
			if report == nil || report.Rule != pool.RuleType {
				t.Errorf("the report of it is %+v", report)
			}
			for i, b := range live {
				got := make([]byte, 1)
				if err := c.Read(b.address+pool.Address(b.bytes-1), got); err != nil || got[0] != byte(i) {
					t.Errorf("block %d holds %x, %v", i, got, err)
				}
				if err := tiered.Free(b.address, b.bytes, pool.Stream(i%3)); err != nil {
					t.Fatal(err)
				}
			}
			if err := tiered.Close(); err != nil {
				t.Fatal(err)
			}
			if after := free(t, c); after != before {
				t.Errorf("%d of %d bytes are free again", after, before)
			}
		})
	}
}

// The truth table asks the device: too little of it free means managed memory,
// where the device has any.
func TestTierIsChosenByTheDevice(t *testing.T) {
	for name, c := range map[string]struct {
		machine cudatest.Options
		foreign int64
		want    pool.Tier
	}{
		"half free":         {cudatest.Options{Memory: 2 << 30, Context: 1 << 30}, 0, pool.TierB},
		"less":              {cudatest.Options{Memory: 2 << 30, Context: 1 << 30}, 2 << 20, pool.TierC},
		"less, not managed": {cudatest.Options{Memory: 2 << 30, Context: 1 << 30, NoManaged: true}, 2 << 20, pool.TierB},
	} {
		t.Run(name, func(t *testing.T) {
			machine := cudatest.Child(t, c.machine)
			if machine == nil {
				return
			}
			machine.SetForeign(0, c.foreign)
			device := open(t, Options{})
			choice := pool.ChooseTier(pool.TierQuery{
				LookupEnv: noEnvironment, Name: device.Name(), Capabilities: device.Capabilities(), MemoryInfo: device.MemoryInfo,
			})
			if choice.Tier != c.want {
				t.Errorf("tier %s: %s", choice.Tier, choice.Reason)
			}
		})
	}
}

// A lost device is no want of memory: no ladder is climbed for it.
func TestLostDeviceEndsAnAllocationAtOnce(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{})
	if machine == nil {
		return
	}
	c := open(t, Options{})
	collected := 0
	tiered, err := pool.NewTiered(pool.Options{
		Upstream: c, Tier: pool.TierB, LookupEnv: noEnvironment, Collect: func() int64 { collected++; return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tiered.Allocate(mebibyte, 0); err != nil {
		t.Fatal(err)
	}
	machine.On(cudatest.Lost(0))
	_, err = tiered.Allocate(64*mebibyte, 0)
	var lost *LostError
	if !errors.As(err, &lost) || collected != 0 {
		t.Errorf("collected %d times, %v", collected, err)
	}
}

// An arena over one buffer of the device hands out addresses in it, and what is
// put there by address is there.
func TestArenaOverOneBuffer(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{}) == nil {
		return
	}
	c := open(t, Options{})
	const length = 64 << 20
	buffer, err := c.Allocate(length)
	if err != nil {
		t.Fatal(err)
	}
	a, err := arena.New(arena.Config{
		Name: "render", Bytes: length, Base: uint64(buffer), Poison: arena.PoisonByte(0xfe),
		Fill: func(offset, bytes int64, value byte) error {
			return c.Fill(buffer+pool.Address(offset), bytes, value, 0)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	before := free(t, c)
	first, err := a.Alloc(1000, 4)
	if err != nil {
		t.Fatal(err)
	}
	last, err := a.AllocPersist(1000, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Fill(pool.Address(a.Address(last)), 4000, 0x11, 0); err != nil {
		t.Fatal(err)
	}
	for block, want := range map[arena.Block]byte{first: 0xfe, last: 0x11} {
		got := make([]byte, 4000)
		if err := c.Read(pool.Address(a.Address(block)), got); err != nil {
			t.Fatal(err)
		}
		if got[0] != want || got[3999] != want {
			t.Errorf("at offset %d: %x and %x, not %x", block.Offset(), got[0], got[3999], want)
		}
	}
	if end := a.Address(last) + 4000; end > uint64(buffer)+length || a.Address(first) < uint64(buffer) {
		t.Errorf("blocks from %#x to %#x in the buffer at %#x", a.Address(first), end, buffer)
	}
	if after := free(t, c); after != before {
		t.Errorf("the arena's blocks took %d bytes of the device", before-after)
	}
	if _, err := a.Alloc(length, 1); err == nil {
		t.Error("more than the buffer was handed out")
	}
	if err := c.Free(buffer, length); err != nil {
		t.Error(err)
	}
}
