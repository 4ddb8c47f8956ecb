package ui

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/layout"
)

// manyStacks is a dump of so many stacks of 50 frames, each of which allocates
// twice.
func manyStacks(stacks int) *recorder.Dump {
	const depth = 50
	read := &recorder.Dump{Strings: []string{""}}
	for i := range 20_000 {
		read.Strings = append(read.Strings, "function_"+strconv.Itoa(i), "package/file.py")
		read.Frames = append(read.Frames, recorder.DumpFrame{Name: uint32(2*i + 1), File: uint32(2*i + 2), Line: int64(i)})
	}
	read.Stacks.Start = []uint32{0, 0}
	device := recorder.DumpDevice{}
	e := &device.Events
	state := uint32(1)
	for s := range stacks {
		for level := range depth {
			state = state*1664525 + 1013904223
			// Outer frames are few, inner ones many.
			choices := uint32(2 + (depth-level)*(depth-level)/8)
			read.Stacks.Frames = append(read.Stacks.Frames, uint32(level)*397+state>>8%choices)
		}
		read.Stacks.Start = append(read.Stacks.Start, uint32(len(read.Stacks.Frames)))
		for range 2 {
			e.Action = append(e.Action, recorder.DumpAlloc)
			e.Address = append(e.Address, uint64(1<<40+e.Len()*4096))
			e.Bytes = append(e.Bytes, int64(512*(1+s%7)))
			e.Stream, e.Pool, e.TimeUs = append(e.Stream, 0), append(e.Pool, 0), append(e.TimeUs, int64(e.Len()))
			e.Stack = append(e.Stack, int32(s+1))
		}
	}
	device.Segments = []recorder.DumpSegment{{Address: 1 << 40, Bytes: int64(e.Len()) * 4096, Count: int32(e.Len())}}
	for i := range e.Len() {
		b := &device.Blocks
		b.Address, b.Bytes, b.Requested = append(b.Address, e.Address[i]), append(b.Bytes, 4096), append(b.Requested, e.Bytes[i])
		b.State, b.Stack = append(b.State, recorder.DumpActive), append(b.Stack, e.Stack[i])
	}
	read.Devices = []recorder.DumpDevice{device}
	return read
}

// loop runs a dashboard as Bubble Tea does: commands work in goroutines of their
// own, and what they bring comes back as messages.
type loop struct {
	*Dashboard
	messages chan tea.Msg
	under    int // commands under way
}

func (l *loop) start(command tea.Cmd) {
	if command == nil {
		return
	}
	l.under++
	go func() { l.messages <- command() }()
}

// send gives a message to the dashboard and draws.
func (l *loop) send(msg tea.Msg) {
	_, command := l.Update(msg)
	l.View()
	l.start(command)
}

// take takes what a command has brought.
func (l *loop) take(msg tea.Msg) {
	l.under--
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, command := range batch {
			l.start(command)
		}
		return
	}
	l.send(msg)
}

// settle waits for everything that is under way.
func (l *loop) settle() {
	for l.under > 0 {
		l.take(<-l.messages)
	}
}

// loopOn is a dashboard on a dump in a running program.
func loopOn(t testing.TB, snapshot *model.Snapshot, view layout.View, width, height int) *loop {
	t.Helper()
	feed := &fixtureFeed{newest: snapshot, wake: make(chan struct{})}
	d := newDashboard(feed, Options{Profile: themes.NoColor, View: strings.ToLower(layout.ViewNames()[view])})
	l := &loop{Dashboard: d, messages: make(chan tea.Msg, 64)}
	l.start(d.Init())
	l.send(tea.WindowSizeMsg{Width: width, Height: height})
	l.settle()
	return l
}

// benchmarkDumpKeys presses keys in turn, one as soon as the one before has been
// answered, and tells how long each takes to its View at the 99th percentile.
// What is worked out meanwhile is worked out at the same time.
func benchmarkDumpKeys(b *testing.B, l *loop, keys ...string) {
	var times []time.Duration
	measure := func(do func()) {
		start := time.Now()
		do()
		times = append(times, time.Since(start))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		for l.under > 0 && len(l.messages) > 0 {
			msg := <-l.messages
			measure(func() { l.take(msg) })
		}
		key := keyOf(keys[i%len(keys)])
		measure(func() { l.send(key) })
		i++
	}
	l.settle()
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, "max-ms")
}

// stackKeys are the keys that are measured, by the view they are pressed in.
var stackKeys = []struct {
	name string
	view layout.View
	open []string // before
	keys []string
}{
	{"scopes/down", layout.Scopes, []string{"E"}, []string{"j"}},
	{"scopes/page", layout.Scopes, []string{"E"}, []string{"pgdown"}},
	{"scopes/end", layout.Scopes, []string{"E"}, []string{"G", "g"}},
	{"scopes/toggle", layout.Scopes, []string{"E"}, []string{"space"}},
	{"scopes/expand", layout.Scopes, nil, []string{"E", "C"}},
	{"scopes/sort", layout.Scopes, []string{"E"}, []string{"s", "p", "s", "n", "s", "t", "s", "c"}},
	{"scopes/drill", layout.Scopes, []string{"j"}, []string{".", ","}},
	{"scopes/direction", layout.Scopes, nil, []string{"w"}},
	{"scopes/noise", layout.Scopes, nil, []string{"u"}},
	{"scopes/flame", layout.Scopes, []string{"T"}, []string{"j", "l", "k", "h"}},
	{"scopes/turn", layout.Scopes, nil, []string{"T"}},
	{"scopes/filter", layout.Scopes, []string{"/"}, []string{"1", "9", "backspace", "backspace"}},
	{"scopes/search", layout.Scopes, []string{"/", "7", "7", "enter", "esc"}, []string{"n"}},
	{"scopes/moment", layout.Scopes, nil, []string{"x", "F"}},
	{"scopes/diff", layout.Scopes, []string{"x", "d", "F"}, []string{"j", "s", "c", "s", "n", "pgdown"}},
	{"pool/walk", layout.Pool, nil, []string{"right", "down", "right", "up"}},
	{"pool/end", layout.Pool, nil, []string{"G", "g"}},
	{"pool/zoom", layout.Pool, nil, []string{"+", "+", "-", "-"}},
	{"pool/colour", layout.Pool, nil, []string{"S"}},
	{"pool/moment", layout.Pool, nil, []string{"x", "F"}},
	{"views", layout.Overview, nil, []string{"4", "5", "6", "7", "1"}},
}

func benchmarkDump(b *testing.B, snapshot *model.Snapshot) {
	for _, c := range stackKeys {
		b.Run(c.name, func(b *testing.B) {
			l := loopOn(b, snapshot, c.view, 200, 60)
			for _, key := range c.open {
				l.send(keyOf(key))
				l.settle()
			}
			benchmarkDumpKeys(b, l, c.keys...)
		})
	}
}

// A key on the dump of 955,900 events, to its View.
func BenchmarkKeyOnALongDump(b *testing.B) { benchmarkDump(b, dumpSnapshot(b, "resnet50-400-steps")) }

// A key on a dump of 100,000 stacks, to its View.
func BenchmarkKeyOnADumpOfManyStacks(b *testing.B) {
	benchmarkDump(b, snapshotOf(map[string]*dump.Index{"many": dump.New(manyStacks(100_000))}))
}
