package python_test

import (
	"slices"
	"strings"
	"testing"

	"vramscope/recorder"
)

const mib = 1 << 20

// The sizes of libraries.txt, and the numbers that torch printed for them on
// an H200.
const measuredSizes = "(1, 1000, MIB, 5 * MIB, 64 * MIB, 100 * MIB)"

func TestTorchIsReadToTheByte(t *testing.T) {
	r := startAllocators(t, "import torch\nkept = [torch.empty(n) for n in "+measuredSizes+"]")
	sample := r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "torch:0") != nil })
	checkCounters(t, sample.Sets, "torch:0", map[string]int64{
		"allocated": 178259456, "reserved": 195035136, "active": 178259456, "requested": 178258921, "peak_allocated": 178259456,
		"peak_reserved": 195035136, "peak_requested": 178258921, "live_blocks": 6, "segments": 4, "lifetime_bytes": 178259456,
		"lifetime_count": 6, "retries": 0, "ooms": 0, "releasable": 0, "largest_free": -1,
	})
	if set := setNamed(sample.Sets, "torch:0"); set.Call != "torch._C._cuda_memoryStats" || set.In != "" || set.Device != "GPU-30303030-3030-3030-3030-303030303030" {
		t.Errorf("the set says it comes from %q, lies in %q, on %q", set.Call, set.In, set.Device)
	}
	r.run("kept.pop(4)")
	// What is called releasable is what empty_cache gave back there: 67,108,864.
	checkCounters(t, r.sample().Sets, "torch:0", map[string]int64{"allocated": 111150592, "reserved": 195035136, "releasable": 67108864})
	checkCounters(t, r.sample().Sets, "peaks:0", map[string]int64{"peak_live": 178259456, "peak_floor": 0, "peak_open": 0, "peak_reported": 178259456})
}

func TestEveryAllocatorTellsWhatItCanAndWhereItLies(t *testing.T) {
	const rmmStack = `
import rmm, rmm.mr, driver
driver.activate(0)
pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=0)
`
	cases := []struct {
		name, script string
		env          []string
		id, in       string
		counters     map[string]int64
		call         string
	}{
		{"torch's cudaMallocAsync backend lies in the driver's pool", "import torch\nkept = [torch.empty(n) for n in (1, MIB, 64 * MIB)]",
			[]string{"PYTORCH_ALLOC_CONF=backend:cudaMallocAsync"}, "torch:0", "default-pool:0",
			map[string]int64{"allocated": 68157441, "reserved": 100663296, "requested": -1, "live_blocks": -1, "ooms": -1}, "_cuda_memoryStats"},
		{"and the driver counts the same", "import torch\nkept = [torch.empty(n) for n in (1, MIB, 64 * MIB)]",
			[]string{"PYTORCH_ALLOC_CONF=backend:cudaMallocAsync"}, "default-pool:0", "",
			map[string]int64{"allocated": 68157441, "reserved": 100663296, "peak_allocated": 68157441, "peak_reserved": 100663296, "requested": -1}, "cuMemPoolGetAttribute"},
		{"torch on RMM has no numbers of its own", rmmStack + `
import torch
from rmm.allocators.torch import rmm_torch_allocator
torch.cuda.memory.change_current_allocator(rmm_torch_allocator)
rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(pool))
kept = torch.empty(20 * MIB)`, nil, "torch:0", "rmm:0", map[string]int64{"allocated": -1, "reserved": -1}, ""},
		{"an external allocator of somebody else is a root", `
import torch, driver
torch.cuda.memory.change_current_allocator((lambda ordinal, size: driver.activate(ordinal), lambda *a: None))
kept = torch.empty(20 * MIB)`, nil, "torch:0", "", map[string]int64{"allocated": -1, "reserved": -1}, ""},
		{"CuPy's default pool", "import cupy\nkept = [cupy.empty(n) for n in (1000, MIB, 64 * MIB)]\nkept.pop(1)", nil, "cupy:0", "",
			map[string]int64{"allocated": 67109888, "reserved": 68158464, "free": 1048576, "limit": -2, "releasable": -1}, "largest of the samples"},
		{"CuPy that walks its blocks to count", "import cupy\nkept = cupy.empty(MIB)", []string{"FAKE_CUPY_VERSION=13.6.0"}, "cupy:0", "",
			map[string]int64{"allocated": 1048576}, "once a second"},
		{"CuPy's MemoryAsyncPool lies in the driver's", "import torch, cupy\ncupy.cuda.set_allocator(cupy.cuda.MemoryAsyncPool().malloc)\nkept = [cupy.empty(n) for n in (1000, 64 * MIB)]",
			nil, "cupy-async:0", "default-pool:0", map[string]int64{"allocated": 67109864, "reserved": 100663296}, "MemoryAsyncPool"},
		{"malloc_async too, and says that CuPy does not count", "import cupy\ncupy.cuda.set_allocator(cupy.cuda.malloc_async)\nkept = cupy.empty(64 * MIB)",
			nil, "cupy-async:0", "default-pool:0", map[string]int64{"allocated": -1}, ""},
		{"a pool of the program's", "import cupy\ncupy.cuda.set_allocator(cupy.cuda.MemoryPool().malloc)\nkept = cupy.empty(MIB)", nil, "cupy-pool:0", "",
			map[string]int64{"allocated": 1048576, "reserved": 1048576}, ""},
		{"a function of the program's counts nothing", "import cupy, driver\ndriver.activate(0)\ncupy.cuda.set_allocator(lambda size: None)", nil, "cupy-other:0", "",
			map[string]int64{"allocated": -1, "reserved": -1}, ""},
		{"CuPy on RMM", rmmStack + `
import cupy
from rmm.allocators.cupy import rmm_cupy_allocator
rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(pool))
cupy.cuda.set_allocator(rmm_cupy_allocator)
kept = cupy.empty(10 * MIB)`, nil, "cupy-rmm:0", "rmm:0", map[string]int64{"allocated": -1, "reserved": -1}, ""},
		{"RMM from the top down", rmmStack + `
rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(rmm.mr.FailureCallbackResourceAdaptor(
    rmm.mr.TrackingResourceAdaptor(rmm.mr.LimitingResourceAdaptor(pool, 1 << 30)))))
kept = [rmm.DeviceBuffer(size=n) for n in (1, 1000, 64 * MIB)]`, nil, "rmm:0", "",
			map[string]int64{"reserved": 67110144, "allocated": 67110144, "requested": 67109865, "limit": 1 << 30, "live_blocks": 3,
				"peak_allocated": 67109865, "lifetime_bytes": 67109865, "lifetime_count": 3}, "PoolMemoryResource.pool_size"},
		{"an RMM pool without an adaptor", rmmStack + "rmm.mr.set_current_device_resource(pool)\nkept = rmm.DeviceBuffer(size=MIB)", nil, "rmm:0", "",
			map[string]int64{"reserved": 1048576, "allocated": -1}, "pool_size"},
		{"RMM without a pool", rmmStack + "rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaMemoryResource()))\nkept = rmm.DeviceBuffer(size=MIB)",
			nil, "rmm:0", "", map[string]int64{"reserved": 1048576, "allocated": 1048576}, "allocation_counts"},
		{"managed memory is not known to lie on the device", rmmStack + "rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(rmm.mr.ManagedMemoryResource()))\nkept = rmm.DeviceBuffer(size=MIB)",
			nil, "rmm:0", "", map[string]int64{"reserved": -1, "allocated": 1048576}, ""},
		{"JAX", "import jax\njax.local_devices()[0].allocate(64 * MIB)", nil, "jax:0", "",
			map[string]int64{"allocated": 64 * mib, "reserved": 6 << 30, "peak_reserved": 6 << 30, "largest_free": 6<<30 - 64*mib, "lifetime_count": 1, "limit": 6 << 30}, "Device.memory_stats"},
		{"JAX's platform allocator", "import jax\njax.local_devices()[0].allocate(64 * MIB)", []string{"XLA_PYTHON_CLIENT_ALLOCATOR=platform"}, "jax:0", "",
			map[string]int64{"allocated": -1, "reserved": -1}, ""},
		{"JAX's cuda_async allocator lies in the driver's pool", "import jax\njax.local_devices()[0].allocate(64 * MIB)", []string{"XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"},
			"jax:0", "default-pool:0", map[string]int64{"allocated": 64 * mib, "reserved": -1}, ""},
		{"Taichi and Quadrants show in the driver's pool alone", "import driver\ndriver.pool_alloc(0, 64 * MIB)", nil, "default-pool:0", "",
			map[string]int64{"allocated": 64 * mib, "reserved": 64 * mib}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := startAllocators(t, c.script, c.env...)
			sample := r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, c.id) != nil })
			unset := map[string]int64{}
			for name, value := range c.counters {
				if value == -2 { // not known, and it needs no reason: there is none
					if counterNamed(t, setNamed(sample.Sets, c.id), name) != -1 {
						t.Errorf("%s is told, though there is none", name)
					}
					continue
				}
				unset[name] = value
			}
			checkCounters(t, sample.Sets, c.id, unset)
			if set := setNamed(sample.Sets, c.id); set.In != c.in || !strings.Contains(set.Call, c.call) {
				t.Errorf("the set lies in %q and comes from %q, not in %q and from %q", set.In, set.Call, c.in, c.call)
			}
			if sample.Error != "" {
				t.Errorf("the sample tells of %q", sample.Error)
			}
		})
	}
}

// Everything that is used at once: what the roots have reserved is what the
// driver has given.
func TestRootsAddUpToWhatTheDriverGave(t *testing.T) {
	r := startAllocators(t, `
import torch, cupy, rmm, rmm.mr, driver
from rmm.allocators.cupy import rmm_cupy_allocator
kept = [torch.empty(n) for n in `+measuredSizes+`] + [cupy.empty(3 * MIB)]
pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=32 * MIB)
rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(pool))
cupy.cuda.set_allocator(rmm_cupy_allocator)
kept.append(cupy.empty(5 * MIB))
driver.pool_alloc(0, 64 * MIB)
`)
	sample := r.sampleWhere(func(s *recorder.Sample) bool {
		return setNamed(s.Sets, "default-pool:0") != nil && setNamed(s.Sets, "rmm:0") != nil
	})
	var held int64
	for i := range sample.Sets {
		if set := &sample.Sets[i]; set.Of == recorder.OfPool && set.In == "" {
			held += counterNamed(t, set, "reserved")
		}
	}
	if given := r.bytes("driver.TOTAL - driver.free()"); held != given {
		t.Errorf("the roots %v hold %d bytes, and the driver gave %d", setIDs(sample.Sets), held, given)
	}
}

func TestLookingInitialisesNothing(t *testing.T) {
	r := startAllocators(t, "import torch, cupy, jax, rmm, driver\nfrom jax._src import xla_bridge", "FAKE_DEVICES=2")
	for _, set := range r.sample().Sets {
		if set.Of == recorder.OfPool || set.Of == recorder.OfPeaks {
			t.Errorf("there is a set %s of libraries that nobody has used", set.ID)
		}
	}
	if ack := r.do(recorder.CommandForceReclaim, recorder.CommandArgs{}); ack.State != recorder.AckDone {
		t.Errorf("the answer is %+v", ack)
	}
	if got := r.ask("torch.cuda.is_initialized(), xla_bridge.backends_are_initialized(), driver.contexts_made()"); got != "False False 0" {
		t.Errorf("after a look torch and JAX are initialised, and contexts made: %s", got)
	}
	r.run("kept = [torch.empty(MIB), cupy.empty(MIB)]")
	sample := r.sampleWhere(func(s *recorder.Sample) bool {
		return setNamed(s.Sets, "torch:0") != nil && setNamed(s.Sets, "cupy:0") != nil
	})
	for _, id := range []string{"torch:1", "cupy:1"} {
		if setNamed(sample.Sets, id) != nil {
			t.Errorf("there is a set %s of a device that nobody has used", id)
		}
	}
	for _, command := range []string{recorder.CommandForceReclaim, recorder.CommandHeadroom, recorder.CommandResetPeak} {
		if ack := r.do(command, recorder.CommandArgs{}); ack.State != recorder.AckDone {
			t.Errorf("%s: %+v", command, ack)
		}
	}
	if got := r.ask("driver.contexts_made()"); got != "0" {
		t.Errorf("%s contexts were made by asking", got)
	}
	r.Quiet()
}

func TestOneLibraryThatFailsHidesNoOther(t *testing.T) {
	r := startAllocators(t, "import torch, cupy\nkept = [cupy.empty(MIB), torch.empty(MIB)]", "FAKE_TORCH_RAISES=1")
	sample := r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "cupy:0") != nil })
	if !strings.Contains(sample.Error, "illegal memory access") {
		t.Errorf("the sample tells of %q", sample.Error)
	}
	r.run("kept.pop(0)")
	ack := r.do(recorder.CommandForceReclaim, recorder.CommandArgs{})
	if line := lineStarting(ack, "torch: it failed"); line == nil || !strings.Contains(line.Why, "illegal memory access") {
		t.Errorf("the answer does not tell of torch: %+v", ack.Result)
	}
	checkLine(t, ack, "cupy: free all blocks", mib, "")
	r.Quiet()
}

// TestALibraryThatRaisesKeepsItsSetsWithoutNumbers: a set that went away would be
// memory that was given back. What it says first is the reason, in one line, and
// the other libraries' numbers are as of now.
func TestALibraryThatRaisesKeepsItsSetsWithoutNumbers(t *testing.T) {
	r := startAllocators(t, "import os, torch, cupy\nkept = [cupy.empty(MIB), torch.empty(MIB)]")
	r.sampleWhere(func(s *recorder.Sample) bool {
		return setNamed(s.Sets, "cupy:0") != nil && setNamed(s.Sets, "torch:0") != nil
	})
	check := func(silent string, told ...string) {
		t.Helper()
		sample := r.sample()
		for _, id := range told {
			if set := setNamed(sample.Sets, id); set == nil || set.Values.Len() == 0 {
				t.Errorf("%s raises, and %s is %+v", silent, id, set)
			}
		}
		set := setNamed(sample.Sets, silent)
		if set == nil {
			t.Fatalf("%s raises, and is gone", silent)
		}
		const reason = "RuntimeError: CUDA error: an illegal memory access was encountered"
		if set.Values.Len() != 0 || set.Why["reserved"] != reason || set.Why["allocated"] != reason || set.Device == "" || set.Name == "" {
			t.Errorf("%s raises and is told as %+v", silent, set)
		}
	}
	r.run("os.environ['FAKE_TORCH_RAISES'] = '1'")
	check("torch:0", "cupy:0")
	check("torch:0", "cupy:0")
	if set := setNamed(r.sample().Sets, "peaks:0"); set == nil || set.Why["peak_reported"] == "" {
		t.Errorf("the peaks of a torch that raises are %+v", set)
	}
	r.run("os.environ.pop('FAKE_TORCH_RAISES')")
	r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "torch:0").Values.Len() > 0 })
	const more = `"CUDA error: an illegal memory access was encountered\nin call %d" % next(calls)`
	r.run("import itertools; calls = itertools.count()")
	r.run("type(cupy.get_default_memory_pool()).total_bytes = lambda pool: (_ for _ in ()).throw(RuntimeError(" + more + "))")
	check("cupy:0", "torch:0")
	check("cupy:0", "torch:0")
	check("cupy:0", "torch:0")
	r.Quiet()
}

// TestADeviceThatCannotBeReadHidesNoOther of the same library.
func TestADeviceThatCannotBeReadHidesNoOther(t *testing.T) {
	r := startAllocators(t, "import torch, cupy\nkept = [torch.empty(MIB, device='cuda:1'), torch.empty(MIB)]", "FAKE_DEVICES=2")
	both := func(s *recorder.Sample) bool {
		return setNamed(s.Sets, "torch:0") != nil && setNamed(s.Sets, "torch:1") != nil
	}
	r.sampleWhere(both)
	r.run("counts_of = torch._C._cuda_memoryStats")
	r.run("torch._C._cuda_memoryStats = lambda ordinal: counts_of(ordinal) if ordinal else 1 / 0")
	sample := r.sample()
	if set := setNamed(sample.Sets, "torch:0"); set == nil || set.Values.Len() != 0 || !strings.HasPrefix(set.Why["reserved"], "ZeroDivisionError") {
		t.Errorf("the device that raises is %+v", set)
	}
	if set := setNamed(sample.Sets, "torch:1"); set == nil || set.Values.Len() == 0 {
		t.Errorf("the other device is %+v", set)
	}
	r.Quiet()
}

// TestADriverThatAnswersNoMore: its pool is not one that nobody uses.
func TestADriverThatAnswersNoMore(t *testing.T) {
	r := startAllocators(t, "import vramscope_probe, torch\nkept = [torch.empty(MIB)]", "PYTORCH_ALLOC_CONF=backend:cudaMallocAsync")
	r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "default-pool:0") != nil })
	r.run("vramscope_probe.DRIVER.pool_attributes = lambda ordinal, *names: [None] * len(names)")
	for range 15 { // with a look for pools in use among them
		set := setNamed(r.sample().Sets, "default-pool:0")
		if set == nil || set.Values.Len() != 0 || !strings.Contains(set.Why["reserved"], "cuMemPoolGetAttribute fails") {
			t.Fatalf("the driver's pool is %+v", set)
		}
	}
	r.Quiet()
}

func TestHelloNamesTheDevicesAndWhatIsMissing(t *testing.T) {
	r := startAllocators(t, "")
	for command, why := range map[string]string{
		"snapshot": "torch is not loaded", "force-reclaim": "no library that keeps freed memory", "reset-peak": "no library that counts peaks",
	} {
		if !strings.Contains(r.hello.Refuses[command], why) {
			t.Errorf("%s is refused with %q", command, r.hello.Refuses[command])
		}
	}
	r.run("import torch; kept = torch.empty(MIB)")
	hello := r.greetedWhere(func(hello *recorder.Hello) bool {
		return slices.Contains(hello.Commands, recorder.CommandSnapshot) && hello.GPUs != nil
	})
	if len(hello.GPUs) != 1 || hello.GPUs[0].Name != "Fake H200" || !strings.HasPrefix(hello.GPUs[0].UUID, "GPU-30303030-") {
		t.Errorf("the devices are %+v", hello.GPUs)
	}
	r.Quiet()
}

func TestALibraryThatIsBeingLoadedIsLeftAlone(t *testing.T) {
	r := startAllocators(t, `
import types
for name in ("torch", "cupy", "rmm", "jax", "jax._src.xla_bridge"):
    sys.modules[name] = types.ModuleType(name)
driver.activate(0)
`)
	if sample := r.sample(); sample.Error != "" {
		t.Errorf("the sample tells of %q", sample.Error)
	}
	r.offers(recorder.CommandForceReclaim)
	ack := r.do(recorder.CommandForceReclaim, recorder.CommandArgs{})
	if ack.State != recorder.AckDone || len(ack.Result) != 1 {
		t.Errorf("the answer is %+v", ack)
	}
	r.Quiet()
}
