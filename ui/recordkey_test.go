package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// recordScreen is a dashboard on a program that keeps recordings of its own, if
// it obeys.
func recordScreen(t *testing.T, obeys, readOnly bool) (*fixture, *Dashboard, *fixtureFeed) {
	t.Helper()
	f := newFixture(t)
	f.sample()
	d := newScreen(t, f.snapshot(), layout.Overview, 120, 32)
	d.options.ReadOnly, d.outbox.ReadOnly = readOnly, readOnly
	if !obeys {
		d.scene.newest.Hello.Commands = []string{recorder.CommandReclaim}
	}
	return f, d, d.feed.(*fixtureFeed)
}

// answer answers the newest command that was sent.
func (f *fixture) answer(feed *fixtureFeed, what string) {
	command := feed.sent[len(feed.sent)-1]
	f.store.Sent(fixtureSource, command, f.ns)
	f.stream.Emit(&recorder.Ack{Head: f.stream.Head(), ID: command.ID, Name: command.Name, State: recorder.AckDone,
		Result: []recorder.ResultLine{{What: what}}})
}

// TestARecordingArmsTheProgramsOwn: m asks the program for its own recording and
// ends that with the file; both are told, and the file's place stays told.
func TestARecordingArmsTheProgramsOwn(t *testing.T) {
	f, d, feed := recordScreen(t, true, false)
	press(d, "m")
	if len(feed.sent) != 1 || feed.sent[0].Name != recorder.CommandRecordOn || feed.recording == "" {
		t.Fatalf("m sent %d commands, records to %q: %s", len(feed.sent), feed.recording, d.message.text)
	}
	f.answer(feed, "algan: set_auto_record(True)")
	d.take(f.snapshot())
	for _, want := range []string{"recording to /tmp/render.vscope; m ends it", "algan: set_auto_record(True)"} {
		if !strings.Contains(d.message.text, want) {
			t.Errorf("%q does not say %q", d.message.text, want)
		}
	}
	press(d, "m")
	if len(feed.sent) != 2 || feed.sent[1].Name != recorder.CommandRecordOff || feed.recording != "" {
		t.Fatalf("m again sent %d commands: %s", len(feed.sent), d.message.text)
	}
	f.answer(feed, "algan: set_auto_record(False)")
	d.take(f.snapshot())
	for _, want := range []string{"recorded: vramscope /tmp/render.vscope", "algan: set_auto_record(False)"} {
		if !strings.Contains(d.message.text, want) {
			t.Errorf("%q does not say %q", d.message.text, want)
		}
	}
	press(d, "7")
	if !screenHas(d, "record on") || !screenHas(d, "record off") {
		t.Error("the events do not tell of both commands")
	}
}

// screenHas says whether a text is on the screen.
func screenHas(d *Dashboard, text string) bool { return strings.Contains(d.drawFrame(), text) }

// TestQuittingEndsTheProgramsOwnRecording.
func TestQuittingEndsTheProgramsOwnRecording(t *testing.T) {
	_, d, feed := recordScreen(t, true, false)
	press(d, "m", "q")
	if len(feed.sent) != 2 || feed.sent[1].Name != recorder.CommandRecordOff || feed.recording != "" {
		t.Errorf("%d commands were sent, records to %q", len(feed.sent), feed.recording)
	}
}

// TestARecordingSendsNothing where nothing obeys, where nothing may be sent, and
// where the program's own recording was begun by somebody else.
func TestARecordingSendsNothing(t *testing.T) {
	for _, c := range []struct {
		name            string
		obeys, readOnly bool
		recording       bool
	}{{"it obeys no such command", false, false, false}, {"read only", true, true, false}, {"begun elsewhere", true, false, true}} {
		_, d, feed := recordScreen(t, c.obeys, c.readOnly)
		d.scene.newest.Recording = c.recording
		press(d, "m", "m")
		if len(feed.sent) != 0 || !strings.Contains(d.message.text, "recorded: vramscope /tmp/render.vscope") {
			t.Errorf("%s: %d commands were sent, and it says %q", c.name, len(feed.sent), d.message.text)
		}
	}
}

// TestAProgramThatEndsKeepsTheRecordingsPlaceTold.
func TestAProgramThatEndsKeepsTheRecordingsPlaceTold(t *testing.T) {
	f, d, feed := recordScreen(t, true, false)
	press(d, "m")
	f.store.Sent(fixtureSource, feed.sent[0], f.ns)
	f.stream.Emit(&recorder.Bye{Head: f.stream.Head(), Why: "exit 0"})
	f.store.SetStatus(fixtureSource, model.StatusEnded, "")
	d.take(f.snapshot())
	if !strings.Contains(d.message.text, "/tmp/render.vscope") || !strings.Contains(d.message.text, "ended before it answered") {
		t.Errorf("it says %q", d.message.text)
	}
	press(d, "m")
	if len(feed.sent) != 1 {
		t.Error("a program that is gone was sent a command")
	}
}
