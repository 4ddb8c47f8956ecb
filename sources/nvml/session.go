package nvml

import "time"

// session is one Run: what is known, and who is asking. Everything in it
// belongs to Run's goroutine; the others only send.
type session struct {
	w        *Watcher
	receiver Receiver

	opened  chan opening
	listed  chan listing
	closed  chan struct{}
	results chan result
	faults  chan Fault
	done    chan struct{} // closed when Run ends

	driver     State
	up         bool      // Init has succeeded
	never      bool      // and never will
	office     *activity // the open, list or close under way: one at a time
	opening    bool      // it is an open
	nextOpen   time.Time
	relist     bool // a GPU is lost, or one that was lost may be back
	nextList   time.Time
	gpus       []*watched
	devices    []Device
	stopFaults chan struct{}              // nil while nobody waits for faults
	abandoned  map[string]<-chan struct{} // by GPU: closes when its former worker has returned
}

// opening is what came of an open.
type opening struct {
	code    Code
	why     string
	listing listing
}

func newSession(w *Watcher, receiver Receiver) *session {
	return &session{
		w: w, receiver: receiver,
		opened: make(chan opening), listed: make(chan listing), closed: make(chan struct{}),
		results: make(chan result), faults: make(chan Fault),
		done:      make(chan struct{}),
		abandoned: make(map[string]<-chan struct{}),
	}
}

func (s *session) begin(now time.Time) {
	s.driver = starting
	s.receiver.Driver(starting)
	s.tick(now)
}

// tick does what is due.
func (s *session) tick(now time.Time) {
	s.watchdog(now)
	if s.w.paused.Load() {
		return
	}
	switch {
	case s.up:
		if s.relist && s.office == nil && !now.Before(s.nextList) {
			s.startListing(now)
		}
		for _, g := range s.gpus {
			s.ask(g, now)
		}
	case s.office == nil && !s.never && !now.Before(s.nextOpen):
		s.nextOpen = now.Add(reopenEvery)
		if s.w.around.pci.allSuspended() {
			s.setDriver(asleep)
			return
		}
		s.startOpening(now)
	}
}

// watchdog tells of calls that take too long.
func (s *session) watchdog(now time.Time) {
	if s.office != nil && s.office.overdue(now) && s.opening {
		s.setDriver(hangingDriver)
	}
	for _, g := range s.gpus {
		if g.worker != nil && g.worker.busy && g.worker.overdue(now) {
			s.tellState(g, hangingGPU)
		}
	}
}

// ask hands a GPU's worker what is due, unless a call is under way.
func (s *session) ask(g *watched, now time.Time) {
	if g.worker == nil || g.worker.busy {
		return
	}
	processes, slow := s.w.processes.Load(), s.w.slow.Load()
	kinds := [...]struct {
		of    want
		every time.Duration
		shown bool
	}{
		{wantMemory, s.w.interval, true},
		{wantEnvironment, slowInterval, true},
		{wantProcesses, slowInterval, processes},
		{wantSlow, slowInterval, slow},
	}
	var wanted want
	for i, kind := range kinds {
		// A ticker is early now and then: half an interval early is on time.
		if !kind.shown || now.Add(s.w.interval/2).Before(g.next[i]) {
			continue
		}
		wanted |= kind.of
		g.next[i] = now.Add(kind.every)
	}
	if wanted == 0 {
		return
	}
	if processes {
		wanted |= keepProcesses
	}
	if slow {
		wanted |= keepSlow
	}
	g.worker.request(wanted, now)
}

// startOpening loads NVML, starts it and lists its GPUs, in a goroutine: it
// takes 13 ms on a good day and has been seen to take 24 s.
func (s *session) startOpening(now time.Time) {
	lib, around := s.w.library, s.w.around
	s.opening = true
	s.startOffice(now, func() {
		lib.close() // what a driver that went away has left open
		o := opening{}
		if o.code, o.why = lib.open(); o.code == codeSuccess {
			o.listing = list(lib, around)
			o.code = o.listing.code
		}
		select {
		case s.opened <- o:
		case <-s.done:
		}
	})
}

// startListing lists the GPUs again.
func (s *session) startListing(now time.Time) {
	lib, around := s.w.library, s.w.around
	s.opening = false
	s.startOffice(now, func() {
		l := list(lib, around)
		select {
		case s.listed <- l:
		case <-s.done:
		}
	})
}

func (s *session) startOffice(now time.Time, work func()) {
	a := &activity{since: now, finished: make(chan struct{})}
	s.office = a
	go func() {
		defer close(a.finished)
		work()
	}()
}

func (s *session) afterOpen(o opening) {
	s.office = nil
	switch {
	case o.code == CodeNone:
		s.never = true
		s.setDriver(driverState(o.code, o.why))
	case o.code != codeSuccess:
		s.setDriver(driverState(o.code, o.why))
	case len(o.listing.gpus) == 0 && len(o.listing.unreachable) == 0:
		s.setDriver(noDevices)
	default:
		s.up = true
		s.setDriver(running)
		s.afterList(o.listing)
	}
}

func (s *session) afterList(l listing) {
	s.office = nil
	now := s.w.clock.now()
	s.nextList = now.Add(relistEvery)
	if !s.up {
		return // the driver was lost while it was asked
	}
	if l.code != codeSuccess {
		if l.code.losesDriver() {
			s.lose(l.code)
		}
		return
	}
	s.relist = len(l.unreachable) > 0
	if s.merge(l) {
		s.watchFaults()
	}
	s.tick(now)
}

// lose ends the asking until Init succeeds again.
func (s *session) lose(code Code) {
	state := driverState(code, "")
	s.up = false
	s.relist = false
	s.nextOpen = s.w.clock.now().Add(reopenEvery)
	s.endFaults()
	s.setDriver(state)
	for _, g := range s.gpus {
		if g.worker != nil {
			s.drop(g, state)
		}
		s.tellState(g, state)
	}
	if s.office == nil { // lets the kernel driver be unloaded, which an open library forbids
		s.opening = false
		s.startOffice(s.w.clock.now(), func() {
			s.w.library.close()
			select {
			case s.closed <- struct{}{}:
			case <-s.done:
			}
		})
	}
}

func (s *session) setDriver(state State) {
	if state != s.driver {
		s.driver = state
		s.receiver.Driver(state)
	}
}

// watchFaults waits for the Xids of the GPUs that answer, from now on. One
// whose call hangs would hold up the others.
func (s *session) watchFaults() {
	s.endFaults()
	var handles []handle
	for _, g := range s.gpus {
		if g.worker != nil && !g.worker.late {
			handles = append(handles, g.gpu.handle)
		}
	}
	if len(handles) == 0 {
		return
	}
	stop := make(chan struct{})
	s.stopFaults = stop
	deliver := func(f Fault) {
		select {
		case s.faults <- f:
		case <-stop:
		}
	}
	go watchFaults(s.w.library, handles, s.w.clock, deliver, stop)
}

func (s *session) endFaults() {
	if s.stopFaults != nil {
		close(s.stopFaults)
		s.stopFaults = nil
	}
}

// end stops everybody and waits a moment for those who are about to return. A
// call that hangs is left in the driver, and so is a wait for faults, which
// ends by itself within a second; the last one out shuts NVML down.
func (s *session) end() {
	close(s.done)
	s.endFaults()
	waiting := make([]*activity, 0, len(s.gpus)+1)
	if s.office != nil {
		waiting = append(waiting, s.office)
	}
	for _, g := range s.gpus {
		if g.worker != nil {
			close(g.worker.requests)
			waiting = append(waiting, &g.worker.activity)
		}
	}
	grace := s.w.clock.after(shutdownGrace)
	for _, a := range waiting {
		if a.late {
			continue
		}
		select {
		case <-a.finished:
		case <-grace:
			go s.w.library.close()
			return
		}
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.w.library.close()
	}()
	select {
	case <-closed:
	case <-grace:
	}
}
