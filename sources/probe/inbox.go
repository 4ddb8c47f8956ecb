package probe

import (
	"sync"

	"vramscope/recorder"
)

// inboxSize is how many records may wait to be encoded. The hub takes them
// all at once, so that it is filled only by a render that publishes this many
// within one scheduling delay.
const inboxSize = 4096

// entry is something that the render hands over.
type entry struct {
	record recorder.Record
	state  []recorder.Record // in place of record: a whole state, for readers that have none
	askers []int             // the record answers these readers' command
}

// inbox is between the render and the server's own goroutine. It is bounded
// and drops what does not fit.
type inbox struct {
	wake chan struct{} // closed at the end

	mu        sync.Mutex
	entries   []entry
	spare     []entry
	closed    bool
	published int64
	lost      int64 // since the last take, as Lost counts
	overflow  int64 // records, in all
}

func newInbox() *inbox {
	return &inbox{
		wake:    make(chan struct{}, 1),
		entries: make([]entry, 0, inboxSize),
		spare:   make([]entry, 0, inboxSize),
	}
}

// put takes an entry; false is one that did not fit or came too late.
func (b *inbox) put(e entry) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.published++
	// States and answers always fit: there are few, and readers wait for them.
	if len(b.entries) >= inboxSize && e.state == nil && e.askers == nil {
		b.lost += weight(e.record)
		b.overflow++
		return false
	}
	b.entries = append(b.entries, e)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// take hands out what waits, oldest first, and how many were lost after it.
// The entries are valid until the next call.
func (b *inbox) take() (entries []entry, lost int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	entries, lost = b.entries, b.lost
	clear(b.spare)
	b.entries, b.spare, b.lost = b.spare[:0], entries, 0
	return entries, lost
}

func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	close(b.wake)
}

func (b *inbox) counts() (published, overflow int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.published, b.overflow
}

// weight is how many things a record holds, as Lost counts them.
func weight(record recorder.Record) int64 {
	switch r := record.(type) {
	case *recorder.ArenaEvents:
		return int64(len(r.Op))
	case *recorder.PoolEvents:
		return int64(len(r.Op))
	}
	return 1
}
