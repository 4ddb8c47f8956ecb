package dump

import (
	"math/bits"
	"math/rand/v2"
)

// addresses maps addresses to numbers. It is an open-addressing table without
// pointers: half empty, probed in a line, with deletions that shift back, so
// that it never fills up with graves. The multiplier is drawn at random, so
// that a dump cannot choose addresses which all fall into one place.
type addresses struct {
	slots      []addressSlot
	shift      int
	count      int
	multiplier uint64
}

// addressSlot is empty while filled is false; false is what fresh memory holds.
type addressSlot struct {
	address uint64
	number  int32
	filled  bool
}

const leastSlots = 1024

func newAddresses() *addresses {
	return &addresses{
		slots: make([]addressSlot, leastSlots), shift: 64 - bits.TrailingZeros(leastSlots),
		multiplier: rand.Uint64() | 1,
	}
}

// place is where an address belongs.
func (t *addresses) place(address uint64) int { return int(address * t.multiplier >> t.shift) }

// find is the slot of an address, or the empty one where it would go.
func (t *addresses) find(address uint64) int {
	slots := t.slots
	at := t.place(address) & (len(slots) - 1)
	for slots[at].filled && slots[at].address != address {
		at = (at + 1) & (len(slots) - 1)
	}
	return at
}

// get is the number of an address.
func (t *addresses) get(address uint64) (int32, bool) {
	slot := &t.slots[t.find(address)]
	return slot.number, slot.filled
}

// put gives an address a number and returns the one that it had.
func (t *addresses) put(address uint64, number int32) (old int32, had bool) {
	slot := &t.slots[t.find(address)]
	if slot.filled {
		old, slot.number = slot.number, number
		return old, true
	}
	*slot = addressSlot{address: address, number: number, filled: true}
	if t.count++; t.count > len(t.slots)/2 {
		t.grow()
	}
	return 0, false
}

// take removes an address and returns its number.
func (t *addresses) take(address uint64) (number int32, had bool) {
	at := t.find(address)
	if !t.slots[at].filled {
		return 0, false
	}
	number = t.slots[at].number
	t.empty(at)
	return number, true
}

// empty clears a slot and moves up those after it that could not stand where
// they belong.
func (t *addresses) empty(hole int) {
	t.count--
	slots, mask := t.slots, len(t.slots)-1
	for at := (hole + 1) & mask; slots[at].filled; at = (at + 1) & mask {
		if home := t.place(slots[at].address) & mask; (at-home)&mask >= (at-hole)&mask {
			slots[hole] = slots[at]
			hole = at
		}
	}
	slots[hole] = addressSlot{}
}

func (t *addresses) grow() {
	old := t.slots
	t.slots, t.shift = make([]addressSlot, 2*len(old)), t.shift-1
	for _, slot := range old {
		if slot.filled {
			t.slots[t.find(slot.address)] = slot
		}
	}
}

// each visits all addresses, in no order.
func (t *addresses) each(visit func(address uint64, number int32)) {
	for _, slot := range t.slots {
		if slot.filled {
			visit(slot.address, slot.number)
		}
	}
}
