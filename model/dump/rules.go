package dump

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"vramscope/recorder"
)

// The sizes of PyTorch's caching allocator in bytes (kMinBlockSize, kSmallSize,
// kSmallBuffer, kLargeBuffer, kMinLargeAlloc and kRoundLarge of its
// CUDACachingAllocator).
const (
	blockUnit           = 512
	smallRequest        = 1 << 20 // the largest request of a small pool, and the largest rest of a large block that is not split off
	smallSegment        = 2 << 20
	largeSegment        = 20 << 20
	leastOwnSegment     = 10 << 20 // a request from here on gets a segment of its own size
	largeSegmentUnit    = 2 << 20
	divisionsStart      = 20 // the power of two at which roundup_power2_divisions starts to tell sizes apart
	divisionsCount      = 16
	mostRequest         = 1 << 50
	unlimitedSplitBytes = math.MaxInt64
)

// rules say how an allocator makes blocks of what callers ask for.
type rules struct {
	maximumSplit int64                 // requests of this size or more never split a large block
	divisions    [divisionsCount]int64 // steps between powers of two, 0 or 1 none; by power of two from 1 MiB up
	expandable   bool                  // segments grow: large blocks split like small ones
	host         bool                  // pinned host memory: powers of two, never split
}

// rulesOf reads the allocator's settings; what is not there has the
// allocator's default.
func rulesOf(settings []recorder.DumpSetting, host bool) rules {
	r := rules{maximumSplit: unlimitedSplitBytes, host: host}
	for _, setting := range settings {
		switch setting.Key {
		case "max_split_size":
			if bytes, err := strconv.ParseInt(setting.Value, 10, 64); err == nil && bytes > 0 {
				r.maximumSplit = bytes
			}
		case "expandable_segments":
			r.expandable = strings.EqualFold(setting.Value, "true")
		case "roundup_power2_divisions":
			r.divide(setting.Value)
		}
	}
	for _, setting := range settings {
		if _, value, found := strings.Cut(setting.Value, "roundup_power2_divisions:"); found &&
			strings.HasSuffix(setting.Key, "ALLOC_CONF") && r.divisions == [divisionsCount]int64{} {
			r.divide(value)
		}
	}
	return r
}

// divide reads roundup_power2_divisions: one number for all sizes, or pairs
// of a size in MiB and a number, of which the last may be for ">".
func (r *rules) divide(text string) {
	if !strings.HasPrefix(text, "[") {
		first, _, _ := strings.Cut(text, ",")
		if steps, err := strconv.ParseInt(strings.TrimSpace(first), 10, 64); err == nil {
			for i := range r.divisions {
				r.divisions[i] = validSteps(steps)
			}
			return
		}
	}
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "["), "]")
	next := 0
	for pair := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(", {}'\"", c) }) {
		size, count, _ := strings.Cut(pair, ":")
		steps, err := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
		if err != nil {
			continue
		}
		steps = validSteps(steps)
		if size == ">" {
			for ; next < len(r.divisions); next++ {
				r.divisions[next] = steps
			}
			return
		}
		mebibytes, err := strconv.ParseUint(size, 10, 40)
		if err != nil || mebibytes == 0 {
			continue
		}
		place := min(bits.Len64(mebibytes)-1, divisionsCount-1)
		for below := 0; next == 0 && below < place; below++ { // sizes below the first one take its number
			r.divisions[below] = steps
		}
		r.divisions[place] = steps
		next = max(next, place+1)
	}
}

// validSteps is a number of divisions that the allocator would take: a power
// of two.
func validSteps(steps int64) int64 {
	if steps < 2 || steps > 1<<20 || steps&(steps-1) != 0 {
		return 0
	}
	return steps
}

// round is the smallest block for a request of so many bytes.
func (r *rules) round(bytes int64) int64 {
	if r.host {
		return int64(1) << bits.Len64(uint64(max(bytes, 1)-1))
	}
	if bytes <= blockUnit {
		return blockUnit
	}
	power := bits.Len64(uint64(bytes)) - 1
	steps := r.divisions[min(max(power-divisionsStart, 0), divisionsCount-1)]
	if steps > 1 && bytes > blockUnit*steps {
		step := max(int64(1)<<power/steps, 1)
		return (bytes + step - 1) &^ (step - 1)
	}
	return (bytes + blockUnit - 1) &^ (blockUnit - 1)
}

// small says whether a rounded request is served by the small pool.
func (r *rules) small(rounded int64) bool { return rounded <= smallRequest }

// block is the size of the block that a rounded request takes from a free
// block of so many bytes: the request itself when the rest is split off, or
// the whole.
func (r *rules) block(rounded, free int64, expandable bool) int64 {
	rest := free - rounded
	switch {
	case r.host:
		return free
	case expandable || r.small(rounded):
		if rest >= blockUnit {
			return rounded
		}
	case rounded < r.maximumSplit && rest > smallRequest:
		return rounded
	}
	return free
}

// segment is how much the allocator asks the driver for when no block fits a
// rounded request: a segment, or the pages of an expandable one.
func (r *rules) segment(rounded int64) int64 {
	switch {
	case r.host:
		return rounded
	case r.expandable && !r.small(rounded):
		return (rounded + largeSegment - 1) / largeSegment * largeSegment
	case r.small(rounded):
		return smallSegment
	case rounded < leastOwnSegment:
		return largeSegment
	}
	return (rounded + largeSegmentUnit - 1) &^ (largeSegmentUnit - 1)
}
