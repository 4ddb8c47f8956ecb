package ui

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// grown is a dump with the events of another one's first device so many times
// over, with addresses and times shifted so that no block is allocated twice.
func grown(source *recorder.Dump, times int) *recorder.Dump {
	from := &source.Devices[0]
	f, b := &from.Events, &from.Blocks
	made := *source
	d := recorder.DumpDevice{Ordinal: from.Ordinal}
	span := f.TimeUs[f.Len()-1] - f.TimeUs[0] + 1000
	for k := range times {
		shift := uint64(k) << 48
		e := &d.Events
		e.Action, e.Bytes, e.Stream = append(e.Action, f.Action...), append(e.Bytes, f.Bytes...), append(e.Stream, f.Stream...)
		e.Pool, e.Stack = append(e.Pool, f.Pool...), append(e.Stack, f.Stack...)
		for i := range f.Len() {
			e.Address, e.TimeUs = append(e.Address, f.Address[i]+shift), append(e.TimeUs, f.TimeUs[i]+int64(k)*span)
		}
		first := int32(d.Blocks.Len())
		for _, segment := range from.Segments {
			segment.Address += shift
			segment.First += first
			d.Segments = append(d.Segments, segment)
		}
		for i := range b.Len() {
			d.Blocks.Address = append(d.Blocks.Address, b.Address[i]+shift)
		}
		d.Blocks.Bytes, d.Blocks.Requested = append(d.Blocks.Bytes, b.Bytes...), append(d.Blocks.Requested, b.Requested...)
		d.Blocks.State, d.Blocks.Stack = append(d.Blocks.State, b.State...), append(d.Blocks.Stack, b.Stack...)
	}
	made.Devices = []recorder.DumpDevice{d}
	return &made
}

// dumpKeys is what is pressed in each view: moving, zooming, jumping, filters.
var dumpKeys = map[layout.View][]string{
	layout.Overview: {"x", "down", "up", "f", "f", "tab", "right", "end"},
	layout.Devices:  {"down", "up", "tab", "down", "end", "home"},
	layout.Scopes: {"x", "down", "right", "down", "right", "left", "T", "down", "T", "end", "E", "pgdown", "end", "home", "C", "d", "x", "d",
		"/", "c", "o", "n", "v", "enter", "esc", "s", "t", "s", "l"},
	layout.Timeline: {"x", "+", "+", "+", "+", "+", "+", "+", "+", ".", ",", "left", "right", "[", "]", "-", "-", "0", "f", "+", "+", "left",
		"left", "f", "o", "O", "home", "end", "tab", "down", "down", "/", "c", "o", "n", "v", "enter", "esc", "tab"},
	layout.Pool: {"x", "down", "right", "right", "]", "[", "tab", "down", "end", "home", "tab", "tab"},
	layout.Events: {"x", "down", "up", "pgdown", "pgup", "home", "pgdown", "end", "pgup", "/", "s", "e", "g", "m", "e", "n", "t", "enter",
		"up", "up", "down", "home", "end", "esc", "/", "!", "a", "l", "l", "o", "c", "enter", "home", "down", "esc"},
}

// TestBenchDumpKeys measures a key on a large dump to its View, over every view,
// and on twenty times that dump. It prints figures and asserts none.
func TestBenchDumpKeys(t *testing.T) {
	if os.Getenv("VRAMSCOPE_BENCH") == "" {
		t.Skip("measures; VRAMSCOPE_BENCH=1 runs it")
	}
	read := readDump(t, "resnet50-400-steps")
	for _, size := range []struct {
		name string
		make func() *recorder.Dump
	}{
		{"955,900 events", func() *recorder.Dump { return read }},
		{"19 M events", func() *recorder.Dump { return grown(read, 20) }},
	} {
		snapshot := snapshotOf(map[string]*dump.Index{"large.pickle": dump.New(size.make())})
		var all []time.Duration
		for view := range layout.ViewCount {
			all = append(all, pressAll(t, snapshot, layout.View(view), size.name)...)
		}
		printTimes(size.name+", every view", all)
	}
}

// pressAll presses a view's keys a few times and returns what each took.
func pressAll(t *testing.T, snapshot *model.Snapshot, view layout.View, name string) (times []time.Duration) {
	d := newScreen(t, snapshot, view, 200, 60)
	d.settle()
	slowest, which := time.Duration(0), ""
	for range 6 {
		for _, key := range dumpKeys[view] {
			begun := time.Now()
			_, command := d.Update(keyOf(key))
			d.View()
			took := time.Since(begun)
			times = append(times, took)
			if took > slowest {
				slowest, which = took, key
			}
			if command != nil {
				runCommand(command)
			}
			d.settle()
		}
	}
	if len(times) > 0 {
		printTimes(fmt.Sprintf("%s, %s (slowest: %s)", name, view, which), times)
	}
	return times
}

func printTimes(name string, times []time.Duration) {
	slices.Sort(times)
	at := func(share float64) float64 {
		return times[min(int(share*float64(len(times))), len(times)-1)].Seconds() * 1000
	}
	fmt.Printf("%-46s %5d keys: %6.2f ms in the middle, %6.2f ms at the 99th percentile, %6.2f ms at most\n",
		name, len(times), at(0.5), at(0.99), at(1))
}
