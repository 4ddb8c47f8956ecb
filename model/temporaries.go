package model

import (
	"slices"

	"vramscope/recorder"
)

// maximumTemporaries is how many open temporary contexts of an arena are kept;
// those inside are counted.
const maximumTemporaries = 4096

// OpenTemporary is a temporary context that has not ended: what it will put back.
type OpenTemporary struct {
	Ns      int64 // monotonic ns at which it was opened
	Frame   int64 // in which frame, -1 unknown
	Forward int64 // pointer then, bytes from the arena's start
	Reverse int64 // pointer then, bytes from the arena's start
	Clear   bool  // its end puts the reverse pointer back too
}

// temporaries are the open temporary contexts of an arena while events are
// folded. No state tells them.
type temporaries struct {
	open   []OpenTemporary
	deeper int  // opened inside the last one that is kept
	known  bool // the arena was seen without any
	shared bool // a reader or another fold has the row
}

func (t *temporaries) push(event *recorder.ArenaEvent) {
	if len(t.open) >= maximumTemporaries {
		t.deeper++
		return
	}
	if t.shared {
		t.open, t.shared = slices.Clone(t.open), false
	}
	t.open = append(t.open, OpenTemporary{Ns: event.Ns, Frame: event.Frame, Forward: event.Forward, Reverse: event.Reverse,
		Clear: event.Flags&recorder.FlagClear != 0})
}

func (t *temporaries) pop() {
	switch n := len(t.open); {
	case t.deeper > 0:
		t.deeper--
	case n > 0:
		t.open = t.open[:n-1]
	}
}

// lent are the contexts for another fold, which will not change these.
func (t *temporaries) lent() temporaries {
	lent := *t
	lent.shared = true
	return lent
}

// publish are the contexts as they are now, for readers.
func (t *temporaries) publish() (open []OpenTemporary, known bool) {
	t.shared = true
	return t.open, t.known && t.deeper == 0
}
