package python_test

import (
	"testing"

	"vramscope/recorder"
)

// Where nobody outside the process can ask the driver, the process does: on its
// main thread at a frame boundary, once a second at most, and not while a graph
// is captured.
func TestTheDriversFreeMemoryIsReadAtFrameBoundaries(t *testing.T) {
	r := startAllocators(t, "import torch\nkept = torch.empty(64 << 20)")
	if set := setNamed(r.sample().Sets, "device:0"); set != nil {
		t.Errorf("a program without frame boundaries was interrupted for %+v", set)
	}
	r.run("vramscope_probe.poll()")
	r.run("vramscope_probe.DEVICE_MEMORY.due = True; vramscope_probe.poll()")
	sample := r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "device:0") != nil })
	set := setNamed(sample.Sets, "device:0")
	free, total := counterNamed(t, set, "free"), counterNamed(t, set, "total")
	if set.Call != "cuMemGetInfo_v2" || set.Of != recorder.OfDevice || set.Device == "" || free != r.bytes("driver.free()") || counterNamed(t, set, "used") != total-free {
		t.Errorf("the device is told as %+v", set)
	}
	later := r.sampleWhere(func(s *recorder.Sample) bool { return s.Ns > sample.Ns && setNamed(s.Sets, "device:0") != nil })
	age, older := counterNamed(t, set, "age"), counterNamed(t, setNamed(later.Sets, "device:0"), "age")
	if read, again := sample.Ns-age, later.Ns-older; age <= 0 || 2*max(read-again, again-read) > later.Ns-sample.Ns {
		t.Errorf("one reading is told as one of %d and, later, as one of %d", read, again)
	}
	before := r.ask("vramscope_probe.DEVICE_MEMORY._readings[0]")
	r.run("torch._C.capturing = True; vramscope_probe.DEVICE_MEMORY.due = True; vramscope_probe.poll()")
	if after := r.ask("vramscope_probe.DEVICE_MEMORY._readings[0]"); after != before {
		t.Error("the device was read while a graph was captured")
	}
	r.Quiet()
}

// A reading stands beside counters of this very moment, so an old one is not told;
// frames that are not slow leave no gap between two readings, whether somebody
// watches or not.
func TestAReadingOfTheDriverIsToldWhileItIsNew(t *testing.T) {
	r := startAllocators(t, `
import torch
kept = torch.empty(64 << 20)
def is_told(reading, now):
    out = vramscope_probe.Sets()
    with_clock(now, lambda: reading.sample(out))
    return len(out.sets) == 1
def with_clock(now, call):
    real, time.monotonic = time.monotonic, lambda: now
    try:
        call()
    finally:
        time.monotonic = real
def ages(*ages):
    reading = vramscope_probe.DeviceMemory()
    with_clock(1000.0, reading.look)
    return [is_told(reading, 1000.0 + age) for age in ages]
def gaps(frame, between):
    """Samples without a reading, of those that a program of such frames has after the first three seconds."""
    reading, missing = vramscope_probe.DeviceMemory(), 0
    events = sorted([(1000 + n * frame, "frame") for n in range(int(60 / frame))] + [(1000 + n * between, "sample") for n in range(int(60 / between))])
    for now, event in events:
        if event == "sample":
            missing += not is_told(reading, now) and now > 1003
        elif reading.due:
            with_clock(now, reading.look)
    return missing
`)
	if got := r.ask("ages(0, 0.5, 1.5, 2.9, 3.0, 3.1, 9, 1e9)"); got != "[True, True, True, True, False, False, False, False]" {
		t.Errorf("readings of these ages are told: %s", got)
	}
	if got := r.ask("[gaps(frame, between) for frame in (0.01, 0.4, 0.9) for between in (0.1, 1.0)]"); got != "[0, 0, 0, 0, 0, 0]" {
		t.Errorf("so many samples lack a reading: %s", got)
	}
	r.Quiet()
}
