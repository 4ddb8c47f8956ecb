package arena

import (
	"fmt"
	"math/bits"
)

// NoOffset is the offset of a block that lies in no arena's buffer.
const NoOffset = -1

// Block is what an allocation got.
type Block struct {
	Offset int64  // bytes from the arena's start; NoOffset from an unmanaged arena
	Bytes  int64  // numel*itemSize, padding apart
	Memory []byte // the bytes themselves, not cleared; nil where the host cannot see them
}

// Alloc takes numel items of itemSize bytes from the forward side, for
// temporary use. The block starts at a multiple of itemSize, counted from the
// arena's start; any itemSize from 1 will do. No items are allowed and still
// pay the padding.
//
// Errors: *InsufficientMemoryError where it does not fit, *ExtentError for
// numbers that are no size, ErrReleased. Nothing moves then.
func (a *Arena) Alloc(numel, itemSize int64) (Block, error) {
	return a.allocate(numel, itemSize, false, "")
}

// AllocPersist takes numel items of itemSize bytes from the reverse side,
// where they outlive temporary contexts that do not clear it. The block starts
// at a multiple of itemSize, too. Errors are those of Alloc.
func (a *Arena) AllocPersist(numel, itemSize int64) (Block, error) {
	return a.allocate(numel, itemSize, true, "")
}

// AllocTyped takes an array of items, on the reverse side if persist is set.
// No extents at all are a scalar, one item. The type's name is for the
// observer and costs nothing without one. Errors are those of Alloc.
func (a *Arena) AllocTyped(dtype DType, persist bool, extents ...int64) (Block, error) {
	numel, err := Elements(extents...)
	if err != nil {
		return Block{}, err
	}
	return a.allocate(numel, dtype.Size, persist, dtype.Name)
}

// Address is where a block of this arena starts: on the device if the arena
// has a base there, else in host memory.
func (a *Arena) Address(block Block) uint64 {
	if block.Offset == NoOffset {
		return addressOf(block.Memory)
	}
	return a.base + uint64(block.Offset)
}

// allocate is every allocation: it decides all before it moves a pointer.
func (a *Arena) allocate(numel, itemSize int64, persist bool, dtype string) (Block, error) {
	bytes, ok := byteSize(numel, itemSize)
	if !ok {
		return Block{}, sizeError(numel, itemSize)
	}
	if a.released {
		return Block{}, a.refuse(bytes, itemSize, persist, dtype,
			fmt.Errorf("arena %q takes no %d bytes: %w", a.name, bytes, ErrReleased))
	}
	if !a.managed {
		return allocateUnmanaged(bytes)
	}
	forward, reverse := a.forward, a.reverse
	var start int64
	if persist {
		start, ok = placeReverse(forward, reverse, bytes, itemSize)
		reverse = start
	} else {
		start, ok = placeForward(forward, reverse, bytes, itemSize)
		forward = start + bytes
	}
	if !ok {
		return Block{}, a.refuse(bytes, itemSize, persist, dtype, nil)
	}
	if a.poison.on {
		if err := a.writePoison(start, bytes); err != nil {
			return Block{}, a.refuse(bytes, itemSize, persist, dtype, err)
		}
	}
	a.forward, a.reverse = forward, reverse
	a.highWater = max(a.highWater, forward+(a.length-reverse))
	if a.observer != nil {
		a.observeAllocation(bytes, itemSize, persist, dtype)
	}
	block := Block{Offset: start, Bytes: bytes}
	if a.memory != nil {
		end := start + bytes
		block.Memory = a.memory[start:end:end]
	}
	return block, nil
}

// byteSize is numel*itemSize, and false for what is no size.
func byteSize(numel, itemSize int64) (int64, bool) {
	high, low := bits.Mul64(uint64(numel), uint64(itemSize))
	return int64(low), numel >= 0 && itemSize > 0 && high == 0 && int64(low) >= 0
}

// placeForward rounds the forward pointer up to itemSize. It compares sizes
// instead of ends, which cannot overflow.
func placeForward(forward, reverse, bytes, itemSize int64) (start int64, ok bool) {
	padding := remainder(forward, itemSize)
	if padding != 0 {
		padding = itemSize - padding
	}
	room := reverse - forward - padding
	return forward + padding, bytes <= room && room >= 0
}

// placeReverse rounds the reverse pointer down to itemSize and goes below it.
func placeReverse(forward, reverse, bytes, itemSize int64) (start int64, ok bool) {
	end := reverse - remainder(reverse, itemSize)
	return end - bytes, end >= forward && bytes <= end-forward
}

// remainder is pointer % itemSize, without a division for powers of two: that
// alone would cost as much as the rest of an allocation.
func remainder(pointer, itemSize int64) int64 {
	if itemSize&(itemSize-1) == 0 {
		return pointer & (itemSize - 1)
	}
	return pointer % itemSize
}

// allocateUnmanaged is Go's own allocator: no pointers, no events, no poison.
func allocateUnmanaged(bytes int64) (Block, error) {
	memory, err := newBuffer(bytes)
	if err != nil {
		return Block{}, err
	}
	return Block{Offset: NoOffset, Bytes: bytes, Memory: memory}, nil
}

// refuse reports an allocation that did not happen. A nil cause means that it
// does not fit.
func (a *Arena) refuse(bytes, itemSize int64, persist bool, dtype string, cause error) error {
	if cause == nil {
		cause = &InsufficientMemoryError{
			Arena:     a.name,
			Asked:     bytes,
			ItemSize:  itemSize,
			Remaining: a.Remaining(),
			Length:    a.length,
			Persist:   persist,
			Scope:     a.scopePath(),
		}
	}
	if a.observer != nil {
		a.observe(Event{Op: OpFail, Persist: persist, Bytes: bytes, ItemSize: itemSize,
			DType: dtype, Caller: a.callers.caller(), Reason: cause.Error()})
	}
	return cause
}
