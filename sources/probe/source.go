package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"vramscope/recorder"
)

// Version is what this side's hello says of the program.
const Version = "vramscope"

// DialError says that nobody answers at a socket.
type DialError struct {
	ID   string
	Path string
	Gone bool  // the process ended; otherwise it may answer later
	Err  error // the system's
}

// Error is one sentence that says what to do.
func (e *DialError) Error() string {
	if e.Gone {
		return fmt.Sprintf("%s has ended: start it again to watch it", e.ID)
	}
	return fmt.Sprintf("%s does not answer on %s (%s): see whether it still runs, and as the same user", e.ID, e.Path, reason(e.Err))
}

// Unwrap is the system's error.
func (e *DialError) Unwrap() error { return e.Err }

// EndError says that a stream ended without a goodbye.
type EndError struct {
	ID   string
	Gone bool  // the process ended; otherwise it closed the connection
	Err  error // of the connection; nil when it just ended
}

// goneWhy is what is known of a process that ended without a word.
const goneWhy = "ended without a goodbye: it was killed, crashed, or left at once (os._exit)"

// Why is what happened, for where it is clear to whom.
func (e *EndError) Why() string {
	if e.Gone {
		return goneWhy
	}
	return e.Error()
}

// Error is one sentence that says what happened.
func (e *EndError) Error() string {
	switch {
	case e.Gone:
		return e.ID + " " + goneWhy
	case e.Err != nil:
		return fmt.Sprintf("the connection to %s broke (%v): connect again", e.ID, e.Err)
	}
	return fmt.Sprintf("%s closed the connection without saying why: connect again", e.ID)
}

// Unwrap is the connection's error.
func (e *EndError) Unwrap() error { return e.Err }

// GreetingError says that what listens does not speak the records.
type GreetingError struct {
	ID     string
	Why    string
	Silent bool // it has said nothing yet: it may be busy in one long call, and speak after that
}

// Error is one sentence that says what to do.
func (e *GreetingError) Error() string {
	if e.Silent {
		return fmt.Sprintf("%s lets vramscope in, but %s: it is stopped, or busy in one long call; wait until that returns", e.ID, e.Why)
	}
	return fmt.Sprintf("%s does not speak vramscope's records (%s): use the probe of this version", e.ID, e.Why)
}

// ErrNotConnected is returned by Send while no stream runs. Wait until the
// source is live.
var ErrNotConnected = errors.New("the program is not connected: wait until it is live")

// Source watches a process through its socket. It satisfies model.Source.
type Source struct {
	path string
	id   string
	name Name

	mu     sync.Mutex
	conn   *net.UnixConn // while Run has one
	events bool
	broke  bool // the last stream ended without a goodbye

	image  string // what the process was executed as when it said hello, "" where that is not known; Run's alone
	became bool   // it was told that the process is another program by now; Run's alone
}

// NewSource makes a Source of a socket's path. Nothing is connected yet.
func NewSource(path string) *Source {
	s := &Source{path: path, id: "socket:" + path}
	if name, ok := ParseName(path); ok {
		s.name, s.id = name, name.ID()
	}
	return s
}

// ID is "pid:48213-991234": the process and its start time, as the socket is
// named, or "socket:" and the path when it is named otherwise.
func (s *Source) ID() string { return s.id }

// Path is the socket's.
func (s *Source) Path() string { return s.path }

// Want says whether events are asked for, now and after a reconnect. It does
// not wait for the program; an error means that it could not be told now.
func (s *Source) Want(events bool) error {
	s.mu.Lock()
	changed := s.events != events
	s.events = events
	connected := s.conn != nil
	s.mu.Unlock()
	if !changed || !connected {
		return nil
	}
	return s.write(&recorder.Want{Events: events}, time.Now().Add(sendTimeout))
}

const sendTimeout = 2 * time.Second

// Run connects and hands every record to emit until the program says goodbye
// or ctx ends (nil both times), or the stream breaks: a *DialError, a
// *PeerError, a *GreetingError, an *EndError, or recorder's error for a
// protocol that this version does not know. Whether to try again is the
// caller's business.
func (s *Source) Run(ctx context.Context, emit func(recorder.Record)) error {
	conn, err := s.dial(ctx)
	if err != nil {
		s.tellExec(emit, s.id, recorder.MonotonicClock()())
		return s.afterBreak(err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer s.connected(nil)

	err = s.read(conn, emit)
	if ctx.Err() != nil {
		return nil
	}
	var end *EndError
	s.mu.Lock()
	s.broke = errors.As(err, &end)
	s.mu.Unlock()
	return err
}

// afterBreak is why a program cannot be reached. One whose stream broke and that
// is gone now was ending when it broke: its connections close before it is seen
// to have ended.
func (s *Source) afterBreak(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var dial *DialError
	switch gone := errors.As(err, &dial) && dial.Gone; {
	case gone && s.became:
		return nil // what spoke here said goodbye when it became that
	case gone && s.broke:
		return &EndError{ID: s.id, Gone: true}
	}
	return err
}

// becameAnother is the goodbye of a program that has executed another in its place.
const becameAnother = "became another program (exec)"

// tellExec says goodbye for a program that has become another one: that takes its
// number and its start time, and could not say so itself.
func (s *Source) tellExec(emit func(recorder.Record), src string, ns int64) {
	if now := s.name.image(); s.image != "" && now != "" && now != s.image {
		s.image, s.became = "", true
		emit(&recorder.Bye{Head: recorder.Head{Src: src, Ns: ns}, Why: becameAnother})
	}
}

// dial connects and greets, once the kernel has said who is there.
func (s *Source) dial(ctx context.Context) (*net.UnixConn, error) {
	if len(s.path) > MaxPath {
		return nil, &PathLengthError{s.path}
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", s.path)
	if err != nil {
		return nil, &DialError{ID: s.id, Path: s.path, Gone: s.gone(err), Err: cause(err)}
	}
	unix := conn.(*net.UnixConn)
	if err := checkPeer(unix); err != nil {
		conn.Close()
		return nil, err
	}
	// A program that refuses says why and closes before it has read a word:
	// what came of this is seen in reading.
	_ = s.greet(unix)
	return unix, nil
}

func (s *Source) gone(err error) bool {
	if errors.Is(err, fs.ErrNotExist) {
		return s.name.PID == 0 || s.name.Gone()
	}
	return errors.Is(err, syscall.ECONNREFUSED) && s.name.PID != 0 && s.name.Gone()
}

// greet sends this side's hello before anything else may be sent.
func (s *Source) greet(conn *net.UnixConn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	hello := &recorder.Hello{Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Version: Version}
	if s.events {
		hello.Want = []string{"ev"}
	}
	s.conn = conn
	return writeRecord(conn, hello, time.Now().Add(sendTimeout))
}

func (s *Source) connected(conn *net.UnixConn) {
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
}

// read is the stream from the program's hello to its end.
func (s *Source) read(conn *net.UnixConn, emit func(recorder.Record)) error {
	decoder := recorder.NewDecoder(conn)
	first, err := readGreeting(conn, decoder)
	if err != nil {
		return s.ended(err)
	}
	switch r := first.(type) {
	case *recorder.Hello:
		s.tellExec(emit, r.Src, r.Ns)
		s.image, s.became = s.name.image(), false
		emit(r)
	case *recorder.Bye: // refused
		return &GreetingError{ID: s.id, Why: r.Why}
	default:
		return &GreetingError{ID: s.id, Why: fmt.Sprintf("it began with %q and not with hello", first.Type())}
	}
	for {
		record, err := decoder.Next()
		if err != nil {
			return s.ended(err)
		}
		emit(record)
		if _, bye := record.(*recorder.Bye); bye {
			return nil
		}
	}
}

// readGreeting waits for the first record, and not for ever.
func readGreeting(conn *net.UnixConn, decoder *recorder.Decoder) (recorder.Record, error) {
	_ = conn.SetReadDeadline(time.Now().Add(handshakeTimeout))
	record, err := decoder.Next()
	if err != nil {
		return nil, err
	}
	return record, conn.SetReadDeadline(time.Time{})
}

// ended puts the end of a stream into words.
func (s *Source) ended(err error) error {
	var network net.Error
	switch {
	case errors.Is(err, io.EOF):
		return &EndError{ID: s.id, Gone: s.name.PID != 0 && s.name.Gone()}
	case errors.As(err, &network) && network.Timeout():
		return &GreetingError{ID: s.id, Why: "said nothing for ten seconds", Silent: true}
	case errors.As(err, &network):
		return &EndError{ID: s.id, Gone: s.name.PID != 0 && s.name.Gone(), Err: cause(err)}
	}
	return err // the decoder's: a protocol that is not known
}

// Send hands a command to the program. Without a time to live it gets five
// seconds. The answers come through Run. An error means that it was not sent
// as a whole: a repeated Send with the same ID is safe.
func (s *Source) Send(ctx context.Context, command *recorder.Command) error {
	sent := *command
	if sent.TTL <= 0 {
		sent.TTL = defaultTTL
	}
	deadline := time.Now().Add(sendTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.write(&sent, deadline)
}

func (s *Source) write(record recorder.Record, deadline time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return ErrNotConnected
	}
	if err := writeRecord(s.conn, record, deadline); err != nil {
		// Half a line may be out: nothing that follows would be understood.
		s.conn.Close()
		return &EndError{ID: s.id, Err: cause(err)}
	}
	return nil
}

func writeRecord(conn *net.UnixConn, record recorder.Record, deadline time.Time) error {
	line, err := recorder.AppendLine(nil, record)
	if err != nil {
		return err
	}
	if err := conn.SetWriteDeadline(deadline); err != nil {
		return err
	}
	return sendQuietly(conn, line)
}

// sendQuietly writes to a socket without a SIGPIPE to this process where the other
// end has gone: vramscope run passes on to its program what comes.
func sendQuietly(conn *net.UnixConn, data []byte) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Write(func(descriptor uintptr) (done bool) {
		for len(data) > 0 {
			n, err := unix.SendmsgN(int(descriptor), data, nil, nil, unix.MSG_NOSIGNAL)
			switch {
			case errors.Is(err, unix.EAGAIN):
				return false
			case errors.Is(err, unix.EINTR):
			case err != nil:
				failed = err
				return true
			default:
				data = data[n:]
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	return failed
}

// cause is the system's own error, without the words around it.
func cause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}
