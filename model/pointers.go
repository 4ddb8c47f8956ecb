package model

import "vramscope/recorder"

// pointerBlockEvents is how many events of an arena one block sums up.
const pointerBlockEvents = 64

// pointerChunkBits says for how many blocks a track takes memory at a time, as a
// power of two.
const pointerChunkBits = 4

// pointerTrack is where one arena's pointers stood, at the resolution of its
// events: the extremes of blocks of events, and pyramids above them. The events
// themselves are on the tape.
type pointerTrack struct {
	id       int64
	base     int64 // number of its first event among all that the arena ever had
	blocks   vector[pointerBlock]
	pyramids [pointerKinds]pyramid
	open     pointerBlock // the newest block, not complete
	view     *pointerView
}

// pointerView is a track for readers. It is immutable.
type pointerView struct {
	id, base int64
	blocks   vector[pointerBlock]
	pyramids [pointerKinds]pyramid
	open     pointerBlock
}

// The pointers that are charted.
const (
	pointerForward = iota
	pointerReverse // bytes in use on the reverse side
	pointerUsed    // both sides together
	pointerKinds
)

// pointerBlock is the extremes of some events, and where the last left off.
type pointerBlock struct {
	ns     int64 // of its first event
	length int64 // of the arena at its first event, 0 while it is not known
	count  int32
	spans  [pointerKinds]span
	last   [pointerKinds]int64
}

// add takes an event in. Length is the arena's, 0 while it is not known.
func (t *pointerTrack) add(event *recorder.ArenaEvent, length int64) {
	t.view = nil
	t.open.add(event, length)
	if t.open.count < pointerBlockEvents {
		return
	}
	t.blocks.bits = pointerChunkBits
	t.blocks.append(t.open)
	for k := range t.pyramids {
		t.pyramids[k].add(t.open.spans[k])
	}
	t.open = pointerBlock{}
}

func (b *pointerBlock) add(event *recorder.ArenaEvent, length int64) {
	if b.count == 0 {
		b.ns, b.length = event.Ns, length
		b.spans = [pointerKinds]span{noSpan, noSpan, noSpan}
	}
	b.count++
	b.last = pointersOf(event, length)
	for k, value := range b.last {
		b.spans[k].add(value)
	}
}

// pointersOf are the charted values after an event.
func pointersOf(event *recorder.ArenaEvent, length int64) [pointerKinds]int64 {
	if length == 0 {
		return [pointerKinds]int64{event.Forward, unknownValue, unknownValue}
	}
	reverse := length - event.Reverse
	return [pointerKinds]int64{event.Forward, reverse, usedOf(event.Forward, reverse, length)}
}

// usedOf is what both sides use of an arena. Pointers that cross, as of an arena
// that is described the wrong way round, do not make it larger than it is.
func usedOf(forward, reverse, length int64) int64 { return min(forward+reverse, length) }

// drop gives up the blocks in front of an event, by whole chunks.
func (t *pointerTrack) drop(event int64) {
	block := int((event - t.base) / pointerBlockEvents)
	if t.blocks.drop(block) > 0 {
		t.view = nil
	}
	for k := range t.pyramids {
		t.pyramids[k].drop(t.blocks.first)
	}
}

// publish is the track as it is now, for readers.
func (t *pointerTrack) publish() *pointerView {
	if t.view == nil {
		t.view = &pointerView{id: t.id, base: t.base, blocks: t.blocks, pyramids: t.pyramids, open: t.open}
	}
	return t.view
}
