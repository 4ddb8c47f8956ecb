package nvml

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

const step = 250 * time.Millisecond

func TestReadingsOfOneGPU(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := newFakeGPU(t, "GPU-1")
	w := watchLibrary(t, &fakeLibrary{gpus: []*fakeGPU{g}})
	defer w.end()
	awaitDriver(w.listener, Starting)
	awaitDriver(w.listener, Running)
	devices := await(w.listener, func([]Device) bool { return true })
	if len(devices) != 1 || devices[0].UUID != "GPU-1" || devices[0].Name != "NVIDIA H200" || devices[0].State != running {
		t.Errorf("devices = %+v", devices)
	}
	r := awaitReading(w.listener, "GPU-1", Running)
	want := Reading{
		UUID: "GPU-1", At: w.clock.now(), State: running,
		Memory: Memory{
			Total: known(150754820096, SourceV2), Used: known(0, SourceV2), Free: known(150109880320, SourceV2),
			Reserved: known(644939776, SourceV2),
		},
		Utilization: known(37, SourceNVML), MemoryActivity: known(12, SourceNVML), Temperature: known(54, SourceNVML),
		Power: known(310000, SourceNVML), PowerLimit: known(700000, SourceNVML), Clock: known(1980, SourceNVML),
	}
	if !sameReading(r, want) {
		t.Errorf("reading = %+v\nwant %+v", r, want)
	}
}

// sameReading compares readings without lists of processes.
func sameReading(a, b Reading) bool {
	return a.UUID == b.UUID && a.Parent == b.Parent && a.At.Equal(b.At) && a.State == b.State && a.Memory == b.Memory &&
		a.Utilization == b.Utilization && a.MemoryActivity == b.MemoryActivity && a.Temperature == b.Temperature &&
		a.Power == b.Power && a.PowerLimit == b.PowerLimit && a.Clock == b.Clock &&
		a.PCIeReceive == b.PCIeReceive && a.PCIeTransmit == b.PCIeTransmit
}

// In 4 s at 250 ms: memory and load 4 times a second, temperature, power and
// clock once, and what nobody looks at never.
func TestHowOftenTheDriverIsAsked(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) { a.compute = []processRecord{plain(812, gibibyte)} })
	w := watchLibrary(t, &fakeLibrary{gpus: []*fakeGPU{g}})
	awaitReading(w.listener, "GPU-1", Running)
	for range 15 {
		w.clock.advance(step)
		awaitReading(w.listener, "GPU-1", Running)
	}
	want := func(calls map[string]int) {
		t.Helper()
		for call, n := range calls {
			if got := g.count(call); got != n {
				t.Errorf("%s was asked %d times, want %d", call, got, n)
			}
		}
	}
	want(map[string]int{"memory v2": 16, "memory v1": 0, "utilization": 16, "temperature": 4, "power": 4, "limit": 4, "clock": 4,
		"compute": 0, "graphics": 0, "usage": 0, "pcie": 0})

	w.SetInterest(true, false)
	var r Reading
	for range 8 {
		w.clock.advance(step)
		r = awaitReading(w.listener, "GPU-1", Running)
	}
	want(map[string]int{"memory v2": 24, "temperature": 6, "compute": 2, "graphics": 2, "usage": 0, "pcie": 0})
	if !r.Processes.Known || len(r.Processes.List) != 1 {
		t.Errorf("processes = %+v, want the list kept between askings", r.Processes)
	}

	w.SetInterest(true, true)
	for range 4 {
		w.clock.advance(step)
		r = awaitReading(w.listener, "GPU-1", Running)
	}
	want(map[string]int{"compute": 3, "usage": 1, "pcie": 2})
	if r.PCIeReceive != known(1000*1024, SourceNVML) || r.PCIeTransmit != known(2000*1024, SourceNVML) {
		t.Errorf("PCIe = %+v, %+v", r.PCIeReceive, r.PCIeTransmit)
	}

	w.SetInterest(false, false)
	w.clock.advance(step)
	r = awaitReading(w.listener, "GPU-1", Running)
	if r.Processes.Known || r.PCIeReceive.Known {
		t.Error("what is no longer asked for is still told, and would grow old unseen")
	}

	w.SetPaused(true)
	before := g.count("memory v2")
	w.clock.advance(step)
	w.clock.advance(step)
	w.SetPaused(false)
	w.clock.advance(step)
	awaitReading(w.listener, "GPU-1", Running)
	want(map[string]int{"memory v2": before + 1})
}

func TestIntervalIsNeverBelowTheDriversOwn(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{0: step, time.Millisecond: step, time.Second: time.Second} {
		if got := New(Config{Interval: asked}).interval; got != want {
			t.Errorf("interval %v became %v, want %v", asked, got, want)
		}
	}
}

func TestALostGPUKeepsItsNumbersAndComesBack(t *testing.T) {
	lost, other := newFakeGPU(t, "GPU-1"), newFakeGPU(t, "GPU-2")
	lib := &fakeLibrary{gpus: []*fakeGPU{lost, other}}
	w := watchLibrary(t, lib)
	first := awaitReading(w.listener, "GPU-1", Running)

	lost.set(func(a *fakeAnswers) { a.code = codeGPUIsLost })
	w.clock.advance(step)
	r := awaitReading(w.listener, "GPU-1", Lost)
	if r.State.Code != codeGPUIsLost || !strings.Contains(r.State.Text, "NVML 15, GPU_IS_LOST") {
		t.Errorf("state = %+v", r.State)
	}
	if r.Memory != first.Memory || r.Utilization != first.Utilization || !r.At.Equal(first.At) {
		t.Errorf("reading = %+v, want the last numbers with their time", r)
	}

	calls := lost.count("memory v2")
	for range 39 { // 9.75 s
		w.clock.advance(step)
		awaitReading(w.listener, "GPU-2", Running)
	}
	if n := lost.count("memory v2"); n != calls {
		t.Errorf("the lost GPU was asked %d times more", n-calls)
	}
	if _, lists, _ := lib.counts(); lists != 1 {
		t.Errorf("listed %d times before 10 s had passed", lists)
	}
	w.clock.advance(step) // 10 s after it was lost
	devices := await(w.listener, func([]Device) bool { return true })
	if len(devices) != 2 || devices[1].UUID != "GPU-1" || devices[1].State.Condition != Lost {
		t.Errorf("devices = %+v, want the lost one named and marked", devices)
	}

	lost.set(func(a *fakeAnswers) { a.code = codeSuccess; a.heat = 61 })
	back := advanceUntil(w, isReading("GPU-1", Running))
	if back.Temperature != known(61, SourceNVML) || !back.At.After(r.At) {
		t.Errorf("after it came back: %+v", back)
	}
}

func TestAGPUThatWasNeverReachedHasNoNumbers(t *testing.T) {
	lost, other := newFakeGPU(t, "GPU-1"), newFakeGPU(t, "GPU-2")
	lost.set(func(a *fakeAnswers) { a.code = codeGPUIsLost })
	lib := &fakeLibrary{gpus: []*fakeGPU{lost, other}}
	w := watchLibrary(t, lib)
	devices := await(w.listener, func([]Device) bool { return true })
	if len(devices) != 2 || devices[1].UUID != "" || devices[1].Index != 0 || devices[1].State.Condition != Lost {
		t.Errorf("devices = %+v, want a nameless lost one with its index", devices)
	}
	awaitReading(w.listener, "GPU-2", Running)
	lost.set(func(a *fakeAnswers) { a.code = codeSuccess })
	advanceUntil(w, isReading("GPU-1", Running))
}

// Of a GPU that is lost with its first call there is nothing to freeze.
func TestAGPULostAtOnceIsUnknownAndNotZero(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) { a.v2Code = codeResetRequired })
	w := watchLibrary(t, &fakeLibrary{gpus: []*fakeGPU{g}})
	r := awaitReading(w.listener, "GPU-1", Lost)
	if r.Memory.Total.Known || r.Memory.Used.Known || r.Utilization.Known || !r.At.IsZero() {
		t.Errorf("reading = %+v, want nothing known", r)
	}
}

func TestADriverThatGoesAwayAndComesBack(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	lib := &fakeLibrary{gpus: []*fakeGPU{g}}
	w := watchLibrary(t, lib)
	first := awaitReading(w.listener, "GPU-1", Running)

	g.set(func(a *fakeAnswers) { a.code = codeVersionMismatch })
	lib.set(func(l *fakeLibrary) { l.openCode = codeVersionMismatch })
	w.clock.advance(step)
	state := awaitDriver(w.listener, VersionMismatch)
	if state.Code != codeVersionMismatch || !strings.Contains(state.Text, "reboot") {
		t.Errorf("state = %+v", state)
	}
	r := awaitReading(w.listener, "GPU-1", VersionMismatch)
	if r.Memory != first.Memory {
		t.Errorf("memory = %+v, want the last", r.Memory)
	}
	for range 19 { // 4.75 s
		w.clock.advance(step)
	}
	if opens, _, _ := lib.counts(); opens != 1 {
		t.Errorf("Init was called %d times before 5 s had passed", opens)
	}
	g.set(func(a *fakeAnswers) { a.code = codeSuccess })
	lib.set(func(l *fakeLibrary) { l.openCode = codeSuccess })
	advanceUntil(w, isDriver(Running))
	awaitReading(w.listener, "GPU-1", Running)
	if _, _, closes := lib.counts(); closes < 2 {
		t.Error("NVML was not shut down when the driver went away, which keeps the kernel from unloading it")
	}
}

func TestADriverThatIsNotThereIsAskedForEvery5Seconds(t *testing.T) {
	for _, code := range []Code{codeLibraryNotFound, codeDriverNotLoaded, codeNoPermission, codeVersionMismatch, 999} {
		lib := &fakeLibrary{openCode: code}
		w := watchLibrary(t, lib)
		want := driverState(code, "")
		if got := awaitDriver(w.listener, want.Condition); got != want {
			t.Errorf("state = %+v, want %+v", got, want)
		}
		lib.set(func(l *fakeLibrary) { l.openCode, l.gpus = codeSuccess, []*fakeGPU{newFakeGPU(t, "GPU-1")} })
		for range 20 {
			w.clock.advance(step)
		}
		awaitDriver(w.listener, Running)
		awaitReading(w.listener, "GPU-1", Running)
		if opens, _, _ := lib.counts(); opens != 2 {
			t.Errorf("%v: opened %d times, want twice", code, opens)
		}
		w.end()
	}
}

func TestADriverWithoutGPUs(t *testing.T) {
	w := watchLibrary(t, &fakeLibrary{})
	if got := awaitDriver(w.listener, NoDevices); got != noDevices {
		t.Errorf("state = %+v", got)
	}
}

func TestACallThatHangsMarksItsGPUAndNoOther(t *testing.T) {
	defer goleak.VerifyNone(t)
	stuck, other := newFakeGPU(t, "GPU-1"), newFakeGPU(t, "GPU-2")
	w := watchLibrary(t, &fakeLibrary{gpus: []*fakeGPU{stuck, other}})
	defer w.end()
	first := awaitReading(w.listener, "GPU-1", Running)

	hold := make(chan struct{})
	stuck.holdMemory(hold)
	for range 5 { // asked at 0.25 s, late at 1.5 s
		w.clock.advance(step)
		awaitReading(w.listener, "GPU-2", Running)
		stuck.awaitCalls("memory v2", 2) // late is what was asked, also where nobody has come to it yet
	}
	w.clock.advance(step)
	r := awaitReading(w.listener, "GPU-1", Hanging)
	if r.Memory != first.Memory || !r.At.Equal(first.At) || r.State != hangingGPU {
		t.Errorf("reading = %+v, want the last numbers, marked", r)
	}
	for range 40 {
		w.clock.advance(step)
		awaitReading(w.listener, "GPU-2", Running)
	}
	if n := stuck.count("memory v2"); n != 2 {
		t.Errorf("the hanging GPU was called %d times, want the one that hangs and the one before", n)
	}
	stuck.holdMemory(nil)
	close(hold)
	awaitReading(w.listener, "GPU-1", Running)
}

// A GPU whose call hangs is not called again, not even when the driver was
// lost meanwhile and has come back.
func TestAHangingCallIsWaitedForAlsoAfterTheDriverCameBack(t *testing.T) {
	stuck, other := newFakeGPU(t, "GPU-1"), newFakeGPU(t, "GPU-2")
	w := watchLibrary(t, &fakeLibrary{gpus: []*fakeGPU{stuck, other}})
	awaitReading(w.listener, "GPU-1", Running)
	hold := make(chan struct{})
	stuck.holdMemory(hold)
	w.clock.advance(step)
	stuck.awaitCalls("memory v2", 2)
	other.set(func(a *fakeAnswers) { a.code = codeUninitialized })
	w.clock.advance(step)
	awaitDriver(w.listener, Failed)
	other.set(func(a *fakeAnswers) { a.code = codeSuccess })
	advanceUntil(w, isDriver(Running))
	for range 8 {
		w.clock.advance(step)
		awaitReading(w.listener, "GPU-2", Running)
	}
	if n := stuck.count("memory v2"); n != 2 {
		t.Errorf("the hanging GPU was called %d times, want 2", n)
	}
	stuck.holdMemory(nil)
	close(hold)
	awaitReading(w.listener, "GPU-1", Running)
}

func TestRunReturnsWhileACallHangs(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	w := watchLibrary(t, &fakeLibrary{gpus: []*fakeGPU{g}})
	awaitReading(w.listener, "GPU-1", Running)
	hold := make(chan struct{})
	g.holdMemory(hold)
	for range 6 {
		w.clock.advance(step)
	}
	awaitReading(w.listener, "GPU-1", Hanging)
	w.end() // no time passes
	close(hold)
}

func TestRunWaitsAMomentForACallUnderWay(t *testing.T) {
	defer goleak.VerifyNone(t)
	g := newFakeGPU(t, "GPU-1")
	w := watchLibrary(t, &fakeLibrary{gpus: []*fakeGPU{g}})
	awaitReading(w.listener, "GPU-1", Running)
	hold := make(chan struct{})
	g.holdMemory(hold)
	w.clock.advance(step)
	go func() {
		<-w.clock.armed // Run has begun to wait
		w.clock.move(shutdownGrace)
	}()
	w.end()
	close(hold)
}

func TestAnInitThatHangsIsToldAndDoesNotHoldUpTheEnd(t *testing.T) {
	wait := make(chan struct{})
	lib := &fakeLibrary{gpus: []*fakeGPU{newFakeGPU(t, "GPU-1")}, openWait: wait}
	w := watchLibrary(t, lib)
	awaitDriver(w.listener, Starting)
	for range 5 {
		w.clock.advance(step)
	}
	if got := awaitDriver(w.listener, Hanging); got != hangingDriver {
		t.Errorf("state = %+v", got)
	}
	for range 40 {
		w.clock.advance(step)
	}
	if opens, _, _ := lib.counts(); opens != 1 {
		t.Errorf("Init was called %d times while the first call hung", opens)
	}
	w.end()
	close(wait)
}

func TestAnInitThatTakesLongSucceedsInTheEnd(t *testing.T) {
	wait := make(chan struct{})
	w := watchLibrary(t, &fakeLibrary{gpus: []*fakeGPU{newFakeGPU(t, "GPU-1")}, openWait: wait})
	for range 8 {
		w.clock.advance(step)
	}
	awaitDriver(w.listener, Hanging)
	close(wait)
	awaitDriver(w.listener, Running)
	awaitReading(w.listener, "GPU-1", Running)
}

func TestASleepingGPUIsNotWoken(t *testing.T) {
	s := newSysfs(t)
	g := newFakeGPU(t, "GPU-1")
	lib := &fakeLibrary{gpus: []*fakeGPU{g}}
	w := New(Config{})
	w.library, w.shared = lib, false
	w.around = surroundings{files: procFolder(t, nil), pci: pciDevices{root: s.root}}
	s.device("0000:3b:00.0", "0x10de", "0x030200", "suspended")
	run := startWatch(t, w)
	awaitDriver(run.listener, Asleep)
	if opens, _, _ := lib.counts(); opens != 0 {
		t.Error("Init was called, which wakes the GPU")
	}
	s.device("0000:3b:00.0", "0x10de", "0x030200", "active")
	first := advanceUntil(run, isReading("GPU-1", Running))

	s.device("0000:3b:00.0", "0x10de", "0x030200", "suspended")
	calls := g.count("memory v2")
	run.clock.advance(step)
	r := awaitReading(run.listener, "GPU-1", Asleep)
	if r.Memory != first.Memory || r.State != asleep {
		t.Errorf("reading = %+v, want the last numbers, marked", r)
	}
	for range 8 {
		run.clock.advance(step)
	}
	if n := g.count("memory v2"); n != calls {
		t.Errorf("the sleeping GPU was called %d times", n-calls)
	}
	s.device("0000:3b:00.0", "0x10de", "0x030200", "active")
	run.clock.advance(step)
	awaitReading(run.listener, "GPU-1", Running)
}

func TestAnswersThatNeverComeAreAskedForOnce(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) { a.heatCode = codeNotSupported })
	w := watchLibrary(t, &fakeLibrary{gpus: []*fakeGPU{g}})
	awaitReading(w.listener, "GPU-1", Running)
	var r Reading
	for range 12 {
		w.clock.advance(step)
		r = awaitReading(w.listener, "GPU-1", Running)
	}
	if r.Temperature.Known || !strings.Contains(r.Temperature.Missing, "NVML 3, NOT_SUPPORTED") {
		t.Errorf("temperature = %+v", r.Temperature)
	}
	if n := g.count("temperature"); n != 1 {
		t.Errorf("temperature was asked for %d times, want once", n)
	}
	if !r.Power.Known {
		t.Error("one missing number took another with it")
	}
}

func TestMIGDevicesAreAskedByTheirOwnHandles(t *testing.T) {
	parent, part := newFakeGPU(t, "GPU-1"), newFakeGPU(t, "MIG-7")
	parent.set(func(a *fakeAnswers) { a.id.mig = true; a.v2Code, a.v1Code = codeNoPermission, codeNoPermission })
	part.set(func(a *fakeAnswers) {
		a.id = identity{uuid: "MIG-7", name: "NVIDIA H200 MIG 1g.18gb", instance: 9, compute: 0}
		a.v2 = memoryNumbers{total: 18 * gibibyte, used: gibibyte, free: 17 * gibibyte}
		a.compute = []processRecord{{pid: 812, memory: gibibyte, instance: 9, compute: 0}}
	})
	parent.instanced = []*fakeGPU{part}
	lib := &fakeLibrary{gpus: []*fakeGPU{parent}}
	w := watchLibrary(t, lib, showAll)
	devices := await(w.listener, func([]Device) bool { return true })
	if len(devices) != 2 || devices[1].UUID != "MIG-7" || devices[1].Parent != "GPU-1" || devices[1].Instance != 9 || !devices[0].MIG {
		t.Fatalf("devices = %+v", devices)
	}
	whole := awaitReading(w.listener, "GPU-1", Running)
	r := awaitReading(w.listener, "MIG-7", Running)
	if whole.Memory.Total.Known || !strings.Contains(whole.Memory.Total.Missing, "NO_PERMISSION") {
		t.Errorf("the GPU's memory = %+v, want unknown without permission", whole.Memory.Total)
	}
	if whole.Processes.Known || parent.count("compute") != 0 || !strings.Contains(whole.Processes.Missing, "MIG devices") {
		t.Errorf("the GPU's processes = %+v, want a hint at its MIG devices", whole.Processes)
	}
	if r.Memory.Total != known(18*gibibyte, SourceV2) || r.Parent != "GPU-1" {
		t.Errorf("MIG device = %+v", r)
	}
	if p := r.Processes.List; len(p) != 1 || p[0].Instance != 9 || p[0].Compute != 0 {
		t.Errorf("processes = %+v", p)
	}
	if r.Temperature.Known || part.count("temperature") != 0 || part.count("pcie") != 0 {
		t.Errorf("a MIG device was asked for what only the GPU has: %+v", r.Temperature)
	}

	// The GPU is split anew: the old part cannot be asked any more.
	fresh := newFakeGPU(t, "MIG-8")
	part.set(func(a *fakeAnswers) { a.v2Code, a.v1Code = 2, 2 })
	parent.mu.Lock()
	parent.instanced = []*fakeGPU{fresh}
	parent.mu.Unlock()
	devices = advanceUntil(w, func([]Device) bool { return true })
	if len(devices) != 2 || devices[1].UUID != "MIG-8" {
		t.Errorf("devices after the split = %+v", devices)
	}
	awaitReading(w.listener, "MIG-8", Running)
}

func TestOneWatcherServesAProcess(t *testing.T) {
	inUse.Store(true)
	defer inUse.Store(false)
	if err := New(Config{}).Run(context.Background(), newListener()); err != ErrRunning {
		t.Errorf("a second Run = %v, want ErrRunning", err)
	}
}

// The real library of this machine, whatever it has: no state ends the
// program, and one of them comes.
func TestTheMachineAsItIs(t *testing.T) {
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Log("this machine has an NVIDIA driver")
	}
	run := startWatch(t, New(Config{}))
	s := await(run.listener, func(s State) bool { return s.Condition != Starting })
	t.Logf("%v: %s", s.Condition, s.Text)
	if !s.OK() && s.Text == "" {
		t.Error("a state of failure says nothing")
	}
}
