package arena

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// NoOffset is the offset of a block that lies in no arena's buffer.
const NoOffset = -1

// Block is what an allocation got. It is small enough to travel in registers,
// which is half of what an allocation costs.
type Block struct {
	offset int64
	bytes  int64
	memory *byte // its first byte; nil where the host cannot see it
}

// Offset is where the block starts, in bytes from the arena's start; NoOffset
// for a block from an unmanaged arena.
func (b Block) Offset() int64 { return b.offset }

// Bytes is numel*itemSize, padding apart.
func (b Block) Bytes() int64 { return b.bytes }

// Memory is the block's bytes, not cleared, and nil where the host cannot see
// them. It may not be used after the arena was rewound below the block.
func (b Block) Memory() []byte {
	if b.memory == nil {
		return nil
	}
	return unsafe.Slice(b.memory, b.bytes)
}

// Alloc takes numel items of itemSize bytes from the forward side, for
// temporary use. The block starts at a multiple of itemSize, counted from the
// arena's start; any itemSize from 1 will do. No items are allowed and still
// pay the padding.
//
// Errors: *InsufficientMemoryError where it does not fit, *ExtentError for
// numbers that are no size, ErrReleased. Nothing moves then.
func (a *Arena) Alloc(numel, itemSize int64) (Block, error) {
	return a.allocate(numel, itemSize, false, "", directly)
}

// AllocPersist takes numel items of itemSize bytes from the reverse side,
// where they outlive temporary contexts that do not clear it. The block starts
// at a multiple of itemSize, too. Errors are those of Alloc.
func (a *Arena) AllocPersist(numel, itemSize int64) (Block, error) {
	return a.allocate(numel, itemSize, true, "", directly)
}

// AllocTyped takes an array of items, on the reverse side if persist is set.
// No extents at all are a scalar, one item. The type's name is for the
// observer and costs nothing without one. Errors are those of Alloc.
func (a *Arena) AllocTyped(dtype DType, persist bool, extents ...int64) (Block, error) {
	numel, err := Elements(extents...)
	if err != nil {
		return Block{}, err
	}
	return a.allocate(numel, dtype.Size, persist, dtype.Name, directly)
}

// Address is where a block of this arena starts: on the device if the arena
// has a base there, else in host memory.
func (a *Arena) Address(block Block) uint64 {
	if block.offset == NoOffset {
		return uint64(uintptr(unsafe.Pointer(block.memory)))
	}
	return a.base + uint64(block.offset)
}

// allocate is every allocation. What fits while nobody looks stays here, in
// registers; everything else is allocateWatched's. The depth is how many
// functions of this package the caller is away, for its name.
func (a *Arena) allocate(numel, itemSize int64, persist bool, dtype string, depth int) (Block, error) {
	if bytes, ok := byteSize(numel, itemSize); ok && a.quiet {
		if start, ok := a.place(bytes, itemSize, persist); ok {
			return a.commit(start, bytes, persist), nil
		}
	}
	return a.allocateWatched(numel, itemSize, persist, dtype, depth)
}

// allocateWatched decides all that can go wrong before it moves a pointer.
func (a *Arena) allocateWatched(numel, itemSize int64, persist bool, dtype string, depth int) (Block, error) {
	bytes, ok := byteSize(numel, itemSize)
	if !ok {
		return Block{}, sizeError(numel, itemSize)
	}
	if a.released {
		return Block{}, a.refuse(bytes, itemSize, persist, dtype, depth,
			fmt.Errorf("arena %q takes no %d bytes: %w", a.name, bytes, ErrReleased))
	}
	if !a.managed {
		return allocateUnmanaged(bytes)
	}
	start, ok := a.place(bytes, itemSize, persist)
	if !ok {
		return Block{}, a.refuse(bytes, itemSize, persist, dtype, depth, a.insufficient(bytes, itemSize, persist))
	}
	if a.poison.on {
		if err := a.writePoison(start, bytes); err != nil {
			return Block{}, a.refuse(bytes, itemSize, persist, dtype, depth, err)
		}
	}
	block := a.commit(start, bytes, persist)
	if a.observer != nil {
		a.observe(Event{Op: allocationOp(persist), Persist: persist, Bytes: bytes, ItemSize: itemSize,
			DType: dtype, Caller: a.callers.caller(depth + 1)})
	}
	return block, nil
}

// place finds where a block would start. It compares sizes instead of ends,
// which cannot overflow.
func (a *Arena) place(bytes, itemSize int64, persist bool) (start int64, ok bool) {
	if persist {
		end := a.reverse - remainder(a.reverse, itemSize)
		return end - bytes, end >= a.forward && bytes <= end-a.forward
	}
	padding := remainder(a.forward, itemSize)
	if padding != 0 {
		padding = itemSize - padding
	}
	room := a.reverse - a.forward - padding
	return a.forward + padding, bytes <= room && room >= 0
}

// commit moves the pointer past a block that has its place.
func (a *Arena) commit(start, bytes int64, persist bool) Block {
	if persist {
		a.reverse = start
	} else {
		a.forward = start + bytes
	}
	a.highWater = max(a.highWater, a.forward+(a.length-a.reverse))
	memory := a.first
	if memory != nil && bytes > 0 { // a pointer past the buffer's end is the collector's to misread
		memory = (*byte)(unsafe.Add(unsafe.Pointer(memory), start))
	}
	return Block{offset: start, bytes: bytes, memory: memory}
}

func allocationOp(persist bool) Op {
	if persist {
		return OpPersist
	}
	return OpAlloc
}

// byteSize is numel*itemSize, and false for what is no size.
func byteSize(numel, itemSize int64) (int64, bool) {
	high, low := bits.Mul64(uint64(numel), uint64(itemSize))
	return int64(low), numel >= 0 && itemSize > 0 && high == 0 && int64(low) >= 0
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
	return Block{offset: NoOffset, bytes: bytes, memory: unsafe.SliceData(memory)}, nil
}

// insufficient is the error of an allocation that does not fit.
func (a *Arena) insufficient(bytes, itemSize int64, persist bool) error {
	return &InsufficientMemoryError{
		Arena:     a.name,
		Asked:     bytes,
		ItemSize:  itemSize,
		Remaining: a.Remaining(),
		Length:    a.length,
		Persist:   persist,
		Scope:     a.scopePath(),
	}
}

// refuse reports an allocation that did not happen, and returns the cause.
func (a *Arena) refuse(bytes, itemSize int64, persist bool, dtype string, depth int, cause error) error {
	if a.observer != nil {
		a.observe(Event{Op: OpFail, Persist: persist, Bytes: bytes, ItemSize: itemSize,
			DType: dtype, Caller: a.callers.caller(depth + 2), Reason: cause.Error()})
	}
	return cause
}
