package ui

import (
	"vramscope/model/dump"
)

// dumpWork is what has been worked out for the panes on a memory dump: the tree
// of its stacks, what they weigh, the map of a moment.
type dumpWork struct {
	source string // the dump's; "" while none is looked at
	queue  workQueue
	names  dumpNames
	size   dumpSize

	forest  reckoning[forestQuestion, *dumpForest]
	found   reckoning[findQuestion, *foundNodes]
	weights [weightCount]reckoning[weightQuestion, *dump.Weights]
	space   reckoning[dumpMoment, *dumpSpace]
	failure reckoning[dumpMoment, *dumpFailure]
	diff    reckoning[diffQuestion, *dumpDiff]
}

// forget lets go of a dump, so that its memory can be had back, for another one.
func (w *dumpWork) forget(source string) {
	w.source, w.queue.commands, w.names, w.size = source, nil, dumpNames{}, dumpSize{}
	w.forest.forget()
	w.found.forget()
	for i := range w.weights {
		w.weights[i].forget()
	}
	w.space.forget()
	w.failure.forget()
	w.diff.forget()
}

// What is asked has a function of its own, so that a frame in which nothing is
// asked makes no garbage.

func (w *dumpWork) askForest(q forestQuestion, pattern filterPattern) {
	w.forest.ask(q, &w.queue, w.size.stacks, func() *dumpForest { return growForest(q, pattern) })
}

func (w *dumpWork) askFound(q findQuestion, pattern filterPattern) {
	w.found.ask(q, &w.queue, w.size.stacks, func() *foundNodes { return q.forest.find(pattern) })
}

func (w *dumpWork) askWeights(number int, q weightQuestion) {
	heavy := w.size.stacks || w.size.blocks && number != weightAllocated
	w.weights[number].ask(q, &w.queue, heavy, func() *dump.Weights { return q.weigh(number) })
}

func (w *dumpWork) askSpace(m dumpMoment) {
	w.space.ask(m, &w.queue, w.size.blocks, func() *dumpSpace { return newDumpSpace(m) })
}

func (w *dumpWork) askFailure(failed dumpMoment) {
	w.failure.ask(failed, &w.queue, w.size.blocks, func() *dumpFailure { return explain(failed) })
}

func (w *dumpWork) askDiff(q diffQuestion, then, now string) {
	w.diff.ask(q, &w.queue, w.size.stacks || w.size.blocks, func() *dumpDiff { return newDumpDiff(q, then, now) })
}

// dumpTrace is one device's part of a dump.
type dumpTrace struct {
	index  *dump.Index
	number int // in Index.Devices
}

func (t dumpTrace) device() *dump.Device { return t.index.Devices[t.number] }

// dumpMoment is a moment of a dump. Without an index it is none.
type dumpMoment struct {
	dumpTrace
	moment dump.Moment
	event  int // after which the moment lies
}

// dumpMoment is the moment that is looked at; it has no index where the source
// is no dump with a device.
func (s *scene) dumpMoment() dumpMoment {
	facts := s.dumpFacts()
	if facts == nil {
		return dumpMoment{}
	}
	return dumpMoment{dumpTrace{facts.index, facts.number}, facts.moment(), facts.last()}
}

// Above so many frames in all stacks together, or blocks that live at a moment,
// questions are answered off the update loop: a key must be answered in 16 ms.
const (
	heavyFrames = 100_000
	heavyBlocks = 10_000
)

// dumpSize says whether questions about a dump take long.
type dumpSize struct {
	of     dumpTrace
	stacks bool // about its stacks
	blocks bool // about its blocks
}

// take looks at a dump, once.
func (z *dumpSize) take(t dumpTrace) {
	if z.of == t {
		return
	}
	device := t.device()
	*z = dumpSize{of: t}
	z.stacks = len(t.index.Dump.Stacks.Frames) > heavyFrames || len(t.index.Dump.Frames) > heavyFrames/10
	z.blocks = z.stacks || device.Blocks.Len() > heavyBlocks
	if z.blocks {
		return
	}
	live := int64(0)
	for _, total := range device.LiveByStack(device.Peaks[dump.Allocated].Event) {
		live += total.Count
	}
	z.blocks = live > heavyBlocks
}
