package probe

import (
	"bytes"
	"slices"

	"vramscope/recorder"
)

// distribute is the server's own goroutine: it encodes each record once and
// hands the line to every reader that wants it.
func (s *Server) distribute() {
	defer s.running.Done()
	var scratch []byte
	for open := true; open; {
		_, open = <-s.inbox.wake
		entries, lost := s.inbox.take()
		for _, e := range entries {
			scratch = s.handle(e, scratch)
		}
		s.settle(int64(len(entries)), lost)
	}
	s.farewell()
}

func (s *Server) handle(e entry, scratch []byte) []byte {
	if e.state != nil {
		lines := make([]line, 0, len(e.state))
		for _, record := range e.state {
			l, ok := s.encode(record, &scratch)
			if ok {
				l.kind = kindState
				lines = append(lines, l)
			}
		}
		if len(lines) > 0 {
			s.deliverState(lines, e.state[0].Time())
		}
		return scratch
	}
	defer s.copies.giveBack(e.record)
	if isEvents(e.record) && !s.interest.Load() {
		return scratch
	}
	if l, ok := s.encode(e.record, &scratch); ok {
		s.deliver(l, e)
	}
	return scratch
}

// encode makes the line of a record. The bytes are its own.
func (s *Server) encode(record recorder.Record, scratch *[]byte) (line, bool) {
	buffer, err := recorder.AppendLine((*scratch)[:0], record)
	if err != nil || len(buffer) > recorder.MaxLine {
		s.mu.Lock()
		s.stats.Unencoded++
		s.mu.Unlock()
		return line{}, false
	}
	*scratch = buffer
	l := line{bytes: bytes.Clone(buffer), weight: weight(record)}
	switch r := record.(type) {
	case *recorder.ArenaEvents, *recorder.PoolEvents:
		l.kind = kindEvents
	case *recorder.State, *recorder.Strings:
		l.kind = kindState
	case *recorder.Sample:
		l.kind, l.sample = kindSample, r
	}
	return l, true
}

// deliver puts a line into every queue. The answer to a command is never lost
// to those who asked, and an ordinary line for the others.
func (s *Server) deliver(l line, e entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.kind == kindSample || l.kind == kindLine {
		s.backlog.add(l, e.record.Time())
	}
	for id, r := range s.readers {
		mine := l
		if slices.Contains(e.askers, id) {
			mine.kind = kindAck
		}
		s.push(r, mine)
	}
}

// push queues a line for one reader. The lock is held.
func (s *Server) push(r *reader, l line) {
	if r.ending {
		return
	}
	before := r.queue.dropped
	fits := r.queue.push(l)
	s.stats.Dropped += r.queue.dropped - before
	if !fits {
		r.ending = true
		_ = r.conn.Close() // it reads nothing, so there is no use in saying why
	}
	r.signal()
}

// deliverState gives a whole state to every reader that waits for one.
func (s *Server) deliverState(lines []line, ns int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.readers {
		if r.queue.needState {
			s.stats.Lost += r.queue.lostEvents + r.queue.lostLines
			r.queue.pushState(s.lostLines(r.queue, ns), lines)
			r.asked = false
			r.signal()
		}
	}
}

// lostLines says what a reader missed before the moment of a state.
func (s *Server) lostLines(q *queue, ns int64) []line {
	var lines []line
	for _, missed := range []struct {
		n    int64
		what string
	}{{q.lostEvents, "ev"}, {q.lostLines, ""}} {
		if missed.n == 0 {
			continue
		}
		lost := &recorder.Lost{Head: recorder.Head{Src: s.source(), Ns: ns}, N: missed.n, What: missed.what}
		if encoded, err := recorder.AppendLine(nil, lost); err == nil {
			lines = append(lines, line{bytes: encoded, weight: 1})
		}
	}
	return lines
}

// settle counts what was handed on, and tells every reader of records that
// the render published too fast.
func (s *Server) settle(handed, lost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.HandedOn += handed
	if lost == 0 {
		return
	}
	for _, r := range s.readers {
		r.queue.lose()
		r.queue.lostEvents += lost
		r.asked = false
		r.signal()
	}
}

// farewell lets every reader's writer end once its queue is empty.
func (s *Server) farewell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.readers {
		r.ending = true
		r.signal()
	}
}
