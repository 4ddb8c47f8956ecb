package python_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// pool is the pool of that name in the last state.
func (a *told) pool(t testing.TB, name string) *recorder.PoolState {
	t.Helper()
	last := a.states[len(a.states)-1]
	for i := range last.Pools {
		if last.Pools[i].Name == name {
			return &last.Pools[i]
		}
	}
	t.Fatalf("the state has no pool %q: %+v", name, last.Pools)
	return nil
}

const rasterName = "vibespatial.raster pool"

const rasterBegins = `
import vibespatial.raster.memory as memory
`

func TestScopesOfVibespatialRasterTiers(t *testing.T) {
	for _, test := range []struct {
		name, script string
		tier, why    string
		stack        []string
		set          map[string]int64 // nil: no set
		in           string
	}{
		{"not yet", ``, "none", "nothing has used the GPU yet", nil, nil, ""},
		{"B", `
memory.configure_memory_pool()
memory._stats_adaptor.allocate(1000)
memory._stats_adaptor.allocate(24)
memory._stats_adaptor.free(24)
`, "B", "default: at least 50 %", []string{"Statistics", "FailureCallback", "Pool", "CUDA"}, map[string]int64{
			"reserved": 1280, "allocated": 1000, "requested": 1000, "live_blocks": 1, "peak_allocated": 1024, "peak_requested": 1024,
			"lifetime_bytes": 1024, "lifetime_count": 2, "generation": 0, "ladder_used": 0, "ladder_cooldown": 0,
		}, "rmm:0"},
		{"A", `
os.environ["VIBESPATIAL_GPU_POOL_ONLY"] = "1"
memory.configure_memory_pool()
`, "A", "VIBESPATIAL_GPU_POOL_ONLY=1", []string{"Statistics", "Pool", "CUDA"}, map[string]int64{
			"reserved": 0, "allocated": 0, "requested": 0, "live_blocks": 0, "peak_allocated": 0, "peak_requested": 0, "lifetime_bytes": 0,
			"lifetime_count": 0, "generation": 0,
		}, "rmm:0"},
		{"C by wish", `
os.environ["VIBESPATIAL_GPU_MANAGED_MEMORY"] = "1"
memory.configure_memory_pool()
memory._stats_adaptor.allocate(1000)
`, "C", "VIBESPATIAL_GPU_MANAGED_MEMORY=1", []string{"Statistics", "Managed"}, map[string]int64{
			"allocated": 1000, "requested": 1000, "live_blocks": 1, "peak_allocated": 1000, "peak_requested": 1000, "lifetime_bytes": 1000,
			"lifetime_count": 1, "generation": 0,
		}, "rmm:0"},
		{"C by need", `
memory.FREE_SHARE = 0.2
memory.configure_memory_pool()
`, "C", "less than 50 %", []string{"Statistics", "Managed"}, map[string]int64{
			"allocated": 0, "requested": 0, "live_blocks": 0, "peak_allocated": 0, "peak_requested": 0, "lifetime_bytes": 0, "lifetime_count": 0,
			"generation": 0,
		}, "rmm:0"},
		{"fallback without CuPy loads nothing", `
os.environ["STANDIN_RMM"] = "0"
memory.configure_memory_pool()
`, "fallback", "RMM cannot be imported", []string{"CuPy MemoryPool"}, map[string]int64{"generation": 0}, "cupy:0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := drive(t, rasterBegins+"look()\n"+test.script+"\nlook()\nsample()\nassert 'cupy' not in sys.modules\n")
			pool := all.pool(t, rasterName)
			if pool.Tier != test.tier || !strings.HasPrefix(pool.Why, test.why) {
				t.Errorf("tier %q because %q", pool.Tier, pool.Why)
			}
			if diff := cmp.Diff(test.stack, pool.Stack); diff != "" {
				t.Error(diff)
			}
			if test.set == nil {
				if sample := said[*recorder.Sample](t, all); len(sample.Sets) != 0 {
					t.Errorf("%+v", sample.Sets)
				}
				return
			}
			set := all.set(t, "vibespatial-raster")
			if diff := cmp.Diff(test.set, counters(set)); diff != "" {
				t.Error(diff)
			}
			if set.In != test.in {
				t.Errorf("the set lies in %q, want %q", set.In, test.in)
			}
			if !set.Values.Known(recorder.Reserved) && set.Why["reserved"] == "" {
				t.Error("a missing figure says no reason")
			}
		})
	}
}

func TestScopesOfVibespatialRasterRebuild(t *testing.T) {
	for _, test := range []struct {
		name, script string
		acted        bool
		what, why    string
		generation   int
	}{
		{"an empty pool is built again by its own call", `
memory.configure_memory_pool()
memory._stats_adaptor.allocate(1000)
memory._stats_adaptor.free(1000)
`, true, "free_pool_memory, tier B built again", "", 1},
		{"never over live blocks", `
memory.configure_memory_pool()
memory._stats_adaptor.allocate(1000)
memory._stats_adaptor.allocate(500)
`, false, "not rebuilt", "2 live allocations hold 1.5 KiB: free them first", 0},
		{"nor over one", `
memory.configure_memory_pool()
memory._stats_adaptor.allocate(512)
`, false, "not rebuilt", "1 live allocation holds 512 B: free it first", 0},
		{"tier C has none", `
os.environ["VIBESPATIAL_GPU_MANAGED_MEMORY"] = "1"
memory.configure_memory_pool()
`, false, "not rebuilt", "tier C has no pool", 0},
		{"before it is set up", ``, false, "not rebuilt", "it is not set up yet", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := drive(t, rasterBegins+test.script+`
look()
command("rebuild", "")
look()
sample()
`)
			ack := said[*recorder.Ack](t, all)
			if ack.Acted == nil || *ack.Acted != test.acted || len(ack.Result) != 1 {
				t.Fatalf("%+v", ack)
			}
			if line := ack.Result[0]; !strings.Contains(line.What, test.what) || !strings.HasPrefix(line.Why, test.why) {
				t.Errorf("%+v", line)
			}
			if got := all.pool(t, rasterName).Generation; got != test.generation {
				t.Errorf("generation %d, want %d", got, test.generation)
			}
		})
	}
}

// The callback's retries show until its cooldown is over, and the rebuilds that
// it does are generations: each is seen, although the adaptor may get the old
// one's place in memory.
func TestScopesOfVibespatialRasterLadder(t *testing.T) {
	all := drive(t, rasterBegins+`
memory.configure_memory_pool()
memory._stats_adaptor.allocate(10)
look()
for retry in range(4):
    memory._oom_callback(4096)
sample()
look()
`)
	set := all.set(t, "vibespatial-raster")
	if got := counters(set); got["ladder_used"] != 4 || got["ladder_cooldown"] <= 0 || got["ladder_cooldown"] > 1e9 {
		t.Errorf("%+v", got)
	}
	pool := all.pool(t, rasterName)
	if pool.Generation != 1 || pool.Ladder == nil || pool.Ladder.Used != 4 {
		t.Errorf("%+v", pool)
	}
}

// A pool of vibespatial's lies in RMM's set as long as RMM allocates from it; once
// the program gives RMM another resource it stands for itself, and says so.
func TestScopesOfVibespatialThatRmmNoLongerAllocatesFrom(t *testing.T) {
	const instead = "rmm.mr.set_current_device_resource(rmm.mr.CudaMemoryResource())"
	const above = "rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(rmm.mr.get_current_device_resource()))"
	const raster = "memory.configure_memory_pool(); memory._stats_adaptor.allocate(3 * MIB)"
	const runtime = "vr.get_cuda_runtime().configure('rmm-safe'); vr.get_cuda_runtime()._rmm_mr.allocate(3 * MIB)"
	for _, test := range []struct {
		name, script, id, pool, in string
		current                    bool
	}{
		{"raster, as it sets itself up", raster, "vibespatial-raster", rasterName, "rmm:0", true},
		{"raster, under an adaptor of the program's", raster + "\n" + above, "vibespatial-raster", rasterName, "rmm:0", true},
		{"raster, and another one since", raster + "\n" + instead, "vibespatial-raster", rasterName, "", false},
		{"raster, and the main package since", raster + "\n" + runtime, "vibespatial-raster", rasterName, "", false},
		{"the main package behind raster", raster + "\n" + runtime, "vibespatial", runtimeName, "rmm:0", true},
		{"the main package, and another one since", runtime + "\n" + instead, "vibespatial", runtimeName, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := startAllocators(t, `
import rmm, rmm.mr
driver.activate(0)
import vibespatial.raster.memory as memory
import vibespatial.cuda._runtime as vr
`+test.script+"\n")
			state := pythontest.NextWhere(r.Reader, func(s *recorder.State) bool { return len(s.Pools) > 0 })
			sample := r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, test.id) != nil })
			set := setNamed(sample.Sets, test.id)
			if set.In != test.in || strings.Contains(set.Name, "not RMM's current resource") == test.current {
				t.Errorf("%q lies in %q, want %q", set.Name, set.In, test.in)
			}
			for _, pool := range state.Pools {
				if pool.Name == test.pool && strings.Contains(pool.Why, "not RMM's current resource") == test.current {
					t.Errorf("%+v", pool)
				}
			}
		})
	}
}

const runtimeName = "vibespatial pool"

func TestScopesOfVibespatialRuntime(t *testing.T) {
	for _, test := range []struct {
		backend, tier string
		stack         []string
		set           map[string]int64
		in, rebuilt   string
	}{
		{"rmm-safe", "B", []string{"Statistics", "FailureCallback", "Pool", "CUDA"}, map[string]int64{
			"reserved": 1280, "allocated": 1000, "requested": 1000, "free": 280, "peak_allocated": 1024, "peak_requested": 1024,
			"lifetime_bytes": 1024, "lifetime_count": 2,
		}, "rmm:0", "cannot be built again"},
		{"rmm-pool", "A", []string{"Statistics", "Pool", "CUDA"}, map[string]int64{
			"reserved": 1280, "allocated": 1000, "requested": 1000, "free": 280, "peak_allocated": 1024, "peak_requested": 1024,
			"lifetime_bytes": 1024, "lifetime_count": 2,
		}, "rmm:0", "cannot be built again"},
		{"rmm-managed", "C", []string{"Statistics", "Managed"}, map[string]int64{
			"allocated": 1000, "requested": 1000, "peak_allocated": 1024, "peak_requested": 1024, "lifetime_bytes": 1024, "lifetime_count": 2,
		}, "rmm:0", "cannot be built again"},
		{"cupy", "fallback", []string{"CuPy MemoryPool"}, map[string]int64{"reserved": 8192, "allocated": 4096, "free": 4096}, "", ""},
	} {
		t.Run(test.backend, func(t *testing.T) {
			all := drive(t, `
import vibespatial.cuda._runtime as runtime
look()
r = runtime.get_cuda_runtime()
r.configure("`+test.backend+`")
if r._rmm_mr is not None:
    r._rmm_mr.allocate(1000)
    r._rmm_mr.allocate(24)
    r._rmm_mr.free(24)
command("rebuild", "")
assert r.freed == 1
look()
sample()
`)
			if first := all.states[0].Pools; len(first) != 1 || first[0].Tier != "none" {
				t.Errorf("before it was set up: %+v", first)
			}
			pool := all.pool(t, runtimeName)
			if diff := cmp.Diff(test.stack, pool.Stack); diff != "" || pool.Tier != test.tier || pool.Why == "" {
				t.Errorf("tier %q because %q: %s", pool.Tier, pool.Why, diff)
			}
			set := all.set(t, "vibespatial")
			if diff := cmp.Diff(test.set, counters(set)); diff != "" || set.In != test.in {
				t.Errorf("in %q: %s", set.In, diff)
			}
			ack := said[*recorder.Ack](t, all)
			if len(ack.Result) != 1 || !strings.Contains(ack.Result[0].Why, test.rebuilt) {
				t.Errorf("%+v", ack)
			}
		})
	}
}
