package dump

import (
	"cmp"
	"slices"

	"vramscope/recorder"
)

// Segment is memory from the driver at a moment.
type Segment struct {
	Address    uint64
	Bytes      int64
	Allocated  int64 // of it in blocks handed out, bytes
	Pending    int64 // of it in blocks that wait for a stream
	Stream     uint16
	Pool       uint16 // number of the memory pool
	Small      bool   // serves requests up to 1 MiB
	Expandable bool
	Unknown    bool  // no segment that the dump knows: a block lies outside all of them
	Stack      int32 // who caused it; BeforeRecording when nothing says
	Since      int   // the event that mapped its first byte, BeforeFirst for an older one
	First      int   // its first block in Map.Blocks
	Count      int   // its blocks
}

// Free is what of a segment is in free blocks, in bytes.
func (s *Segment) Free() int64 { return s.Bytes - s.Allocated - s.Pending }

// Map is the address space of a device's allocator at a moment: segments by
// address, each tiled by its blocks.
type Map struct {
	Segments []Segment
	Blocks   []Block
}

// EndMap is the map of the end state, as the dump has it.
func (d *Device) EndMap() *Map {
	m := &Map{Segments: make([]Segment, 0, len(d.Segments)), Blocks: make([]Block, 0, d.Blocks.Len())}
	alloc := map[uint64]int32{}
	if d.reachesEnd() {
		for _, block := range d.tracedLive(d.Events.Len() - 1) {
			alloc[d.Events.Address[block.alloc()]] = block.alloc()
		}
	}
	for i := range d.Segments {
		s := &d.Segments[i]
		at := Segment{
			Address: s.Address, Bytes: s.Bytes, Stream: s.Stream, Pool: s.Pool, Small: s.Small, Expandable: s.Expandable,
			Stack: stackBefore(s.Stack), Since: BeforeFirst, First: len(m.Blocks),
		}
		for n := int(s.First); n < int(s.First+s.Count) && n < d.Blocks.Len(); n++ {
			block := Block{
				Address: d.Blocks.Address[n], Bytes: d.Blocks.Bytes[n], Requested: d.Blocks.Requested[n],
				State: d.Blocks.State[n], Stack: d.Blocks.Stack[n], Alloc: BeforeFirst, Free: NotFreed,
			}
			if event, traced := alloc[block.Address]; traced && block.State != recorder.DumpInactive {
				block.Alloc = int(event)
			} else if block.State != recorder.DumpInactive {
				block.Stack = stackBefore(block.Stack)
			}
			m.push(&at, block)
		}
		m.Segments = append(m.Segments, at)
	}
	return m
}

func (m *Map) push(s *Segment, block Block) {
	m.Blocks = append(m.Blocks, block)
	s.Count++
	switch block.State {
	case recorder.DumpActive:
		s.Allocated += block.Bytes
	case recorder.DumpPendingFree:
		s.Pending += block.Bytes
	}
}

// MapAt is the map after an event: the segments of the moment with its live
// blocks in their places and free blocks between them.
func (d *Device) MapAt(event int) *Map {
	event = max(min(event, d.Events.Len()-1), BeforeFirst)
	blocks := d.LiveAt(event)
	slices.SortFunc(blocks, func(a, b Block) int { return cmp.Compare(a.Address, b.Address) })
	m := &Map{Blocks: make([]Block, 0, 2*len(blocks))}
	for _, s := range d.segmentsAt(event) {
		end := s.Address + uint64(s.Bytes)
		for len(blocks) > 0 && blocks[0].Address < s.Address {
			m.stray(blocks[0])
			blocks = blocks[1:]
		}
		s.First = len(m.Blocks)
		at := s.Address
		for len(blocks) > 0 && blocks[0].Address < end {
			block := blocks[0]
			blocks = blocks[1:]
			if block.Address > at {
				m.push(&s, freeBlock(at, block.Address))
			}
			m.push(&s, block)
			at = max(at, block.Address+uint64(block.Bytes))
		}
		if at < end {
			m.push(&s, freeBlock(at, end))
		}
		m.Segments = append(m.Segments, s)
	}
	for _, block := range blocks {
		m.stray(block)
	}
	return m
}

// stray adds a block that lies in no segment as one of its own.
func (m *Map) stray(block Block) {
	s := Segment{Address: block.Address, Bytes: block.Bytes, Unknown: true, Stack: BeforeRecording, Since: BeforeFirst, First: len(m.Blocks)}
	m.push(&s, block)
	m.Segments = append(m.Segments, s)
}

func freeBlock(from, to uint64) Block {
	return Block{Address: from, Bytes: int64(to - from), State: recorder.DumpInactive, Alloc: BeforeFirst, Free: NotFreed}
}

// segmentsAt are the segments after an event by address. Pieces of an
// expandable segment that border on each other are one.
func (d *Device) segmentsAt(event int) []Segment {
	var mapped []*piece
	for i := range d.pieces {
		if p := &d.pieces[i]; int(p.from) <= event && int(p.to) > event {
			mapped = append(mapped, p)
		}
	}
	slices.SortFunc(mapped, func(a, b *piece) int { return cmp.Compare(a.address, b.address) })
	segments := make([]Segment, 0, len(mapped))
	for _, p := range mapped {
		if n := len(segments); n > 0 && p.expandable && segments[n-1].continues(p) {
			segments[n-1].Bytes += p.bytes
			continue
		}
		segments = append(segments, Segment{
			Address: p.address, Bytes: p.bytes, Stream: p.stream, Pool: p.pool, Small: p.small,
			Expandable: p.expandable, Stack: p.stack, Since: int(p.from),
		})
	}
	return segments
}

// continues says whether a piece goes on where an expandable segment ends.
func (s *Segment) continues(p *piece) bool {
	return s.Expandable && s.Address+uint64(s.Bytes) == p.address && s.Stream == p.stream && s.Pool == p.pool && s.Small == p.small
}

// Shelf is the free memory that requests of one pool, stream and size class
// can use.
type Shelf struct {
	Pool       uint16
	Stream     uint16
	Small      bool
	Reserved   int64 // of its segments, bytes
	Free       int64 // in free blocks, bytes
	Largest    int64 // the largest free block
	Blocks     int   // free blocks
	Releasable int64 // in segments that are wholly free: what a reclaim can give back
}

// Shelves are the map's free memory by pool and stream, the most free bytes
// first.
func (m *Map) Shelves() []Shelf {
	type key struct {
		pool, stream uint16
		small        bool
	}
	places := map[key]int{}
	var shelves []Shelf
	for i := range m.Segments {
		s := &m.Segments[i]
		if s.Unknown {
			continue
		}
		k := key{s.Pool, s.Stream, s.Small}
		at, known := places[k]
		if !known {
			at = len(shelves)
			places[k] = at
			shelves = append(shelves, Shelf{Pool: s.Pool, Stream: s.Stream, Small: s.Small})
		}
		shelf := &shelves[at]
		shelf.Reserved += s.Bytes
		if s.Allocated+s.Pending == 0 {
			shelf.Releasable += s.Bytes
		}
		for _, block := range m.Blocks[s.First : s.First+s.Count] {
			if block.State == recorder.DumpInactive {
				shelf.Free += block.Bytes
				shelf.Largest = max(shelf.Largest, block.Bytes)
				shelf.Blocks++
			}
		}
	}
	slices.SortStableFunc(shelves, func(a, b Shelf) int { return cmp.Compare(b.Free, a.Free) })
	return shelves
}

// Space is how well a map's memory is used, in bytes.
type Space struct {
	Reserved   int64
	Allocated  int64
	Pending    int64
	Requested  int64 // of the blocks that are not free
	Free       int64 // in free blocks
	Largest    int64 // the largest free block
	Split      int64 // free in segments that also hold blocks: what no reclaim gives back
	Releasable int64 // in segments that are wholly free
}

// Rounding is what blocks hold beyond what was asked for.
func (s *Space) Rounding() int64 { return s.Allocated + s.Pending - s.Requested }

// Fragmentation is 1 − largest free block / free bytes; 0 when nothing is free.
func (s *Space) Fragmentation() float64 {
	if s.Free <= 0 {
		return 0
	}
	return 1 - float64(s.Largest)/float64(s.Free)
}

// Space adds the map up.
func (m *Map) Space() (space Space) {
	for i := range m.Segments {
		s := &m.Segments[i]
		if !s.Unknown {
			space.Reserved += s.Bytes
		}
		space.Allocated += s.Allocated
		space.Pending += s.Pending
		used := s.Allocated+s.Pending > 0
		if !used {
			space.Releasable += s.Bytes
		}
		for _, block := range m.Blocks[s.First : s.First+s.Count] {
			if block.State != recorder.DumpInactive {
				space.Requested += block.Requested
				continue
			}
			space.Free += block.Bytes
			space.Largest = max(space.Largest, block.Bytes)
			if used {
				space.Split += block.Bytes
			}
		}
	}
	return space
}

// Find is the number in Blocks of the block that holds an address, -1 without
// one.
func (m *Map) Find(address uint64) int {
	at, found := slices.BinarySearchFunc(m.Blocks, address, func(b Block, address uint64) int { return cmp.Compare(b.Address, address) })
	if !found {
		at--
	}
	if at < 0 || address-m.Blocks[at].Address >= uint64(m.Blocks[at].Bytes) {
		return -1
	}
	return at
}
