package dump

import (
	"cmp"
	"slices"

	"vramscope/recorder"
)

// firstPieces finds the memory that was there before the first event: what the
// trace gives back without having taken it, and what the end state has and the
// trace never touched. segmentEvents are the events that take or give back.
// Of a trace that misses its end, only such segments of the end state count as
// keep accepts.
func firstPieces(events *recorder.DumpEvents, segmentEvents []int32, segments []recorder.DumpSegment, keep func(*recorder.DumpSegment) bool) []piece {
	edges := pieceEdges(events, segmentEvents, segments)
	if len(edges) < 2 {
		return nil
	}
	const untouched, taken = -1, -2
	// source says for each interval between two edges who had it first: an
	// event that gave it back, or the trace took it.
	source := make([]int32, len(edges)-1)
	for i := range source {
		source[i] = untouched
	}
	next := newSkips(len(source))
	for _, event := range segmentEvents {
		first, last := intervalOf(edges, events.Address[event], events.Bytes[event])
		for at := next.at(first); at < last; at = next.at(at + 1) {
			source[at] = taken
			if action := events.Action[event]; action == recorder.DumpSegmentFree || action == recorder.DumpSegmentUnmap {
				source[at] = event
			}
			next.skip(at)
		}
	}
	var pieces []piece
	extend := func(at int, origin piece, sameSource bool) {
		if last := len(pieces) - 1; sameSource && last >= 0 && pieces[last].end() == edges[at] {
			pieces[last].bytes += int64(edges[at+1] - edges[at])
			return
		}
		origin.address, origin.bytes = edges[at], int64(edges[at+1]-edges[at])
		origin.from, origin.to = BeforeFirst, never
		pieces = append(pieces, origin)
	}
	for at, event := range source {
		if event >= 0 {
			extend(at, pieceOfEvent(events, event), at > 0 && source[at-1] == event)
		}
	}
	for i := range segments {
		s := &segments[i]
		if !keep(s) {
			continue
		}
		first, last := intervalOf(edges, s.Address, s.Bytes)
		for at, joined := next.at(first), -2; at < last; at = next.at(at + 1) {
			next.skip(at)
			extend(at, pieceOfSegment(s), at == joined+1)
			joined = at
		}
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.address, b.address) })
	return pieces
}

func pieceOfEvent(events *recorder.DumpEvents, event int32) piece {
	action := events.Action[event]
	p := piece{
		address: events.Address[event], bytes: events.Bytes[event], from: event, to: never,
		stack: events.Stack[event], stream: events.Stream[event], pool: events.Pool[event],
		small:      events.Bytes[event] == smallSegment,
		expandable: action == recorder.DumpSegmentMap || action == recorder.DumpSegmentUnmap,
	}
	if p.expandable { // in whole pages, which are as large as a segment
		p.small = p.bytes%largeSegment != 0
	}
	return p
}

func pieceOfSegment(s *recorder.DumpSegment) piece {
	return piece{
		address: s.Address, bytes: s.Bytes, stack: stackBefore(s.Stack), stream: s.Stream, pool: s.Pool,
		small: s.Small, expandable: s.Expandable,
	}
}

// pieceEdges are all addresses at which memory may begin or end, in order.
func pieceEdges(events *recorder.DumpEvents, segmentEvents []int32, segments []recorder.DumpSegment) []uint64 {
	edges := make([]uint64, 0, 2*(len(segmentEvents)+len(segments)))
	add := func(address uint64, bytes int64) {
		if end := address + uint64(bytes); bytes > 0 && end > address {
			edges = append(edges, address, end)
		}
	}
	for _, event := range segmentEvents {
		add(events.Address[event], events.Bytes[event])
	}
	for i := range segments {
		add(segments[i].Address, segments[i].Bytes)
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}

// intervalOf is the intervals [first, last) that memory covers.
func intervalOf(edges []uint64, address uint64, bytes int64) (first, last int) {
	end := address + uint64(bytes)
	if bytes <= 0 || end <= address {
		return 0, 0
	}
	first, _ = slices.BinarySearch(edges, address)
	last, _ = slices.BinarySearch(edges, end)
	return first, last
}

// skips finds the next place that was not skipped, in a row of places.
type skips []int32

func newSkips(count int) skips {
	s := make(skips, count+2)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// at is the first place from one on that was not skipped.
func (s skips) at(place int) int {
	root := place
	for int(s[root]) != root {
		root = int(s[root])
	}
	for int(s[place]) != root {
		place, s[place] = int(s[place]), int32(root)
	}
	return root
}

func (s skips) skip(place int) { s[place] = int32(place + 1) }
