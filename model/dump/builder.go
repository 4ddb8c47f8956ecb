package dump

import (
	"math"
	"slices"
	"sync"

	"vramscope/recorder"
)

// Builder builds an Index while the dump is still being read, so that little
// is left to do when it ends. It is used from one goroutine at a time.
type Builder struct {
	x     *Index
	parts []*building // by device, in the order of their first appearance
}

// NewBuilder begins an Index.
func NewBuilder() *Builder { return &Builder{x: &Index{}} }

// Read takes in the events that part of a dump has beyond those of the part
// before. Rows, strings, frames and stacks keep their numbers from part to
// part, as those of torchsnap's Options.Partial do.
func (b *Builder) Read(part *recorder.Dump) {
	b.x.Dump = part
	for i := range part.Devices {
		b.building(&part.Devices[i]).runAhead()
	}
}

// Finish takes in the whole dump and returns its index. The Builder is spent
// then.
func (b *Builder) Finish(dump *recorder.Dump) *Index {
	x := b.x
	x.Dump, x.Problems = dump, slices.Clone(dump.Problems)
	x.folding.init(dump)
	for i := range dump.Devices {
		d := b.building(&dump.Devices[i]).finish()
		x.Devices = append(x.Devices, d)
		for _, problem := range d.Problems {
			if len(dump.Devices) > 1 {
				problem = d.Name() + ": " + problem
			}
			x.problem(problem)
		}
	}
	return x
}

// building finds the device's index under way, or begins it.
func (b *Builder) building(source *recorder.DumpDevice) *building {
	at := slices.IndexFunc(b.parts, func(p *building) bool {
		return p.d.Ordinal == source.Ordinal && p.d.Host == source.Host
	})
	if at >= 0 && b.parts[at].goesOn(source) {
		b.parts[at].see(source)
		return b.parts[at]
	}
	begun := &building{d: &Device{index: b.x}, p: newPairing(0)}
	begun.see(source)
	if at >= 0 {
		b.parts[at] = begun
	} else {
		b.parts = append(b.parts, begun)
	}
	return begun
}

// building is a device's index under way.
type building struct {
	d      *Device
	p      *pairing
	r      *replay // runs ahead; nil before it began and after it had to give up
	behind bool    // the replay has to wait for the end: it depends on what is there
}

// goesOn says whether a device begins with the events that were read.
func (b *building) goesOn(source *recorder.DumpDevice) bool {
	last := len(b.p.life) - 1
	return last < 0 || last < source.Events.Len() && source.Events.Address[last] == b.d.Events.Address[last] &&
		source.Events.Action[last] == b.d.Events.Action[last]
}

func (b *building) see(source *recorder.DumpDevice) {
	b.d.DumpDevice, b.d.Events = source, &source.Events
	if source.Events.Len() >= math.MaxInt32 {
		b.d.Events = firstEvents(b.d.Events, math.MaxInt32-1)
	}
}

func firstEvents(e *recorder.DumpEvents, count int) *recorder.DumpEvents {
	return &recorder.DumpEvents{
		Action: e.Action[:count], Address: e.Address[:count], Bytes: e.Bytes[:count], Stream: e.Stream[:count],
		Pool: e.Pool[:count], TimeUs: e.TimeUs[:count], Stack: e.Stack[:count], Free: e.Free, Notes: e.Notes,
	}
}

func (b *building) stacks() int { return max(b.d.index.Dump.Stacks.Len(), 1) }

// runAhead pairs and replays what is there, as if nothing was older than the
// trace and all settings were the usual ones. Most traces begin with their
// program, and then it was so.
func (b *building) runAhead() {
	d, n := b.d, b.d.Events.Len()
	var wait sync.WaitGroup
	wait.Go(func() { d.tally.look(d.Events, n, b.stacks()) })
	b.p.read(d.Events, n)
	d.life = b.p.life
	wait.Wait()
	if b.p.unseen > 0 || len(b.p.closes) > 0 {
		b.behind, b.r = true, nil
	}
	if b.behind {
		d.live.look(d, n)
		return
	}
	if b.r == nil {
		b.r = newReplay(d, b.p, newGeometry(rulesOf(nil, d.Host)))
	}
	wait.Go(func() { d.live.look(d, n) })
	b.r.run(n / chunk * chunk)
	wait.Wait()
}

func (b *building) finish() *Device {
	d, n := b.d, b.d.Events.Len()
	if all := d.DumpDevice.Events.Len(); all > n {
		d.problem("the trace has %d events, of which the first %d are shown", all, n)
	}
	var wait sync.WaitGroup
	wait.Go(func() { d.tally.look(d.Events, n, b.stacks()) })
	b.p.read(d.Events, n)
	wait.Wait()
	d.adoptTally()
	b.pair()
	p := b.p
	d.begin, d.life, d.before, d.freeOnRequest, d.Unseen = p.begin, p.life, p.before, p.freeOnRequest, p.unseen
	d.closes = make(map[int32]closing, len(p.closes))
	for event, block := range p.closes {
		d.closes[event] = closing{block: block}
	}
	wait.Go(func() { d.live.look(d, n) })
	g := d.layOut(p)
	if ahead := b.r; ahead == nil || len(g.pieces)+len(d.before)+len(d.closes) > 0 || g.rules != ahead.g.rules {
		b.r = newReplay(d, p, g)
	}
	b.r.run(n)
	b.r.finish()
	wait.Wait()
	d.conclude(b.r)
	return d
}

// pair ends the pairing. It begins anew where the whole trace shows that it
// has to be read in another way.
func (b *building) pair() {
	d, counts := b.d, &b.d.tally.counts
	// A short trace may just have no completed free; then the end state has
	// blocks that wait for one.
	freeOnRequest := counts[recorder.DumpFreeRequested] > 0 && counts[recorder.DumpFreeCompleted]+counts[recorder.DumpFree] == 0 &&
		!slices.Contains(d.Blocks.State, recorder.DumpPendingFree)
	again := func(begin int) {
		b.p = newPairing(begin)
		b.p.freeOnRequest = freeOnRequest
		b.p.read(d.Events, d.Events.Len())
		b.r, d.live = nil, checkpoints{}
	}
	if freeOnRequest {
		again(0)
	}
	b.endPairing()
	if begin := d.staleUntil(b.p); begin > 0 {
		again(begin)
		b.endPairing()
		d.problem("the first %d events are left out: they belong to an earlier recording, which ended %s before the next event",
			begin, durationText(d.Events.TimeUs[begin]-d.Events.TimeUs[begin-1]))
	}
}

// endPairing joins the pairs with the end state. That of a truncated dump is
// of a time that its trace does not reach.
func (b *building) endPairing() {
	b.p.finish(&b.d.tally.counts)
	if b.d.reachesEnd() {
		b.p.join(&b.d.Blocks)
	}
}

func (d *Device) adoptTally() {
	t := &d.tally
	d.FirstUs, d.LastUs, d.UsedStacks, d.OOMEvents = t.firstUs, t.lastUs, t.stacks, t.ooms
	if t.backwards {
		d.problem("times go back: places in time are those of the latest time so far")
	}
	d.spans = d.lazySpans()
	d.olderSums = sync.OnceValue(d.sumOlder)
	d.clock = func() []int64 { return d.Events.TimeUs }
	if t.unsteady {
		d.clock = sync.OnceValue(func() []int64 { return steadyTimes(d.Events.TimeUs) })
	}
}

// leastGapUs is how long a recording must have paused for events before it to
// count as those of an earlier one.
const leastGapUs = 1_000_000

// staleUntil finds where the recording begins when older events stand in front
// of it: blocks that these leave allocated are missing at the end or are
// allocated again, and a long pause follows. 0 means that all belong together.
func (d *Device) staleUntil(p *pairing) int {
	last, first := p.lastLost, never
	for event, old := range p.closes {
		last, first = max(last, old), min(first, event)
	}
	if last < 0 || !d.tally.timed {
		return 0
	}
	best, begin := int64(leastGapUs), 0
	for i := int(last) + 1; i < d.Events.Len() && i <= int(first); i++ {
		if gap := d.Events.TimeUs[i] - d.Events.TimeUs[i-1]; gap > best {
			best, begin = gap, i
		}
	}
	return begin
}
