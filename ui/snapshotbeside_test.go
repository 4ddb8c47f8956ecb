package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// saysWhereBlocksAre fails where one of the two panes that have no blocks to show
// lacks a text.
func saysWhereBlocksAre(t *testing.T, d *Dashboard, want string) {
	t.Helper()
	for key, pane := range map[string]layout.Pane{"6": layout.BlocksPane, "5": layout.LiveThenPane} {
		press(d, key)
		text := strings.Join(strings.Fields(strings.ReplaceAll(paneText(t, d, pane), "│", " ")), " ")
		if !strings.Contains(text, want) || strings.Contains(text, "fills this") {
			t.Errorf("view %s says %q, want %q", key, text, want)
		}
	}
}

// TestWhereTheBlocksAre: a snapshot fills no pane of the program that wrote it, so
// the way to it is told, and the key goes there.
func TestWhereTheBlocksAre(t *testing.T) {
	f, d, command := snapshotScreen(t)
	saysWhereBlocksAre(t, d, "their blocks are in a snapshot. `:snapshot` has torch write one and opens it beside, then c Enter goes there.")
	f.say(&recorder.Ack{ID: command.ID, Name: command.Name, State: recorder.AckDone, Took: 120e6, Path: "/tmp/run.pickle"})
	d.take(f.snapshot())
	saysWhereBlocksAre(t, d, "It wrote one: `:open /tmp/run.pickle`, then c Enter goes there.")
	f.store.Add(model.SourceInfo{ID: "file:/tmp/other.pickle", Kind: model.KindDump, Name: "/tmp/other.pickle", File: "/tmp/other.pickle"})
	d.take(f.snapshot())
	saysWhereBlocksAre(t, d, "It wrote one: `:open /tmp/run.pickle`")
	f.store.Add(model.SourceInfo{ID: "file:/tmp/run.pickle", Kind: model.KindDump, Name: "/tmp/run.pickle", File: "/tmp/run.pickle"})
	d.take(f.snapshot())
	for range 2 { // there and back, and there again
		saysWhereBlocksAre(t, d, "A snapshot of this program is open beside: c Enter goes there, to run.pickle.")
		press(d, "c", "enter")
		if d.scene.newest.ID != "file:/tmp/run.pickle" {
			t.Fatalf("c Enter went to %s", d.scene.newest.ID)
		}
		press(d, "c", "enter")
	}
	d.offered = "gpu:" + pythonGPU1 // something else came
	d.drawFrame()
	saysWhereBlocksAre(t, d, "A snapshot of this program is open beside: c lists it, run.pickle.")
}

// TestWhereTheBlocksOfARecordingAre: its program ran out of memory and wrote a
// snapshot, which lies beside the recording, or where it was written.
func TestWhereTheBlocksOfARecordingAre(t *testing.T) {
	const written = "/night/o.oom-1.pickle"
	screen := func(outcome, recording, open string) *Dashboard {
		f := &pythonFixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart}
		f.store.Add(model.SourceInfo{ID: "file:" + recording, File: recording})
		hello := pythonHello(pythonSource, 812, 0)
		hello.Ns = f.ns
		f.fold("file:"+recording, &hello)
		f.fold("file:"+recording, &recorder.Sample{Head: f.head(pythonSource), Sets: f.sets()})
		f.fold("file:"+recording, &recorder.OOM{Head: f.head(pythonSource), ID: "torch:0", Asked: gib, Outcome: outcome})
		if open != "" {
			f.store.Add(model.SourceInfo{ID: "file:" + open, Kind: model.KindDump, Name: open, File: open})
		}
		return newScreen(t, f.snapshot(), layout.Pool, 120, 32)
	}
	for _, c := range []struct{ outcome, recording, open, want string }{
		{snapshotWritten + written, "/night/o.vscope", written, "c Enter goes there, to o.oom-1.pickle."},
		{snapshotWritten + written, "/copied/o.vscope", written, "c Enter goes there, to o.oom-1.pickle."},
		{snapshotWritten + written, "/copied/o.vscope", "/copied/o.oom-1.pickle", "c Enter goes there, to o.oom-1.pickle."},
		{snapshotWritten + written, "/night/o.vscope", "/other/o.oom-1.pickle", "It wrote one: `:open " + written + "`"},
		{snapshotWritten + written, "/night/o.vscope", "/night/p.oom-1.pickle", "It wrote one: `:open " + written + "`"},
		{"torch raised", "/night/o.vscope", written, "the recording names none that was written. `:open FILE` opens one beside, and c lists it."},
	} {
		d := screen(c.outcome, c.recording, c.open)
		saysWhereBlocksAre(t, d, c.want)
		if there := strings.HasPrefix(c.want, "c Enter"); there != (d.offer() == "file:"+c.open) {
			t.Errorf("%+v: c offers %q", c, d.offer())
		}
	}
}
