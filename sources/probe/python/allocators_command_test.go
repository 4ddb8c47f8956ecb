package python_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vramscope/recorder"
)

func TestForceReclaimTellsWhatCameBackAndWhyNotMore(t *testing.T) {
	const rmmPool = `
import rmm, rmm.mr, driver
driver.activate(0)
rmm.mr.set_current_device_resource(rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=32 * MIB))
`
	cases := []struct {
		name, script string
		env          []string
		line         string
		freed        int64
		why          string
	}{
		{"torch's whole segments", "import torch\nkept = [torch.empty(n) for n in " + measuredSizes + "]\nkept.pop(4)", nil,
			"torch: empty cache: driver free", 67108864, "16.0 MiB lie in split segments beside 4 live tensors"},
		{"torch, where all came back", "import torch\nkept = torch.empty(100 * MIB)\ngone = torch.empty(40 * MIB)\ndel gone", nil, "torch: empty cache", 40 * mib, ""},
		{"the private pool of a graph", "import torch\nkept = torch.empty(MIB)\nwith torch.cuda.use_mem_pool():\n    gone = torch.empty(32 * MIB)\ndel gone", nil,
			"torch: empty cache", 0, "32.0 MiB lie in private pools, which go back when the last graph or pool that uses them is gone"},
		{"while a history is recorded", "import torch\nkept = [torch.empty(1), torch.empty(30 * MIB)]\ntorch.cuda.memory._record_memory_history()\nkept.pop()", nil,
			"torch: empty cache", 30 * mib, "2.0 MiB stay: a recorded history"},
		{"torch's cudaMallocAsync backend", "import torch\nkept = torch.empty(MIB)\ngone = torch.empty(64 * MIB)\ndel gone",
			[]string{"PYTORCH_ALLOC_CONF=backend:cudaMallocAsync"}, "torch: empty cache", 64 * mib, "31.0 MiB stay in the driver's default pool"},
		{"an external allocator", "import torch, driver\ntorch.cuda.memory.change_current_allocator((lambda o, n: driver.activate(o), lambda *a: None))\nkept = torch.empty(1)", nil,
			"torch: nothing to empty", -1, "external allocator"},
		{"CuPy's chunks", "import cupy\ngone = cupy.empty(80 * MIB)\ndel gone\nkept = cupy.empty(MIB)\ngone = cupy.empty(128 * MIB)\ndel gone", nil,
			"cupy: free all blocks", 128 * mib, "79.0 MiB lie in chunks that were split beside live arrays (1.0 MiB)"},
		{"an RMM pool", rmmPool, nil, "rmm: nothing to give back", -1, "never shrinks"},
		{"JAX", "import jax\njax.local_devices()", nil, "jax: nothing to give back", -1, "XLA_PYTHON_CLIENT_PREALLOCATE=false"},
		{"the driver's pool", "import driver\ndriver.pool_alloc(0, 96 * MIB)\ndriver.pool_free(0, 64 * MIB)\ndriver.pool_alloc(0, 1)", nil,
			"CUDA default pool: wait and trim", 32 * mib, "32.0 MiB stay: they share their segments with what is still in use"},
		{"garbage that only cycles keep", "import torch\nkept = torch.empty(1)\nring = [torch.empty(40 * MIB)]\nring.append(ring)\ndel ring", nil,
			"torch: empty cache", 40 * mib, "2.0 MiB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := startAllocators(t, c.script, c.env...)
			r.offers(recorder.CommandForceReclaim)
			r.sampleWhere(func(s *recorder.Sample) bool { return len(s.Sets) > 0 })
			before := r.bytes("driver.free()")
			ack := r.do(recorder.CommandForceReclaim, recorder.CommandArgs{})
			if ack.State != recorder.AckDone || ack.Acted == nil || !*ack.Acted {
				t.Fatalf("the answer is %+v", ack)
			}
			checkLine(t, ack, "collect garbage", -1, "")
			checkLine(t, ack, c.line, c.freed, c.why)
			if c.freed >= 0 {
				if came := r.bytes("driver.free()") - before; came != c.freed {
					t.Errorf("%d bytes came back, not %d", came, c.freed)
				}
				free, was, is := setNamed(ack.Before, "device:0"), counterNamed(t, setNamed(ack.Before, "device:0"), "free"), counterNamed(t, setNamed(ack.After, "device:0"), "free")
				if free.Call != "cuMemGetInfo_v2" || was != before || is != before+c.freed {
					t.Errorf("the answer says %d → %d free by %q, and it is %d → %d", was, is, free.Call, before, before+c.freed)
				}
			}
			r.Quiet()
		})
	}
}

// TestWhichGPUGaveWhatBack: torch empties all of them at once, and each has its
// line.
func TestWhichGPUGaveWhatBack(t *testing.T) {
	r := startAllocators(t, `
import torch
kept = [torch.empty(100 * MIB, device="cuda:0"), torch.empty(30 * MIB, device="cuda:1")]
kept.pop()`, "FAKE_DEVICES=2")
	r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "torch:1") != nil })
	ack := r.do(recorder.CommandForceReclaim, recorder.CommandArgs{})
	checkLine(t, ack, "torch: empty cache: driver free on GPU #0", 0, "")
	checkLine(t, ack, "torch: empty cache: driver free on GPU #1", 30*mib, "")
	ack = r.do(recorder.CommandHeadroom, recorder.CommandArgs{Fraction: 0.01})
	for _, line := range []string{"headroom check at 1 %: driver free on GPU #0", "headroom check at 1 %: driver free on GPU #1"} {
		checkLine(t, ack, line, 0, "")
	}
	ack = r.do(recorder.CommandResetPeak, recorder.CommandArgs{})
	for _, gpu := range []string{"#0", "#1"} {
		if lineStarting(ack, "torch: peak and its floor on GPU "+gpu) == nil {
			t.Errorf("the peak of GPU %s has no line: %+v", gpu, ack.Result)
		}
	}
	r.Quiet()
}

func TestReclaimGoesByPressure(t *testing.T) {
	const script = "import torch, driver\nkept = [torch.empty(500 * MIB), torch.empty(%s * MIB)]\nkept.pop()"
	cases := []struct {
		name, cached, total string
		host                string
		acted               bool
		lines               map[string]string // line: reason
		why                 string
	}{
		{"none", "200", "4096", "", false, nil, "nothing calls for it"},
		{"the device's, and a cache worth it", "200", "800", "", true, map[string]string{"collect garbage": "", "torch: empty cache": ""}, "device 0: 87 % are used"},
		{"the device's, and a cache under 128 MiB", "100", "700", "", true, map[string]string{"collect garbage": "", "caches were kept": "128 MiB"}, "device 0: 85 % are used"},
		{"exactly 80 % is none", "140", "800", "", false, nil, "nothing calls for it"},
		{"the host's", "200", "4096", "host: tight", true, map[string]string{"collect garbage": "", "torch: empty cache": "", "give free host memory back": ""}, "host: tight"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := startAllocators(t, strings.Replace(script, "%s", c.cached, 1), "FAKE_TOTAL="+c.total+"000000")
			r.offers(recorder.CommandReclaim)
			r.run("driver.library.fake_init(1, __import__('ctypes').c_uint64(" + c.total + " * MIB))")
			r.run("vramscope_probe.host_pressure = lambda root='/': '" + c.host + "'")
			r.run("vramscope_probe.trim_host = lambda: True")
			ack := r.do(recorder.CommandReclaim, recorder.CommandArgs{})
			if ack.State != recorder.AckDone || ack.Acted == nil || *ack.Acted != c.acted || !strings.Contains(ack.Why, c.why) {
				t.Errorf("the answer is %+v", ack)
			}
			if len(ack.Result) != len(c.lines) {
				t.Errorf("it has the lines %+v", ack.Result)
			}
			for what, why := range c.lines {
				if line := lineStarting(ack, what); line == nil || !strings.Contains(line.Why, why) {
					t.Errorf("no line %q with the reason %q in %+v", what, why, ack.Result)
				}
			}
		})
	}
}

func TestPressureIsReadAsThePolicyReadsIt(t *testing.T) {
	const free = "MemTotal: 1000 kB\nMemAvailable: 900 kB\n"
	cases := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing can be read", nil, ""},
		{"enough is available", map[string]string{"proc/meminfo": free}, ""},
		{"15 % is too little, inclusively", map[string]string{"proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 150 kB\n"}, "host: 15 % are available"},
		{"16 % is enough", map[string]string{"proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 160 kB\n"}, ""},
		{"60 % of a group's limit is pressure, inclusively", map[string]string{"proc/meminfo": free, "sys/fs/cgroup/memory.current": "600\n",
			"sys/fs/cgroup/memory.max": "1000\n"}, "host: the control group uses 60 % of its limit"},
		{"a group under it falls through", map[string]string{"proc/meminfo": "MemTotal: 1000 kB\nMemAvailable: 100 kB\n", "sys/fs/cgroup/memory.current": "599\n",
			"sys/fs/cgroup/memory.max": "1000\n"}, "host: 10 % are available"},
		{"a group without a limit is none", map[string]string{"proc/meminfo": free, "sys/fs/cgroup/memory.current": "600\n", "sys/fs/cgroup/memory.max": "max\n"}, ""},
		{"nor is one of version 1 with a huge number", map[string]string{"proc/meminfo": free, "proc/self/cgroup": "4:cpu,memory:/job\n",
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes": "900", "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "9223372036854771712"}, ""},
		{"a nested group", map[string]string{"proc/meminfo": free, "proc/self/cgroup": "0::/job\n", "sys/fs/cgroup/job/memory.current": "900",
			"sys/fs/cgroup/job/memory.max": "1000"}, "host: the control group uses 90 % of its limit"},
		{"a group outside of what can be seen", map[string]string{"proc/meminfo": free, "proc/self/cgroup": "0::/../job\n", "sys/fs/job/memory.current": "900",
			"sys/fs/job/memory.max": "1000"}, ""},
	}
	r := startAllocators(t, "")
	for _, c := range cases {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.ask("real_host_pressure('" + root + "')"); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}

func TestRebuildOfAnRMMPool(t *testing.T) {
	const stack = `
import rmm, rmm.mr, driver
driver.activate(0)
def build(*over):
    top = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=0)
    for adaptor in over:
        top = adaptor(top)
    rmm.mr.set_current_device_resource(top)
stats, track = rmm.mr.StatisticsResourceAdaptor, rmm.mr.TrackingResourceAdaptor
limit = lambda top: rmm.mr.LimitingResourceAdaptor(top, 1 << 30)
fail = lambda top: rmm.mr.FailureCallbackResourceAdaptor(top, None)
`
	cases := []struct {
		name, script string
		state        string
		freed        int64
		why          string
		then         string
	}{
		{"nothing lives in it", "build(stats)\nrmm.DeviceBuffer(size=64 * MIB)", recorder.AckDone, 64 * mib, "has no maximum", "StatisticsResourceAdaptor PoolMemoryResource CudaMemoryResource"},
		{"its adaptors come back", "build(limit, track, stats)\nrmm.DeviceBuffer(size=64 * MIB)", recorder.AckDone, 64 * mib, "has no maximum",
			"StatisticsResourceAdaptor TrackingResourceAdaptor LimitingResourceAdaptor PoolMemoryResource CudaMemoryResource"},
		{"something lives in it", "build(stats)\nkept = [rmm.DeviceBuffer(size=64 * MIB), rmm.DeviceBuffer(size=1)]", recorder.AckFailed, -1, "2 live allocations hold 64.0 MiB", ""},
		{"one thing lives in it", "build(stats)\nkept = rmm.DeviceBuffer(size=64 * MIB)", recorder.AckFailed, -1, "1 live allocation holds 64.0 MiB: free it first", ""},
		{"garbage alone lives in it", "build(stats)\nring = [rmm.DeviceBuffer(size=64 * MIB)]\nring.append(ring)\ndel ring", recorder.AckDone, 64 * mib, "", ""},
		{"nobody knows", "build()", recorder.AckFailed, -1, "enable statistics first", ""},
		{"a frame of the program hides what lives", "build(stats)\nkept = rmm.DeviceBuffer(size=MIB)\npush = True", recorder.AckFailed, -1, "a frame of its own", ""},
		{"another adaptor knows better", "build(track, stats)\nkept = rmm.DeviceBuffer(size=MIB)\nrmm.mr.get_current_device_resource().frames[0] = rmm.mr.Statistics()",
			recorder.AckFailed, -1, "TrackingResourceAdaptor counts 1048576 live bytes", ""},
		{"it has a callback of the program's", "build(fail, stats)", recorder.AckFailed, -1, "FailureCallbackResourceAdaptor, which only the program can build again", ""},
		{"somebody holds the old one", "build(stats)\nrmm.DeviceBuffer(size=64 * MIB)\nheld = rmm.mr.get_current_device_resource()", recorder.AckDone, 0, "somebody still holds the old pool", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := startAllocators(t, stack+c.script)
			r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "rmm:0") != nil })
			r.offers(recorder.CommandRebuild)
			if strings.Contains(c.script, "push = True") {
				r.run("rmm.mr.get_current_device_resource().push_counters()")
			}
			ack := r.do(recorder.CommandRebuild, recorder.CommandArgs{})
			if ack.State != c.state || ack.State == recorder.AckFailed && !strings.Contains(ack.Why, c.why) {
				t.Errorf("the answer is %s, %q: %+v", ack.State, ack.Why, ack.Result)
			}
			if line := lineStarting(ack, "rmm: reinitialize"); c.freed >= 0 && (line == nil || optional(line.Freed) != c.freed || !strings.Contains(line.Why, c.why)) {
				t.Errorf("the lines are %+v, without one that freed %d bytes and says %q", ack.Result, c.freed, c.why)
			}
			if c.then != "" {
				if got := r.ask("*vramscope_probe.RMM.chain(0).names()"); got != c.then {
					t.Errorf("the stack is now %s", got)
				}
			}
			r.Quiet()
		})
	}
}

// A pool that takes the place of another, at the same address even, is not
// taken for a frame of the old one.
func TestAnRMMPoolIsRebuiltAgainAndAgain(t *testing.T) {
	r := startAllocators(t, `
import rmm, rmm.mr
driver.activate(0)
def build():
    rmm.reinitialize(pool_allocator=True, initial_pool_size=0)
    rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(rmm.mr.get_current_device_resource()))
build()
`)
	r.offers(recorder.CommandRebuild)
	for i := range 4 {
		r.run("rmm.DeviceBuffer(size=64 * MIB), rmm.DeviceBuffer(size=1)")
		r.sampleWhere(func(s *recorder.Sample) bool {
			set := setNamed(s.Sets, "rmm:0")
			return set != nil && counterNamed(t, set, "lifetime_count") == 2
		})
		if i == 2 { // the program's own rebuild, in between
			r.run("build()")
			r.run("rmm.DeviceBuffer(size=MIB)")
		}
		if ack := r.do(recorder.CommandRebuild, recorder.CommandArgs{}); ack.State != recorder.AckDone || ack.Acted == nil || !*ack.Acted {
			t.Fatalf("rebuild %d: %s, %q, %+v", i+1, ack.State, ack.Why, ack.Result)
		}
	}
	r.Quiet()
}

func TestRebuildSaysWhatItDidInstead(t *testing.T) {
	r := startAllocators(t, "import torch, cupy, jax\njax.local_devices()\nkept = [torch.empty(1), cupy.empty(MIB)]\ntorch.empty(40 * MIB), cupy.empty(40 * MIB)")
	ack := r.do(recorder.CommandRebuild, recorder.CommandArgs{})
	if ack.State != recorder.AckDone {
		t.Fatalf("the answer is %+v", ack)
	}
	for what, why := range map[string]string{
		"torch: its cache was emptied instead": "cannot be built again", "cupy: its blocks were freed instead": "cannot be built again", "jax: not rebuilt": "until the process ends",
	} {
		if line := lineStarting(ack, what); line == nil || !strings.Contains(line.Why, why) {
			t.Errorf("no line %q: %+v", what, ack.Result)
		}
	}
}

func TestHeadroom(t *testing.T) {
	cases := []struct {
		name     string
		fraction float64
		device   string
		acted    bool
		state    string
		why      string
	}{
		{"there is enough", 0.5, "", false, recorder.AckDone, ""},
		{"the fraction that is left out is 15 %", 0, "", false, recorder.AckDone, ""},
		{"a cache stands in the way", 0.9, "", true, recorder.AckDone, ""},
		{"what is in use stands in the way", 1, "", true, recorder.AckDone, "still under it"},
		{"a fraction over 1 means nothing", 1.5, "", false, recorder.AckFailed, "more than 0 and at most 1"},
		{"a device that is not there", 0.5, "GPU-0", false, recorder.AckFailed, "sees no device GPU-0"},
		{"the device by its UUID", 0.9, "GPU-30303030-3030-3030-3030-303030303030", true, recorder.AckDone, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := startAllocators(t, "import torch\nkept = [torch.empty(10 * MIB), torch.empty(200 * MIB)]\nkept.pop()", "FAKE_TOTAL=1048576000")
			ack := r.do(recorder.CommandHeadroom, recorder.CommandArgs{Fraction: c.fraction, Device: c.device})
			if ack.State != c.state || c.state == recorder.AckDone && (ack.Acted == nil || *ack.Acted != c.acted) {
				t.Fatalf("the answer is %+v", ack)
			}
			said := ack.Why
			if line := lineStarting(ack, "headroom check"); line != nil {
				said += line.Why
			}
			if !strings.Contains(said, c.why) || c.why == "" && said != "" {
				t.Errorf("it says %q, not %q", said, c.why)
			}
		})
	}
}

// A program that uses no device's memory, such as a render on the CPU, is told of
// the host's; one that holds a device's is not.
func TestHeadroomOnTheHost(t *testing.T) {
	const onTheHost = `
import torch
import algan.utils.memory_utils as memory
arena = memory.ManualMemory(0, device=memory.Device("cpu", 0), num_bytes=4096)
`
	const named = "import torch, vramscope_probe\narena = vramscope_probe.arena('own', length=4096, pointers=lambda: (0, 4096)%s)\n"
	for _, c := range []struct {
		name, script string
		available    int64
		device       string
		state        string
		acted        bool
		said         string
	}{
		{"there is enough", onTheHost, 40 * mib, "", recorder.AckDone, false, "the host's counts"},
		{"the host by its name", onTheHost, 40 * mib, "host", recorder.AckDone, false, "the host's counts"},
		{"too little", onTheHost, 10 * mib, "", recorder.AckDone, true, "still under it"},
		{"the system does not tell", onTheHost, -1, "", recorder.AckFailed, false, "does not tell how much"},
		{"a device", onTheHost, 40 * mib, "GPU-0", recorder.AckFailed, false, "has a CUDA context yet"},
		{"an arena of no device's", fmt.Sprintf(named, ""), 40 * mib, "", recorder.AckDone, false, "the host's counts"},
		{"in an allocator that is not there", fmt.Sprintf(named, ", inside='torch:0'"), 40 * mib, "", recorder.AckDone, false, "the host's counts"},
		{"an arena of the host's", fmt.Sprintf(named, ", device='host'"), 40 * mib, "", recorder.AckDone, false, "the host's counts"},
		{"too little beside it", fmt.Sprintf(named, ""), 10 * mib, "", recorder.AckDone, true, "still under it"},
		{"an arena that names a device", fmt.Sprintf(named, ", device='cuda:0'"), 40 * mib, "", recorder.AckFailed, false, "has a CUDA context yet"},
		{"one of no device's beside one on a device", fmt.Sprintf(named, "") + strings.ReplaceAll(onTheHost, "cpu", "cuda"), 40 * mib, "", recorder.AckFailed, false, "has a CUDA context yet"},
		{"an arena on a device", strings.ReplaceAll(onTheHost, "cpu", "cuda"), 40 * mib, "", recorder.AckFailed, false, "has a CUDA context yet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := startAllocators(t, c.script)
			r.run(fmt.Sprintf(`vramscope_probe.host_memory = lambda root="/": (100 * MIB, %[1]d) if %[1]d >= 0 else (None, None)`, c.available))
			r.run(`vramscope_probe.cgroup_memory = lambda root="/": None`)
			r.do(recorder.CommandRecordOn, recorder.CommandArgs{}) // finds the arena
			r.sampleWhere(func(s *recorder.Sample) bool {
				return slices.ContainsFunc(s.Sets, func(set recorder.CounterSet) bool { return set.Of == recorder.OfArena })
			})
			ack := r.do(recorder.CommandHeadroom, recorder.CommandArgs{Device: c.device})
			said := ack.Why
			if line := lineStarting(ack, "headroom check at 15 %: host memory available"); line != nil {
				said += line.Why
				if optional(line.Before) != c.available || optional(line.After) != c.available {
					t.Errorf("the line is %+v", line)
				}
			}
			if ack.State != c.state || c.state == recorder.AckDone && (ack.Acted == nil || *ack.Acted != c.acted) || !strings.Contains(said, c.said) {
				t.Errorf("it says %q: %+v", said, ack)
			}
		})
	}
}

// Torch on the CPU has no pool, no peak and no list of its blocks: the answers say
// so, and promise nothing of a later moment.
func TestTorchOnTheHost(t *testing.T) {
	r := startAllocators(t, "import torch")
	for command, why := range map[string]string{
		recorder.CommandRebuild:   "has a pool of a device's memory",
		recorder.CommandResetPeak: "counts a peak of a device's memory",
	} {
		if ack := r.do(command, recorder.CommandArgs{}); ack.State != recorder.AckDone || ack.Acted == nil || *ack.Acted || !strings.Contains(ack.Why, why) {
			t.Errorf("%s: %+v", command, ack)
		}
	}
	if ack := r.do(recorder.CommandSnapshot, recorder.CommandArgs{}); ack.State != recorder.AckFailed || !strings.Contains(ack.Why, "only its memory on a GPU") {
		t.Errorf("snapshot: %+v", ack)
	}
	r.Quiet()
}

func TestCaptureOfAGraphRefusesWhatWouldSpoilIt(t *testing.T) {
	for _, script := range []string{
		"import torch\nkept = torch.empty(MIB)\ntorch._C.capturing = True",
		"import cupy\nkept = cupy.empty(MIB)\ncupy.cuda.capturing = True",
	} {
		r := startAllocators(t, script)
		r.offers(recorder.CommandReclaim)
		for _, command := range []string{recorder.CommandReclaim, recorder.CommandForceReclaim, recorder.CommandRebuild, recorder.CommandResetPeak, recorder.CommandHeadroom} {
			if ack := r.do(command, recorder.CommandArgs{}); ack.State == recorder.AckDone || !strings.Contains(ack.Why, "graph is being captured") || ack.Result != nil {
				t.Errorf("%s while a graph is captured: %+v", command, ack)
			}
		}
	}
}

func TestWhereTheDriverDoesNotTellTheReservedBytesDo(t *testing.T) {
	r := startAllocators(t, "import torch\nkept = [torch.empty(100 * MIB), torch.empty(40 * MIB)]\nkept.pop()")
	r.run("vramscope_probe.DRIVER.memory_info = lambda ordinal: None")
	ack := r.do(recorder.CommandForceReclaim, recorder.CommandArgs{})
	checkLine(t, ack, "torch: empty cache: reserved", 40*mib, "")
	if line := lineStarting(ack, "torch: empty cache"); optional(line.Before) != 140*mib || optional(line.After) != 100*mib {
		t.Errorf("the line is %+v", line)
	}
	if ack := r.do(recorder.CommandHeadroom, recorder.CommandArgs{}); ack.State != recorder.AckFailed || !strings.Contains(ack.Why, "has a CUDA context yet") {
		t.Errorf("headroom without a driver: %+v", ack)
	}
	r.Quiet()
}

func TestTorchOnMetal(t *testing.T) {
	r := startAllocators(t, `
import torch, types
available = types.SimpleNamespace(is_available=lambda: True)
torch.backends = types.SimpleNamespace(mps=available)
class Metal:
    cached = 64 * MIB
    def current_allocated_memory(self): return 10 * MIB
    def driver_allocated_memory(self): return 10 * MIB + self.cached
    def recommended_max_memory(self): return 1 << 30
    def empty_cache(self): self.cached = 0
torch.mps = Metal()
`)
	r.run("sys.platform = 'darwin'")
	sample := r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "torch-mps") != nil })
	checkCounters(t, sample.Sets, "torch-mps", map[string]int64{"allocated": 10 * mib, "reserved": 74 * mib, "limit": 1 << 30, "peak_allocated": -1})
	ack := r.do(recorder.CommandForceReclaim, recorder.CommandArgs{})
	checkLine(t, ack, "torch (Metal): empty cache", 64*mib, "")
	r.run("sys.platform = 'linux'")
}

// Private pools are walked to on the main thread, at a frame boundary or around
// a command, and lie within torch's own set.
func TestPrivatePoolsOfTorchAreTold(t *testing.T) {
	const graphs = "import torch\nkept = torch.empty(3 * MIB)\nwith torch.cuda.use_mem_pool():\n    graph = torch.empty(5 * MIB)\n"
	r := startAllocators(t, graphs)
	if set := setNamed(r.sample().Sets, "torch:0:graphs"); set != nil {
		t.Errorf("a program without frame boundaries was interrupted for %+v", set)
	}
	ack := r.do(recorder.CommandForceReclaim, recorder.CommandArgs{})
	if set := setNamed(ack.After, "torch:0:graphs"); set == nil || counterNamed(t, set, "reserved") != 20*mib {
		t.Errorf("around a reclaim they are told as %+v", set)
	}
	r.run("with torch.cuda.use_mem_pool(): more = torch.empty(40 * MIB)")
	r.run("vramscope_probe.PRIVATE_POOLS.due = True; vramscope_probe.poll()")
	sample := r.sampleWhere(func(s *recorder.Sample) bool {
		set := setNamed(s.Sets, "torch:0:graphs")
		return set != nil && counterNamed(t, set, "reserved") == 60*mib
	})
	if set := setNamed(sample.Sets, "torch:0:graphs"); set.In != "torch:0" || set.Of != recorder.OfPool || counterNamed(t, set, "allocated") != 45*mib {
		t.Errorf("the private pools are told as %+v", set)
	}
	r.Quiet()
}

// A rebuild of the raster pool makes its own resource RMM's current one. The main
// package's pool, which lay in RMM's set before, is a root of its own after it:
// the roots on either side add up to all that is reserved.
func TestARebuildThatMakesAnotherResourceCurrentTellsOfEveryPool(t *testing.T) {
	r := startAllocators(t, `
import torch, rmm
from vibespatial.raster import memory as raster
from vibespatial.cuda import _runtime as runtime
kept = torch.empty(1)
raster.configure_memory_pool()
pieces = [raster._stats_adaptor.allocate(11 * MIB) for _ in range(4)]
runtime.get_cuda_runtime().configure("rmm-safe")
buffers = [rmm.DeviceBuffer(20 * MIB) for _ in range(3)]
[raster._stats_adaptor.deallocate(piece, 11 * MIB) for piece in pieces]
buffers.clear()
`)
	r.offers(recorder.CommandRebuild)
	ack := r.do(recorder.CommandRebuild, recorder.CommandArgs{})
	checkLine(t, ack, "vibespatial.raster pool: free_pool_memory, tier B built again", 0, "")
	roots := func(sets []recorder.CounterSet) (reserved int64) {
		for i := range sets {
			if sets[i].Of == recorder.OfPool && setNamed(sets, sets[i].In) == nil && sets[i].ID != "torch:0" {
				reserved += counterNamed(t, &sets[i], "reserved")
			}
		}
		return reserved
	}
	if before, after := roots(ack.Before), roots(ack.After); before != 104*mib || after != 60*mib {
		t.Errorf("reserved %d → %d bytes, want 104 and 60 MiB: %+v → %+v", before, after, setIDs(ack.Before), setIDs(ack.After))
	}
	if set := setNamed(ack.After, "vibespatial"); set == nil || set.In != "" || counterNamed(t, set, "reserved") != 60*mib {
		t.Errorf("the main package's pool is told as %+v", set)
	}
	r.Quiet()
}
