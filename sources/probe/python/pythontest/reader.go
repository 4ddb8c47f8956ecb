package pythontest

import (
	"context"
	"net"
	"testing"
	"time"

	"vramscope/recorder"
	"vramscope/sources/probe"
)

// Reader watches a probe through the real client.
type Reader struct {
	*probe.Source
	t       testing.TB
	records chan recorder.Record
	end     chan error
	cancel  context.CancelFunc
}

// Read connects to a socket and reads until the test ends.
func Read(t testing.TB, path string, events bool) *Reader {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &Reader{Source: probe.NewSource(path), t: t, records: make(chan recorder.Record, 1<<16), end: make(chan error, 1), cancel: cancel}
	_ = r.Want(events)
	go func() {
		r.end <- r.Run(ctx, func(record recorder.Record) { r.records <- record })
		close(r.records)
	}()
	t.Cleanup(r.Close)
	return r
}

// Close hangs up.
func (r *Reader) Close() {
	r.cancel()
	for range r.records {
	}
}

// End is how the stream ended, once it has.
func (r *Reader) End() error {
	for range r.records {
	}
	err := <-r.end
	r.end <- err
	return err
}

// NextRecord is the next record of any kind; false is the end of the stream.
func (r *Reader) NextRecord() (recorder.Record, bool) {
	r.t.Helper()
	select {
	case record, open := <-r.records:
		return record, open
	case <-time.After(Patience):
		r.t.Fatalf("no record came for %v", Patience)
	}
	return nil, false
}

// Next is the next record of a kind; others are passed over.
func Next[R recorder.Record](r *Reader) R {
	r.t.Helper()
	return NextWhere(r, func(R) bool { return true })
}

// NextWhere is the next record of a kind that a condition holds for.
func NextWhere[R recorder.Record](r *Reader, condition func(R) bool) R {
	r.t.Helper()
	for deadline := time.Now().Add(Patience); ; {
		record, open := r.NextRecord()
		if time.Now().After(deadline) {
			var none R
			r.t.Fatalf("no %T that was waited for came for %v", none, Patience)
		}
		if !open {
			var none R
			r.t.Fatalf("the stream ended (%v) without the %T that was waited for", r.End(), none)
		}
		if wanted, ok := record.(R); ok && condition(wanted) {
			return wanted
		}
	}
}

// Do sends a command and is its final answer. Without a time to live it gets a
// minute.
func (r *Reader) Do(id, command string, args recorder.CommandArgs) *recorder.Ack {
	r.t.Helper()
	r.Command(&recorder.Command{ID: id, Name: command, Args: args})
	return NextWhere(r, func(ack *recorder.Ack) bool { return ack.ID == id && ack.State != recorder.AckAccepted })
}

// Command sends a command. Without a time to live it gets a minute.
func (r *Reader) Command(command *recorder.Command) {
	r.t.Helper()
	if command.TTL == 0 {
		command.TTL = Patience.Milliseconds()
	}
	if err := r.Send(context.Background(), command); err != nil {
		r.t.Fatal(err)
	}
}

// Dial connects to a socket without a word. The connection has a deadline and
// closes with the test.
func Dial(t testing.TB, path string) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(Patience))
	t.Cleanup(func() { conn.Close() })
	return conn
}

// Greeting is a reader's hello, as a line.
const Greeting = `{"t":"hello","proto":1,"min":1}` + "\n"

// CheckDecoder fails the test where a decoder met a line that it could not
// read.
func CheckDecoder(t testing.TB, decoder *recorder.Decoder) {
	t.Helper()
	p := decoder.Problems()
	if p.BadLines != 0 || p.LongLines != 0 || p.Unknown != 0 {
		t.Errorf("of %d lines %d were bad, %d too long, %d of unknown types: %v", p.Lines, p.BadLines, p.LongLines, p.Unknown, p.First)
	}
	if p.Records == 0 {
		t.Error("no record came")
	}
}
