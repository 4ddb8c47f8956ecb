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

// find returns the live block at the address and the slot that holds it, or
// none.
func (t *liveTable) find(blocks []block, address Address) (id blockID, slot uint64) {
	if len(t.slots) == 0 {
		return 0, 0
	}
	hash := hashOf(address)
	mask := uint64(len(t.slots) - 1)
	for at := hash >> t.shift; ; at++ {
		content := t.slots[at&mask]
		if content == 0 {
			return 0, 0
		}
		if id := blockID(content); content>>32 == hash && blocks[id].address == address {
			return id, at & mask
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
func (t *liveTable) place(content uint64) {
	mask := uint64(len(t.slots) - 1)
	at := content >> 32 >> t.shift
	for t.slots[at&mask] != 0 {
		at++
	}
	t.slots[at&mask] = content
}

// grow doubles the table.
func (t *liveTable) grow() {
	old := t.slots
	t.slots = make([]uint64, max(liveTableStart, 2*len(old)))
	t.shift = uint(32 - (bits.Len(uint(len(t.slots))) - 1))
	for _, content := range old {
		if content != 0 {
			t.place(content)
		}
	}
}

// remove empties the slot that find returned and moves later ones up, so that no
// probe ever walks over graves.
func (t *liveTable) remove(slot uint64) {
	mask := uint64(len(t.slots) - 1)
	gap := slot
	for at := gap; ; {
		at = (at + 1) & mask
		content := t.slots[at]
		if content == 0 {
			break
		}
		home := content >> 32 >> t.shift
		if (at-home)&mask >= (at-gap)&mask {
			t.slots[gap] = content
			gap = at
		}
	}
	t.slots[gap] = 0
	t.count--
}
