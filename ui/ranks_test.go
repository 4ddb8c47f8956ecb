package ui

import (
	"fmt"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// twoRanks are two processes of a job with one name, on a GPU each, of which one
// runs out of memory. Without the driver nobody tells what it counts to them.
func twoRanks(t testing.TB, driver bool) *model.Snapshot {
	t.Helper()
	f := &pythonFixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart}
	gpus := []recorder.GPU{{Ordinal: 0, UUID: twinGPU0, Name: "NVIDIA H200"}, {Ordinal: 1, UUID: twinGPU1, Name: "NVIDIA H200"}}
	for i, gpu := range gpus {
		pid := 18751 + i
		src := fmt.Sprintf("pid:%d-5", pid)
		hello := pythonHello(src, pid, 10+i)
		hello.Ns, hello.GPUs, hello.Job, hello.Name = f.ns, gpus, "localhost:29500", "rank.py"
		f.fold(src, &hello)
		f.fold(src, &recorder.Sample{Head: f.head(src), Sets: []recorder.CounterSet{
			counterSet("torch:0", recorder.OfPool, "torch", gpu.UUID, "", "torch._C._cuda_memoryStats", map[recorder.Counter]int64{
				recorder.Reserved: int64(i+1) * 300 * mib, recorder.Allocated: 200 * mib})}})
		if !driver {
			continue
		}
		host := counterSet("process", recorder.OfProcess, "", "", "", "/proc/self/statm", map[recorder.Counter]int64{recorder.Resident: 3 * gib})
		f.fold(src, &recorder.Sample{Head: f.head(src), Sets: []recorder.CounterSet{host}})
		watcher := "gpu:" + gpu.UUID
		f.fold(watcher, &recorder.Hello{Head: f.head(watcher), Proto: 1, Min: 1, Kind: recorder.KindDevice, Name: fmt.Sprintf("H200 #%d", i), GPUs: gpus[i : i+1]})
		f.fold(watcher, &recorder.Sample{Head: f.head(watcher), Sets: []recorder.CounterSet{
			counterSet("device", recorder.OfDevice, fmt.Sprintf("H200 #%d", i), gpu.UUID, "", "nvmlDeviceGetMemoryInfo_v2", map[recorder.Counter]int64{
				recorder.Total: 140 * gib, recorder.Used: 10 * gib, recorder.Free: 130 * gib}),
			counterSet(fmt.Sprintf("process:%d", pid), recorder.OfProcess, "python", gpu.UUID, "device", "nvmlDeviceGetComputeRunningProcesses",
				map[recorder.Counter]int64{recorder.Used: int64(i+1) * gib})}})
	}
	f.ns += fixturePeriod
	f.fold("pid:18752-5", &recorder.OOM{Head: f.head("pid:18752-5"), ID: "torch:0", Asked: gib, Outcome: "torch raised"})
	return f.snapshot()
}

func TestRanksPictures(t *testing.T) {
	goldenView(t, twoRanks(t, false), layout.Devices, "ranks-devices")
	goldenView(t, twoRanks(t, true), layout.Devices, "ranks-devices-driver")
	goldenView(t, twoRanks(t, false), layout.Events, "ranks-events")
}

// TestRanksAreToldApart: on 80 columns too, whatever else is known of them, a row
// of processes says which rank it is and on which GPU, and a line of the log says
// it by the name that the header has.
func TestRanksAreToldApart(t *testing.T) {
	for _, driver := range []bool{false, true} {
		for _, width := range []int{80, 100, 120} {
			d := newScreen(t, twoRanks(t, driver), layout.Devices, width, 24)
			lines := strings.Split(paneText(t, d, layout.ProcessesPane), "\n")
			for i, want := range [][]string{{"rank.py", "rank 11", "#1"}, {"rank.py", "rank 10", "#0"}} {
				for _, text := range want {
					if !strings.Contains(lines[i+1], text) {
						t.Errorf("driver %t, %d columns: row %d lacks %q: %q", driver, width, i, text, lines[i+1])
					}
				}
			}
			if driver == strings.Contains(lines[0], "▾ allocators") || driver != strings.Contains(lines[0], "▾ by driver") {
				t.Errorf("driver %t, %d columns: it is sorted by what has no numbers: %q", driver, width, lines[0])
			}
			press(d, "7")
			if text := paneText(t, d, layout.EventsPane); !strings.Contains(text, "18752 rank.py rank 11 torch:0: out of memory") {
				t.Errorf("%d columns: the log does not name the rank:\n%s", width, text)
			}
		}
	}
}

// TestALongNameKeepsItsRank: the name is cut and not the rank.
func TestALongNameKeepsItsRank(t *testing.T) {
	f := newPythonFixture(t)
	src := "pid:900-5"
	hello := pythonHello(src, 900, 127)
	hello.Ns, hello.Name = f.ns, "train_a_very_long_name_of_a_script.py"
	f.fold(src, &hello)
	f.fold(src, &recorder.OOM{Head: f.head(src), ID: "torch:0", Asked: gib, Outcome: "torch raised"})
	d := newScreen(t, f.snapshot(), layout.Events, 80, 24)
	if text := paneText(t, d, layout.EventsPane); !strings.Contains(text, "….py rank 127 torch:0") && !strings.Contains(text, "t.py rank 127 torch:0") {
		t.Errorf("the rank is cut:\n%s", text)
	}
}
