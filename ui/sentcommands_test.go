package ui

import (
	"errors"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
)

// snapshotScreen is a dashboard whose user has typed ":snapshot".
func snapshotScreen(t *testing.T) (*pythonFixture, *Dashboard, *recorder.Command) {
	t.Helper()
	f := trainedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	press(d, ":")
	typeIn(d, "snapshot")
	feed := d.feed.(*fixtureFeed)
	if len(feed.sent) != 1 || feed.sent[0].Name != recorder.CommandSnapshot {
		t.Fatalf("%d commands were sent: %s", len(feed.sent), d.message.text)
	}
	f.store.Sent(pythonSource, feed.sent[0], f.ns)
	f.trainFrame()
	d.take(f.snapshot())
	return f, d, feed.sent[0]
}

// take gives the dashboard another snapshot and leaves its message alone.
func (d *Dashboard) take(snapshot *model.Snapshot) {
	d.feed.(*fixtureFeed).newest = snapshot
	d.takeData()
	d.drawFrame()
}

// TestASnapshotIsOpenedBeside: what it waits for is told until it is done; then
// its file is opened, and c Enter goes there and back.
func TestASnapshotIsOpenedBeside(t *testing.T) {
	f, d, command := snapshotScreen(t)
	if got := d.message.text; got != "snapshot on train.py 812 rank 3 · sent, not taken yet" {
		t.Errorf("before it is taken: %q", got)
	}
	f.say(&recorder.Ack{ID: command.ID, Name: command.Name, State: recorder.AckAccepted, Where: "the next frame boundary"})
	for range 30 {
		f.trainFrame()
	}
	d.take(f.snapshot())
	if got := d.message.text; got != "snapshot on train.py 812 rank 3 · waits for the next frame boundary · 3 s of at most 30 s" {
		t.Errorf("while it waits: %q", got)
	}
	f.say(&recorder.Ack{ID: command.ID, Name: command.Name, State: recorder.AckDone, Took: 120e6, Path: "/tmp/run.pickle"})
	f.store.Add(model.SourceInfo{ID: "file:/tmp/run.pickle", Kind: model.KindDump, Name: "/tmp/run.pickle", File: "/tmp/run.pickle"})
	d.take(f.snapshot())
	if opened := d.feed.(*fixtureFeed).opened; len(opened) != 1 || opened[0] != "/tmp/run.pickle" {
		t.Fatalf("opened %v", opened)
	}
	for _, want := range []string{"snapshot opened beside: c Enter goes there, c Enter again comes back", "/tmp/run.pickle"} {
		if !strings.Contains(d.message.text, want) {
			t.Errorf("%q does not say %q", d.message.text, want)
		}
	}
	f.trainFrame()
	d.take(f.snapshot())
	if opened := d.feed.(*fixtureFeed).opened; len(opened) != 1 {
		t.Errorf("it was opened again: %v", opened)
	}
	press(d, "c", "enter")
	if d.scene.newest.ID != "file:/tmp/run.pickle" {
		t.Errorf("c Enter went to %s", d.scene.newest.ID)
	}
	press(d, "c", "enter")
	if d.scene.newest.ID != pythonSource {
		t.Errorf("c Enter did not come back: %s", d.scene.newest.ID)
	}
}

// TestASnapshotOutOfReach: a file inside a container.
func TestASnapshotOutOfReach(t *testing.T) {
	f, d, command := snapshotScreen(t)
	d.feed.(*fixtureFeed).refuses = errors.New("open /x/run.pickle: no such file or directory")
	f.say(&recorder.Ack{ID: command.ID, Name: command.Name, State: recorder.AckDone, Path: "/x/run.pickle"})
	d.take(f.snapshot())
	for _, want := range []string{"/x/run.pickle", "no such file", "in a container", ":open", ":snapshot /PATH"} {
		if !strings.Contains(d.message.text, want) {
			t.Errorf("%q does not say %q", d.message.text, want)
		}
	}
}

// TestAProgramThatEndsDoesNotAnswer.
func TestAProgramThatEndsDoesNotAnswer(t *testing.T) {
	f, d, _ := snapshotScreen(t)
	f.say(&recorder.Bye{Why: "exit 0"})
	d.take(f.snapshot())
	if !strings.Contains(d.message.text, "train.py 812 rank 3 ended before it answered") || len(d.sent) != 0 {
		t.Errorf("%q, %d still waited for", d.message.text, len(d.sent))
	}
}

// TestASnapshotToAPath goes to one program only.
func TestASnapshotToAPath(t *testing.T) {
	f := trainedFixture(t)
	other := pythonHello("pid:900-5", 900, 0)
	other.Ns = f.ns
	f.fold("pid:900-5", &other)
	f.takes("pid:900-5", gib)
	f.trainFrame()
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	press(d, ":")
	typeIn(d, "snapshot /tmp/here.pickle")
	feed := d.feed.(*fixtureFeed)
	if len(feed.sent) != 1 || feed.sent[0].Args.Path != "/tmp/here.pickle" {
		t.Fatalf("sent %+v: %s", feed.sent, d.message.text)
	}
	press(d, "a", ":")
	typeIn(d, "snapshot /tmp/there.pickle")
	if len(feed.sent) != 1 || !strings.Contains(d.message.text, "2 programs cannot write one file") {
		t.Errorf("sent %d: %s", len(feed.sent), d.message.text)
	}
}

// TestRefusedKeysAreMarked: torch has no rebuild. The key is in brackets, and
// says what to do instead, with --readonly too.
func TestRefusedKeysAreMarked(t *testing.T) {
	f := trainedFixture(t)
	f.store.SetStatus(pythonSource, model.StatusLive, "")
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	for _, hint := range d.hints() {
		if want := hint.Action == keymap.Rebuild; hint.Off != want {
			t.Errorf("%s is marked: %v", hint.Label, hint.Off)
		}
	}
	press(d, "B")
	if want := "torch has no rebuild; R gives back"; !strings.Contains(d.message.text, want) || d.question != nil {
		t.Errorf("B says %q, want %q", d.message.text, want)
	}
	if len(d.feed.(*fixtureFeed).sent) != 0 {
		t.Error("it was sent all the same")
	}
}

// TestRanksInTheList: by rank, whatever the order they came in.
func TestRanksInTheList(t *testing.T) {
	f := trainedFixture(t)
	for _, rank := range []int{1, 0, 2} {
		other := pythonHello("", 900+rank, rank)
		other.Src, other.Ns = "pid:90"+string(rune('0'+rank))+"-5", f.ns
		f.fold(other.Src, &other)
	}
	d := newScreen(t, f.snapshot(), layout.Devices, 120, 32)
	press(d, "c")
	var ranks []string
	for _, line := range d.popup.lines {
		if at := strings.Index(line.text, "rank "); at >= 0 {
			ranks = append(ranks, line.text[at:at+len("rank 0 of night")])
		}
	}
	if got := strings.Join(ranks, ", "); got != "rank 0 of night, rank 1 of night, rank 2 of night, rank 3 of night" {
		t.Errorf("the list has %s", got)
	}
	press(d, "esc", "s", "n")
	pane := d.panes[layout.ProcessesPane].(*processesPane)
	ranks = ranks[:0]
	for _, row := range pane.rows.rows {
		if row.job != "" {
			ranks = append(ranks, row.job)
		}
	}
	if got := strings.Join(ranks, ", "); !strings.HasPrefix(got, "rank 0 of night, rank 1 of night, rank 2 of night, rank 3 of night") {
		t.Errorf("by name the processes are %s", got)
	}
}

// TestAllRanksOfADeviceAreNamed in the question before a force reclaim.
func TestAllRanksOfADeviceAreNamed(t *testing.T) {
	f := trainedFixture(t)
	other := pythonHello("pid:900-5", 900, 0)
	other.Ns = f.ns
	f.fold("pid:900-5", &other)
	f.takes("pid:900-5", gib)
	f.trainFrame()
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	press(d, "a", "R")
	if d.question == nil {
		t.Fatalf("it does not ask: %s", d.message.text)
	}
	for _, want := range []string{"train.py (pid 812, rank 3)", "train.py (pid 900, rank 0)"} {
		if !strings.Contains(d.question.text, want) {
			t.Errorf("%q does not name %q", d.question.text, want)
		}
	}
}

// TestAnotherDevice: ) and ( turn the device that headroom and timeline are of.
func TestAnotherDevice(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Overview, 120, 32)
	press(d, ")")
	if text := paneText(t, d, layout.HeadroomPane); !strings.Contains(text, "free 128G") || !strings.Contains(d.message.text, "H200 #1, device 2 of 2") {
		t.Errorf("%s\n%s", d.message.text, text)
	}
	press(d, ")", "(")
	if text := paneText(t, d, layout.HeadroomPane); !strings.Contains(text, "free 77.3G") {
		t.Errorf("it does not come back: %s\n%s", d.message.text, text)
	}
}

// TestTheHeaderNamesTheRank.
func TestTheHeaderNamesTheRank(t *testing.T) {
	d := newScreen(t, trainedSnapshot(t), layout.Overview, 120, 32)
	if header := textIn(d.grid.All().At(d.layout.Header)); !strings.Contains(header, "train.py 812 · rank 3 of night ·") {
		t.Error(header)
	}
}

// TestACalibrationDumpHasAPlaceOfItsOwn: the dashboard chooses a file for every
// program that is asked, and asks none that it knows none for.
func TestACalibrationDumpHasAPlaceOfItsOwn(t *testing.T) {
	for place, want := range map[string]string{"/run/night.vscope": "/run/night.vscope", "": ""} {
		f := newFixture(t)
		d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
		d.scene.newest.Hello.Commands = append(d.scene.newest.Hello.Commands, recorder.CommandCalibration)
		d.options.Place = func(view *model.SourceView, command string) string {
			if view.ID != fixtureSource || command != recorder.CommandCalibration {
				t.Errorf("a place is asked for %s on %s", command, view.ID)
			}
			return place
		}
		press(d, ":")
		typeIn(d, "calibration")
		feed := d.feed.(*fixtureFeed)
		if want == "" {
			if len(feed.sent) != 0 || !strings.Contains(d.message.text, ":calibration /PATH") {
				t.Errorf("without a place %d were sent: %s", len(feed.sent), d.message.text)
			}
			continue
		}
		if len(feed.sent) != 1 || feed.sent[0].Args.Path != want {
			t.Errorf("sent %+v: %s", feed.sent, d.message.text)
		}
	}
}

// TestALostDriverMeetsNobody: with a source selected that is about no device, the
// keys that act reach no program, and the line says why. One in no device is the
// only one that runs.
func TestALostDriverMeetsNobody(t *testing.T) {
	f := &pythonFixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart}
	hello := pythonHello(pythonSource, 812, 0)
	hello.Ns, hello.GPUs = f.ns, nil
	f.fold(pythonSource, &hello)
	f.fold(pythonSource, &recorder.Sample{Head: f.head(pythonSource), Sets: []recorder.CounterSet{
		counterSet("arena:1", recorder.OfArena, "frame arena", "", "", "the program's pointers", map[recorder.Counter]int64{recorder.Length: gib})}})
	f.store.Add(model.SourceInfo{ID: "nvml", Kind: recorder.KindDevice, Name: "NVIDIA driver"})
	f.store.SetStatus("nvml", model.StatusLost, "the driver did not load")
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	d.choose("nvml")
	for _, wide := range []bool{false, true} {
		for _, key := range []string{"r", "R", "B", "P", "H"} {
			press(d, key)
			if d.question != nil || len(d.feed.(*fixtureFeed).sent) != 0 {
				t.Fatalf("%s acts on a program, with a: %v", key, wide)
			}
			if !strings.Contains(d.message.text, "NVIDIA driver: it tells of no device") {
				t.Errorf("%s says %q", key, d.message.text)
			}
		}
		press(d, "a")
	}
}
