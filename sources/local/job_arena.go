package local

import (
	"errors"
	"fmt"

	"vramscope/arena"
	"vramscope/pool"
	"vramscope/recorder"
)

// errNoRoom says that the device has too little left for an arena.
var errNoRoom = errors.New("the device has no room for an arena")

const (
	smallestArena    = 4 << 20 // bytes
	arenaAttempts    = 4       // each asks for half of what the one before did
	arenaGranularity = pool.HostAlignment
)

// makeArena takes a share of what the device has left, once the pool's free
// segments are given back, as algan does. Where others were quicker it takes
// less; the error is errNoRoom where nothing is left.
func (r *Render) makeArena() error {
	available, err := pool.ReclaimAndMeasureAvailable(pool.AvailableBytes{
		EmptyCaches: func() error {
			_, err := r.memory.tiered.ReleaseFreeSegments()
			return err
		},
		MemoryInfo: func() (free, total int64, err error) {
			free, err = r.memory.device.Room()
			return free, r.options.Memory, err
		},
	})
	if err != nil {
		return err
	}
	bytes := int64(float64(available)*arenaShare) &^ (arenaGranularity - 1)
	if err := r.takeBuffer(bytes); err != nil {
		return err
	}
	job := fmt.Sprintf("shot %d", r.job+1)
	r.feed = r.stream.WatchArena(recorder.ArenaFacts{Name: "arena of " + job, Job: job, Device: r.identity.ID, Managed: true})
	r.arena, err = arena.New(arena.Config{
		Name: "arena of " + job, Bytes: r.buffer.bytes, Base: uint64(r.buffer.address),
		Memory: r.memory.device.View(r.buffer.address, r.buffer.bytes), Observer: r.feed.Observer(),
	})
	if err != nil {
		r.feed.Gone()
		return err
	}
	r.feed.Update(r.arena.State())
	r.scene = 0.8 + 0.4*r.random.Float64()
	return nil
}

// takeBuffer takes the arena's buffer from the device itself.
func (r *Render) takeBuffer(bytes int64) error {
	for range arenaAttempts {
		if bytes < smallestArena {
			break
		}
		address, err := r.memory.device.Allocate(bytes)
		if err == nil {
			r.buffer = tenant{address: address, bytes: bytes}
			return nil
		}
		if _, outOfMemory := pool.Classify(err); !outOfMemory {
			return err
		}
		bytes = bytes / 2 &^ (arenaGranularity - 1)
	}
	return errNoRoom
}

func (r *Render) releaseArena() {
	r.arena.Release("the job is done")
	r.arena, r.feed = nil, nil
	r.memory.breaks(r.memory.device.Settle())
	r.memory.breaks(r.memory.device.Free(r.buffer.address, r.buffer.bytes))
}
