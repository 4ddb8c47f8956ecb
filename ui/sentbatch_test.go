package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// batchScreen is a dashboard on three programs of one name on a GPU that has no
// source of its own, whose user has pressed a. The third obeys nothing but a
// reclaim.
func batchScreen(t *testing.T) (*pythonFixture, *Dashboard) {
	t.Helper()
	f := unwatchedGPU(t)
	third := pythonHello("pid:901-6", 901, 1)
	third.Ns, third.Rank, third.Commands = f.ns, nil, []string{recorder.CommandReclaim}
	f.fold("pid:901-6", &third)
	f.takes("pid:901-6", gib)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	press(d, "a")
	return f, d
}

// answer has a program take and carry out a command.
func (f *pythonFixture) answer(src string, ack recorder.Ack) {
	f.ns += fixturePeriod
	ack.Head = f.head(src)
	f.fold(src, &ack)
}

// takes has a program say that its torch has taken so many bytes of the first GPU.
func (f *pythonFixture) takes(src string, bytes int64) {
	f.fold(src, &recorder.Sample{Head: f.head(src), Sets: []recorder.CounterSet{
		counterSet("torch:0", recorder.OfPool, "torch", pythonGPU0, "", "torch._C._cuda_memoryStats", map[recorder.Counter]int64{recorder.Reserved: bytes})}})
}

// bottom is what stands in the message's lines.
func bottom(d *Dashboard) string { return textIn(d.grid.All().At(d.layout.Message)) }

// TestEveryProgramOfABatchIsTold: a line for each with its number, a count, and
// all of them stay.
func TestEveryProgramOfABatchIsTold(t *testing.T) {
	f, d := batchScreen(t)
	press(d, "r")
	feed := d.feed.(*fixtureFeed)
	if len(feed.sent) != 3 {
		t.Fatalf("%d commands were sent: %s", len(feed.sent), d.message.text)
	}
	sources := []string{pythonSource, "pid:900-5", "pid:901-6"}
	for i, src := range sources {
		f.store.Sent(src, feed.sent[i], f.ns)
	}
	freed := int64(3 * gib)
	f.answer(sources[0], recorder.Ack{ID: feed.sent[0].ID, Name: "reclaim", State: recorder.AckDone, Took: 20e6, Result: []recorder.ResultLine{{What: "empty cache", Freed: &freed}}})
	f.answer(sources[1], recorder.Ack{ID: feed.sent[1].ID, Name: "reclaim", State: recorder.AckAccepted, Where: "the next frame"})
	d.take(f.snapshot())
	for _, want := range []string{"reclaim: 1 of 3 programs have answered", "train.py 812 rank 3: reclaim · 20.0 ms · 3.0 GiB back to the driver",
		"train.py 900 rank 0: waits for the next frame", "train.py 901: sent, not taken yet"} {
		if !strings.Contains(bottom(d), want) {
			t.Errorf("while they work it lacks %q:\n%s", want, bottom(d))
		}
	}
	f.answer(sources[1], recorder.Ack{ID: feed.sent[1].ID, Name: "reclaim", State: recorder.AckDone, Took: 30e6})
	f.answer(sources[2], recorder.Ack{ID: feed.sent[2].ID, Name: "reclaim", State: recorder.AckBusy, Why: "another reclaim runs"})
	d.take(f.snapshot())
	for _, want := range []string{"reclaim: 3 of 3 programs have answered", "train.py 812 rank 3: reclaim · 20.0 ms", "train.py 900 rank 0: reclaim · 30.0 ms",
		"train.py 901: reclaim busy · another reclaim runs"} {
		if !strings.Contains(bottom(d), want) {
			t.Errorf("after it it lacks %q:\n%s", want, bottom(d))
		}
	}
	if kept := d.message; len(d.sent) != 0 || !kept.kept || len(kept.lines) != 3 {
		t.Errorf("%d are still waited for, %+v", len(d.sent), kept)
	}
	press(d, "7")
	text := paneText(t, d, layout.EventsPane)
	for _, pid := range []string{"812", "900", "901"} {
		if !strings.Contains(text, pid) {
			t.Errorf("the events are not told apart by %s:\n%s", pid, text)
		}
	}
}

// TestACommandThatIsLostAfterABatch: what is told of it is no answer of the batch.
func TestACommandThatIsLostAfterABatch(t *testing.T) {
	f, d := batchScreen(t)
	press(d, "r")
	feed := d.feed.(*fixtureFeed)
	for i, src := range []string{pythonSource, "pid:900-5", "pid:901-6"} {
		f.store.Sent(src, feed.sent[i], f.ns)
		f.answer(src, recorder.Ack{ID: feed.sent[i].ID, Name: "reclaim", State: recorder.AckDone})
	}
	d.take(f.snapshot())
	press(d, "a", "H")
	if len(feed.sent) != 4 {
		t.Fatalf("%d commands were sent: %s", len(feed.sent), d.message.text)
	}
	f.store.Sent(pythonSource, feed.sent[3], f.ns)
	d.take(f.snapshot())
	f.store.SetStatus(pythonSource, model.StatusEnded, "the program was killed")
	d.take(f.snapshot())
	if !strings.Contains(bottom(d), "headroom check: train.py 812 rank 3 ended before it answered") || strings.Contains(bottom(d), "3 of 3") {
		t.Errorf("it says:\n%s", bottom(d))
	}
	press(d, "7")
	if text := paneText(t, d, layout.EventsPane); !strings.Contains(text, "the program was killed; headroom check was not answered") {
		t.Errorf("the events do not tell it:\n%s", text)
	}
}

// TestOneThatRefusesKeepsNoOtherFromIt.
func TestOneThatRefusesKeepsNoOtherFromIt(t *testing.T) {
	f, d := batchScreen(t)
	press(d, "H")
	feed := d.feed.(*fixtureFeed)
	if len(feed.sent) != 2 || !strings.Contains(bottom(d), "headroom check: 0 of 2 programs have answered, 1 left out") ||
		!strings.Contains(bottom(d), "headroom check on train.py 901: it does not know this command") {
		t.Errorf("%d were sent:\n%s", len(feed.sent), bottom(d))
	}
	for i, src := range []string{pythonSource, "pid:900-5"} {
		f.store.Sent(src, feed.sent[i], f.ns)
	}
	f.answer(pythonSource, recorder.Ack{ID: feed.sent[0].ID, Name: "headroom", State: recorder.AckDone})
	f.ns += fixturePeriod
	f.fold("pid:900-5", &recorder.Bye{Head: f.head("pid:900-5"), Why: "exit 0"})
	d.take(f.snapshot())
	if !strings.Contains(bottom(d), "2 of 2 programs have answered") || !strings.Contains(bottom(d), "train.py 900 rank 0 ended before it answered") {
		t.Errorf("one has ended:\n%s", bottom(d))
	}
}

// TestManyProgramsOfABatch: what does not fit is counted.
func TestManyProgramsOfABatch(t *testing.T) {
	f, _ := batchScreen(t)
	for i := range 9 {
		other := pythonHello("", 950+i, 5)
		other.Src, other.Ns = "pid:95"+string(rune('0'+i))+"-5", f.ns
		f.fold(other.Src, &other)
		f.takes(other.Src, gib)
	}
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	press(d, "a", "r")
	if !strings.Contains(bottom(d), "0 of 12 programs") || !strings.Contains(bottom(d), "10 more: 7 tells each") {
		t.Errorf("it says\n%s", bottom(d))
	}
}

// TestAResultNamesItsProgram, which may not be the one that is looked at.
func TestAResultNamesItsProgram(t *testing.T) {
	f := trainedFixture(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	f.say(&recorder.Ack{ID: "9a", Name: recorder.CommandReclaim, State: recorder.AckDone, Took: 5e6})
	d.take(f.snapshot())
	if want := "train.py 812 rank 3: reclaim · 5.0 ms"; !strings.HasPrefix(d.message.text, want) {
		t.Errorf("%q, want %q", d.message.text, want)
	}
}

// TestAWarningOfTheSelectedProgramIsSeen, once; another one's stays in view 7.
func TestAWarningOfTheSelectedProgramIsSeen(t *testing.T) {
	f := unwatchedGPU(t)
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	warn := func(src, level string) {
		f.ns += fixturePeriod
		f.fold(src, &recorder.Note{Head: f.head(src), Level: level, Text: "the window was split"})
		d.take(f.snapshot())
	}
	warn("pid:900-5", "warning")
	warn(pythonSource, "info")
	if d.message.text != "" {
		t.Errorf("it says %q", d.message.text)
	}
	warn(pythonSource, "warning")
	if want := "train.py 812 rank 3: the window was split"; d.message.text != want {
		t.Errorf("it says %q, want %q", d.message.text, want)
	}
	d.message = message{}
	f.ns += fixturePeriod
	d.take(f.snapshot())
	if d.message.text != "" {
		t.Errorf("it is said again: %q", d.message.text)
	}
	fresh := newDashboard(&fixtureFeed{newest: f.snapshot()}, Options{Source: pythonSource})
	if !strings.Contains(fresh.message.text, "the window was split") {
		t.Errorf("who comes later does not see it: %q", fresh.message.text)
	}
}
