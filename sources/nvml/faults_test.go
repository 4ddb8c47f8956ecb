package nvml

import (
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fakeFaults is a fault set in the test's hands: each wait takes one answer.
type fakeFaults struct {
	answers chan faultAnswer
	freed   chan struct{}
}

type faultAnswer struct {
	record faultRecord
	code   Code
}

func newFakeFaults() *fakeFaults {
	return &fakeFaults{answers: make(chan faultAnswer), freed: make(chan struct{})}
}

func (f *fakeFaults) wait(uint32) (faultRecord, Code) {
	a := <-f.answers
	return a.record, a.code
}

func (f *fakeFaults) free() { close(f.freed) }

// finish lets a wait that may be under way return, and waits for the end.
func (f *fakeFaults) finish() {
	select {
	case f.answers <- faultAnswer{code: codeTimeout}:
		<-f.freed
	case <-f.freed:
	}
}

// faultLibrary hands out the sets in order.
type faultLibrary struct {
	fakeLibrary
	order sync.Mutex
	sets  []*fakeFaults
	made  int
	code  Code
}

func (l *faultLibrary) faults([]handle) (faultSet, Code) {
	l.order.Lock()
	defer l.order.Unlock()
	if l.code != codeSuccess {
		return nil, l.code
	}
	l.made++
	return l.sets[l.made-1], codeSuccess
}

func (l *faultLibrary) count() int {
	l.order.Lock()
	defer l.order.Unlock()
	return l.made
}

func TestXidsAreDeliveredAndALostGPUIsRestedFrom(t *testing.T) {
	defer goleak.VerifyNone(t)
	first, second := newFakeFaults(), newFakeFaults()
	lib := &faultLibrary{sets: []*fakeFaults{first, second}}
	clock := newFakeClock()
	got, stop, done := make(chan Fault), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		watchFaults(lib, nil, clock, func(f Fault) { got <- f }, stop)
	}()

	first.answers <- faultAnswer{code: codeTimeout}
	first.answers <- faultAnswer{record: faultRecord{uuid: "GPU-1", xid: 31, instance: noInstance, compute: noInstance}}
	f := <-got
	if f.UUID != "GPU-1" || f.Xid != 31 || !f.Program || f.Instance != NoInstance || !f.At.Equal(clock.now()) || !strings.Contains(f.Text, "not mapped") {
		t.Errorf("fault = %+v", f)
	}
	first.answers <- faultAnswer{record: faultRecord{uuid: "GPU-1", xid: 4711, instance: 9, compute: 0}}
	if f := <-got; f.Program || f.Instance != 9 || f.Text == "" {
		t.Errorf("an Xid that nobody knows: %+v", f)
	}

	first.answers <- faultAnswer{code: codeGPUIsLost}
	<-first.freed
	<-clock.armed
	clock.move(faultRest - time.Second)
	if n := lib.count(); n != 1 {
		t.Errorf("%d sets were made before the rest was over", n)
	}
	clock.move(time.Second)
	second.answers <- faultAnswer{record: faultRecord{xid: 79}}
	if f := <-got; f.Xid != 79 || f.Program {
		t.Errorf("after the rest: %+v", f)
	}
	close(stop)
	second.finish()
	<-done
}

func TestADriverWithoutEventsIsNotAskedAgain(t *testing.T) {
	for _, code := range []Code{codeNotSupported, codeFunctionNotFound} {
		watchFaults(&faultLibrary{code: code}, nil, newFakeClock(), nil, make(chan struct{})) // returns
	}
}

func TestAFaultReachesTheReceiver(t *testing.T) {
	set := newFakeFaults()
	lib := &faultLibrary{sets: []*fakeFaults{set}}
	lib.gpus = []*fakeGPU{newFakeGPU(t, "GPU-1")}
	w := watchLibrary(t, lib)
	awaitReading(w.listener, "GPU-1", Running)
	set.answers <- faultAnswer{record: faultRecord{uuid: "GPU-1", xid: 13, instance: noInstance, compute: noInstance}}
	if f := await(w.listener, func(Fault) bool { return true }); f.Xid != 13 {
		t.Errorf("fault = %+v", f)
	}
	w.end() // though a wait is under way
	set.finish()
}
