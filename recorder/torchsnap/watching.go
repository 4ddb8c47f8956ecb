package torchsnap

import (
	"errors"

	"vramscope/recorder"
)

// ErrCancelled is the end of a reading that Options.Progress did not want to
// go on.
var ErrCancelled = errors.New("reading the snapshot was cancelled")

// partialEvents is after how many events each a part of the dump is shown.
const partialEvents = 1 << 16

// watch is who wants to know how far the reading is.
type watch struct {
	progress func(bytes, events int64) bool
	partial  func(*recorder.Dump)
	every    int          // events between two parts
	read     func() int64 // bytes taken from the reader that Read was given
	pieces   int          // of the input when it was last told
	shown    int          // events of the latest part
}

// report tells who watches the reading, once for each piece of the input.
func (m *machine) report() error {
	w := &m.watch
	if w.pieces == m.in.count {
		return nil
	}
	w.pieces = m.in.count
	if w.progress != nil && !w.progress(w.read(), int64(m.eventCount)) {
		return ErrCancelled
	}
	if w.partial != nil && m.eventCount >= w.shown+w.every {
		w.shown = m.eventCount
		w.partial(m.part())
	}
	return nil
}

// part is the dump as far as it was read: nothing in it is written again.
func (m *machine) part() *recorder.Dump {
	a := m.assemble()
	a.brief = true
	a.openKeys()
	part := a.seal()
	part.Format, part.Truncated = m.format(), true
	return part
}
