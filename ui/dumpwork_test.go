package ui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/layout"
)

// heavyStacks is as many stacks as are not worked out while a key waits.
const heavyStacks = 3000

func heavyLoop(t testing.TB, view layout.View) (*loop, *dump.Index) {
	index := dump.New(manyStacks(heavyStacks))
	snapshot := snapshotOf(map[string]*dump.Index{"many": index, "small": dump.New(readDump(t, "resnet18-train"))})
	return loopOn(t, snapshot, view, 120, 32), index
}

// What takes long is announced, worked out, and then shown.
func TestALargeTreeIsBuiltBesideTheKeys(t *testing.T) {
	defer goleak.VerifyNone(t)
	index := dump.New(manyStacks(heavyStacks))
	feed := &fixtureFeed{newest: snapshotOf(map[string]*dump.Index{"many": index}), wake: make(chan struct{})}
	l := &loop{Dashboard: newDashboard(feed, Options{Profile: themes.NoColor, View: "scopes"}), messages: make(chan tea.Msg, 64)}
	l.start(l.Init())
	l.send(tea.WindowSizeMsg{Width: 120, Height: 32})
	if text := paneText(t, l.Dashboard, layout.ScopesPane); !strings.Contains(text, "Building the tree") {
		t.Errorf("at first there is\n%s", text)
	}
	for _, key := range []string{"j", "E", "T", "T", "n", "s", "t", "s", "l", "y"} {
		l.send(keyOf(key))
	}
	l.settle()
	p := l.dumpPanes[layout.ScopesPane].(*dumpScopesPane)
	want := int64(0)
	for _, total := range index.Devices[0].EndByStack() {
		want += total.Bytes
	}
	if got, _ := p.tree.numbers(0, weightLive); got != want {
		t.Errorf("%d bytes are live, want %d", got, want)
	}
	if _, note := p.title(&l.scene); note != "" {
		t.Errorf("the note is %q though nothing is under way", note)
	}
}

// While answers are worked out, what is shown is no answer to another question:
// it is missing.
func TestAnotherMomentsNumbersAreMissing(t *testing.T) {
	l, index := heavyLoop(t, layout.Scopes)
	l.choices.dump.lookAt(index.Devices[0], 1000)
	l.send(keyOf("tab"))
	p := l.dumpPanes[layout.ScopesPane].(*dumpScopesPane)
	if _, note := p.title(&l.scene); note != "working..." {
		t.Errorf("the note is %q", note)
	}
	if line := selectedLine(t, l.Dashboard); !strings.Contains(line, "–") {
		t.Errorf("meanwhile the first row is %q", line)
	}
	l.settle()
	if bytes, count := p.tree.numbers(0, weightLive); count != 1001 || bytes != index.Devices[0].At(1000)[dump.Requested] {
		t.Errorf("then %d bytes in %d blocks are live", bytes, count)
	}
}

// A key that is held down asks for many moments; the last one is shown, and few
// of those between are worked out.
func TestTheNewestQuestionIsTheNext(t *testing.T) {
	l, index := heavyLoop(t, layout.Scopes)
	under := 0
	for event := range 200 {
		l.choices.dump.lookAt(index.Devices[0], event*20)
		l.send(keyOf("tab"))
		under = max(under, l.under)
	}
	if under > 4 {
		t.Errorf("%d commands were under way at once", under)
	}
	l.settle()
	p := l.dumpPanes[layout.ScopesPane].(*dumpScopesPane)
	if bytes, _ := p.tree.numbers(0, weightLive); bytes != index.Devices[0].At(199 * 20)[dump.Requested] {
		t.Errorf("at last %d bytes are live", bytes)
	}
	if space, _ := spaceOf(&l.scene); space == nil || space.event != 199*20 {
		t.Error("the map is not the last moment's")
	}
}

// Answers about a dump that is not looked at any more come too late, and nothing
// holds on to it.
func TestADumpIsForgotten(t *testing.T) {
	for _, view := range []layout.View{layout.Scopes, layout.Pool} {
		l, index := heavyLoop(t, view)
		for _, key := range []string{"w", "x", "u", "x"} {
			l.send(keyOf(key))
		}
		l.choose("file:small")
		l.send(keyOf("j"))
		l.settle()
		if l.dumps.source != "file:small" {
			t.Errorf("%s: the work is about %q", view, l.dumps.source)
		}
		for _, held := range []*dump.Index{l.dumps.forest.question.index, l.dumps.space.question.index, l.dumps.names.index, l.dumps.size.of.index} {
			if held == index {
				t.Errorf("%s: the dump that was looked at before is still held", view)
			}
		}
		if forest := l.dumpPanes[layout.ScopesPane].(*dumpScopesPane).tree.rows.forest; forest != nil && forest.question.index == index {
			t.Errorf("%s: its tree is still held", view)
		}
	}
}

// A search that has to wait for its answer goes on when it is there.
func TestASearchWaitsForItsAnswer(t *testing.T) {
	l, _ := heavyLoop(t, layout.Scopes)
	for _, key := range []string{"/", "7", "7", "7", "enter", "esc", "n"} {
		l.send(keyOf(key))
	}
	l.settle()
	p := l.dumpPanes[layout.ScopesPane].(*dumpScopesPane)
	if name := p.tree.names.frame(p.tree.rows.forest.tree.Frame[p.tree.node]); !strings.Contains(name.name+name.place, "777") {
		t.Errorf("n leads to %+v", name)
	}
}

// A picture is drawn when everything in it is known.
func TestAPictureIsWhole(t *testing.T) {
	snapshot := snapshotOf(map[string]*dump.Index{"many": dump.New(manyStacks(heavyStacks))})
	for _, view := range layout.ViewNames() {
		picture := Frame(snapshot, Options{View: view}, 120, 32, false)
		for _, text := range []string{"Building", "Weighing", "Working", "working"} {
			if strings.Contains(picture, text) {
				t.Errorf("%s says %q:\n%s", view, text, picture)
			}
		}
	}
}

// part is a dump as far as some of its events.
func part(read *recorder.Dump, events int) *recorder.Dump {
	cut := *read
	device := read.Devices[0]
	e := device.Events
	device.Events = recorder.DumpEvents{
		Action: e.Action[:events], Address: e.Address[:events], Bytes: e.Bytes[:events], Stream: e.Stream[:events],
		Pool: e.Pool[:events], TimeUs: e.TimeUs[:events], Stack: e.Stack[:events],
	}
	cut.Truncated = events < len(e.Action)
	cut.Devices = []recorder.DumpDevice{device}
	return &cut
}

// While a dump is read, its tree grows around the node that is selected.
func TestTheSelectionStaysWhileADumpIsRead(t *testing.T) {
	read := readDump(t, "resnet18-train")
	show := func(events int) map[string]*dump.Index {
		return map[string]*dump.Index{"grows": dump.New(part(read, events))}
	}
	d := newScreen(t, snapshotOf(show(1500)), layout.Scopes, 120, 32)
	p := d.dumpPanes[layout.ScopesPane].(*dumpScopesPane)
	press(d, "j", "j", "enter", "j", "enter", "j")
	path, open := slices.Clone(p.tree.path), len(p.tree.rows.other)
	for _, events := range []int{2000, 2500, read.Devices[0].Events.Len()} {
		d.show(snapshotOf(show(events)))
		if !slices.Equal(p.tree.path, path) || selectedLine(t, d) == "" {
			t.Errorf("after %d events %q is selected", events, p.tree.pathText())
		}
		if len(p.tree.rows.other) < open {
			t.Errorf("after %d events %d nodes are open, want %d", events, len(p.tree.rows.other), open)
		}
	}
}

// Frames of the same moment make the one string that the terminal takes.
func TestDrawingADumpMakesNoGarbage(t *testing.T) {
	for _, view := range []layout.View{layout.Scopes, layout.Pool} {
		for _, keys := range [][]string{{"x"}, {"x", "T"}, {"x", "d", "F"}, {"/", "a", "enter"}} {
			for _, size := range goldenSizes {
				d := dumpScreen(t, "resnet18-train", view, size.width, size.height)
				press(d, keys...)
				d.message = message{}
				d.drawFrame()
				if allocs := testing.AllocsPerRun(20, func() { d.drawFrame() }); allocs > 1 {
					t.Errorf("%s at %s after %v: %v allocations", view, size.name, keys, allocs)
				}
			}
		}
	}
}

// A stack as deep as a stranger may make it is no way to stop the dashboard.
func TestAVeryDeepStack(t *testing.T) {
	deep := make([]uint32, 40_000)
	for i := range deep {
		deep[i] = uint32(i % 7)
	}
	snapshot := snapshotOf(map[string]*dump.Index{"deep": dump.New(stacksDump([][]uint32{deep, deep[:20_000], {3}}))})
	l := loopOn(t, snapshot, layout.Scopes, 80, 24)
	for _, key := range []string{"j", "enter", "G", "k", "h", "E", "G", "g", "C", "w", "E", "pgdown", "T", "j", "j", "T", "space", "enter", ".", "G", ",", "S", "s", "n"} {
		l.send(keyOf(key))
		l.settle()
	}
	if rows := l.dumpPanes[layout.ScopesPane].(*dumpScopesPane).tree.rows; rows.forest.below(0) < 40_000 {
		t.Errorf("the tree has %d nodes", rows.forest.below(0))
	}
}
