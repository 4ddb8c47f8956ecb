package python_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vramscope/pool"
	"vramscope/recorder"
)

func TestResetPeakBeginsANewWindow(t *testing.T) {
	r := startAllocators(t, `
import torch, cupy, types
kept = [torch.empty(300 * MIB), torch.empty(700 * MIB), cupy.empty(10 * MIB), cupy.empty(90 * MIB)]
memory = types.ModuleType("algan.utils.memory_utils")
memory._PEAK_FLOOR = {("cuda", 0): 1200 * MIB}
memory.reset_peak_floor = lambda: memory._PEAK_FLOOR.clear()
sys.modules["algan.utils.memory_utils"] = memory
driver.pool_alloc(0, 96 * MIB); driver.pool_free(0, 64 * MIB)
`)
	r.offers(recorder.CommandResetPeak)
	sample := r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "cupy:0") != nil })
	checkCounters(t, sample.Sets, "peaks:0", map[string]int64{
		"peak_live": 1000 * mib, "peak_floor": 1200 * mib, "peak_open": 0, "peak_reported": 1200 * mib, "peak_compatible": 1200 * mib,
	})
	r.run("del kept[3], kept[1]")
	ack := r.do(recorder.CommandResetPeak, recorder.CommandArgs{})
	if ack.State != recorder.AckDone || ack.Acted == nil || !*ack.Acted {
		t.Fatalf("the answer is %+v", ack)
	}
	checkCounters(t, ack.Before, "peaks:0", map[string]int64{"peak_reported": 1200 * mib})
	checkCounters(t, ack.After, "peaks:0", map[string]int64{"peak_live": 300 * mib, "peak_floor": 0, "peak_reported": 300 * mib, "peak_compatible": 300 * mib})
	checkCounters(t, ack.After, "cupy:0", map[string]int64{"peak_allocated": 10 * mib, "peak_reserved": 100 * mib})
	checkCounters(t, ack.After, "default-pool:0", map[string]int64{"peak_allocated": 32 * mib, "peak_reserved": 96 * mib})
	if line := lineStarting(ack, "torch: peak"); line == nil || optional(line.Before) != 1200*mib || optional(line.After) != 300*mib || !strings.Contains(line.What, "program's own reading") {
		t.Errorf("the lines are %+v", ack.Result)
	}
	r.Quiet()
}

func TestResetPeakSaysWhereThereIsNone(t *testing.T) {
	r := startAllocators(t, `
import rmm, rmm.mr, jax
jax.local_devices()
rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(rmm.mr.CudaMemoryResource()))
`)
	r.offers(recorder.CommandResetPeak)
	ack := r.do(recorder.CommandResetPeak, recorder.CommandArgs{})
	if ack.Acted == nil || *ack.Acted {
		t.Errorf("the answer is %+v", ack)
	}
	for what, why := range map[string]string{"rmm: the peak stays": "only a counter frame", "jax: the peak stays": "since its start"} {
		if line := lineStarting(ack, what); line == nil || !strings.Contains(line.Why, why) {
			t.Errorf("no line %q: %+v", what, ack.Result)
		}
	}
}

// A region in a region, with a reset from outside in the middle of the inner
// one: each still measures what it would have without.
func TestNestedPeakRegionsSurviveAReset(t *testing.T) {
	r := startAllocators(t, "import torch\nkept = torch.empty(300 * MIB)")
	r.offers(recorder.CommandResetPeak)
	r.run("outer = vramscope_probe.peak_region().__enter__(); x = torch.empty(500 * MIB); del x")
	checkCounters(t, r.sample().Sets, "peaks:0", map[string]int64{"peak_live": 800 * mib, "peak_open": 300 * mib, "peak_reported": 800 * mib})
	r.run("inner = vramscope_probe.peak_region().__enter__(); x = torch.empty(150 * MIB)")
	checkCounters(t, r.sample().Sets, "peaks:0", map[string]int64{"peak_live": 450 * mib, "peak_open": 800 * mib, "peak_reported": 800 * mib, "peak_compatible": 450 * mib})
	ack := r.do(recorder.CommandResetPeak, recorder.CommandArgs{})
	checkCounters(t, ack.After, "peaks:0", map[string]int64{"peak_live": 450 * mib, "peak_open": 0, "peak_reported": 450 * mib})
	r.run("del x; x = torch.empty(50 * MIB); del x; inner.__exit__(None, None, None); x = torch.empty(60 * MIB); del x; outer.__exit__(None, None, None)")
	if got := r.ask("inner.peak // MIB, outer.peak // MIB"); got != "150 500" {
		t.Errorf("the regions measured %s MiB, not 150 and 500", got)
	}
	checkCounters(t, r.sample().Sets, "peaks:0", map[string]int64{"peak_reported": 450 * mib})
	r.Quiet()
}

// With no region open, to leave the open ones out changes nothing, also of a
// program without algan; and algan's own floor counts beside the probe's.
func TestThePeakWithoutOpenRegionsIsTheReportedOneWhereNoneIsOpen(t *testing.T) {
	r := startAllocators(t, `
import torch, types
memory = types.ModuleType("algan.utils.memory_utils")
memory._PEAK_FLOOR = {("cuda", 0): 600 * MIB}
kept = torch.empty(300 * MIB)
with_region = lambda n: [vramscope_probe.peak_region().__enter__(), torch.empty(n * MIB)].pop(0).__exit__(None, None, None)
`)
	r.sampleWhere(func(s *recorder.Sample) bool { return setNamed(s.Sets, "peaks:0") != nil })
	r.run("with_region(150); with_region(10)")
	checkCounters(t, r.sample().Sets, "peaks:0", map[string]int64{"peak_live": 310 * mib, "peak_floor": 450 * mib, "peak_open": 0, "peak_reported": 450 * mib, "peak_compatible": 450 * mib})
	r.run("open = vramscope_probe.peak_region().__enter__()")
	checkCounters(t, r.sample().Sets, "peaks:0", map[string]int64{"peak_live": 300 * mib, "peak_reported": 450 * mib, "peak_compatible": 450 * mib})
	r.run(`sys.modules["algan.utils.memory_utils"] = memory`)
	checkCounters(t, r.sample().Sets, "peaks:0", map[string]int64{"peak_floor": 600 * mib, "peak_reported": 600 * mib, "peak_compatible": 600 * mib})
	r.Quiet()
}

func TestAPeakRegionWithoutTorchKnowsNothing(t *testing.T) {
	r := startAllocators(t, "")
	r.run("region = vramscope_probe.peak_region(); region.__enter__(); region.__exit__(None, None, None)")
	if got := r.ask("region.peak"); got != "None" {
		t.Errorf("it measured %s", got)
	}
}

// counter is an allocator's high-water mark, for the twin in Go.
type playedCounter struct{ peak, current int64 }

func (c *playedCounter) ReadPeak() (peak, current int64) { return c.peak, c.current }
func (c *playedCounter) TakePeak() (peak, current int64) {
	peak = c.peak
	c.peak = c.current
	return peak, c.current
}

// Random histories of regions, resets and allocations measure what the pool's
// own Peaks measure.
func TestPeakRegionsEqualThoseOfThePool(t *testing.T) {
	r := startAllocators(t, `
class Counter:
    peak = current = 0
    def reset(self):
        self.peak = self.current
def begin():
    open_regions.append(regions.begin())
def fresh():
    global counter, regions, open_regions
    counter, open_regions = Counter(), []
    regions = vramscope_probe.PeakRegions(lambda: (counter.peak, counter.current), counter.reset)
def set_current(n):
    counter.current = n
    counter.peak = max(counter.peak, n)
`)
	random := rand.New(rand.NewPCG(7, 11))
	for range 40 {
		counter, key := &playedCounter{}, pool.DeviceKey{}
		peaks := pool.NewPeaks()
		peaks.Watch(key, counter)
		var open []pool.PeakToken
		var script, want []string
		add := func(line string, values ...any) { script = append(script, fmt.Sprintf(line, values...)) }
		add("fresh()")
		for range 60 {
			switch choice := random.IntN(10); {
			case choice < 5:
				counter.current = random.Int64N(1000)
				counter.peak = max(counter.peak, counter.current)
				add("set_current(%d)", counter.current)
			case choice < 7:
				open = append(open, peaks.Begin(key))
				add("begin()")
			case choice < 9 && len(open) > 0:
				i := random.IntN(len(open))
				want = append(want, fmt.Sprint(peaks.End(open[i]).Corrected))
				open = append(open[:i], open[i+1:]...)
				add("print(regions.end(open_regions.pop(%d)))", i)
			case choice == 9:
				peaks.ResetWindow(key)
				add("regions.reset_window()")
			}
			reading, _ := peaks.Peak(key)
			want = append(want, fmt.Sprint(reading.Live, reading.Floor, reading.Open, reading.Reported, max(reading.Live, reading.Floor)))
			add("c = regions.counters(); print(c['peak_live'], c['peak_floor'], c['peak_open'], c['peak_reported'], c['peak_compatible'])")
		}
		got, _ := r.run(strings.Join(script, "; "))
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Fatalf("of the history\n%s\nPython measures %v, Go %v", strings.Join(script, "\n"), got, want)
		}
	}
}
