package probe

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"vramscope/recorder"
)

// Render is the program that a Server speaks for. Its methods are called by
// Server.Poll only, on the goroutine that calls it: the render's own, between
// two frames.
type Render interface {
	// State is everything that a late reader needs, as of now: the strings
	// first, then the states (recorder.Stream.EmitAll). Events that happened
	// before must have been published before it returns.
	State() []recorder.Record
	// Arm says whether any reader asks for events from now on.
	Arm(events bool)
	// Do carries out a command and returns its final answer, AckDone or
	// AckFailed, with the lines of its result.
	Do(command *recorder.Command) *recorder.Ack
}

// Options are what a Server is made of. Only Hello is needed.
type Options struct {
	Path    string            // of the socket; "" is this process's name in Directory
	Hello   recorder.Hello    // Ns and Wall are set for each reader; Commands and Refuses say what is obeyed
	Now     func() int64      // monotonic ns; nil is the system's CLOCK_MONOTONIC
	Waits   map[string]string // command: what it waits for, as its acceptance says; "frame boundary" for those not named
	Stall   time.Duration     // a reader that takes nothing for so long is closed; 0 is 2 s
	Backlog int               // bytes of samples and marks that are kept for late readers; 0 is 4 MiB
	Age     time.Duration     // older ones are not kept; 0 is 5 minutes
}

// Bounds of what a server takes on.
const (
	maximumReaders   = 64
	handshakeTimeout = 10 * time.Second
	farewellTime     = 250 * time.Millisecond
	writeSize        = 64 << 10 // bytes handed to the kernel at a time
)

// What awaits the next Poll, as bits.
const (
	awaitsCommand uint32 = 1 << iota
	awaitsInterest
	awaitsState // of a reader that has none
)

// Server is the socket of a program that is watched. The program publishes
// records and polls for work; a reader that is slow, stopped or hostile costs
// it nothing: Publish and Poll do no input or output and wait for nobody.
type Server struct {
	options  Options
	render   Render
	listener *net.UnixListener
	inbox    *inbox
	attends  atomic.Uint32 // await bits
	work     chan struct{}
	armed    bool         // what Arm was told; owned by the render's goroutine
	count    atomic.Int32 // of readers
	interest atomic.Bool  // a reader asks for events
	copies   copies

	mu       sync.Mutex
	ledger   *ledger
	readers  map[int]*reader
	greeting map[*net.UnixConn]struct{} // connections that have not said hello yet
	joined   int                        // number of the last reader
	backlog  *backlog
	closing  bool
	closeBy  time.Time // when closing: readers that have not taken the rest by then are left
	stats    Stats
	timer    *time.Timer // of the pending command's end

	running sync.WaitGroup
}

// Stats are what a server has done so far.
type Stats struct {
	Readers    int   // connected now
	Published  int64 // records that the render handed over
	HandedOn   int64 // of these, encoded and queued for those who want them
	Overflowed int64 // records that the render published faster than they could be encoded
	Dropped    int64 // samples replaced by newer ones, over all readers
	Lost       int64 // events and other records that slow readers lost
	Stalled    int64 // readers closed because they took nothing for too long
	Refused    int64 // connections refused
	Unencoded  int64 // records that the format cannot hold
}

// Listen opens the socket and serves readers until Close. It is named after
// this process and its start time. A file that a dead process left in its
// place is replaced. Errors: *DirectoryError, *PathLengthError, *InUseError,
// or the system's.
func Listen(options Options, render Render) (*Server, error) {
	if options.Path == "" {
		path, err := ownPath()
		if err != nil {
			return nil, err
		}
		options.Path = path
	}
	setDefaults(&options)
	listener, err := listen(options.Path)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options:  options,
		render:   render,
		listener: listener,
		inbox:    newInbox(),
		work:     make(chan struct{}, 1),
		ledger:   newLedger(options.Hello.Commands, options.Hello.Refuses, options.Waits),
		readers:  map[int]*reader{},
		greeting: map[*net.UnixConn]struct{}{},
		backlog:  newBacklog(options.Backlog, options.Age),
	}
	s.running.Add(2)
	go s.accept()
	go s.distribute()
	return s, nil
}

func setDefaults(o *Options) {
	if o.Now == nil {
		o.Now = recorder.MonotonicClock()
	}
	setDefault(&o.Stall, 2*time.Second)
	setDefault(&o.Backlog, 4<<20)
	setDefault(&o.Age, 5*time.Minute)
	o.Hello.Proto, o.Hello.Min = recorder.Protocol, recorder.MinimumProtocol
}

func setDefault[T int | time.Duration](value *T, standard T) {
	if *value <= 0 {
		*value = standard
	}
}

// Path is the socket's.
func (s *Server) Path() string { return s.options.Path }

// Readers is how many readers are connected.
func (s *Server) Readers() int { return int(s.count.Load()) }

// Publish hands a record to every reader: events to those who asked, a state to
// those who have one. Batches of events are copied, so that the caller may use
// them again; other records must not change any more. Publish takes a lock for
// a few instructions, makes no garbage and never waits for a reader. It may be
// called from any goroutine, and keeps the order of each.
func (s *Server) Publish(record recorder.Record) {
	if isEvents(record) {
		if !s.interest.Load() {
			return
		}
		record = s.copies.of(record)
	}
	if !s.inbox.put(entry{record: record}) {
		s.copies.giveBack(record)
	}
}

// Poll does what readers wait for: it runs a command, tells the render whether
// events are asked for, and takes the state for readers that need one. The
// render calls it between frames. With nothing to do it costs one test.
func (s *Server) Poll() {
	if s.attends.Load() == 0 {
		return
	}
	bits := s.attends.Swap(0)
	now := s.options.Now()
	interest := s.interest.Load()
	s.mu.Lock()
	command, expired, askers := s.ledger.take(now)
	s.sign(expired)
	s.mu.Unlock()

	if expired != nil {
		s.inbox.put(entry{record: expired, askers: askers})
	}
	if interest != s.armed {
		s.armed = interest
		s.render.Arm(interest)
	}
	if command != nil {
		s.run(command, now)
	}
	if bits&awaitsState != 0 {
		s.inbox.put(entry{state: s.render.State()})
	}
}

func (s *Server) run(command *recorder.Command, began int64) {
	ack := s.render.Do(command)
	if ack.State != recorder.AckDone {
		ack.State = recorder.AckFailed // the only other end of an accepted command
	}
	ack.Took = s.options.Now() - began
	s.mu.Lock()
	s.sign(ack)
	final, askers := s.ledger.finish(ack)
	s.mu.Unlock()
	// By way of the inbox, so that it follows what the command caused.
	s.inbox.put(entry{record: final, askers: askers})
}

// sign puts the moment and the source on an answer, before anybody sees it. The
// lock is held, since a stored answer can be asked for at once.
func (s *Server) sign(ack *recorder.Ack) {
	if ack != nil {
		ack.Ns, ack.Src = s.options.Now(), s.source()
	}
}

// source is what this server's own records name as their source.
func (s *Server) source() string { return s.options.Hello.Src }

// Work has a value when Poll has something to do, for a render that waits
// between frames anyway.
func (s *Server) Work() <-chan struct{} { return s.work }

// await asks the render for something.
func (s *Server) await(bits uint32) {
	s.attends.Or(bits)
	select {
	case s.work <- struct{}{}:
	default:
	}
}

// Stats are the figures so far.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	stats := s.stats
	stats.Readers = len(s.readers)
	stats.Published, stats.Overflowed = s.inbox.counts()
	return stats
}

// Close says goodbye to every reader, with the reason, after the answer to a
// command that is still to run, and removes the socket. Readers that take nothing are left after a quarter of a second. It
// returns when every goroutine of the server has ended.
func (s *Server) Close(why string) error {
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		s.running.Wait()
		return nil
	}
	s.closing, s.closeBy = true, time.Now().Add(farewellTime)
	for _, r := range s.readers {
		_ = r.conn.SetWriteDeadline(s.closeBy) // of the write under way
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	for conn := range s.greeting {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
	unanswered, askers := s.ledger.abandon("the program ends, so nothing was done")
	s.sign(unanswered)
	s.mu.Unlock()
	if unanswered != nil {
		s.inbox.put(entry{record: unanswered, askers: askers})
	}

	err := s.listener.Close() // removes the file, too
	s.inbox.put(entry{record: &recorder.Bye{Head: recorder.Head{Src: s.source(), Ns: s.options.Now()}, Why: why}})
	s.inbox.close()
	s.running.Wait()
	if err != nil {
		return fmt.Errorf("the socket %s could not be closed: %w", s.options.Path, err)
	}
	return nil
}
