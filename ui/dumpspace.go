package ui

import (
	"cmp"
	"math/bits"
	"slices"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
)

// dumpSpace is the address space of a dump's device at a moment, with what it
// adds up to.
type dumpSpace struct {
	dumpMoment
	space    dump.Space
	live     int // blocks that are not free
	shelves  []dump.Shelf
	segments []dumpSegment
	blocks   []dump.Block
	starts   []*model.Segment // where the segments lie, as the sheet of blocks takes them
	largest  []int32          // blocks that are not free, the largest first
	all      freeClasses      // free blocks by size
	shelved  []freeClasses    // the same of each shelf
}

// dumpSegment is a segment with what its blocks say.
type dumpSegment struct {
	dump.Segment
	largest int64 // free block
	used    int   // blocks that are not free
}

// releasable says that the segment is wholly free.
func (s *dumpSegment) releasable() bool { return s.used == 0 }

// freeClasses are free blocks by size, as a pool's are.
type freeClasses = model.PoolUse

// mapOf is the map of a moment.
func mapOf(m dumpMoment) *dump.Map {
	device := m.device()
	if m.moment != dump.AtEnd || len(device.Segments) == 0 && device.Events.Len() > 0 {
		return device.MapAt(m.event)
	}
	end := device.EndMap()
	if device.Events.Len() > 0 {
		addSince(end, device.MapAt(m.event))
	}
	return end
}

// addSince adds to the segments of an end state what the trace alone says: since
// when they are there.
func addSince(end, replayed *dump.Map) {
	at := 0
	for i := range end.Segments {
		segment := &end.Segments[i]
		for at < len(replayed.Segments) && replayed.Segments[at].Address < segment.Address {
			at++
		}
		if at < len(replayed.Segments) && replayed.Segments[at].Address == segment.Address {
			segment.Since = replayed.Segments[at].Since
		}
	}
}

// newDumpSpace works the space of a moment out.
func newDumpSpace(m dumpMoment) *dumpSpace {
	read := mapOf(m)
	s := &dumpSpace{dumpMoment: m, space: read.Space(), shelves: read.Shelves(), blocks: read.Blocks}
	s.shelved = make([]freeClasses, len(s.shelves))
	s.segments = make([]dumpSegment, len(read.Segments))
	places := make([]model.Segment, len(read.Segments))
	s.starts = make([]*model.Segment, len(read.Segments))
	for i := range read.Segments {
		s.segments[i].Segment = read.Segments[i]
		places[i] = model.Segment{Address: read.Segments[i].Address, Bytes: read.Segments[i].Bytes}
		s.starts[i] = &places[i]
		s.addBlocks(&s.segments[i])
	}
	slices.SortFunc(s.largest, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.blocks[b].Bytes, s.blocks[a].Bytes), cmp.Compare(a, b))
	})
	return s
}

// addBlocks looks at the blocks of a segment.
func (s *dumpSpace) addBlocks(segment *dumpSegment) {
	shelf := slices.IndexFunc(s.shelves, func(shelf dump.Shelf) bool {
		return shelf.Pool == segment.Pool && shelf.Stream == segment.Stream && shelf.Small == segment.Small
	})
	for number := segment.First; number < segment.First+segment.Count; number++ {
		block := &s.blocks[number]
		if block.State != recorder.DumpInactive {
			segment.used++
			s.live++
			s.largest = append(s.largest, int32(number))
			continue
		}
		segment.largest = max(segment.largest, block.Bytes)
		addFree(&s.all, block.Bytes)
		if shelf >= 0 && !segment.Unknown {
			addFree(&s.shelved[shelf], block.Bytes)
		}
	}
}

func addFree(classes *freeClasses, bytes int64) {
	classes.Free.Bytes += bytes
	classes.Free.Blocks++
	classes.Free.Largest = max(classes.Free.Largest, bytes)
	size := &classes.Sizes[bits.Len64(uint64(max(bytes, 1)))-1]
	size.Blocks++
	size.Bytes += bytes
}

// segmentOf is the segment of a block.
func (s *dumpSpace) segmentOf(block int) int {
	at, found := slices.BinarySearchFunc(s.segments, block, func(segment dumpSegment, block int) int { return cmp.Compare(segment.First, block) })
	if !found {
		at--
	}
	return max(at, 0)
}

// find is the block that holds an address, or the first one.
func (s *dumpSpace) find(address uint64) int {
	return max((&dump.Map{Blocks: s.blocks}).Find(address), 0)
}

// spaceOf is the space of the moment looked at; nil while it is worked out, and
// why says so or what is missing.
func spaceOf(s *scene) (space *dumpSpace, why string) {
	m := s.dumpMoment()
	if m.index == nil {
		return nil, unreadText(s, "")
	}
	w := s.dumps
	w.size.take(m.dumpTrace)
	if w.space.lacks(m) {
		w.askSpace(m)
	}
	space, ok := w.space.to(m)
	switch {
	case !ok:
		return nil, "Working out where the blocks lie at this moment..."
	case len(space.segments) == 0:
		return nil, "Nothing was reserved at this moment, as far as the dump says."
	}
	return space, ""
}
