package local

import (
	"vramscope/pool"
	"vramscope/recorder"
)

// sharedBlock is a block that the render has from the device's default pool.
type sharedBlock struct {
	address pool.Address
	bytes   int64
	stream  pool.Stream
	until   int64 // last frame of its life
}

// sharedSet is what the device's default pool holds; ok is false where there is
// none.
func (r *Render) sharedSet() (set recorder.CounterSet, ok bool) {
	shared, ok := r.memory.device.(sharedPool)
	if !ok {
		return set, false
	}
	return shared.SharedPool(r.processID())
}

// useSharedPool keeps a share of the budget in blocks of the device's default
// pool, as a library beside the render does: some come, some go.
func (r *Render) useSharedPool() {
	shared, ok := r.memory.device.(sharedPool)
	if !ok || shared.SharedShare() <= 0 {
		return
	}
	r.freeShared(func(b sharedBlock) bool { return b.until < r.frame })
	held := int64(0)
	for _, block := range r.shared {
		held += block.bytes
	}
	budget := int64(shared.SharedShare() * float64(r.options.Memory))
	for range 4 {
		bytes := r.size(budget/16, budget/4)
		if held+bytes > budget || r.memory.broken != nil {
			return
		}
		stream := pool.Stream(r.random.IntN(3))
		address, err := shared.AllocateShared(bytes, stream)
		if err != nil {
			r.memory.breaks(err)
			return // the library does without, as libraries do
		}
		r.shared = append(r.shared, sharedBlock{address, bytes, stream, r.frame + 2 + r.random.Int64N(12)})
		r.memory.breaks(r.memory.device.Touch(address, bytes, stream))
		held += bytes
	}
}

// freeShared gives the blocks back for which drop says yes.
func (r *Render) freeShared(drop func(sharedBlock) bool) {
	shared, ok := r.memory.device.(sharedPool)
	if !ok {
		return
	}
	kept := r.shared[:0]
	for _, block := range r.shared {
		if drop(block) {
			r.memory.breaks(shared.FreeShared(block.address, block.bytes, block.stream))
		} else {
			kept = append(kept, block)
		}
	}
	r.shared = kept
}
