package python_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/sources/probe"
	"vramscope/sources/probe/python/pythontest"
)

// everything uses each library, with an arena of the program's own in torch's
// memory and one in the machine's.
const everything = `
import torch, cupy, rmm, jax
from vibespatial.raster import memory as raster
from vibespatial.cuda import _runtime as runtime
from algan.utils import memory_utils as algan
def use_everything():
    global kept
    jax.local_devices()[0].allocate(64 * MIB)
    runtime.get_cuda_runtime().configure("rmm-safe")
    runtime.get_cuda_runtime()._rmm_mr.allocate(5 * MIB)
    raster.configure_memory_pool()
    raster._stats_adaptor.allocate(11 * MIB)
    kept = [torch.empty(100 * MIB), cupy.empty(50 * MIB), algan.ManualMemory(0.5, num_bytes=MIB),
            vramscope_probe.arena("on the device", length=100, pointers=lambda: (50, 100), inside="torch:0"),
            vramscope_probe.arena("on the host", length=200, pointers=lambda: (50, 200), device="host")]
def wait_in_child(then):
    """In the parent, whose lines go on; the child does what is said and waits."""
    global child
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        then()
        while os.getppid() == parent:
            time.sleep(0.005)
            if vramscope_probe.SAFE_POINT.polled:
                vramscope_probe.poll()
        os._exit(0)
def held():
    return vramscope_probe._holds_memory(vramscope_probe.SESSION._inherited)
def end_child():
    os.kill(child, 9)
    os.waitpid(child, 0)
`

// readChild reads what a child tells at its own socket.
func readChild(t *testing.T, r *allocatorRender) *pythontest.Reader {
	t.Helper()
	pid := int(r.bytes("child"))
	start, err := probe.StartTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.Directory, probe.Name{PID: pid, Start: start}.String())
	r.Until("the child listens", func() bool {
		_, err := probe.Greet(context.Background(), path)
		return err == nil
	})
	return pythontest.Read(t, path, false)
}

// A child that was forked after CUDA was initialised cannot use a device, and what
// it has of the libraries' books is its parent's: it opens no socket because of
// that, and tells nothing of it where it has one.
func TestAForkOfAProcessThatUsesADeviceHasNoneOfItsMemory(t *testing.T) {
	r := startAllocators(t, everything)
	r.run("use_everything()")
	r.sampleWhere(func(s *recorder.Sample) bool {
		return setNamed(s.Sets, "jax:0") != nil && setNamed(s.Sets, "vibespatial") != nil && setNamed(s.Sets, "arena:3") != nil
	})
	if held := r.ask("held()"); held != "True" {
		t.Fatalf("the parent holds memory: %s", held)
	}
	printed, _ := r.run("wait_in_child(lambda: (print(held(), torch.cuda.is_initialized()), vramscope_probe.poll()))")
	if len(printed) == 0 {
		printed = []string{r.Line()}
	}
	if printed[0] != "False False" {
		t.Errorf("the child holds memory, and can use CUDA: %s", printed[0])
	}
	child := readChild(t, r)
	sample := pythontest.NextWhere(child, func(s *recorder.Sample) bool { return len(s.Sets) > 0 })
	if sample.Error != "" {
		t.Errorf("the child's sample tells of %q", sample.Error)
	}
	missing := map[string]string{"torch": "reserved", "cupy": "reserved", "rmm": "reserved", "jax": "reserved", "vibespatial": "reserved",
		"vibespatial-raster": "reserved", "algan": "length", "arena:1": "length"}
	for _, set := range sample.Sets {
		if set.ID == "resident" || set.ID == "arena:2" {
			continue
		}
		counter := missing[set.ID]
		delete(missing, set.ID)
		if why := set.Why[counter]; !strings.Contains(why, "forked after CUDA was initialised") {
			t.Errorf("%s: %s is missing since %q", set.ID, counter, why)
		}
		for _, name := range []string{"reserved", "allocated", "used", "free", "length", "forward", "reverse", "high_water", "peak_allocated"} {
			if value := counterNamed(t, &set, name); value != -1 {
				t.Errorf("%s: %s is %d, which is the parent's", set.ID, name, value)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("of these nothing is said: %v", missing)
	}
	checkCounters(t, sample.Sets, "arena:2", map[string]int64{"length": 200, "forward": 50})
	for command, why := range map[string]string{"force-reclaim": "", "reset-peak": "", "headroom": "forked after CUDA", "rebuild": "forked after CUDA"} {
		ack := child.Do(command, command, recorder.CommandArgs{})
		if !strings.Contains(ack.Why, why) || why == "" && ack.State != recorder.AckDone || strings.Contains(fmt.Sprint(ack.Result), "failed") {
			t.Errorf("%s in the child: %+v", command, ack)
		}
	}
	r.run("end_child()")
	checkCounters(t, r.sample().Sets, "torch:0", map[string]int64{"allocated": 100 * mib})
	r.Quiet()
}

// One that was forked before that is a process as any other.
func TestAForkOfAProcessThatUsesNoDeviceYetIsAnOrdinaryOne(t *testing.T) {
	r := startAllocators(t, everything)
	r.run("wait_in_child(use_everything)")
	child := readChild(t, r)
	sample := pythontest.NextWhere(child, func(s *recorder.Sample) bool { return setNamed(s.Sets, "jax:0") != nil })
	checkCounters(t, sample.Sets, "torch:0", map[string]int64{"allocated": 100 * mib})
	checkCounters(t, sample.Sets, "cupy:0", map[string]int64{"allocated": 50 * mib})
	checkCounters(t, sample.Sets, "jax:0", map[string]int64{"allocated": 64 * mib})
	r.run("end_child()")
	r.Quiet()
}

// CUDA may have been initialised since the probe's thread looked last.
func TestAForkJustAfterTheFirstUseOfADevice(t *testing.T) {
	r := startAllocators(t, "import torch")
	printed, _ := r.run(`kept = torch.empty(1 << 20); child = os.fork(); (print(vramscope_probe.DRIVER.forked), os._exit(0)) if child == 0 else os.waitpid(child, 0)`)
	if len(printed) != 1 || printed[0] != "True" {
		t.Errorf("the child was forked too late: %v", printed)
	}
	r.Quiet()
}
