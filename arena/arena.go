package arena

import "unsafe"

// NoLaunchFrames is what LastLaunchFrames says while no launch is known.
const NoLaunchFrames = -1

// Arena is one buffer with a forward pointer (temporary allocations) and a
// reverse pointer (persistent ones), or, unmanaged, a name for ordinary Go
// allocations. It belongs to one goroutine. It mirrors algan's ManualMemory.
//
// At all times 0 <= forward <= reverse <= length.
type Arena struct {
	forward   int64
	reverse   int64
	length    int64
	highWater int64
	first     *byte // of the host view; nil where there is none
	quiet     bool  // managed, not released, no poison, no observer: an allocation moves a pointer and no more
	managed   bool
	released  bool
	poison    Poison
	observer  Observer
	memory    []byte // host view; nil for a device buffer, unmanaged or released

	name          string
	base          uint64
	hostAlignment uint64 // a power of two that divides the host view's address
	fill          func(offset, bytes int64, value byte) error

	marks           []int64
	temporaries     []openTemporary
	temporaryNumber uint64 // the last one given out

	scopes      []openScope
	scopeNumber uint64  // the last one given out
	watcher     uint64  // number of the current observer; 0 while nobody observes
	watchers    uint64  // the last one given out
	params      []Param // what observers see of a scope's parameters, reused
	callers     callerNames

	lastLaunchFrames         int
	lastChunkCapacityLimited bool
}

// New makes an arena. Its errors are a *ConfigError for a configuration that
// cannot be meant and a *HostMemoryError where the host refuses the buffer.
// An observer in the configuration is told OpNew.
func New(config Config) (*Arena, error) {
	length, err := config.length()
	if err != nil {
		return nil, err
	}
	if err := config.check(length); err != nil {
		return nil, err
	}
	a := &Arena{
		name:             config.Name,
		length:           length,
		reverse:          length,
		managed:          !config.Unmanaged,
		base:             config.Base,
		lastLaunchFrames: NoLaunchFrames,
	}
	if a.managed {
		a.poison, a.fill = config.Poison, config.Fill
		if err := a.claim(config); err != nil {
			return nil, err
		}
	}
	a.SetObserver(config.Observer)
	if a.observer != nil {
		a.observe(Event{Op: OpNew, Name: a.name, Bytes: a.length})
	}
	return a, nil
}

// claim takes the caller's buffer, or makes one where none was given.
func (a *Arena) claim(config Config) error {
	switch {
	case config.Memory != nil:
		a.memory = config.Memory[:a.length:a.length]
	case config.Base != 0:
		return nil
	default:
		memory, err := newBuffer(a.length)
		if err != nil {
			return err
		}
		a.memory = memory
	}
	a.first = unsafe.SliceData(a.memory)
	address := addressOf(a.memory)
	a.hostAlignment = address & -address
	if a.base == 0 {
		a.base = address
	}
	return nil
}

// Name is the arena's name, as configured. It is not sanitised for a terminal.
func (a *Arena) Name() string { return a.name }

// Length is the size of the arena in bytes; it stays after Release. An
// unmanaged arena has one too (1 unless configured) and does not use it.
func (a *Arena) Length() int64 { return a.length }

// Managed says whether allocations come from the arena's buffer. Unmanaged
// arenas hand out ordinary Go memory, move no pointers and report no
// allocations; their scopes are observed all the same.
func (a *Arena) Managed() bool { return a.managed }

// Base is the address of the arena's start: the device's where one was
// configured, else that of the host buffer; 0 for an unmanaged arena. It stays
// after Release, as a name for what the recorded offsets meant.
func (a *Arena) Base() uint64 { return a.base }

// Reset frees everything: the pointers, the high-water and the marks are as
// they were after New. Open temporary contexts and scopes are abandoned, and
// ending them later does nothing. The reason, in words, goes to the observer;
// it may be empty.
func (a *Arena) Reset(reason string) {
	a.forward, a.reverse, a.highWater = 0, a.length, 0
	a.marks = a.marks[:0]
	clear(a.temporaries)
	a.temporaries = a.temporaries[:0]
	clear(a.scopes)
	a.scopes = a.scopes[:0]
	if a.observer != nil {
		a.observe(Event{Op: OpReset, Reason: reason})
	}
}

// Release lets go of the buffer. The arena stays as it was to look at, and
// takes no more allocations: they fail with ErrReleased. Blocks of a host
// buffer that are still referenced stay readable; a device buffer remains its
// owner's to free. A second Release does nothing.
func (a *Arena) Release(reason string) {
	if a.released {
		return
	}
	a.released = true
	a.memory, a.first, a.fill = nil, nil, nil
	a.quiet = false
	if a.observer != nil {
		a.observe(Event{Op: OpRelease, Reason: reason})
	}
}

// LastLaunchFrames is the largest window of frames that was really launched
// for the current chunk, or NoLaunchFrames. It mirrors algan's
// last_launch_frames: the render loop sets it, the arena only carries it.
func (a *Arena) LastLaunchFrames() int { return a.lastLaunchFrames }

// SetLastLaunchFrames sets LastLaunchFrames; a negative number means that none
// is known.
func (a *Arena) SetLastLaunchFrames(frames int) {
	a.lastLaunchFrames = max(frames, NoLaunchFrames)
}

// LastChunkCapacityLimited says whether the current chunk was sized by what
// the arena had left instead of by what it needed. It mirrors algan's
// last_chunk_capacity_limited: the render loop sets it, the arena carries it.
func (a *Arena) LastChunkCapacityLimited() bool { return a.lastChunkCapacityLimited }

// SetLastChunkCapacityLimited sets LastChunkCapacityLimited.
func (a *Arena) SetLastChunkCapacityLimited(limited bool) { a.lastChunkCapacityLimited = limited }
