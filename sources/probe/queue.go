package probe

import "vramscope/recorder"

// Bounds of what waits for one reader.
const (
	maximumAcks  = 64      // answers to commands; more close the reader
	maximumBytes = 4 << 20 // lines other than answers and states; more are dropped, and the reader gets a fresh state
)

// kind says how a line may be treated while its reader does not read.
type kind uint8

const (
	kindLine   kind = iota // goes in order, may be lost
	kindEvents             // the same, for readers that ask for events
	kindState              // strings and states: for a reader that waits for one, or all
	kindSample             // only the newest waits
	kindAck                // never lost
)

// line is one encoded record. It is shared by the readers and immutable.
type line struct {
	kind   kind
	bytes  []byte
	weight int64            // how many are lost with it: the events of a batch, else 1
	sample *recorder.Sample // kindSample: to be encoded again when the reader missed others

	counted bool // in queue.bytes
}

// queue is what waits for one reader: lines in order, of which at most one is
// a sample. It drops rather than grow, and then asks for a fresh state.
type queue struct {
	lines       []line
	head        int
	bytes       int // of lines that may be lost
	acks        int
	sample      int   // index in lines of the sample that waits, -1 without
	dropped     int64 // samples replaced, in all
	lostEvents  int64
	lostLines   int64
	needState   bool // events and strings are held back until a state comes
	wantsEvents bool
}

func newQueue() *queue { return &queue{sample: -1, needState: true} }

// push adds a line, or counts it as lost. It is false when more answers wait
// than a reader that reads would leave.
func (q *queue) push(l line) bool {
	switch l.kind {
	case kindAck:
		q.acks++
		q.append(l)
		return q.acks <= maximumAcks
	case kindSample:
		q.pushSample(l)
	case kindEvents:
		if !q.wantsEvents {
			return true
		}
		if q.needState {
			// Before the first state nothing is lost: it will hold them.
			if q.lostEvents+q.lostLines > 0 {
				q.lostEvents += l.weight
			}
			return true
		}
		q.pushBounded(l)
	case kindState:
		if !q.needState {
			q.pushBounded(l)
		}
	default:
		q.pushBounded(l)
	}
	return true
}

func (q *queue) pushSample(l line) {
	if q.sample >= 0 {
		q.bytes -= len(q.lines[q.sample].bytes)
		q.lines[q.sample] = line{} // skipped by pop
		q.dropped++
	}
	q.appendCounted(l)
	q.sample = len(q.lines) - 1
}

func (q *queue) pushBounded(l line) {
	if q.bytes+len(l.bytes) > maximumBytes {
		q.lose()
		q.count(l)
		return
	}
	q.appendCounted(l)
}

// pushState adds a whole state for the reader that waits for it, behind a
// line that says what was lost. States are not bounded: they come one at a
// time, and only when the queue is empty.
func (q *queue) pushState(lost []line, state []line) {
	for _, l := range lost {
		q.append(l)
	}
	for _, l := range state {
		q.append(l)
	}
	q.needState, q.lostEvents, q.lostLines = false, 0, 0
}

// lose drops everything but the answers, and the newest sample.
func (q *queue) lose() {
	kept := q.lines[:0]
	sample := q.sample
	q.sample, q.bytes = -1, 0
	for i := q.head; i < len(q.lines); i++ {
		switch l := q.lines[i]; {
		case l.kind == kindAck:
			kept = append(kept, l)
		case i == sample:
			kept = append(kept, l)
			q.sample, q.bytes = len(kept)-1, len(l.bytes)
		default:
			q.count(l)
		}
	}
	clear(q.lines[len(kept):])
	q.lines, q.head = kept, 0
	q.needState = true
}

// count counts a line as lost. States and strings are not counted: the fresh
// state has what they had.
func (q *queue) count(l line) {
	switch l.kind {
	case kindEvents:
		q.lostEvents += l.weight
	case kindLine:
		q.lostLines += l.weight
	}
}

// pop takes the next line.
func (q *queue) pop() (l line, ok bool) {
	for q.head < len(q.lines) {
		at := q.head
		l, q.lines[at] = q.lines[at], line{}
		q.head++
		if l.bytes == nil {
			continue
		}
		if l.counted {
			q.bytes -= len(l.bytes)
		}
		switch l.kind {
		case kindAck:
			q.acks--
		case kindSample:
			q.sample = -1
		}
		return l, true
	}
	q.lines, q.head = q.lines[:0], 0
	return line{}, false
}

func (q *queue) appendCounted(l line) {
	l.counted = true
	q.bytes += len(l.bytes)
	q.append(l)
}

func (q *queue) append(l line) {
	if q.head > 256 && q.head > len(q.lines)/2 { // a reader that reads, but never everything
		n := copy(q.lines, q.lines[q.head:])
		clear(q.lines[n:])
		if q.sample >= 0 {
			q.sample -= q.head
		}
		q.lines, q.head = q.lines[:n], 0
	}
	q.lines = append(q.lines, l)
}

// empty says that nothing waits.
func (q *queue) empty() bool { return q.head == len(q.lines) }
