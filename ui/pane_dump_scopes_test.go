package ui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// goldenDumps are the real dumps that golden screens are drawn of.
var goldenDumps = []string{"resnet18-train", "fragmented", "expandable"}

func TestScopesViewOfADump(t *testing.T) {
	for _, dump := range goldenDumps {
		for _, c := range []struct {
			name string
			keys []string
		}{
			{"scopes", []string{"x"}},
			{"scopes-flame", []string{"x", "w", "T", "j", "j"}},
		} {
			name := "dump-" + dump + "-" + c.name
			t.Run(name, func(t *testing.T) { goldenView(t, dumpSnapshot(t, dump), layout.Scopes, name, c.keys...) })
		}
	}
}

func TestScopesViewOfADumpInOtherWays(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"scopes-down", []string{"w", "E", "j", "j", "j", "j"}},
		{"scopes-filtered", []string{"/", "a", "d", "a", "m", "enter", "s", "t"}},
		{"scopes-since-peak", []string{"x", "d", "F", "j"}},
	} {
		name := "dump-resnet18-train-" + c.name
		t.Run(name, func(t *testing.T) { goldenView(t, dumpSnapshot(t, "resnet18-train"), layout.Scopes, name, c.keys...) })
	}
}

func stacksScreen(t testing.TB, name string) (*Dashboard, *dumpScopesPane) {
	d := dumpScreen(t, name, layout.Scopes, 120, 32)
	return d, d.dumpPanes[layout.ScopesPane].(*dumpScopesPane)
}

// stackNames are the names in a stacks pane from top to bottom.
func stackNames(t testing.TB, d *Dashboard) (names []string) {
	t.Helper()
	for line := range strings.Lines(paneText(t, d, layout.ScopesPane)) {
		cell, _, _ := strings.Cut(strings.TrimLeft(line, "▌│├└▾▸ "), " │")
		if name := strings.TrimSpace(cell); name != "" && name != "│" && !strings.HasPrefix(name, "│") {
			names = append(names, name)
		}
	}
	return names
}

func TestTheStacksOpenAndClose(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	top := stackNames(t, d)
	if len(top) != 13 || top[0] != "all" || top[1] != "convert module.py:1370" {
		t.Fatalf("it begins with %q", top)
	}
	press(d, "j", "enter")
	if got := stackNames(t, d); got[2] != "_apply module.py:965" || got[3] != "_apply module.py:1035" {
		t.Errorf("below convert stand %q", got[:6])
	}
	press(d, "enter", "enter") // into a way that has no choice up to its end
	press(d, "h", "h")
	if got := p.tree.pathText(); !strings.HasPrefix(got, "convert") || strings.Contains(got, " / ") {
		t.Errorf("two steps up is %q", got)
	}
	press(d, "space")
	if got := stackNames(t, d); !slices.Equal(got, top) {
		t.Errorf("closed again there are %q", got)
	}
	press(d, "E", "G")
	if got, want := p.tree.rows.count(), p.tree.rows.forest.below(0)+1; got != want || p.tree.cursor.at != want-1 {
		t.Errorf("all open, the last of %d rows is %d, want %d", got, p.tree.cursor.at, want)
	}
	press(d, "C")
	if got := stackNames(t, d); !slices.Equal(got, top) {
		t.Errorf("all closed there are %q", got)
	}
	if p.tree.cursor.at == 0 {
		t.Error("closing everything selects the root, not what is left of the way to the selected node")
	}
}

// The numbers are those of the index, whatever is selected.
func TestTheNumbersOfTheStacks(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	press(d, "x")
	index := d.scene.view.Dump
	device := index.Devices[0]
	wants := [weightCount][]dump.StackTotal{
		weightLive: device.LiveByStack(1575), weightPeak: device.LiveByStack(1575),
		weightAllocated: device.AllocatedByStack(0, 3231), weightUnfreed: device.UnfreedByStack(),
	}
	press(d, "E")
	for range p.tree.rows.count() - 1 {
		for number, totals := range wants {
			bytes, count := int64(0), int64(0)
			for _, total := range totals {
				frames := slices.Clone(index.FoldedStack(total.Stack))
				if len(frames) >= len(p.tree.path) && slices.Equal(frames[:len(p.tree.path)], p.tree.path) {
					bytes, count = bytes+total.Bytes, count+total.Count
				}
			}
			if gotBytes, gotCount := p.tree.numbers(p.tree.node, number); gotBytes != bytes || gotCount != count {
				t.Fatalf("%s %s: %d in %d, want %d in %d", p.tree.pathText(), numberNames[number], gotBytes, gotCount, bytes, count)
			}
		}
		press(d, "j")
	}
	if all, _ := p.tree.numbers(0, weightPeak); all != 441837096 {
		t.Errorf("at the peak there are %d bytes", all)
	}
}

// A zoomed chart narrows what counts as allocated.
func TestAllocatedIsThatOfTheStretch(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	whole, _ := p.tree.numbers(0, weightAllocated)
	d.choices.dump.from, d.choices.dump.to = 1000, 1500
	d.drawFrame()
	want := int64(0)
	for _, total := range d.scene.view.Dump.Devices[0].AllocatedByStack(1000, 1500) {
		want += total.Bytes
	}
	if part, _ := p.tree.numbers(0, weightAllocated); part != want || part >= whole {
		t.Errorf("of %d bytes %d were allocated in the stretch, want %d", whole, part, want)
	}
}

func TestSortingTheStacks(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	numbers := func() (all []int64) {
		for _, child := range p.tree.rows.children(0) {
			all = append(all, p.tree.sortedBy(child))
		}
		return all
	}
	for _, keys := range [][]string{{"s", "l"}, {"s", "p"}, {"s", "t"}, {"s", "u"}, {"s", "o"}, {"s", "c"}, {"s", "z"}} {
		press(d, keys...)
		all := numbers()
		if !slices.IsSortedFunc(all, func(a, b int64) int { return int(b - a) }) {
			t.Errorf("%v: %v", keys, all)
		}
	}
	press(d, "S")
	if all := numbers(); !slices.IsSorted(all) {
		t.Errorf("the other way round: %v", all)
	}
	press(d, "s", "n")
	if names := stackNames(t, d); !slices.IsSorted(names[1:]) {
		t.Errorf("by name: %q", names)
	}
	for range 2 { // by the title, and round again
		d.Update(clickOnTitle(t, d, "at peak"))
		d.drawFrame()
	}
	if p.order != (stackOrder{number: weightPeak, reversed: true}) {
		t.Errorf("clicks on the title sort by %+v", p.order)
	}
}

func TestTheDirectionOfTheStacks(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	press(d, "j", "enter", "enter", "enter")
	stack, up := d.choices.dump.stack, slices.Clone(p.tree.path)
	press(d, "w")
	if got := d.scene.view.Dump.Stack(stack); d.choices.dump.stack != stack || p.tree.path[0] != got[len(got)-1] {
		t.Errorf("down from the program it goes to %q, from the stack %d", p.tree.pathText(), d.choices.dump.stack)
	}
	if title, _ := p.title(&d.scene); !strings.Contains(title, "down") {
		t.Errorf("the title is %q", title)
	}
	press(d, "w")
	if !slices.Equal(p.tree.path[:len(up)], up) {
		t.Errorf("and back to %q", p.tree.pathText())
	}
}

// Frames that only add noise are shown when they are asked for.
func TestNoiseIsFolded(t *testing.T) {
	read := stacksDump([][]uint32{{0, 1, 2}, {0, 3}})
	read.Strings[read.Frames[1].Name] = "PyEval_EvalCode"
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"noisy": dump.New(read)}), layout.Scopes, 120, 32)
	press(d, "E")
	if text := paneText(t, d, layout.ScopesPane); strings.Contains(text, "PyEval") {
		t.Errorf("noise stands in\n%s", text)
	}
	press(d, "u", "E")
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "PyEval_EvalCode") {
		t.Errorf("noise does not stand in\n%s", text)
	}
}

func TestFilteringTheStacks(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	index, all := d.scene.view.Dump, p.tree.rows.forest.below(0)
	for _, pattern := range []string{"adam", "!adam", "conv.py:5", "_Apply", "^fn "} {
		press(d, "/")
		typeIn(d, pattern)
		body, invert := strings.CutPrefix(pattern, "!")
		want := int64(0)
		for _, total := range index.Devices[0].EndByStack() {
			hit := slices.ContainsFunc(index.FoldedStack(total.Stack), func(frame uint32) bool {
				text := index.FrameName(frame) + " " + index.FramePlace(frame)
				if body == "^fn " {
					return strings.HasPrefix(text, "fn ")
				}
				return strings.Contains(text, body) // _Apply has a capital and matches nothing
			})
			if hit != invert {
				want += total.Bytes
			}
		}
		if got, _ := p.tree.numbers(0, weightLive); got != want {
			t.Errorf("%q keeps %d live bytes, want %d", pattern, got, want)
		}
		press(d, "esc")
	}
	if p.filter() != "" || p.tree.rows.forest.below(0) != all {
		t.Error("esc does not clear the filter")
	}
	press(d, "/")
	typeIn(d, "nothing has this name")
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "No stack matches") {
		t.Errorf("with a filter that matches nothing: %s", text)
	}
}

func TestSearchingTheStacks(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	press(d, "/")
	typeIn(d, "_forward_impl")
	press(d, "esc")
	name := func() string { return p.tree.names.frame(p.tree.rows.forest.tree.Frame[p.tree.node]).name }
	seen := map[int32]bool{}
	for range 100 {
		press(d, "n")
		if name() != "_forward_impl" {
			t.Fatalf("n goes to %q", p.tree.pathText())
		}
		if seen[p.tree.node] {
			break
		}
		seen[p.tree.node] = true
	}
	index, want := d.scene.view.Dump, 0
	for node, frame := range p.tree.rows.forest.tree.Frame {
		if p.tree.rows.forest.shows(int32(node)) && index.FrameName(frame) == "_forward_impl" {
			want++
		}
	}
	if len(seen) != want {
		t.Errorf("n goes to %d nodes, want %d", len(seen), want)
	}
	at := p.tree.node
	press(d, "n", "N")
	if p.tree.node != at {
		t.Error("N does not lead back")
	}
	if line := selectedLine(t, d); !strings.Contains(line, "_forward_impl") {
		t.Errorf("%q is selected", line)
	}
}

func TestDrillingIntoTheStacks(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	press(d, "w", "j", ".")
	if got := stackNames(t, d)[0]; got != "<module> dumps.py:45" {
		t.Errorf("drilled in it begins with %q", got)
	}
	press(d, "j", ".", ",", "backspace", ",")
	if got := stackNames(t, d)[0]; got != "all" || p.tree.rows.root != 0 {
		t.Errorf("drilled out it begins with %q", got)
	}
}

func TestTheFlameOfTheStacks(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	press(d, "x", "w", "T", "j", "j")
	deep := slices.Clone(p.tree.path)
	if len(deep) != 2 {
		t.Fatalf("two down is %q", p.tree.pathText())
	}
	press(d, "l", "h")
	if !slices.Equal(p.tree.path, deep) {
		t.Errorf("right and left again is %q", p.tree.pathText())
	}
	press(d, ".")
	if text := paneText(t, d, layout.ScopesPane); !strings.HasPrefix(text, "▸_wrapped_call_impl") {
		t.Errorf("drilled in it begins with\n%s", text)
	}
	press(d, ",")
	clickIn(t, d, layout.ScopesPane, 100, 1)
	if got := p.tree.pathText(); got == "all stacks" || slices.Equal(p.tree.path, deep) {
		t.Errorf("a click selects %q", got)
	}
	press(d, "T")
	if line := selectedLine(t, d); line == "" || p.flaming {
		t.Errorf("back in the tree %q is selected", line)
	}
	for number, key := range []string{"l", "p", "t", "u"} { // boxes add up to what they stand for
		press(d, "T", "s", key)
		total := p.tree.weights[number].Bytes(0)
		if boxes := p.flame.rows; len(boxes) < 2 || p.flame.weights.Bytes(boxes[0]) != total {
			t.Errorf("s %s: %d boxes", key, len(boxes))
		}
		press(d, "T")
	}
}

// A flame that is deeper than the window scrolls with the selected box.
func TestTheFlameScrolls(t *testing.T) {
	var deep []uint32
	for frame := range uint32(90) {
		deep = append(deep, frame)
	}
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"deep": dump.New(stacksDump([][]uint32{deep}))}), layout.Scopes, 80, 24)
	p := d.dumpPanes[layout.ScopesPane].(*dumpScopesPane)
	press(d, "T")
	for range 90 {
		press(d, "j")
	}
	if len(p.tree.path) != 90 || p.flame.flame.Top < 70 {
		t.Errorf("after 90 steps down it is at depth %d, from row %d on", len(p.tree.path), p.flame.flame.Top)
	}
	press(d, "g")
	if p.flame.flame.Top != 0 {
		t.Errorf("back at the top it begins with row %d", p.flame.flame.Top)
	}
}

func TestWhatChangedBetweenMomentsOfADump(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	press(d, "x", "d")
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "convert") {
		t.Errorf("at the moment that is remembered itself there is\n%s", text)
	}
	press(d, "F")
	index := d.scene.view.Dump
	want, err := dump.NewDiff(dump.Side{Index: index, Moment: dump.AtEvent(1575)}, dump.Side{Index: index, Moment: dump.AtEnd})
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for i := range want.Rows {
		if want.Rows[i].Change != dump.ChangeSame {
			changed++
		}
	}
	if p.diff.Len() != changed || p.diff.same() != len(want.Rows)-changed {
		t.Errorf("%d stacks changed and %d did not, want %d and %d", p.diff.Len(), p.diff.same(), changed, len(want.Rows)-changed)
	}
	text := paneText(t, d, layout.ScopesPane)
	for _, word := range []string{"shrunk", "gone", "-60.0 MiB", "–"} {
		if !strings.Contains(text, word) {
			t.Errorf("%q is not among\n%s", word, text)
		}
	}
	press(d, "j")
	_, stack, _, inB := p.diff.diff.Rows[p.diff.rows[1]].Stacks()
	before, _, _, _ := p.diff.diff.Rows[p.diff.rows[1]].Stacks()
	if inB && d.choices.dump.stack != stack || !inB && d.choices.dump.stack != before {
		t.Errorf("stack %d is selected", d.choices.dump.stack)
	}
	press(d, "/")
	typeIn(d, "batch_norm")
	for _, row := range p.diff.rows {
		if !strings.Contains(p.diff.diff.texts[row], "batch_norm") {
			t.Errorf("the filter keeps %q", p.diff.diff.texts[row])
		}
	}
	press(d, "esc", "d")
	if text := paneText(t, d, layout.ScopesPane); strings.Contains(text, "shrunk") {
		t.Error("d does not end the comparison")
	}
}

// A moment of one dump can be compared with another dump.
func TestWhatChangedBetweenDumps(t *testing.T) {
	a, b := dump.New(readDump(t, "resnet18-train")), dump.New(readDump(t, "fragmented"))
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"a.pickle": a, "b.pickle": b}), layout.Scopes, 120, 32)
	press(d, "d")
	d.choose("file:b.pickle")
	d.drawFrame()
	text := paneText(t, d, layout.ScopesPane)
	if !strings.Contains(text, "gone") || !strings.Contains(text, "new") {
		t.Errorf("another dump's stacks are neither gone nor new:\n%s", text)
	}
	if title, _ := d.dumpPanes[layout.ScopesPane].title(&d.scene); !strings.Contains(title, "a.pickle") {
		t.Errorf("the title is %q", title)
	}
}

// What another pane selects, the tree shows.
func TestTheTreeFollowsTheSelectedStack(t *testing.T) {
	d, p := stacksScreen(t, "resnet18-train")
	for stack := range int32(d.scene.view.Dump.Dump.Stacks.Len()) {
		if !p.tree.rows.forest.kept[stack+1] {
			continue
		}
		d.choices.dump.stack = stack
		d.drawFrame()
		if p.tree.node != p.tree.rows.forest.tree.Leaf(stack) || selectedLine(t, d) == "" {
			t.Fatalf("stack %d selects %q", stack, p.tree.pathText())
		}
	}
}

// The selected node is told of below the tree, with its largest blocks.
func TestTheSelectedStackIsShownBeside(t *testing.T) {
	d, _ := stacksScreen(t, "resnet18-train")
	press(d, "j", "enter", "j", "x")
	text := paneText(t, d, layout.ScopePane)
	for _, want := range []string{"lib/python3.12/site-packages/torch/nn/modules/module.py:965", "at the peak", "stack convert < _apply", "largest blocks"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	press(d, "tab", "enter")
	if d.popup == nil || !slices.ContainsFunc(d.popup.lines, func(line popupLine) bool { return strings.Contains(line.text, "module.py:1370") }) {
		t.Error("enter does not list the frames")
	}
}

// A dump without a trace knows what is live and nothing of what was: its numbers
// are missing, not zero.
func TestAStateAloneHasNoHistory(t *testing.T) {
	read := *readDump(t, "resnet18-train")
	device := read.Devices[0]
	device.Events = recorder.DumpEvents{}
	read.Devices = []recorder.DumpDevice{device}
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"state": dump.New(&read)}), layout.Scopes, 120, 32)
	line := selectedLine(t, d)
	if !strings.Contains(line, "203.5 MiB") || strings.Count(line, "–") != 4 {
		t.Errorf("the first row is %q", line)
	}
	press(d, "s", "p", "T", "T", "x", "n", "d", "i", "esc", "w", "u", "j")
	if text := paneText(t, d, layout.ScopePane); !strings.Contains(text, "at the peak –") {
		t.Errorf("beside stands\n%s", text)
	}
}

func TestDumpsWithNothingInThem(t *testing.T) {
	for name, read := range map[string]*recorder.Dump{
		"no device": {}, "an idle device": {Devices: make([]recorder.DumpDevice, 1)},
		"one stack": stacksDump([][]uint32{{0}}), "unstacked": stacksDump([][]uint32{{}}),
	} {
		for view := range layout.ViewCount {
			for _, size := range goldenSizes {
				d := newScreen(t, snapshotOf(map[string]*dump.Index{name: dump.New(read)}), layout.View(view), size.width, size.height)
				press(d, "j", "E", "C", ".", ",", "T", "j", "T", "n", "N", "s", "t", "S", "w", "u", "d", "x", "j", "d", "y", "i", "esc", "tab", "j", "k", "enter", "esc",
					"tab", "j", "right", "+", "-", "]", "[", "S", "s", "c", "G", "g", "tab", "enter", "esc", "/", "a", "esc")
			}
		}
	}
}

// Names come from strangers.
func TestHostileNamesInADump(t *testing.T) {
	read := stacksDump([][]uint32{{0, 1, 2}, {0, 3}, {1}})
	for i, name := range []string{"\x1b]0;owned\a", "\x1b[31mred\u202e\n" + strings.Repeat("界", 300), "", "\x9b2J\r\x00\xff\xfe"} {
		read.Strings[read.Frames[i].Name] = name
		read.Strings = append(read.Strings, name)
		read.Frames[i].File = uint32(len(read.Strings) - 1)
		read.Settings = append(read.Settings, recorder.DumpSetting{Key: name, Value: name})
	}
	index := dump.New(read)
	for view := range layout.ViewCount {
		for _, size := range goldenSizes {
			d := newScreen(t, snapshotOf(map[string]*dump.Index{"\x1b[2Jevil\u202e": index}), layout.View(view), size.width, size.height)
			for _, key := range []string{"E", "T", "T", "w", "T", "T", "tab", "enter", "esc", "tab", "enter", "esc", "tab", "enter", "esc", "tab", "enter", "esc", "shift+tab", "x", "d", "F"} {
				press(d, key)
				for _, char := range d.grid.Plain() {
					if char < ' ' && char != '\n' || char == '\u202e' || char >= 0x7f && char < 0xa0 {
						t.Fatalf("%s at %s has %q on the screen after %s", layout.View(view), size.name, char, key)
					}
				}
			}
		}
	}
}

// clickOnTitle clicks on a column's title in the frame of the stacks.
func clickOnTitle(t testing.TB, d *Dashboard, title string) tea.MouseClickMsg {
	t.Helper()
	place, _ := d.layout.Find(layout.ScopesPane)
	row := []rune(strings.SplitN(textIn(d.grid.All().At(place.Frame)), "\n", 2)[0])
	at := strings.Index(string(row), title)
	if at < 0 {
		t.Fatalf("there is no title %q in %q", title, string(row))
	}
	return tea.MouseClickMsg{X: place.Frame.X + len([]rune(string(row)[:at])), Y: place.Frame.Y, Button: tea.MouseLeft}
}

// In a terminal without Unicode everything of a dump is ASCII.
func TestADumpInASCII(t *testing.T) {
	for _, name := range goldenDumps {
		for _, view := range []string{"scopes", "pool"} {
			d := newDashboard(&fixtureFeed{newest: dumpSnapshot(t, name)}, Options{ASCII: true, View: view})
			d.Update(tea.WindowSizeMsg{Width: 120, Height: 32})
			for _, key := range []string{"x", "E", "T", "T", "d", "F", "j", "S", "tab", "enter", "esc"} {
				press(d, key)
				for _, char := range d.grid.Plain() {
					if char > 0x7e {
						t.Fatalf("%s %s after %s: %q", name, view, key, char)
					}
				}
			}
		}
	}
}
