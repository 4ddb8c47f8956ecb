package dump

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"vramscope/recorder"
)

// BeforeFirst is the moment before the first event of a trace.
const BeforeFirst = -1

// BeforeRecording is the stack of blocks that are older than the trace and of
// which nothing says who allocated them.
const BeforeRecording = int32(-1)

// Index answers questions about a dump. It is immutable; what it finds out
// later it keeps behind locks of its own.
type Index struct {
	Dump     *recorder.Dump
	Devices  []*Device
	Problems []string // inconsistencies in words, those of the dump first; bounded

	folding
}

// Peak is the largest value of a series.
type Peak struct {
	Bytes int64
	Event int // the first event after which it is reached, BeforeFirst when nothing exceeds the state before it
}

// Device is the index of one device's history and end state.
type Device struct {
	*recorder.DumpDevice
	Events *recorder.DumpEvents // the history; no longer than an event number reaches

	Base       Totals // before the first event, in bytes
	End        Totals // of the end state; without one, after the last event
	Peaks      [seriesCount]Peak
	Exact      bool // the replayed blocks at the end are those of the end state, byte by byte
	Reserves   bool // the dump says something about reserved bytes
	Unseen     int  // frees of blocks that the trace never saw allocated
	Problems   []string
	FirstUs    int64 // Unix microseconds of the first event that has a time; 0 none
	LastUs     int64
	UsedStacks int // distinct stacks over the events
	OOMEvents  []int32

	index   *Index
	begin   int // events before it belong to an earlier recording and have no effect
	life    []int32
	change  []uint32
	wide    map[int32]int64
	closes  map[int32]closing
	before  []beforeBlock
	pieces  []piece
	pyramid pyramid
	live    checkpoints
	tally   *tally

	freeOnRequest bool
	spans         func() []Span
	clock         func() []int64 // times that never go back, for traces in which some do
}

// closing is the end of a live block by an allocation at its address.
type closing struct {
	block int32
	asked bool // its free had been asked for
}

// New builds the indexes of a dump. It takes time that grows with the number
// of events and uses a second core where there is one.
func New(dump *recorder.Dump) *Index {
	x := &Index{Dump: dump, Problems: slices.Clone(dump.Problems)}
	x.folding.init(dump)
	for i := range dump.Devices {
		d := newDevice(x, &dump.Devices[i])
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

// mostProblems bounds what a dump can make an index say.
const mostProblems = 64

func (x *Index) problem(text string) {
	if len(x.Problems) < mostProblems {
		x.Problems = append(x.Problems, text)
	}
}

// Main is the number in Devices of the device with the most events, of several
// the one that reserved most, of these the first; -1 without any device.
func (x *Index) Main() int {
	best := -1
	for i, d := range x.Devices {
		if best < 0 {
			best = i
			continue
		}
		b := x.Devices[best]
		if n, m := d.Events.Len(), b.Events.Len(); n > m || n == m && d.End[Reserved] > b.End[Reserved] {
			best = i
		}
	}
	return best
}

// Name is how a device is called: "device 0", or "pinned host memory".
func (d *Device) Name() string {
	if d.Host {
		return "pinned host memory"
	}
	return fmt.Sprintf("device %d", d.Ordinal)
}

func newDevice(x *Index, source *recorder.DumpDevice) *Device {
	d := &Device{DumpDevice: source, Events: &source.Events, index: x}
	if n := d.Events.Len(); n >= math.MaxInt32 {
		d.Events = firstEvents(d.Events, math.MaxInt32-1)
		d.problem("the trace has %d events, of which the first %d are shown", n, d.Events.Len())
	}
	counts := countActions(d.Events.Action)
	stacks := max(x.Dump.Stacks.Len(), 1)
	var wait sync.WaitGroup
	wait.Go(func() { d.tally = take(d.Events, stacks) })
	p := d.pairFrom(0, counts)
	wait.Wait()
	d.adoptTally()
	if begin := d.staleUntil(p); begin > 0 {
		p = d.pairFrom(begin, counts)
		d.problem("the first %d events are left out: they belong to an earlier recording, which ended %s before the next event",
			begin, durationText(d.Events.TimeUs[begin]-d.Events.TimeUs[begin-1]))
	}
	d.begin, d.life, d.before, d.freeOnRequest, d.Unseen = p.begin, p.life, p.before, p.freeOnRequest, p.unseen
	d.closes = make(map[int32]closing, len(p.closes))
	for event, block := range p.closes {
		d.closes[event] = closing{block: block}
	}
	wait.Go(func() { d.live = markLive(d) })
	d.replay(p)
	wait.Wait()
	return d
}

// pairFrom pairs the events from one on and joins them with the end state. The
// end state of a truncated dump is of a time that its trace does not reach.
func (d *Device) pairFrom(begin int, counts *[256]int) *pairing {
	p := pair(d.Events, begin, counts, slices.Contains(d.Blocks.State, recorder.DumpPendingFree))
	if !d.index.Dump.Truncated {
		p.join(&d.Blocks)
	}
	return p
}

func firstEvents(e *recorder.DumpEvents, count int) *recorder.DumpEvents {
	return &recorder.DumpEvents{
		Action: e.Action[:count], Address: e.Address[:count], Bytes: e.Bytes[:count], Stream: e.Stream[:count],
		Pool: e.Pool[:count], TimeUs: e.TimeUs[:count], Stack: e.Stack[:count], Free: e.Free, Notes: e.Notes,
	}
}

func (d *Device) adoptTally() {
	t := d.tally
	d.FirstUs, d.LastUs, d.UsedStacks, d.OOMEvents = t.firstUs, t.lastUs, t.stacks, t.ooms
	if t.backwards {
		d.problem("times go back: places in time are those of the latest time so far")
	}
	d.spans = d.lazySpans()
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

func (d *Device) problem(format string, values ...any) {
	if len(d.Problems) < mostProblems {
		d.Problems = append(d.Problems, fmt.Sprintf(format, values...))
	}
}
