package ui

import (
	"fmt"
	"testing"

	"vramscope/arena"
	"vramscope/model"
	"vramscope/pool"
	"vramscope/recorder"
)

// Sizes of the fixture.
const (
	gib = int64(1) << 30
	mib = int64(1) << 20

	fixtureFrames = 24
	fixtureStart  = int64(1_000_000_000)             // ns of its first record
	fixtureWall   = int64(1_790_000_000_000_000_000) // Unix ns of the same moment
	fixturePeriod = int64(100_000_000)               // ns of a frame, at least
	fixtureEvent  = int64(20_000)                    // ns between two events
	fixtureGPU    = "GPU-4f2e0c1d-0000-4000-8000-00000000beef"
	fixtureSource = "pid:48213-991234"
)

// fixture is a program to be watched: a small render over a real arena and a
// real pool, whose events become records that are folded into a real store, line
// by line as from a socket. The same calls give the same numbers in every run.
type fixture struct {
	t      testing.TB
	store  *model.Store
	stream *recorder.Stream
	ns     int64
	frame  int64

	arena *arena.Arena
	feed  *recorder.ArenaFeed
	host  *pool.Host
	pool  *pool.Tiered
	pools *recorder.PoolFeed
	held  []fixtureBlock
}

type fixtureBlock struct {
	address pool.Address
	bytes   int64
	stream  pool.Stream
}

// newFixture is a program that has said hello and allocated nothing.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{t: t, store: model.NewStore(model.Options{}), ns: fixtureStart, frame: -1}
	f.stream = recorder.NewStream(recorder.StreamOptions{Source: fixtureSource, Program: "render.py", Clock: f.tick, Emit: f.fold})
	f.stream.Emit(&recorder.Hello{
		Head: f.stream.Head(), Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess, Name: "render.py",
		PID: 48213, Start: 991234, Wall: fixtureWall, Argv: []string{"python", "render.py"}, Hz: 10,
		GPUs: []recorder.GPU{{UUID: fixtureGPU, Name: "H200"}}, Have: []string{"arena", "pool"},
		Commands: []string{recorder.CommandReclaim, recorder.CommandForceReclaim, recorder.CommandRebuild, recorder.CommandResetPeak,
			recorder.CommandHeadroom, recorder.CommandRecordOn, recorder.CommandRecordOff},
	})
	f.newPool(2 * gib)
	f.stream.WantEvents(true)
	f.state()
	return f
}

// renderedFixture is a program in the middle of a frame, after everything that
// can happen to an arena has happened to it.
func renderedFixture(t testing.TB) *fixture {
	t.Helper()
	f := newFixture(t)
	f.newArena("frames 0-23", 32*gib)
	for range fixtureFrames {
		f.renderFrame()
	}
	f.stopInside()
	return f
}

// fold writes a record as a line, reads it and folds it.
func (f *fixture) fold(record recorder.Record) { f.foldInto(fixtureSource, record) }

func (f *fixture) foldInto(source string, record recorder.Record) {
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

func (f *fixture) tick() int64 {
	f.ns += fixtureEvent
	return f.ns
}

// wait lets time pass.
func (f *fixture) wait(ns int64) { f.ns += ns }

// snapshot is what the store has to show now.
func (f *fixture) snapshot() *model.Snapshot {
	f.stream.Flush()
	return f.store.Snapshot(f.ns, fixtureWall+f.ns-fixtureStart)
}

// view is the program as the newest snapshot has it.
func (f *fixture) view() *model.SourceView { return f.snapshot().Find(fixtureSource) }

// state tells everything that a late reader needs.
func (f *fixture) state() {
	if f.arena != nil {
		f.feed.Update(f.arena.State())
	}
	f.stream.EmitState(f.poolStates())
}

// newArena makes an arena that hands out offsets of made-up device memory.
func (f *fixture) newArena(name string, bytes int64) {
	f.feed = f.stream.WatchArena(recorder.ArenaFacts{Name: name, Job: "shot 7", Device: fixtureGPU, Managed: true})
	made, err := arena.New(arena.Config{Name: name, Bytes: bytes, Base: 0x7f2b_5c00_0000, Observer: f.feed.Observer()})
	if err != nil {
		f.t.Fatal(err)
	}
	f.arena = made
	f.state()
}

func (f *fixture) newPool(capacity int64) {
	host, err := pool.NewHost(pool.HostOptions{Capacity: capacity, Capabilities: pool.Capabilities{Pool: true}})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { host.Close() })
	f.host, f.pools = host, f.stream.WatchPool()
	f.pool, err = pool.NewTiered(pool.Options{
		Upstream: host, LookupEnv: func(string) (string, bool) { return "", false }, Clock: func() int64 { return f.ns },
		Observer: f.pools, ObserveOutOfMemory: f.tellOfOOM,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.pool.Configure(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) tellOfOOM(report pool.OutOfMemoryReport) {
	oom := &recorder.OOM{Head: f.stream.Head(), ID: f.poolSetID(), Asked: report.Asked, Rule: report.Rule, Rescued: report.Rescued, Outcome: report.Outcome}
	for _, step := range report.Steps {
		oom.Steps = append(oom.Steps, recorder.LadderStep{Attempt: step.Attempt, Action: step.Action.String()})
	}
	f.stream.Emit(oom)
}

// take allocates from the pool and keeps the block.
func (f *fixture) take(bytes int64, stream pool.Stream) bool {
	address, err := f.pool.Allocate(bytes, stream)
	if err != nil {
		return false
	}
	f.held = append(f.held, fixtureBlock{address, bytes, stream})
	return true
}

// give frees a block that take has kept.
func (f *fixture) give(i int) {
	block := f.held[i]
	f.held = append(f.held[:i], f.held[i+1:]...)
	if err := f.pool.Free(block.address, block.bytes, block.stream); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) poolSetID() string { return fmt.Sprintf("pool:%d", f.pools.ID()) }

func (f *fixture) poolStates() []recorder.PoolState {
	choice, _ := f.pool.Choice()
	state := recorder.PoolState{ID: f.pools.ID(), Name: "render pool", Device: fixtureGPU, Tier: choice.Tier.String(), Why: choice.Reason, Stack: f.pool.Stack()}
	segments, blocks, generation := f.pool.Layout()
	state.Generation = generation
	for _, s := range segments {
		state.Segments.Address = append(state.Segments.Address, recorder.FormatAddress(uint64(s.Address)))
		state.Segments.Bytes = append(state.Segments.Bytes, s.Bytes)
	}
	for _, b := range blocks {
		columns := &state.Blocks
		columns.Address = append(columns.Address, recorder.FormatAddress(uint64(b.Address)))
		columns.Bytes = append(columns.Bytes, b.Bytes)
		columns.Requested = append(columns.Requested, b.Requested)
		columns.Stream = append(columns.Stream, uint32(b.Stream))
		live := uint8(0)
		if b.Live {
			live = 1
		}
		columns.Live = append(columns.Live, live)
	}
	if ladder, ok := f.pool.Ladder(); ok {
		state.Ladder = &recorder.Ladder{Used: ladder.Used, CooldownNs: ladder.Cooldown, Exhausted: &ladder.Exhausted}
	}
	return []recorder.PoolState{state}
}

// sample tells the counters of the arena, the pool, the process and the machine.
func (f *fixture) sample() {
	sets := []recorder.CounterSet{f.poolSet(), f.hostSet()}
	if f.arena != nil {
		sets = append(sets, f.arenaSet())
	}
	f.stream.Emit(&recorder.Sample{Head: f.stream.Head(), Sets: sets})
	f.sampleDevice()
}

func (f *fixture) arenaSet() recorder.CounterSet {
	state := f.arena.State()
	set := recorder.CounterSet{ID: fmt.Sprintf("arena:%d", f.feed.ID()), Of: recorder.OfArena, Name: state.Name, Device: fixtureGPU, Call: "arena.Arena.State"}
	set.Values.Set(recorder.Length, state.Length)
	set.Values.Set(recorder.Forward, state.Forward)
	set.Values.Set(recorder.Reverse, state.Reverse)
	set.Values.Set(recorder.HighWater, state.HighWater)
	return set
}

func (f *fixture) poolSet() recorder.CounterSet {
	use := f.pool.Stats().Usage
	set := recorder.CounterSet{ID: f.poolSetID(), Of: recorder.OfPool, Name: "render pool", Device: fixtureGPU, Call: "pool.Tiered.Stats"}
	for counter, value := range map[recorder.Counter]int64{
		recorder.Reserved: use.Reserved, recorder.Allocated: use.Allocated, recorder.Requested: use.Requested, recorder.Free: use.Free,
		recorder.LargestFree: use.LargestFree, recorder.Releasable: use.Releasable, recorder.PeakAllocated: use.PeakAllocated,
		recorder.Segments: int64(use.Segments), recorder.LiveBlocks: int64(use.LiveBlocks), recorder.FreeBlocks: int64(use.FreeBlocks),
	} {
		set.Values.Set(counter, value)
	}
	return set
}

func (f *fixture) hostSet() recorder.CounterSet {
	set := recorder.CounterSet{ID: "host", Of: recorder.OfHost, Name: "this machine", Device: "host", Call: "/proc/meminfo"}
	set.Values.Set(recorder.Total, 128*gib)
	set.Values.Set(recorder.Available, 61*gib)
	return set
}

// sampleDevice tells what the driver says of the GPU and of the process on it.
func (f *fixture) sampleDevice() {
	source := "gpu:" + fixtureGPU
	if f.store.Snapshot(f.ns, 0).Find(source) == nil {
		f.foldInto(source, &recorder.Hello{Head: recorder.Head{Src: source, Ns: f.ns}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol,
			Kind: recorder.KindDevice, Name: "H200 #0", GPUs: []recorder.GPU{{UUID: fixtureGPU, Name: "H200"}}})
	}
	used := f.pool.Stats().Usage.Reserved + 33*gib
	device := recorder.CounterSet{ID: "device", Of: recorder.OfDevice, Name: "H200", Device: fixtureGPU, Call: "NVML v2"}
	device.Values.Set(recorder.Total, 140*gib)
	device.Values.Set(recorder.Used, used+12*gib)
	device.Values.Set(recorder.DriverReserved, 640*mib)
	device.Values.Set(recorder.Free, 140*gib-640*mib-used-12*gib)
	process := recorder.CounterSet{ID: "process:48213", Of: recorder.OfProcess, Name: "render.py", Device: fixtureGPU, Call: "NVML process list", In: "device"}
	process.Values.Set(recorder.Used, used)
	f.foldInto(source, &recorder.Sample{Head: recorder.Head{Src: source, Ns: f.ns}, Sets: []recorder.CounterSet{device, process}})
}
