package pool

import (
	"math"
	"testing"
)

// Classes ascend with the size, are exact multiples of 256 up to 64 KiB, at
// most 1/256 of the size wide above, and hold every size there is.
func TestSizeClasses(t *testing.T) {
	for _, want := range []struct {
		size        int64
		row, column uint
	}{
		{1, 0, 0}, {255, 0, 0}, {256, 0, 1}, {511, 0, 1}, {65535, 0, 255},
		{65536, 1, 0}, {65536 + 255, 1, 0}, {65536 + 256, 1, 1}, {131071, 1, 255},
		{131072, 2, 0}, {131072 + 511, 2, 0}, {131072 + 512, 2, 1},
		{1 << 40, 25, 0}, {math.MaxInt64, classRows - 1, 255},
	} {
		if row, column := classOf(want.size); row != want.row || column != want.column {
			t.Errorf("%d bytes are in class %d, %d, want %d, %d", want.size, row, column, want.row, want.column)
		}
	}
	last := uint(0)
	for size := int64(1); size > 0 && size < math.MaxInt64/2; size += max(1, size/1000) {
		row, column := classOf(size)
		if at := row*classColumns + column; at < last {
			t.Fatalf("%d bytes are in a lower class than less", size)
		} else {
			last = at
		}
	}
}

// However sizes come, the tree of a class stays shallow: ascending, descending,
// or only on every eighth block.
func TestTreesStayShallow(t *testing.T) {
	const n = 4096
	for _, order := range []struct {
		name  string
		every int
		size  func(i int) int64
	}{
		{"ascending", 1, func(i int) int64 { return 1<<40 + int64(i) }},
		{"descending", 1, func(i int) int64 { return 1<<40 - 1 - int64(i) }},
		{"every eighth", 8, func(i int) int64 { return 1<<40 + int64(i) }},
	} {
		var slab blockSlab
		var list freeList
		var root blockID
		for i := range n * order.every {
			id := slab.create()
			if i%order.every == 0 {
				slab.blocks[id].size = order.size(i / order.every)
				slab.blocks[id].slack = isFree
				list.insert(&slab, id)
				root = list.any()
			}
		}
		if depth := treeDepth(&slab, root); depth > 45 { // a perfect tree has 12, a random one about 28
			t.Errorf("%s: %d levels for %d sizes", order.name, depth, n)
		}
	}
}

func treeDepth(s *blockSlab, id blockID) int {
	if id == 0 {
		return 0
	}
	children := s.places[id].children
	return 1 + max(treeDepth(s, children[smaller]), treeDepth(s, children[larger]))
}

// Equal blocks leave their heap by ascending address, whatever the order in
// which they came and however many left from its middle.
func TestHeapGivesTheLowestAddress(t *testing.T) {
	random := newRandom(4)
	var slab blockSlab
	var list freeList
	var waiting []blockID
	for range 1000 {
		id := slab.create()
		slab.blocks[id] = block{size: 512, slack: isFree}
		waiting = append(waiting, id)
	}
	for i, at := range random.Perm(len(waiting)) {
		slab.blocks[waiting[i]].address = Address(at+1) * 512
		list.insert(&slab, waiting[i])
	}
	for _, i := range random.Perm(len(waiting))[:500] {
		list.remove(&slab, waiting[i])
	}
	var last Address
	for list.count > 0 {
		id := list.find(&slab, 512)
		if address := slab.blocks[id].address; address <= last {
			t.Fatalf("%#x after %#x", address, last)
		} else {
			last = address
		}
		list.remove(&slab, id)
	}
	if list.bytes != 0 || list.find(&slab, 512) != 0 {
		t.Error("something is left")
	}
}
