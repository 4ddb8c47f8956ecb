package model

import (
	"context"

	"vramscope/recorder"
)

// Source is anything that can be watched: a device, a process with a probe, a
// local pool, a file. Its signatures use recorder's types alone, so that the
// packages under sources/ satisfy it without knowing this package.
type Source interface {
	// ID names the source for as long as it exists, such as "pid:48213-991234",
	// "gpu:GPU-4f2e…" or "file:/path".
	ID() string
	// Run hands every record to emit, in order, until ctx ends, the stream
	// ends, or it fails. emit may block for a moment and never drops. A nil
	// error is an orderly end. Run is called once at a time.
	Run(ctx context.Context, emit func(recorder.Record)) error
	// Send asks the source to carry out a command. The answers come back as
	// recorder.Ack records. The error says in one sentence why the command
	// could not even be sent.
	Send(ctx context.Context, command *recorder.Command) error
}

// Loading is what a Source that reads a file can say besides.
type Loading interface {
	// Progress is how many of how many bytes were read, for files; total is 0
	// while unknown. following says that the end was reached and that growth
	// is waited for. It may be called from any goroutine.
	Progress() (done, total int64, following bool)
}
