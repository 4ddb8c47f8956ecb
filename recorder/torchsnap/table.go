package torchsnap

// numberTable finds the number of a thing by the thing's content. It holds
// nothing but numbers; what they stand for lies in the caller's columns.
type numberTable struct {
	slots []uint32 // number plus one, 0 for a free one; a power of two of them
	used  int
}

// find is the number whose content has this hash and is the same.
func (t *numberTable) find(hash uint64, same func(number uint32) bool) (uint32, bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if same(t.slots[i] - 1) {
			return t.slots[i] - 1, true
		}
	}
	return 0, false
}

// add enters a number that find did not find. hashOf gives the hash of any
// number in the table, for when it grows.
func (t *numberTable) add(a *account, hash uint64, number uint32, hashOf func(number uint32) uint64) {
	if t.used*2 >= len(t.slots) {
		old := t.slots
		t.slots = withRoom[uint32](a, nil, max(64, 2*len(old)))[:max(64, 2*len(old))]
		a.drop(4 * int64(len(old)))
		for _, slot := range old {
			if slot != 0 {
				t.enter(hashOf(slot-1), slot)
			}
		}
	}
	t.enter(hash, number+1)
	t.used++
}

func (t *numberTable) enter(hash uint64, slot uint32) {
	mask := uint64(len(t.slots) - 1)
	i := hash & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = slot
}
