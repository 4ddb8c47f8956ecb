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
		s.refresh()
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
			s.deliverState(lines, e.state[0].Time(), e.everybody)
		}
		return scratch
	}
	if _, events := e.record.(*recorder.ArenaEvents); events && !s.wanted() {
		return scratch
	}
	if _, events := e.record.(*recorder.PoolEvents); events && !s.wanted() {
		return scratch
	}
	if l, ok := s.encode(e.record, &scratch); ok {
		s.deliver(l, e)
	}
	return scratch
}

func (s *Server) wanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.interest
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
	for id, c := range s.clients {
		mine := l
		if slices.Contains(e.askers, id) {
			mine.kind = kindAck
		}
		s.push(c, mine)
	}
}

// push queues a line for one client. The lock is held.
func (s *Server) push(c *client, l line) {
	if c.ending {
		return
	}
	before := c.queue.dropped
	fits := c.queue.push(l)
	s.stats.Dropped += c.queue.dropped - before
	if !fits {
		c.ending = true
		_ = c.conn.Close() // it reads nothing, so there is no use in saying why
	}
	c.signal()
}

// deliverState gives a whole state to every client that waits for one, and to
// the others if everybody is meant.
func (s *Server) deliverState(lines []line, ns int64, everybody bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		switch {
		case c.queue.needState:
			s.stats.Lost += c.queue.lostEvents + c.queue.lostLines
			c.queue.pushState(s.lostLines(c.queue, ns), lines)
			c.asked = false
			c.signal()
		case everybody:
			for _, l := range lines {
				s.push(c, l)
			}
		}
	}
}

// lostLines says what a client missed before the moment of a state.
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

// settle counts what was handed on, and tells every client of records that
// the render published too fast.
func (s *Server) settle(handed, lost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.HandedOn += handed
	if lost == 0 {
		return
	}
	for _, c := range s.clients {
		c.queue.lose()
		c.queue.lostEvents += lost
		c.asked = false
		c.signal()
	}
}

// refresh asks for a state for everybody when the last one is old.
func (s *Server) refresh() {
	now := s.options.Now()
	if s.readers.Load() == 0 || now-s.refreshed < int64(s.options.Refresh) {
		return
	}
	s.refreshed = now
	s.await(awaitsRefresh)
}

// farewell lets every client's writer end once its queue is empty.
func (s *Server) farewell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		c.ending = true
		c.signal()
	}
}
