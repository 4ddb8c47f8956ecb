package probe

import (
	"context"
	"errors"
	"testing"
	"time"

	"vramscope/recorder"
)

var farAway = time.Now().Add(time.Hour)

func send(t *testing.T, r *watching, id, name string, ttl int64) {
	t.Helper()
	if err := r.Send(context.Background(), &recorder.Command{ID: id, Name: name, TTL: ttl}); err != nil {
		t.Fatal(err)
	}
}

func wantAck(t *testing.T, ack *recorder.Ack, id, state string) {
	t.Helper()
	if ack.ID != id || ack.State != state {
		t.Fatalf("the answer is %s %s (%s), want %s %s", ack.ID, ack.State, ack.Why, id, state)
	}
}

func TestCommandIsAcceptedAtOnceAndDoneAtTheFrameBoundary(t *testing.T) {
	freed := int64(7)
	render := &fakeRender{answer: recorder.Ack{Result: []recorder.ResultLine{{What: "empty caches", Freed: &freed}}}}
	server := serve(t, Options{}, render)
	r, other := read(t, server.Path(), false), read(t, server.Path(), false)
	pollUntil[*recorder.State](server, r)
	pollUntil[*recorder.State](server, other)

	send(t, r, "a", recorder.CommandReclaim, 60_000)
	accepted := next[*recorder.Ack](r) // the render has not polled
	wantAck(t, accepted, "a", recorder.AckAccepted)
	if accepted.Where != "frame boundary" || len(render.done) != 0 {
		t.Errorf("accepted where = %q, done so far %v", accepted.Where, render.done)
	}
	send(t, other, "b", recorder.CommandRebuild, 60_000)
	wantAck(t, next[*recorder.Ack](other), "b", recorder.AckBusy)

	render.during = func() { server.Publish(sample(77)) }
	server.Poll()
	if s := next[*recorder.Sample](r); s.Seq != 77 {
		t.Errorf("what the command caused is sample %d", s.Seq)
	}
	done := next[*recorder.Ack](r)
	wantAck(t, done, "a", recorder.AckDone)
	if len(done.Result) != 1 || *done.Result[0].Freed != 7 || done.Took <= 0 || done.Name != recorder.CommandReclaim {
		t.Errorf("the final answer is %+v", done)
	}
	server.Poll()
	send(t, other, "a", recorder.CommandReclaim, 60_000) // a retry on another connection
	wantAck(t, next[*recorder.Ack](other), "a", recorder.AckDone)
	if len(render.done) != 1 {
		t.Errorf("the render did %v, want it once", render.done)
	}
}

func TestOtherReadersSeeTheCommandAndItsEnd(t *testing.T) {
	server := serve(t, Options{}, &fakeRender{})
	r, other := read(t, server.Path(), false), read(t, server.Path(), false)
	pollUntil[*recorder.State](server, r)
	pollUntil[*recorder.State](server, other)
	send(t, r, "a", recorder.CommandReclaim, 60_000)
	pollUntil[*recorder.Ack](server, r)
	if command := pollUntil[*recorder.Command](server, other); command.ID != "a" || command.Src != "test" {
		t.Errorf("the other reader sees %+v", command)
	}
	wantAck(t, pollUntil[*recorder.Ack](server, other), "a", recorder.AckDone)
	late := read(t, server.Path(), false)
	if command := next[*recorder.Command](late); command.ID != "a" {
		t.Errorf("a late reader sees %+v", command)
	}
}

func TestCommandExpiresWithoutAFrameBoundary(t *testing.T) {
	render := &fakeRender{}
	server := serve(t, Options{}, render)
	r := read(t, server.Path(), false)
	pollUntil[*recorder.State](server, r)
	send(t, r, "a", recorder.CommandReclaim, 1)
	wantAck(t, next[*recorder.Ack](r), "a", recorder.AckAccepted)
	wantAck(t, next[*recorder.Ack](r), "a", recorder.AckExpired)
	server.Poll()
	if len(render.done) != 0 {
		t.Error("an expired command was carried out")
	}
}

func TestCommandOfAProgramThatEndsIsAnswered(t *testing.T) {
	render := &fakeRender{}
	server := serve(t, Options{}, render)
	r := read(t, server.Path(), false)
	pollUntil[*recorder.State](server, r)
	send(t, r, "a", recorder.CommandReclaim, 60_000)
	wantAck(t, next[*recorder.Ack](r), "a", recorder.AckAccepted)
	_ = server.Close("done")
	wantAck(t, next[*recorder.Ack](r), "a", recorder.AckFailed)
	next[*recorder.Bye](r)
	server.Poll()
	if len(render.done) != 0 {
		t.Error("a command was carried out after the end")
	}
}

func TestUnsupportedCommandSaysWhy(t *testing.T) {
	server := serve(t, Options{}, &fakeRender{})
	r := read(t, server.Path(), false)
	next[*recorder.Hello](r)
	send(t, r, "a", recorder.CommandSnapshot, 0)
	if ack := next[*recorder.Ack](r); ack.State != recorder.AckUnsupported || ack.Why != "there is none" {
		t.Errorf("the answer is %s (%s)", ack.State, ack.Why)
	}
}

func TestTooManyAnswersCloseTheReader(t *testing.T) {
	server := serve(t, Options{}, &fakeRender{})
	conn := dialRaw(t, server.Path())
	// Commands with names so long that the answers fill the kernel's buffers:
	// the reader reads none of them.
	for i := range 100_000 {
		command := &recorder.Command{ID: string(rune('a'+i%26)) + string(make([]byte, 100)), Name: "no"}
		if err := writeRecord(conn, command, farAway); err != nil {
			return // closed by the server
		}
	}
	t.Error("a reader that reads no answers was never closed")
}

func TestSendWithoutAConnectionSaysSo(t *testing.T) {
	source := NewSource("/nowhere/12-34.sock")
	if err := source.Send(context.Background(), &recorder.Command{ID: "a"}); !errors.Is(err, ErrNotConnected) {
		t.Errorf("Send = %v, want ErrNotConnected", err)
	}
}
