package probe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"vramscope/recorder"
)

// reader is one reader of a server, as the server sees it.
type reader struct {
	id   int
	conn *net.UnixConn
	wake chan struct{} // something is in the queue, or ending changed

	// Under the server's lock:
	backlog []line // what a late reader gets first
	queue   *queue
	asked   bool // for a state
	ending  bool // ends when everything is written
}

func (r *reader) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// accept takes connections until the listener closes.
func (s *Server) accept() {
	defer s.running.Done()
	for {
		conn, err := s.listener.AcceptUnix()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// Out of file descriptors: the render may free some. There is
			// nothing to do but to try again, not too often.
			time.Sleep(100 * time.Millisecond)
			continue
		}
		s.running.Add(1)
		go func() {
			defer s.running.Done()
			defer conn.Close()
			s.serve(conn)
		}()
	}
}

// serve is one connection from the peer check to its end.
func (s *Server) serve(conn *net.UnixConn) {
	if err := checkPeer(conn); err != nil {
		s.refuse(conn, err.Error())
		return
	}
	if err := s.writeAll(conn, s.hello()); err != nil {
		return
	}
	decoder := recorder.NewDecoder(conn)
	hello, err := s.greet(conn, decoder)
	if err != nil {
		s.refuse(conn, err.Error())
		return
	}
	r, why := s.join(conn, hello)
	if why != "" {
		s.refuse(conn, why)
		return
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.write(r)
		conn.Close() // ends the reading below
	}()
	for {
		record, err := decoder.Next()
		if err != nil {
			break
		}
		s.hear(r, record)
	}
	s.leave(r)
	<-written
}

// refuse says why and counts. The caller closes.
func (s *Server) refuse(conn *net.UnixConn, why string) {
	s.mu.Lock()
	s.stats.Refused++
	s.mu.Unlock()
	line, err := recorder.AppendLine(nil, &recorder.Bye{Head: recorder.Head{Src: s.source(), Ns: s.options.Now()}, Why: why})
	if err == nil {
		_ = s.writeAll(conn, line)
	}
}

// hello is this server's, with the pair of clocks as of now.
func (s *Server) hello() []byte {
	hello := s.options.Hello
	hello.Ns, hello.Wall = s.options.Now(), time.Now().UnixNano()
	line, err := recorder.AppendLine(nil, &hello)
	if err != nil { // a command line can be longer than a line
		hello.Argv = nil
		line, _ = recorder.AppendLine(nil, &hello)
	}
	return line
}

// greet waits for the reader's first line.
func (s *Server) greet(conn *net.UnixConn, decoder *recorder.Decoder) (*recorder.Hello, error) {
	s.mu.Lock()
	s.greeting[conn] = struct{}{}
	_ = conn.SetReadDeadline(time.Now().Add(handshakeTimeout))
	if s.closing {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
	s.mu.Unlock()
	record, err := decoder.Next()
	s.mu.Lock()
	delete(s.greeting, conn)
	_ = conn.SetReadDeadline(time.Time{})
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	hello, ok := record.(*recorder.Hello)
	if !ok {
		return nil, fmt.Errorf("the first line must be a hello, not %q", record.Type())
	}
	return hello, nil
}

// join makes a reader of a connection, or says why not.
func (s *Server) join(conn *net.UnixConn, hello *recorder.Hello) (*reader, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closing:
		return nil, "the program ends"
	case len(s.readers) >= maximumReaders:
		return nil, fmt.Sprintf("%d readers watch this program already", maximumReaders)
	}
	s.joined++
	r := &reader{id: s.joined, conn: conn, wake: make(chan struct{}, 1), queue: newQueue(), backlog: s.backlog.copy()}
	s.readers[r.id] = r
	s.count.Store(int32(len(s.readers)))
	s.want(r, slices.Contains(hello.Want, "ev"))
	return r, ""
}

// leave forgets a reader.
func (s *Server) leave(r *reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.readers, r.id)
	s.count.Store(int32(len(s.readers)))
	r.ending = true
	r.backlog, r.queue = nil, newQueue()
	r.signal()
	s.countInterest()
}

// want changes what a reader asks for. Events start from a state. The lock is
// held.
func (s *Server) want(r *reader, events bool) {
	if events && !r.queue.wantsEvents {
		r.queue.needState, r.asked = true, false
		r.signal()
	}
	r.queue.wantsEvents = events
	s.countInterest()
}

// countInterest tells the render when the first reader asks for events or the
// last one stops. The lock is held.
func (s *Server) countInterest() {
	interest := false
	for _, r := range s.readers {
		interest = interest || r.queue.wantsEvents
	}
	if s.interest.Swap(interest) != interest {
		s.await(awaitsInterest)
	}
}

// hear is one record from a reader.
func (s *Server) hear(r *reader, record recorder.Record) {
	switch heard := record.(type) {
	case *recorder.Want:
		s.mu.Lock()
		s.want(r, heard.Events)
		s.mu.Unlock()
	case *recorder.Command:
		s.command(r, heard)
	}
}

// command answers at once; what was accepted waits for Poll.
func (s *Server) command(r *reader, command *recorder.Command) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return // the goodbye is the answer
	}
	now := s.options.Now()
	stored, order := s.ledger.receive(now, r.id, command)
	ack := *stored // a repeated id gets the stored answer, which others read
	if ack.Ns == 0 {
		ack.Ns, ack.Src = now, s.source()
	}
	if encoded, err := recorder.AppendLine(nil, &ack); err == nil {
		s.push(r, line{kind: kindAck, bytes: encoded})
	}
	if order == nil {
		return
	}
	s.tellOthers(r, command)
	wait := time.Duration(order.deadline - now)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(wait, s.expire)
	s.await(awaitsCommand)
}

// tellOthers shows the other readers which command was given, so that their
// recordings hold it.
func (s *Server) tellOthers(r *reader, command *recorder.Command) {
	copied := *command
	copied.Ns, copied.Src = s.options.Now(), s.source()
	encoded, err := recorder.AppendLine(nil, &copied)
	if err != nil {
		return
	}
	l := line{bytes: encoded, weight: 1}
	s.backlog.add(l, copied.Ns)
	for id, other := range s.readers {
		if id != r.id {
			s.push(other, l)
		}
	}
}

// expire ends a command that no frame boundary came for.
func (s *Server) expire() {
	s.mu.Lock()
	expired, askers := s.ledger.expire(s.options.Now())
	s.sign(expired)
	s.mu.Unlock()
	if expired != nil {
		s.inbox.put(entry{record: expired, askers: askers})
	}
}

// write sends what waits for a reader until it ends or stops reading.
func (s *Server) write(r *reader) {
	buffer := make([]byte, 0, writeSize)
	for {
		var more bool
		buffer, more = s.fill(r, buffer[:0])
		if len(buffer) > 0 {
			if err := s.writeAll(r.conn, buffer); err != nil {
				s.countStalled(err)
				return
			}
			continue
		}
		if !more {
			return
		}
		<-r.wake
	}
}

// fill takes what fits into a buffer. more is false at the end.
func (s *Server) fill(r *reader, buffer []byte) (filled []byte, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(r.backlog) > 0 && len(buffer) < writeSize {
		buffer = append(buffer, r.backlog[0].bytes...)
		r.backlog[0] = line{}
		r.backlog = r.backlog[1:]
	}
	for len(buffer) < writeSize {
		l, ok := r.queue.pop()
		if !ok {
			break
		}
		buffer = appendLine(buffer, l, r.queue.dropped)
	}
	if r.ending && len(buffer) == 0 {
		return buffer, false
	}
	if r.queue.needState && r.queue.empty() && !r.asked {
		r.asked = true
		s.await(awaitsState)
	}
	return buffer, true
}

// appendLine adds a line; a sample says how many this reader did not get.
func appendLine(buffer []byte, l line, dropped int64) []byte {
	if dropped > 0 && l.sample != nil {
		sample := *l.sample
		sample.Dropped += dropped
		if with, err := recorder.AppendLine(buffer, &sample); err == nil {
			return with
		}
	}
	return append(buffer, l.bytes...)
}

// errStalled ends a reader that took nothing for too long.
var errStalled = errors.New("the reader took nothing for too long")

// writeAll writes everything, as long as the reader takes some of it within
// the stall limit.
func (s *Server) writeAll(conn *net.UnixConn, buffer []byte) error {
	for len(buffer) > 0 {
		if err := conn.SetWriteDeadline(s.deadline()); err != nil {
			return err
		}
		n, err := conn.Write(buffer)
		buffer = buffer[n:]
		if err != nil && !(n > 0 && errors.Is(err, os.ErrDeadlineExceeded)) {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return errStalled
			}
			return err
		}
	}
	return nil
}

// deadline is until when a reader must take something. While the server closes
// there is one moment for all.
func (s *Server) deadline() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return s.closeBy
	}
	return time.Now().Add(s.options.Stall)
}

func (s *Server) countStalled(err error) {
	if !errors.Is(err, errStalled) {
		return
	}
	s.mu.Lock()
	s.stats.Stalled++
	s.mu.Unlock()
}
