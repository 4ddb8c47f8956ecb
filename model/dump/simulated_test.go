package dump

import (
	"math/rand/v2"
	"slices"

	"vramscope/recorder"
)

// simulated is a caching allocator that keeps PyTorch's rules in the plainest
// way, by looking through lists, and writes a trace as PyTorch does. It knows
// the truth at every event.
type simulated struct {
	random     *rand.Rand
	expandable bool
	rules      rules
	regions    []*simRegion
	freed      [][2]uint64 // address, bytes of segments that were given back
	next       uint64
	clock      int64

	recording bool
	asks      bool // write free_requested
	dump      recorder.Dump
	events    recorder.DumpEvents
	truth     []moment
	now       Totals
	waiting   []*simBlock
}

// moment is the truth after an event.
type moment struct {
	totals Totals
	blocks []Block // by address, without Alloc and Free; nil where it was not noted
	mapped *Map
}

type simRegion struct {
	stream, pool uint16
	small        bool
	expandable   bool
	stack        int32
	blocks       []*simBlock // by address
}

type simBlock struct {
	region    *simRegion
	address   uint64
	bytes     int64
	requested int64
	state     recorder.DumpBlockState
	unmapped  bool
	stack     int32
}

func newSimulated(seed uint64, expandable bool) *simulated {
	s := &simulated{
		random: rand.New(rand.NewPCG(seed, 1)), expandable: expandable, next: 1 << 40, clock: 1_700_000_000_000_000,
		recording: true, asks: true,
	}
	s.dump.Streams, s.dump.MemoryPools = []uint64{0, 77}, [][2]int64{{0, 0}, {0, 1}}
	s.dump.Strings = []string{"", "run", "train.py"}
	s.dump.Stacks.Start = []uint32{0, 0}
	for line := range uint32(8) {
		s.dump.Frames = append(s.dump.Frames, recorder.DumpFrame{Name: 1, File: 2, Line: int64(line)})
		s.dump.Stacks.Frames = append(s.dump.Stacks.Frames, line)
		s.dump.Stacks.Start = append(s.dump.Stacks.Start, line+1)
	}
	value := "false"
	if expandable {
		value = "true"
	}
	s.dump.Settings = []recorder.DumpSetting{{Key: "expandable_segments", Value: value}}
	if seed%3 == 0 && !expandable { // torch wants one of them at a time
		s.dump.Settings = append(s.dump.Settings, recorder.DumpSetting{Key: "max_split_size", Value: "8388608"})
	}
	if seed%4 == 0 {
		s.dump.Settings = append(s.dump.Settings, recorder.DumpSetting{Key: "PYTORCH_CUDA_ALLOC_CONF", Value: "roundup_power2_divisions:4"})
	}
	s.rules = rulesOf(s.dump.Settings, false)
	return s
}

func (s *simulated) record(action recorder.DumpAction, address uint64, bytes int64, r *simRegion, stack int32) {
	if !s.recording {
		return
	}
	s.clock += s.random.Int64N(50)
	e := &s.events
	e.Action = append(e.Action, action)
	e.Address = append(e.Address, address)
	e.Bytes = append(e.Bytes, bytes)
	e.Stream = append(e.Stream, r.stream)
	e.Pool = append(e.Pool, r.pool)
	e.TimeUs = append(e.TimeUs, s.clock)
	e.Stack = append(e.Stack, stack)
	m := moment{totals: s.now}
	if s.random.IntN(8) == 0 {
		m.mapped = s.mapNow()
		m.blocks = slices.DeleteFunc(slices.Clone(m.mapped.Blocks), func(b Block) bool { return b.State == recorder.DumpInactive })
	}
	s.truth = append(s.truth, m)
}

func (s *simulated) mapNow() *Map {
	m := &Map{}
	order := slices.Clone(s.regions)
	slices.SortFunc(order, func(a, b *simRegion) int {
		if a.blocks[0].address < b.blocks[0].address {
			return -1
		}
		return 1
	})
	for _, r := range order {
		fresh := true
		for _, b := range r.blocks {
			if b.unmapped {
				fresh = true
				continue
			}
			if fresh {
				m.Segments = append(m.Segments, Segment{
					Address: b.address, Stream: r.stream, Pool: r.pool, Small: r.small, Expandable: r.expandable, First: len(m.Blocks),
				})
				fresh = false
			}
			at := &m.Segments[len(m.Segments)-1]
			at.Bytes += b.bytes
			block := Block{Address: b.address, Bytes: b.bytes, State: b.state, Stack: b.stack}
			if b.state != recorder.DumpInactive {
				block.Requested = b.requested
			} else {
				block.Stack = 0
			}
			m.push(at, block)
		}
	}
	return m
}

// malloc allocates and says whether the memory came without a new segment.
func (s *simulated) malloc(requested int64, stream, pool uint16, stack int32) *simBlock {
	rounded := s.rules.round(requested)
	small := s.rules.small(rounded)
	b := s.bestFit(rounded, stream, pool, small)
	if b == nil && s.expandable {
		b = s.grow(rounded, stream, pool, small, stack)
	} else if b == nil {
		b = s.segment(rounded, stream, pool, small, stack)
	}
	if bytes := s.rules.block(rounded, b.bytes, b.region.expandable); bytes < b.bytes {
		s.cut(b, bytes)
	}
	b.state, b.requested, b.stack = recorder.DumpActive, requested, stack
	s.now[Requested] += requested
	s.now[Allocated] += b.bytes
	s.record(recorder.DumpAlloc, b.address, requested, b.region, stack)
	return b
}

func (s *simulated) bestFit(rounded int64, stream, pool uint16, small bool) (best *simBlock) {
	for _, r := range s.regions {
		if r.stream != stream || r.pool != pool || r.small != small {
			continue
		}
		for _, b := range r.blocks {
			if b.free() && b.bytes >= rounded && s.allowed(rounded, b.bytes) &&
				(best == nil || b.bytes < best.bytes || b.bytes == best.bytes && b.address < best.address) {
				best = b
			}
		}
	}
	return best
}

// allowed keeps large blocks for large requests when max_split_size is set.
func (s *simulated) allowed(rounded, bytes int64) bool {
	limit := s.rules.maximumSplit
	return limit == unlimitedSplitBytes || (rounded < limit) == (bytes < limit) && (rounded < limit || bytes < rounded+20<<20)
}

func (s *simulated) segment(rounded int64, stream, pool uint16, small bool, stack int32) *simBlock {
	bytes := s.rules.segment(rounded)
	address := s.next
	reuse := slices.IndexFunc(s.freed, func(f [2]uint64) bool { return int64(f[1]) == bytes })
	if reuse >= 0 && s.random.IntN(2) == 0 {
		address = s.freed[reuse][0]
		s.freed = slices.Delete(s.freed, reuse, reuse+1)
	} else {
		s.next += uint64(bytes) + uint64(s.random.IntN(2))<<21
	}
	r := &simRegion{stream: stream, pool: pool, small: small, stack: stack}
	b := &simBlock{region: r, address: address, bytes: bytes}
	r.blocks = []*simBlock{b}
	s.regions = append(s.regions, r)
	s.now[Reserved] += bytes
	s.record(recorder.DumpSegmentAlloc, address, bytes, r, stack)
	return b
}

// grow maps pages of an expandable segment so that a block of so many bytes
// fits.
func (s *simulated) grow(rounded int64, stream, pool uint16, small bool, stack int32) *simBlock {
	page := int64(largeSegment)
	if small {
		page = smallSegment
	}
	at := slices.IndexFunc(s.regions, func(r *simRegion) bool { return r.stream == stream && r.pool == pool && r.small == small })
	if at < 0 {
		r := &simRegion{stream: stream, pool: pool, small: small, expandable: true, stack: stack}
		r.blocks = []*simBlock{{region: r, address: s.next, bytes: 1 << 36, unmapped: true}}
		s.next += 1 << 37
		s.regions = append(s.regions, r)
		at = len(s.regions) - 1
	}
	r := s.regions[at]
	for i, u := range r.blocks {
		if !u.unmapped {
			continue
		}
		have, start := int64(0), u
		if i > 0 && r.blocks[i-1].free() {
			start = r.blocks[i-1]
			have = start.bytes
		}
		after := int64(0)
		if i+1 < len(r.blocks) && r.blocks[i+1].free() {
			after = r.blocks[i+1].bytes
		}
		if have+u.bytes+after < rounded {
			continue
		}
		bytes := min((rounded-have+page-1)/page*page, u.bytes)
		if bytes < u.bytes {
			s.cut(u, bytes).unmapped = true
		}
		u.unmapped = false
		s.now[Reserved] += bytes
		address := u.address
		merged := s.merge(u)
		s.record(recorder.DumpSegmentMap, address, bytes, r, stack)
		return merged
	}
	panic("an expandable segment is full")
}

func (b *simBlock) free() bool { return b.state == recorder.DumpInactive && !b.unmapped }

// cut splits a block after so many bytes and returns the rest.
func (s *simulated) cut(b *simBlock, bytes int64) *simBlock {
	rest := &simBlock{region: b.region, address: b.address + uint64(bytes), bytes: b.bytes - bytes, stack: b.stack}
	b.bytes = bytes
	at := slices.Index(b.region.blocks, b)
	b.region.blocks = slices.Insert(b.region.blocks, at+1, rest)
	return rest
}

// merge joins a free block with its free neighbours.
func (s *simulated) merge(b *simBlock) *simBlock {
	r := b.region
	at := slices.Index(r.blocks, b)
	if at+1 < len(r.blocks) && r.blocks[at+1].free() {
		b.bytes += r.blocks[at+1].bytes
		r.blocks = slices.Delete(r.blocks, at+1, at+2)
	}
	if at > 0 && r.blocks[at-1].free() {
		r.blocks[at-1].bytes += b.bytes
		r.blocks = slices.Delete(r.blocks, at, at+1)
		return r.blocks[at-1]
	}
	return b
}

// free gives a block up; one that another stream uses waits.
func (s *simulated) free(b *simBlock, otherStream bool) {
	b.state = recorder.DumpPendingFree
	s.now[Allocated] -= b.bytes
	s.now[Pending] += b.bytes
	if s.asks {
		s.record(recorder.DumpFreeRequested, b.address, b.requested, b.region, 0)
	}
	if otherStream {
		s.waiting = append(s.waiting, b)
		return
	}
	s.complete(b)
}

func (s *simulated) complete(b *simBlock) {
	b.state = recorder.DumpInactive
	s.now[Pending] -= b.bytes
	s.now[Requested] -= b.requested
	address, requested := b.address, b.requested
	s.merge(b)
	s.record(recorder.DumpFreeCompleted, address, requested, b.region, 0)
}

// emptyCache gives wholly free segments and pages back.
func (s *simulated) emptyCache() {
	for _, r := range slices.Clone(s.regions) {
		if r.expandable {
			s.unmapPages(r)
			continue
		}
		if len(r.blocks) == 1 && r.blocks[0].free() {
			b := r.blocks[0]
			s.regions = slices.DeleteFunc(s.regions, func(other *simRegion) bool { return other == r })
			s.freed = append(s.freed, [2]uint64{b.address, uint64(b.bytes)})
			s.now[Reserved] -= b.bytes
			s.record(recorder.DumpSegmentFree, b.address, b.bytes, r, 0)
		}
	}
}

func (s *simulated) unmapPages(r *simRegion) {
	page := uint64(largeSegment)
	if r.small {
		page = smallSegment
	}
	origin := r.blocks[0].address
	for _, b := range slices.Clone(r.blocks) {
		if !b.free() {
			continue
		}
		first := origin + (b.address-origin+page-1)/page*page
		last := origin + (b.address+uint64(b.bytes)-origin)/page*page
		if first >= last {
			continue
		}
		if b.address < first {
			b = s.cut(b, int64(first-b.address))
		}
		if b.address+uint64(b.bytes) > last {
			s.cut(b, int64(last-first))
		}
		b.unmapped = true
		s.joinUnmapped(r)
		s.now[Reserved] -= int64(last - first)
		s.record(recorder.DumpSegmentUnmap, first, int64(last-first), r, 0)
	}
}

func (s *simulated) joinUnmapped(r *simRegion) {
	for i := 0; i+1 < len(r.blocks); {
		if r.blocks[i].unmapped && r.blocks[i+1].unmapped {
			r.blocks[i].bytes += r.blocks[i+1].bytes
			r.blocks = slices.Delete(r.blocks, i+1, i+2)
			continue
		}
		i++
	}
}

// run does so many random things.
func (s *simulated) run(steps int) {
	var live []*simBlock
	for _, r := range s.regions {
		for _, b := range r.blocks {
			if b.state == recorder.DumpActive {
				live = append(live, b)
			}
		}
	}
	for range steps {
		switch dice := s.random.IntN(100); {
		case dice < 50:
			live = append(live, s.malloc(s.size(), uint16(s.random.IntN(2)), uint16(s.random.IntN(2)), int32(1+s.random.IntN(8))))
		case dice < 90 && len(live) > 0:
			at := s.random.IntN(len(live))
			s.free(live[at], s.random.IntN(8) == 0)
			live = slices.Delete(live, at, at+1)
		case dice < 97 && len(s.waiting) > 0:
			at := s.random.IntN(len(s.waiting))
			b := s.waiting[at]
			s.waiting = slices.Delete(s.waiting, at, at+1)
			s.complete(b)
		case dice >= 98:
			s.emptyCache()
		}
	}
}

func (s *simulated) size() int64 {
	switch s.random.IntN(4) {
	case 0:
		return 1 + s.random.Int64N(4096)
	case 1:
		return 1 + s.random.Int64N(2<<20)
	}
	return 1 + s.random.Int64N(30<<20)
}

// finish writes the end state. first is the first event that the ring still
// holds.
func (s *simulated) finish(first int) (*recorder.Dump, []moment) {
	e := &s.events
	cut := recorder.DumpEvents{
		Action: e.Action[first:], Address: e.Address[first:], Bytes: e.Bytes[first:], Stream: e.Stream[first:],
		Pool: e.Pool[first:], TimeUs: e.TimeUs[first:], Stack: e.Stack[first:],
	}
	d := recorder.DumpDevice{Events: cut}
	m := s.mapNow()
	for _, at := range m.Segments {
		d.Segments = append(d.Segments, recorder.DumpSegment{
			Address: at.Address, Bytes: at.Bytes, Allocated: at.Allocated, Active: at.Allocated + at.Pending,
			Stream: at.Stream, Pool: at.Pool, Small: at.Small, Expandable: at.Expandable, First: int32(at.First), Count: int32(at.Count),
		})
	}
	for _, b := range m.Blocks {
		d.Blocks.Address = append(d.Blocks.Address, b.Address)
		d.Blocks.Bytes = append(d.Blocks.Bytes, b.Bytes)
		d.Blocks.Requested = append(d.Blocks.Requested, b.Requested)
		d.Blocks.State = append(d.Blocks.State, b.State)
		d.Blocks.Stack = append(d.Blocks.Stack, b.Stack)
	}
	s.dump.Devices = []recorder.DumpDevice{d}
	return &s.dump, s.truth[first:]
}
