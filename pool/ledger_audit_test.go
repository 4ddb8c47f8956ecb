package pool

import "fmt"

// audit recounts everything that a ledger knows from its blocks alone and
// returns the first contradiction. It is how the tests notice a link, a tree,
// a table or a counter that went wrong long before an answer does.
func audit(l *ledger) error {
	var sum auditSum
	for id := range l.segments {
		if l.segments[id].size == 0 {
			continue
		}
		if err := sum.addSegment(l, segmentID(id)); err != nil {
			return err
		}
	}
	if err := sum.compare(l); err != nil {
		return err
	}
	for _, list := range l.lists {
		if err := auditList(l, list, sum.free[list.id]); err != nil {
			return fmt.Errorf("stream %d: %w", list.stream, err)
		}
	}
	return auditSpare(l, sum.blocks)
}

type auditSum struct {
	segments, live, blocks                     int
	reserved, allocated, requested, releasable int64
	free                                       map[listID][]blockID
}

func (sum *auditSum) addSegment(l *ledger, id segmentID) error {
	s := &l.segments[id]
	address, live := s.address, 0
	var previous blockID
	for at := s.first; at != 0; at = l.blocks[at].next {
		b := &l.blocks[at]
		switch {
		case b.address != address:
			return fmt.Errorf("block at %#x where %#x follows", b.address, address)
		case b.size <= 0:
			return fmt.Errorf("block at %#x of %d bytes", b.address, b.size)
		case b.prev != previous:
			return fmt.Errorf("block at %#x does not know the one below it", b.address)
		case b.segment != id:
			return fmt.Errorf("block at %#x names another segment", b.address)
		case b.free() && previous != 0 && l.blocks[previous].freeIn(b.list):
			return fmt.Errorf("block at %#x was not joined with the one below it", b.address)
		}
		if b.free() {
			if sum.free == nil {
				sum.free = map[listID][]blockID{}
			}
			sum.free[b.list] = append(sum.free[b.list], at)
		} else {
			live++
			sum.allocated += b.size
			sum.requested += b.requested()
			if found, _ := l.live.find(l.blocks, b.address); found != at {
				return fmt.Errorf("live block at %#x is not found", b.address)
			}
		}
		address += Address(b.size)
		previous = at
		sum.blocks++
	}
	if address != s.address+Address(s.size) {
		return fmt.Errorf("blocks of the segment at %#x end at %#x, not %#x", s.address, address, s.address+Address(s.size))
	}
	if live != s.live {
		return fmt.Errorf("segment at %#x counts %d live blocks, has %d", s.address, s.live, live)
	}
	sum.segments++
	sum.live += live
	sum.reserved += s.size
	if live == 0 {
		sum.releasable += s.size
	}
	return nil
}

func (sum *auditSum) compare(l *ledger) error {
	free := 0
	for _, blocks := range sum.free {
		free += len(blocks)
	}
	c := &l.counters
	for _, pair := range []struct {
		name         string
		kept, actual int64
	}{
		{"reserved", c.reserved, sum.reserved},
		{"allocated", c.allocated, sum.allocated},
		{"requested", c.requested, sum.requested},
		{"releasable", c.releasable, sum.releasable},
		{"segments", int64(c.segments), int64(sum.segments)},
		{"live blocks", int64(c.liveBlocks), int64(sum.live)},
		{"free blocks", int64(c.freeBlocks), int64(free)},
		{"table entries", int64(l.live.count), int64(sum.live)},
	} {
		if pair.kept != pair.actual {
			return fmt.Errorf("%s: counted %d, are %d", pair.name, pair.kept, pair.actual)
		}
	}
	return nil
}

// auditList checks the trees, bitmaps and sums of one free list against the
// blocks that must be in it.
func auditList(l *ledger, list *freeList, expected []blockID) error {
	inTrees := map[blockID]bool{}
	var bytes, largest int64
	err := list.visitClasses(func(row, column uint, root blockID) error {
		var last int64
		var lowest Address
		return walkTree(&l.blockSlab, root, 0, func(id blockID) error {
			b := &l.blocks[id]
			if r, c := classOf(b.size); r != row || c != column {
				return fmt.Errorf("block of %d bytes in class %d, %d", b.size, row, column)
			}
			if last > b.size || last == b.size && b.address < lowest {
				return fmt.Errorf("block at %#x is out of order", b.address)
			}
			if b.size > last {
				last, lowest = b.size, b.address
			}
			inTrees[id] = true
			bytes += b.size
			largest = max(largest, b.size)
			return nil
		})
	})
	switch {
	case err != nil:
		return err
	case len(inTrees) != len(expected) || list.count != len(expected):
		return fmt.Errorf("%d blocks in trees, %d counted, %d free", len(inTrees), list.count, len(expected))
	case list.bytes != bytes:
		return fmt.Errorf("%d bytes counted, %d free", list.bytes, bytes)
	case list.largest(&l.blockSlab) != largest:
		return fmt.Errorf("largest %d, is %d", list.largest(&l.blockSlab), largest)
	}
	for _, id := range expected {
		if !inTrees[id] {
			return fmt.Errorf("free block at %#x is in no tree", l.blocks[id].address)
		}
	}
	return nil
}

// visitClasses calls visit for every class that has a tree, and fails where a
// bitmap says otherwise than the roots.
func (l *freeList) visitClasses(visit func(row, column uint, root blockID) error) error {
	for row, classes := range l.rows {
		if classes == nil {
			if l.occupied>>row&1 == 1 {
				return fmt.Errorf("row %d is marked but not there", row)
			}
			continue
		}
		if l.occupied>>row&1 == 1 != (classes.occupied != [classColumns / 64]uint64{}) {
			return fmt.Errorf("row %d is marked wrongly", row)
		}
		for column, root := range classes.roots {
			if classes.occupied[column/64]>>(column%64)&1 == 1 != (root != 0) {
				return fmt.Errorf("class %d, %d is marked wrongly", row, column)
			}
			if err := visit(uint(row), uint(column), root); err != nil {
				return err
			}
		}
	}
	return nil
}

// walkTree visits a tree in order and checks parents and priorities.
func walkTree(s *blockSlab, id, parent blockID, visit func(blockID) error) error {
	if id == 0 {
		return nil
	}
	place := &s.places[id]
	if place.parent != parent {
		return fmt.Errorf("block at %#x has another parent", s.blocks[id].address)
	}
	if parent != 0 && s.places[parent].priority < place.priority {
		return fmt.Errorf("block at %#x stands below a lower priority", s.blocks[id].address)
	}
	if err := walkTree(s, place.children[smaller], id, visit); err != nil {
		return err
	}
	if err := walkHeap(s, id, visit); err != nil {
		return err
	}
	return walkTree(s, place.children[larger], id, visit)
}

// walkHeap visits the blocks of one size, each before those below it, and
// checks their links and order.
func walkHeap(s *blockSlab, id blockID, visit func(blockID) error) error {
	if err := visit(id); err != nil {
		return err
	}
	before := id
	for at := s.places[id].child; at != 0; at = s.places[at].next {
		switch {
		case s.places[at].prev != before:
			return fmt.Errorf("block at %#x does not know the one before it", s.blocks[at].address)
		case s.blocks[at].address <= s.blocks[id].address:
			return fmt.Errorf("block at %#x hangs below a higher one", s.blocks[at].address)
		case s.blocks[at].size != s.blocks[id].size:
			return fmt.Errorf("block at %#x hangs below one of another size", s.blocks[at].address)
		}
		if err := walkHeap(s, at, visit); err != nil {
			return err
		}
		before = at
	}
	return nil
}

// auditSpare checks that blocks in use and spare ones are all there are.
func auditSpare(l *ledger, inUse int) error {
	spare := 0
	for id := l.spare; id != 0; id = l.blocks[id].next {
		spare++
	}
	if all := max(0, len(l.blocks)-1); inUse+spare != all {
		return fmt.Errorf("%d blocks in use and %d spare of %d", inUse, spare, all)
	}
	return nil
}
