package pool

import "math/bits"

// liveTable finds a live block by its address: open addressing with linear
// probing, at most two thirds full. A slot holds the block's number and 32 bits of
// its address's hash, so that a probe touches no other block than the one
// sought, and a removal can close the gap without touching any.
type liveTable struct {
	slots []uint64 // hash << 32 | blockID; 0 is empty
	shift uint     // hash >> shift is a slot's home
	count int
}

const liveTableStart = 64

// hashOf spreads addresses, whose low bits are all zero, over 32 bits.
func hashOf(address Address) uint64 {
	return uint64(address) * 0x9e3779b97f4a7c15 >> 32
}

// find returns the live block at the address, or none.
func (t *liveTable) find(blocks []block, address Address) blockID {
	if len(t.slots) == 0 {
		return 0
	}
	hash := hashOf(address)
	mask := uint64(len(t.slots) - 1)
	for at := hash >> t.shift; ; at++ {
		slot := t.slots[at&mask]
		if slot == 0 {
			return 0
		}
		if id := blockID(slot); slot>>32 == hash && blocks[id].address == address {
			return id
		}
	}
}

// insert adds a block under its address, which is not in the table.
func (t *liveTable) insert(address Address, id blockID) {
	if 3*(t.count+1) > 2*len(t.slots) {
		t.grow()
	}
	t.count++
	t.place(hashOf(address)<<32 | uint64(id))
}

// place puts a slot's content into the first empty slot from its home on.
func (t *liveTable) place(slot uint64) {
	mask := uint64(len(t.slots) - 1)
	at := slot >> 32 >> t.shift
	for t.slots[at&mask] != 0 {
		at++
	}
	t.slots[at&mask] = slot
}

// grow doubles the table.
func (t *liveTable) grow() {
	old := t.slots
	t.slots = make([]uint64, max(liveTableStart, 2*len(old)))
	t.shift = uint(32 - (bits.Len(uint(len(t.slots))) - 1))
	for _, slot := range old {
		if slot != 0 {
			t.place(slot)
		}
	}
}

// remove takes out a block that is in the table and moves later ones up, so
// that no probe ever walks over graves.
func (t *liveTable) remove(address Address, id blockID) {
	hash := hashOf(address)
	mask := uint64(len(t.slots) - 1)
	gap := hash >> t.shift
	for t.slots[gap] != hash<<32|uint64(id) {
		gap = (gap + 1) & mask
	}
	for at := gap; ; {
		at = (at + 1) & mask
		slot := t.slots[at]
		if slot == 0 {
			break
		}
		home := slot >> 32 >> t.shift
		if (at-home)&mask >= (at-gap)&mask {
			t.slots[gap] = slot
			gap = at
		}
	}
	t.slots[gap] = 0
	t.count--
}
