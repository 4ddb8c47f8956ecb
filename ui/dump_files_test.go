package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/layout"
)

// dumpStore holds dumps by name, in their order; the first is looked at.
func dumpStore(t testing.TB, names ...string) *model.Store {
	t.Helper()
	store := model.NewStore(model.Options{})
	for _, name := range names {
		id := "file:" + name
		store.Add(model.SourceInfo{ID: id, Kind: model.KindDump, Name: "runs/" + name + ".pickle", File: name})
		store.SetDump(id, dump.New(readDump(t, name)))
		store.SetStatus(id, model.StatusComplete, "")
	}
	return store
}

// TestListOfDumps shows several dumps in one table with their peaks and headroom,
// and looks at one of them.
func TestListOfDumps(t *testing.T) {
	store := dumpStore(t, "fragmented", "render-oom", "resnet18-train")
	d := newScreen(t, store.Snapshot(1, fixtureWall), layout.Devices, 140, 40)
	d.options.Reserve = 1 << 30
	d.setScene()
	text := paneText(t, d, layout.DevicesPane)
	for _, row := range []string{
		"fragmented.pickle       device 0      6,503    6.3 GiB     6.4 GiB    6.8 GiB          –    0 late start",
		"render-oom.pickle       device 0      1,858    2.5 GiB     2.5 GiB    2.8 GiB  135.6 GiB    1 late start",
		"resnet18-train.pickle   device 0      3,231  421.4 MiB   426.4 MiB  528.0 MiB          –    0 whole",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(row), " ")) {
			t.Errorf("the list lacks %q:\n%s", row, text)
		}
	}
	d.focus[layout.Devices] = layout.DevicesPane
	press(d, "down", "enter")
	if got := headerText(d); !strings.Contains(got, "render-oom.pickle") || !strings.Contains(got, "1,858 events") {
		t.Errorf("enter on the second row: %q", got)
	}
	press(d, "c")
	d.drawFrame()
	if text := textIn(d.grid.All()); !strings.Contains(text, "Memory dumps") || !strings.Contains(text, "peak 2.5 GiB, headroom 135.6 GiB") {
		t.Errorf("the sources are:\n%s", text)
	}
}

// TestAStateWithoutHistoryHasNoPeak: what is live in the end is told as that, in
// every place that names peaks.
func TestAStateWithoutHistoryHasNoPeak(t *testing.T) {
	read := *readDump(t, "render-oom")
	device := read.Devices[0]
	device.Events = recorder.DumpEvents{}
	read.Devices = []recorder.DumpDevice{device}
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"state.pickle": dump.New(&read)}), layout.Devices, 140, 40)
	if rows := strings.Split(paneText(t, d, layout.DevicesPane), "\n"); strings.Join(strings.Fields(rows[1])[3:7], " ") != "0 – – 2.6" {
		t.Errorf("its row is %q", rows[1])
	}
	d.focus[layout.Devices] = layout.DevicesPane
	press(d, "y")
	if !strings.Contains(d.message.text, "no history, allocated 1,836,500,480 B") || strings.Contains(d.message.text, "peak") {
		t.Errorf("copied is %q", d.message.text)
	}
	press(d, "c")
	if text := chooserText(d); !strings.Contains(text, "live 1.7 GiB, no history, complete") || strings.Contains(text, "peak") {
		t.Errorf("the sources are\n%s", text)
	}
	press(d, "esc", "1", "x")
	if d.lookedAt() != -2 || !strings.Contains(d.message.text, "no peak is known") {
		t.Errorf("x goes to %d and says %q", d.lookedAt(), d.message.text)
	}
	if text := paneText(t, d, layout.PeaksPane); strings.Contains(text, "GiB") || !strings.Contains(text, "no history tells it") {
		t.Errorf("its peaks are\n%s", text)
	}
	for _, o := range d.panes[layout.PeaksPane].(originator).origins(&d.scene) {
		if o.figure.Known {
			t.Errorf("%s is known from %s", o.name, o.figure.Origin)
		}
	}
}

// TestLookingElsewhereStartsAnew: the moment of one dump is none of another.
func TestLookingElsewhereStartsAnew(t *testing.T) {
	store := dumpStore(t, "fragmented", "render-oom")
	d := newScreen(t, store.Snapshot(1, fixtureWall), layout.Devices, 140, 40)
	press(d, "x")
	if d.lookedAt() != 3466 {
		t.Fatalf("at %d", d.lookedAt())
	}
	d.focus[layout.Devices] = layout.DevicesPane
	press(d, "down", "enter")
	if d.lookedAt() != -2 {
		t.Errorf("another dump begins at %d, not at its end", d.lookedAt())
	}
}

// TestDumpIsReadWhileItIsShown shows the first part of a dump with how far it has
// been read, and then the whole, at the moment that was looked at.
func TestDumpIsReadWhileItIsShown(t *testing.T) {
	read := readDump(t, "fragmented")
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "file:x", Kind: model.KindDump, Name: "x.pickle", File: "x.pickle"})
	d := newScreen(t, store.Snapshot(1, fixtureWall), layout.Overview, 120, 32)
	if text := bodyText(d); !strings.Contains(text, "This dump is being read") {
		t.Errorf("before anything was read:\n%s", text)
	}
	press(d, "x", "o", "f", "2", "down", "enter", "5", "+", "right", "6", "down", "7", "down", "4", "down", "1") // nothing breaks
	store.SetProgress("file:x", model.Progress{Done: 300 << 20, Size: 1200 << 20, Count: 1_234_567, LeftNs: 9e9})
	d.show(store.Snapshot(2, fixtureWall))
	for _, want := range []string{"25 % of 1.2 GiB", "1,234,567 events", "9.0 s left"} {
		if text := headerText(d) + paneText(t, d, layout.HeadroomPane); !strings.Contains(text, want) {
			t.Errorf("the progress lacks %q: %s", want, text)
		}
	}
	part := partOf(read, 4000)
	store.SetDump("file:x", dump.New(part))
	d.show(store.Snapshot(3, fixtureWall))
	if text := headerText(d) + paneText(t, d, layout.InsidePane); !strings.Contains(text, "the first 4,000 events") || !strings.Contains(text, "still being read") {
		t.Errorf("a part is shown as if it were the whole: %s", text)
	}
	press(d, "x")
	at := d.lookedAt()
	if text := headerText(d); at < 0 || at >= 4000 || !strings.Contains(text, "of 4,000") || strings.Contains(text, "cut") {
		t.Errorf("the first part: at %d, %q", at, text)
	}
	store.SetDump("file:x", dump.New(read))
	store.SetStatus("file:x", model.StatusComplete, "")
	d.show(store.Snapshot(4, fixtureWall))
	if text := headerText(d); d.lookedAt() != at || !strings.Contains(text, "of 6,503") {
		t.Errorf("the whole: at %d, was at %d, %q", d.lookedAt(), at, text)
	}
}

// partOf is a dump as far as it was read.
func partOf(read *recorder.Dump, events int) *recorder.Dump {
	part := *read
	device := part.Devices[0]
	e := &device.Events
	e.Action, e.Address, e.Bytes, e.Stream = e.Action[:events], e.Address[:events], e.Bytes[:events], e.Stream[:events]
	e.Pool, e.TimeUs, e.Stack = e.Pool[:events], e.TimeUs[:events], e.Stack[:events]
	part.Devices, part.Truncated = []recorder.DumpDevice{device}, true
	return &part
}

// TestDumpThatWasLetGo keeps its row, and says that it is read again.
func TestDumpThatWasLetGo(t *testing.T) {
	store := dumpStore(t, "fragmented", "render-oom")
	store.SetDump("file:render-oom", nil)
	d := newScreen(t, store.Snapshot(1, fixtureWall), layout.Devices, 160, 40)
	text := paneText(t, d, layout.DevicesPane)
	if !strings.Contains(text, "read again when chosen") || !strings.Contains(text, "1,858") {
		t.Errorf("the list is:\n%s", text)
	}
	d.focus[layout.Devices] = layout.DevicesPane
	press(d, "down", "enter", "1")
	if text := bodyText(d); !strings.Contains(text, "being read again") {
		t.Errorf("a dump that was let go:\n%s", text)
	}
	if d.interest.Source != "file:render-oom" {
		t.Errorf("the feed was told that %q is looked at", d.interest.Source)
	}
}

// TestFileIsDrawnAtOnceWhenItWasRead does not wait for the next drawing of data.
func TestFileIsDrawnAtOnceWhenItWasRead(t *testing.T) {
	store := dumpStore(t, "render-oom")
	store.SetStatus("file:render-oom", model.StatusLoading, "")
	d := newScreen(t, store.Snapshot(1, fixtureWall), layout.Overview, 120, 32)
	store.SetStatus("file:render-oom", model.StatusComplete, "")
	d.feed.(*fixtureFeed).newest = store.Snapshot(2, fixtureWall)
	d.Update(dataMsg{})
	if text := headerText(d); !strings.Contains(text, "complete") {
		t.Errorf("the header still says %q", text)
	}
}

// TestCloseFile gives the file that is looked at to the feed to be closed.
func TestCloseFile(t *testing.T) {
	d := newScreen(t, dumpStore(t, "render-oom").Snapshot(1, fixtureWall), layout.Overview, 120, 32)
	typeIn(d, ":close")
	if got := d.feed.(*fixtureFeed).closed; got != "file:render-oom" {
		t.Errorf("%q was closed", got)
	}
}

// TestFailedDumpSaysWhy shows the reason where the numbers would be.
func TestFailedDumpSaysWhy(t *testing.T) {
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "file:x", Kind: model.KindDump, Name: "x.pickle", File: "x.pickle"})
	store.SetStatus("file:x", model.StatusFailed, "the pickle wants to call os.system at byte 12: refused, nothing was run")
	d := newScreen(t, store.Snapshot(1, fixtureWall), layout.Overview, 120, 32)
	if text := paneText(t, d, layout.HeadroomPane); !strings.Contains(strings.Join(strings.Fields(text), " "), "refused, nothing was run") {
		t.Errorf("a refused file:\n%s", text)
	}
}

// hostileText is a name that tries to take the terminal over.
const hostileText = "\x1b]0;owned\x07\x1b[2J\x1b[31m\u202egnp.\u009b1m\x00evil\r\n\x7f"

// hostileDump is a dump whose every text is hostile.
func hostileDump(t testing.TB) *recorder.Dump {
	read := *readDump(t, "render-oom")
	read.Format = hostileText
	strings := make([]string, len(read.Strings))
	for i := range strings {
		strings[i] = hostileText + read.Strings[i]
	}
	read.Strings = strings
	read.Extras, read.Problems = []string{hostileText}, []string{"odd: " + hostileText}
	read.Settings = []recorder.DumpSetting{{Key: hostileText, Value: hostileText}}
	first := read.Devices[0].Events.TimeUs[0]
	read.Annotations = []recorder.DumpAnnotation{{Start: true, Name: hostileText, TimeUs: first}, {Name: hostileText, TimeUs: first + 50_000}}
	device := read.Devices[0]
	device.Events.Notes = map[int][]recorder.DumpSetting{1851: {{Key: hostileText, Value: hostileText}}}
	read.Devices = []recorder.DumpDevice{device}
	return &read
}

// TestHostileDumpNeverReachesTheTerminal draws every view of a dump full of
// control sequences: nothing comes out but text and the grid's own colours.
func TestHostileDumpNeverReachesTheTerminal(t *testing.T) {
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "file:x", Kind: model.KindDump, Name: hostileText, File: hostileText})
	store.SetDump("file:x", dump.New(hostileDump(t)))
	store.SetStatus("file:x", model.StatusCut, "cut: "+hostileText)
	snapshot := store.Snapshot(1, fixtureWall)
	for view := range layout.ViewCount {
		d := newDashboard(&fixtureFeed{newest: snapshot}, Options{Profile: themes.TrueColor})
		d.width, d.height, d.view = 160, 48, layout.View(view)
		d.drawFrame()
		for _, keys := range [][]string{{}, {"o"}, {"enter"}, {"esc", "tab", "down", "enter"}, {"esc", "c"}, {"esc", "i"}, {"esc", "y"}, {"z"}, {"T"}} {
			press(d, keys...)
			checkClean(t, layout.View(view), d.drawFrame())
		}
		checkClean(t, layout.View(view), d.windowTitle())
	}
}

// checkClean finds what no frame may hold.
func checkClean(t *testing.T, view layout.View, frame string) {
	t.Helper()
	rest := frame
	for {
		at := strings.IndexByte(rest, 0x1b)
		if at < 0 {
			break
		}
		end := strings.IndexByte(rest[at:], 'm')
		if end < 0 || strings.Trim(rest[at+2:at+end], "0123456789;:") != "" || rest[at+1] != '[' {
			t.Fatalf("%s: an escape sequence came out: %q", view, rest[at:min(at+24, len(rest))])
		}
		rest = rest[at+end+1:]
	}
	for _, char := range frame {
		if char < ' ' && char != '\n' && char != 0x1b || char >= 0x7f && char < 0xa0 || char == '\u202e' {
			t.Fatalf("%s: %U came out", view, char)
		}
	}
}
