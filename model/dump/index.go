package dump

import (
	"fmt"

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
	tally   tally

	freeOnRequest bool
	spans         func() []Span
	olderSums     func() []olderSum
	clock         func() []int64 // times that never go back, for traces in which some do
}

// closing is the end of a live block by an allocation at its address.
type closing struct {
	block int32
	asked bool // its free had been asked for
}

// New builds the indexes of a dump. It takes time that grows with the number
// of events and uses a second core where there is one.
func New(dump *recorder.Dump) *Index { return NewBuilder().Finish(dump) }

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

func (d *Device) problem(format string, values ...any) {
	if len(d.Problems) < mostProblems {
		d.Problems = append(d.Problems, fmt.Sprintf(format, values...))
	}
}
