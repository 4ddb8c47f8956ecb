package ui

import (
	"vramscope/model"
)

// maximumStreams is how many streams of one segment are told apart.
const maximumStreams = 8

// segmentTotal is what the blocks of a segment add up to. Bytes.
type segmentTotal struct {
	segment    *model.Segment
	live, free int64
	largest    int64 // free block
	liveBlocks int
	newest     int64 // monotonic ns of the newest change in it, 0 unknown
	streams    [maximumStreams]uint32
	known      int  // of streams
	more       bool // there are more streams than that
}

// releasable says that the segment is wholly free, so that a reclaim gives it
// back.
func (t *segmentTotal) releasable() bool { return t.live == 0 }

// isReleasable says the same of a segment without adding it up: its first live
// block ends the search.
func isReleasable(segment *model.Segment) bool {
	for block := range segment.Blocks() {
		if block.Live {
			return false
		}
	}
	return true
}

func totalOf(segment *model.Segment) segmentTotal {
	t := segmentTotal{segment: segment}
	for block := range segment.Blocks() {
		if block.Live {
			t.live += block.Bytes
			t.liveBlocks++
		} else {
			t.free += block.Bytes
			t.largest = max(t.largest, block.Bytes)
		}
		t.newest = max(t.newest, block.Since)
		t.addStream(block.Stream)
	}
	return t
}

func (t *segmentTotal) addStream(stream uint32) {
	for _, known := range t.streams[:t.known] {
		if known == stream {
			return
		}
	}
	if t.known == maximumStreams {
		t.more = true
		return
	}
	t.streams[t.known] = stream
	t.known++
}

// segmentTotals are the totals of a pool's segments, in address order. A segment
// that has not changed from one snapshot to the next is not looked at again.
type segmentTotals struct {
	pool *model.PoolView
	all  []segmentTotal
	old  []segmentTotal
}

// update takes a pool; false when it is the one that is known already.
func (t *segmentTotals) update(pool *model.PoolView) bool {
	if t.pool == pool {
		return false
	}
	t.pool = pool
	t.old, t.all = t.all, t.old[:0]
	at := 0
	for _, segment := range pool.Segments {
		for at < len(t.old) && t.old[at].segment.Address < segment.Address {
			at++
		}
		if at < len(t.old) && t.old[at].segment == segment {
			t.all = append(t.all, t.old[at])
			continue
		}
		t.all = append(t.all, totalOf(segment))
	}
	return true
}
