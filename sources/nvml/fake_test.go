package nvml

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fakeClock is time that moves when the test says so.
type fakeClock struct {
	mu      sync.Mutex
	t       time.Time
	ticks   chan time.Time
	pending []alarm
	armed   chan struct{} // gets one for every after
}

type alarm struct {
	at   time.Time
	ring chan time.Time
}

func newFakeClock() *fakeClock {
	return &fakeClock{t: time.Unix(1000, 0), ticks: make(chan time.Time), armed: make(chan struct{}, 1000)}
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *fakeClock) tick(time.Duration) (<-chan time.Time, func()) { return c.ticks, func() {} }

func (c *fakeClock) after(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ring := make(chan time.Time, 1)
	c.pending = append(c.pending, alarm{c.t.Add(d), ring})
	c.armed <- struct{}{}
	return ring
}

// advance moves the clock, rings what is due and ticks once. It returns when
// the watcher has taken the tick.
func (c *fakeClock) advance(d time.Duration) {
	c.ticks <- c.move(d)
}

// move moves the clock and rings what is due, without a tick.
func (c *fakeClock) move(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
	var rest []alarm
	for _, a := range c.pending {
		if a.at.After(c.t) {
			rest = append(rest, a)
			continue
		}
		a.ring <- c.t
	}
	c.pending = rest
	return c.t
}

// listener is a receiver that keeps what it is told, in order.
type listener struct {
	events chan any
}

func newListener() *listener { return &listener{events: make(chan any, 10000)} }

func (l *listener) Driver(s State)     { l.events <- s }
func (l *listener) Devices(d []Device) { l.events <- d }
func (l *listener) Reading(r Reading)  { l.events <- r }
func (l *listener) Fault(f Fault)      { l.events <- f }

// await waits for the next event of a type that fits, and skips all others.
func await[T any](l *listener, fits func(T) bool) T {
	for e := range l.events {
		if v, ok := e.(T); ok && fits(v) {
			return v
		}
	}
	panic("unreachable: events never closes")
}

func awaitDriver(l *listener, c Condition) State {
	return await(l, isDriver(c))
}

func awaitReading(l *listener, uuid string, c Condition) Reading {
	return await(l, isReading(uuid, c))
}

// advanceUntil lets time pass, a step at a time, until an event fits.
func advanceUntil[T any](w *watch, fits func(T) bool) T {
	for {
		select {
		case e := <-w.events:
			if v, ok := e.(T); ok && fits(v) {
				return v
			}
		default:
			w.clock.advance(step)
		}
	}
}

func isDriver(c Condition) func(State) bool { return func(s State) bool { return s.Condition == c } }

func isReading(uuid string, c Condition) func(Reading) bool {
	return func(r Reading) bool { return r.UUID == uuid && r.State.Condition == c }
}

// fakeLibrary is a driver in the test's hands.
type fakeLibrary struct {
	mu       sync.Mutex
	openCode Code
	openWait chan struct{} // open returns when it closes; nil for at once
	gpus     []*fakeGPU
	opens    int
	closes   int
	lists    int
	unheard  Code // what every list answers; codeSuccess for the list
}

func (l *fakeLibrary) set(change func(*fakeLibrary)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(l)
}

func (l *fakeLibrary) counts() (opens, lists, closes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opens, l.lists, l.closes
}

func (l *fakeLibrary) open() (Code, string) {
	l.mu.Lock()
	l.opens++
	wait, code := l.openWait, l.openCode
	l.mu.Unlock()
	if wait != nil {
		<-wait
	}
	return code, ""
}

func (l *fakeLibrary) close() { l.set(func(l *fakeLibrary) { l.closes++ }) }

func (l *fakeLibrary) devices() ([]slot, Code) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lists++
	if l.unheard != codeSuccess {
		return nil, l.unheard
	}
	var slots []slot
	for _, g := range l.gpus {
		if code := g.get().code; code.losesGPU() || code == codeNoPermission {
			slots = append(slots, slot{code: code})
			continue
		}
		slots = append(slots, slot{handle: g})
	}
	return slots, codeSuccess
}

func (l *fakeLibrary) faults([]handle) (faultSet, Code) { return nil, codeNotSupported }

// fakeGPU is a GPU in the test's hands.
type fakeGPU struct {
	t         testing.TB
	mu        sync.Mutex
	a         fakeAnswers
	inFlight  atomic.Int32
	calls     map[string]int
	hold      chan struct{} // memory answers when it closes; nil for at once
	instanced []*fakeGPU
}

// fakeAnswers is what a fakeGPU says. code, unless success, is the answer to
// everything.
type fakeAnswers struct {
	code     Code
	id       identity
	v2, v1   memoryNumbers
	v2Code   Code
	v1Code   Code
	load     [2]uint32
	heat     uint32
	heatCode Code
	compute  []processRecord
	graphics []processRecord
	usage    []utilizationSample
}

func newFakeGPU(t testing.TB, uuid string) *fakeGPU {
	return &fakeGPU{
		t: t, calls: make(map[string]int),
		a: fakeAnswers{
			id:   identity{uuid: uuid, name: "NVIDIA H200", pci: "0000:3b:00.0", driver: "580.159.04", instance: NoInstance, compute: NoInstance},
			v2:   memoryNumbers{total: 150754820096, reserved: 644939776, free: 150109880320},
			v1:   memoryNumbers{total: 150754820096, used: 644939776, free: 150109880320},
			load: [2]uint32{37, 12}, heat: 54,
		},
	}
}

func (g *fakeGPU) set(change func(*fakeAnswers)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.a)
}

func (g *fakeGPU) get() fakeAnswers {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.a
}

func (g *fakeGPU) count(call string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls[call]
}

// awaitCalls waits until a call was begun n times.
func (g *fakeGPU) awaitCalls(call string, n int) {
	for g.count(call) < n {
		runtime.Gosched()
	}
}

func (g *fakeGPU) holdMemory(hold chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = hold
}

// enter counts a call, and fails the test if another is under way.
func (g *fakeGPU) enter(call string) fakeAnswers {
	if g.inFlight.Add(1) > 1 {
		g.t.Errorf("%s is called while another call to the same GPU is under way", call)
	}
	defer g.inFlight.Add(-1)
	g.mu.Lock()
	g.calls[call]++
	hold := g.hold
	g.mu.Unlock()
	if hold != nil && call == "memory v2" {
		<-hold
	}
	return g.get()
}

func (a fakeAnswers) or(code Code) Code {
	if a.code != codeSuccess {
		return a.code
	}
	return code
}

func (g *fakeGPU) identity() (identity, Code) { a := g.get(); return a.id, a.code }
func (g *fakeGPU) instances() ([]handle, Code) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []handle
	for _, i := range g.instanced {
		list = append(list, i)
	}
	return list, codeSuccess
}
func (g *fakeGPU) memoryV2() (memoryNumbers, Code) {
	a := g.enter("memory v2")
	return a.v2, a.or(a.v2Code)
}
func (g *fakeGPU) memoryV1() (memoryNumbers, Code) {
	a := g.enter("memory v1")
	return a.v1, a.or(a.v1Code)
}
func (g *fakeGPU) utilization() (uint32, uint32, Code) {
	a := g.enter("utilization")
	return a.load[0], a.load[1], a.code
}
func (g *fakeGPU) temperature() (uint32, Code) {
	a := g.enter("temperature")
	return a.heat, a.or(a.heatCode)
}
func (g *fakeGPU) power() (uint32, Code)      { a := g.enter("power"); return 310000, a.code }
func (g *fakeGPU) powerLimit() (uint32, Code) { a := g.enter("limit"); return 700000, a.code }
func (g *fakeGPU) clock() (uint32, Code)      { a := g.enter("clock"); return 1980, a.code }
func (g *fakeGPU) computeProcesses() ([]processRecord, Code) {
	a := g.enter("compute")
	return a.compute, a.code
}
func (g *fakeGPU) graphicsProcesses() ([]processRecord, Code) {
	a := g.enter("graphics")
	return a.graphics, a.code
}
func (g *fakeGPU) processUtilization(uint64) ([]utilizationSample, Code) {
	a := g.enter("usage")
	return a.usage, a.code
}
func (g *fakeGPU) pcieReceive() (uint32, Code)  { a := g.enter("pcie"); return 1000, a.code }
func (g *fakeGPU) pcieTransmit() (uint32, Code) { a := g.enter("pcie"); return 2000, a.code }

// showProcesses and showAll are interests to begin with.
func showProcesses(w *Watcher) { w.SetInterest(true, false) }
func showAll(w *Watcher)       { w.SetInterest(true, true) }

// watch runs a watcher over a library until the test ends, and returns how to
// end it earlier.
type watch struct {
	*listener
	*Watcher
	clock *fakeClock
	end   func() // cancels, and waits for Run
}

func watchLibrary(t *testing.T, lib library, interest ...func(*Watcher)) *watch {
	t.Helper()
	w := New(Config{})
	for _, set := range interest {
		set(w)
	}
	w.library, w.shared = lib, false
	w.around = surroundings{
		files:   processFiles{root: t.TempDir(), initialNamespace: true, exists: func(int) bool { return false }},
		pci:     pciDevices{root: t.TempDir()},
		meminfo: func() ([]byte, error) { return nil, errors.New("no such file") },
	}
	return startWatch(t, w)
}

func startWatch(t *testing.T, w *Watcher) *watch {
	t.Helper()
	c := newFakeClock()
	w.clock = c
	l := newListener()
	ctx, cancel := context.WithCancel(context.Background())
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		if err := w.Run(ctx, l); err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
	}()
	end := func() {
		cancel()
		<-returned
	}
	t.Cleanup(end)
	return &watch{listener: l, Watcher: w, clock: c, end: end}
}
