package ui

import (
	"fmt"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
)

// The two GPUs that the Python process uses, and its place in the world: the
// driver on the host counts it as 40812.
const (
	pythonGPU0   = "GPU-4f2e0c1d-0000-4000-8000-000000000000"
	pythonGPU1   = "GPU-4f2e0c1d-0000-4000-8000-000000000001"
	pythonSource = "pid:812-991234"
	pythonRank   = 3
)

// pythonFixture is a Python process with the allocators that such a process has:
// torch on two devices with the private pool of its graphs, CuPy on RMM, JAX,
// which does not tell what it has taken, and the device's default pool; in a
// container, as one rank of a job. Bytes are not round, so that a sum that is
// off by one is seen.
type pythonFixture struct {
	t     testing.TB
	store *model.Store
	ns    int64
	frame int64
	hello recorder.Hello
}

// newPythonFixture is a process that has said hello beside its two GPUs.
func newPythonFixture(t testing.TB) *pythonFixture {
	t.Helper()
	f := &pythonFixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart}
	for i, gpu := range []string{pythonGPU0, pythonGPU1} {
		f.fold("gpu:"+gpu, &recorder.Hello{Head: f.head("gpu:" + gpu), Proto: 1, Min: 1, Kind: recorder.KindDevice, Name: fmt.Sprintf("H200 #%d", i),
			GPUs: []recorder.GPU{{Ordinal: i, UUID: gpu, Name: "NVIDIA H200"}}})
	}
	f.hello = pythonHello(pythonSource, 812, pythonRank)
	f.hello.NSPIDs = []int{40812, 812}
	f.say(&f.hello)
	f.say(&recorder.State{})
	return f
}

// pythonHello is what a rank of the job says first.
func pythonHello(src string, pid, rank int) recorder.Hello {
	return recorder.Hello{
		Head: recorder.Head{Src: src}, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "train.py", Version: "vramscope_probe 0.1",
		PID: pid, NSPIDs: []int{pid}, Start: 991234, Wall: fixtureWall, Argv: []string{"python", "train.py"}, Job: "night", Rank: &rank,
		GPUs: []recorder.GPU{{Ordinal: 0, UUID: pythonGPU0, Name: "NVIDIA H200"}, {Ordinal: 1, UUID: pythonGPU1, Name: "NVIDIA H200"}},
		Have: []string{"torch", "cupy", "rmm", "jax"}, Hz: 10, Safe: "pending", Python: "3.12.3",
		Commands: []string{recorder.CommandReclaim, recorder.CommandForceReclaim, recorder.CommandResetPeak, recorder.CommandHeadroom,
			recorder.CommandSnapshot, recorder.CommandRecordOn, recorder.CommandRecordOff},
		Refuses: map[string]string{recorder.CommandRebuild: "torch has no rebuild; R gives back every segment that is wholly free"},
	}
}

// trainedSnapshot is what there is to see of it after some frames.
func trainedSnapshot(t testing.TB) *model.Snapshot {
	t.Helper()
	return trainedFixture(t).snapshot()
}

// trainedFixture is the process after 100 frames, one failure and one command.
func trainedFixture(t testing.TB) *pythonFixture {
	f := newPythonFixture(t)
	for range 100 {
		f.trainFrame()
	}
	free := 3*gib + 1
	f.say(&recorder.OOM{ID: "torch:0", Asked: 50 * gib, Free: &free, Rule: "torch OutOfMemoryError", Outcome: "torch raised"})
	return f
}

// trainFrame is one frame with a sample of everything.
func (f *pythonFixture) trainFrame() {
	f.ns += fixturePeriod
	f.say(&recorder.Frame{N: f.frame})
	f.sampleDevices()
	f.say(&recorder.Sample{Seq: f.frame, Sets: f.sets()})
	f.frame++
}

func (f *pythonFixture) head(src string) recorder.Head { return recorder.Head{Src: src, Ns: f.ns} }

// say folds a record of the process, now.
func (f *pythonFixture) say(record recorder.Record) {
	f.t.Helper()
	switch r := record.(type) {
	case *recorder.Hello:
		r.Head = f.head(pythonSource)
	case *recorder.State:
		r.Head = f.head(pythonSource)
	case *recorder.Frame:
		r.Head = f.head(pythonSource)
	case *recorder.Sample:
		r.Head = f.head(pythonSource)
	case *recorder.OOM:
		r.Head = f.head(pythonSource)
	case *recorder.Ack:
		r.Head = f.head(pythonSource)
	case *recorder.Bye:
		r.Head = f.head(pythonSource)
	default:
		f.t.Fatalf("the fixture does not say %s", record.Type())
	}
	f.fold(pythonSource, record)
}

// fold writes a record as a line, reads it and folds it.
func (f *pythonFixture) fold(source string, record recorder.Record) {
	f.t.Helper()
	line, err := recorder.AppendLine(nil, record)
	if err != nil {
		f.t.Fatal(err)
	}
	read, err := recorder.DecodeLine(line)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.store.Fold(source, read); err != nil {
		f.t.Fatal(err)
	}
}

func (f *pythonFixture) snapshot() *model.Snapshot {
	return f.store.Snapshot(f.ns, fixtureWall+f.ns-fixtureStart)
}

// counterSet is a counter set with its numbers.
func counterSet(id, of, name, device, in, call string, values map[recorder.Counter]int64) recorder.CounterSet {
	set := recorder.CounterSet{ID: id, Of: of, Name: name, Device: device, In: in, Call: call}
	for counter, value := range values {
		set.Values.Set(counter, value)
	}
	return set
}

// sets are the counters of the process's allocators. What torch has handed out
// goes up and down.
func (f *pythonFixture) sets() []recorder.CounterSet {
	allocated := (20 + f.frame%7) * gib
	const stats = "torch._C._cuda_memoryStats"
	torch := func(device int, gpu string, reserved, allocated int64) recorder.CounterSet {
		set := counterSet(fmt.Sprintf("torch:%d", device), recorder.OfPool, "torch", gpu, "", stats, map[recorder.Counter]int64{
			recorder.Reserved: reserved, recorder.Allocated: allocated, recorder.Active: allocated + 512, recorder.Requested: allocated - 1000,
			recorder.PeakAllocated: 30 * gib, recorder.PeakReserved: 40 * gib, recorder.Retries: 2, recorder.OOMs: 1, recorder.Segments: 200, recorder.LiveBlocks: 2113,
		})
		set.Why = map[string]string{"largest_free": "only a snapshot tells: :snapshot", "releasable": "only a snapshot tells: :snapshot"}
		return set
	}
	jax := counterSet("jax:0", recorder.OfPool, "jax", pythonGPU0, "", "Device.memory_stats", map[recorder.Counter]int64{recorder.Allocated: 700*mib + 256, recorder.PeakAllocated: 900 * mib})
	jax.Why = map[string]string{"reserved": "JAX does not tell what it has taken unless it preallocates"}
	return []recorder.CounterSet{
		torch(0, pythonGPU0, 40*gib+2*mib, allocated),
		counterSet("torch:0:graphs", recorder.OfPool, "graph pools", pythonGPU0, "torch:0", "torch.cuda.memory_snapshot", map[recorder.Counter]int64{
			recorder.Reserved: 4 * gib, recorder.Allocated: 2 * gib}),
		counterSet("rmm:0", recorder.OfPool, "rmm pool", pythonGPU0, "", "PoolMemoryResource.pool_size", map[recorder.Counter]int64{recorder.Reserved: 8*gib + 256}),
		counterSet("cupy:0", recorder.OfPool, "cupy", pythonGPU0, "rmm:0", "MemoryPool.total_bytes", map[recorder.Counter]int64{
			recorder.Reserved: 5*gib + 512, recorder.Allocated: 3*gib + 512}),
		jax,
		counterSet("default-pool:0", recorder.OfPool, "default pool", pythonGPU0, "", "cuMemPoolGetAttribute", map[recorder.Counter]int64{
			recorder.Reserved: 32 * mib, recorder.Allocated: 20*mib + 4096, recorder.PeakAllocated: 31 * mib}),
		torch(1, pythonGPU1, 10*gib, 9*gib),
		counterSet("peaks:0", recorder.OfPeaks, "peaks of torch", pythonGPU0, "", "torch.cuda.memory_stats", map[recorder.Counter]int64{
			recorder.PeakLive: 30 * gib, recorder.PeakFloor: 35 * gib, recorder.PeakOpen: 0, recorder.PeakReported: 35 * gib}),
		counterSet("peaks:1", recorder.OfPeaks, "peaks of torch", pythonGPU1, "", "torch.cuda.memory_stats", map[recorder.Counter]int64{
			recorder.PeakLive: 9 * gib, recorder.PeakFloor: 0, recorder.PeakOpen: 0, recorder.PeakReported: 9 * gib}),
	}
}

// What the driver counts to the process on the first device.
const pythonDriver = 50*gib + 64*mib

// sampleDevices tells what the driver says of both GPUs.
func (f *pythonFixture) sampleDevices() {
	const memory, list = "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetComputeRunningProcesses"
	for i, gpu := range []string{pythonGPU0, pythonGPU1} {
		used, own := pythonDriver+12*gib+4096, int64(pythonDriver)
		if i == 1 {
			used, own = 11*gib, 10*gib+600*mib
		}
		reserve := int64(631363307)
		sets := []recorder.CounterSet{
			counterSet("device", recorder.OfDevice, fmt.Sprintf("H200 #%d", i), gpu, "", memory, map[recorder.Counter]int64{
				recorder.Total: 140 * gib, recorder.Used: used, recorder.DriverReserved: reserve, recorder.Free: 140*gib - used - reserve,
				recorder.Utilization: 88, recorder.Temperature: 50, recorder.Power: 400000}),
			counterSet("process:40812", recorder.OfProcess, "python", gpu, "device", list, map[recorder.Counter]int64{recorder.Used: own}),
		}
		if i == 0 {
			sets = append(sets, counterSet("process:812", recorder.OfProcess, "somebody else", gpu, "device", list, map[recorder.Counter]int64{recorder.Used: 12 * gib}))
		}
		f.fold("gpu:"+gpu, &recorder.Sample{Head: f.head("gpu:" + gpu), Seq: f.frame, Sets: sets})
	}
}
