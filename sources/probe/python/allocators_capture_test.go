package python_test

import (
	"testing"

	"vramscope/recorder"
)

// TestNoReadingSpoilsACapture: even a number of a memory pool, asked for by
// another thread, ends the capture of a CUDA graph in the mode that torch's
// graphs have (h200/captures.txt), and with it the program.
func TestNoReadingSpoilsACapture(t *testing.T) {
	r := startAllocators(t, `
import torch, cupy
kept = [torch.empty(n) for n in (1, MIB, 64 * MIB)]
cupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)
kept.append(cupy.empty(64 * MIB))
driver.capture(True)`, "PYTORCH_ALLOC_CONF=backend:cudaMallocAsync")
	for range 4 {
		sample := r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "default-pool:0") != nil })
		checkCounters(t, sample.Sets, "default-pool:0", map[string]int64{"allocated": 68157441 + 64*mib})
		checkCounters(t, sample.Sets, "cupy-async:0", map[string]int64{"allocated": 68157441 + 64*mib})
	}
	if n := r.bytes("driver.spoilt()"); n != 0 {
		t.Errorf("%d readings have spoilt a capture", n)
	}
	r.Quiet()
}

// TestCommandsSpoilNoCaptureOfAnotherThread: the main thread captures nothing
// itself, so that its commands are not refused; and what they leave it with is
// the mode that it had.
func TestCommandsSpoilNoCaptureOfAnotherThread(t *testing.T) {
	r := startAllocators(t, `
import torch
kept = torch.empty(64 * MIB)
driver.capture(True)`, "PYTORCH_ALLOC_CONF=backend:cudaMallocAsync")
	r.offers(recorder.CommandResetPeak)
	for _, command := range []string{recorder.CommandResetPeak, recorder.CommandHeadroom, recorder.CommandReclaim} {
		if ack := r.do(command, recorder.CommandArgs{}); ack.State != recorder.AckDone {
			t.Errorf("%s: %+v", command, ack)
		}
	}
	r.run("vramscope_probe.DEVICE_MEMORY.due = True; vramscope_probe.poll()")
	if n := r.bytes("driver.spoilt()"); n != 0 {
		t.Errorf("%d calls have spoilt a capture", n)
	}
	if mode := r.bytes("driver.capture_mode()"); mode != 0 {
		t.Errorf("the main thread is left with capture mode %d", mode)
	}
	r.Quiet()
}
