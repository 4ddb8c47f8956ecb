package ui

import (
	"strings"
	"testing"
	"time"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
)

// Golden screens show times of day.
func init() { time.Local = time.UTC }

func TestPoolView(t *testing.T) {
	goldenView(t, rebuiltFixture(t).snapshot(), layout.Pool, "pool")
}

func TestPoolViewOfTheMapAlone(t *testing.T) {
	goldenView(t, rebuiltFixture(t).snapshot(), layout.Pool, "pool-zoomed", "z", "+", "+", "]")
}

// rebuiltFixture is a program whose pool has been rebuilt twice, has a segment
// that is wholly free, and has given a failing allocation up.
func rebuiltFixture(t testing.TB) *fixture {
	f := renderedFixture(t)
	for i := range int64(12) {
		if !f.take((1+i)*mib, 0) {
			t.Fatal("the pool is full")
		}
	}
	whole := len(f.held)
	if !f.take(256*mib, 3) {
		t.Fatal("the pool is full")
	}
	f.give(whole)
	f.tellOfRebuilds()
	f.sample()
	return f
}

// tellOfRebuilds tells a state of the pool with generations that ended and a
// failure callback that has worked.
func (f *fixture) tellOfRebuilds() {
	states := f.poolStates()
	states[0].Generations = []recorder.PoolGeneration{
		{Generation: 0, Ended: fixtureStart + 4e8, PeakBytes: 512 * mib, LifetimeBytes: 40 * gib, LifetimeCount: 31_204, PoolBytes: 640 * mib},
		{Generation: 1, Ended: fixtureStart + 12e8, PeakBytes: 384 * mib, LifetimeBytes: 11 * gib, LifetimeCount: 9_001, PoolBytes: 402 * mib},
	}
	states[0].Generation = 2
	states[0].Ladder = &recorder.Ladder{Used: 4, CooldownNs: 4e8, Exhausted: new(int64(1)), LastAsked: 3 * gib, LastAction: "rebuild", Collections: new(int64(6)), Rebuilds: new(int64(2)), SegmentFrees: new(int64(1))}
	freed := 12 * mib
	f.stream.Emit(&recorder.OOM{Head: f.stream.Head(), ID: f.poolSetID(), Asked: 3 * gib, Rule: "out of memory", Rescued: false,
		Outcome: "the window was split", Steps: []recorder.LadderStep{
			{Attempt: 1, Action: "collect", Freed: &freed, Ns: 3e6}, {Attempt: 2, Action: "collect", Ns: 2e6}, {Attempt: 3, Action: "collect", Ns: 2e6},
			{Attempt: 4, Action: "release free segments", Ns: 9e6, Why: "10 live allocations"},
		}})
	f.stream.EmitState(states)
}

func TestPoolInOneRow(t *testing.T) {
	d := newScreen(t, rebuiltFixture(t).snapshot(), layout.Pool, 60, 10)
	got := paneText(t, d, layout.PoolPane)
	want := "pool B 143M of 721M frag 38 % ●●●●○ largest 360M\n"
	if got != want {
		t.Errorf("the pool in a row is %q, want %q", got, want)
	}
}

// What the counters do not tell is counted from the blocks; what neither tells
// is not shown as nothing.
func TestPoolFactsOfBlocksAlone(t *testing.T) {
	f := rebuiltFixture(t)
	snapshot := f.snapshot()
	view := *snapshot.Find(fixtureSource)
	view.Sets = nil
	var c choices
	s := scene{snapshot: snapshot, view: &view, newest: &view, choices: &c}
	facts, ok := poolFactsOf(&s)
	if !ok {
		t.Fatal("there is no pool")
	}
	use, _ := view.Pools[0].Use()
	if facts.live != use.Live || facts.size != use.Reserved || facts.free != use.Free.Bytes || facts.largest != use.Free.Largest ||
		facts.releasable != use.Releasable || facts.liveBlocks != int64(use.LiveBlocks) {
		t.Errorf("the facts are %+v, the blocks add up to %+v", facts, use)
	}
	if facts.peak != grid.Missing {
		t.Errorf("the peak is %d: no block knows it", facts.peak)
	}
	if facts.retries != 4 || facts.cooldown != 4e8 {
		t.Errorf("%d retries are spent for %d ns, want 4 for 400 ms", facts.retries, facts.cooldown)
	}
	for _, origin := range poolOrigins(&s) {
		if origin.name == "live" && (origin.figure.Value != use.Live || !strings.Contains(origin.figure.Origin, "blocks")) {
			t.Errorf("live comes from %q", origin.figure.Origin)
		}
		if origin.name == "peak" && (origin.figure.Known || origin.figure.Why == "") {
			t.Errorf("the peak is known, or nobody says why not: %+v", origin.figure)
		}
	}
}

// A program that tells counters alone, as torch does, has a pool all the same.
func TestPoolOfCountersAlone(t *testing.T) {
	store := model.NewStore(model.Options{})
	fold := func(record recorder.Record) {
		if err := store.Fold("pid:9-1", record); err != nil {
			t.Fatal(err)
		}
	}
	head := recorder.Head{Src: "pid:9-1", Ns: 5e9}
	fold(&recorder.Hello{Head: head, Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess, Name: "train.py", PID: 9})
	set := recorder.CounterSet{ID: "torch:0", Of: recorder.OfPool, Device: fixtureGPU, Call: "torch.cuda.memory_stats"}
	set.Values.Set(recorder.Reserved, 47*gib)
	set.Values.Set(recorder.Allocated, 44*gib)
	fold(&recorder.Sample{Head: recorder.Head{Src: "pid:9-1", Ns: 6e9}, Sets: []recorder.CounterSet{set}})
	d := newScreen(t, store.Snapshot(6e9, 1), layout.Pool, 140, 40)
	got := paneText(t, d, layout.AllocatorsPane)
	for _, want := range []string{"torch:0", "47.0 GiB", "44.0 GiB", "3.0 GiB", "≥44.0 GiB", "–"} {
		if !strings.Contains(got, want) {
			t.Errorf("the allocators do not show %q:\n%s", want, got)
		}
	}
	if text := paneText(t, d, layout.BlocksPane); !strings.Contains(strings.Join(strings.Fields(text), " "), "`:snapshot` is refused: the program does not obey it.") {
		t.Errorf("nobody says where its blocks are: %q", text)
	}
}

func TestLadder(t *testing.T) {
	d := newScreen(t, rebuiltFixture(t).snapshot(), layout.Pool, 160, 40)
	got := paneText(t, d, layout.LadderPane)
	for _, want := range []string{"●●●●○ gc gc gc rebuild rebuild", "cooldown 400 ms", "last failed 3.0 GiB, not rescued", "exhausted 1", "gc 6 rebuilds 2 releases 1", "now"} {
		if !strings.Contains(got, want) {
			t.Errorf("the callback does not show %q:\n%s", want, got)
		}
	}
	for d.focusedName() != layout.LadderPane {
		press(d, "tab")
	}
	press(d, "z")
	got = paneText(t, d, layout.LadderPane)
	for _, want := range []string{
		"4 of 5, granted again in 400 ms",
		"● 1 gc       last time: collect freed 12.0 MiB in 3 ms",
		"● 2 gc       last time: collect freed – in 2 ms",
		"● 4 rebuild  last time: release free segments freed – in 9 ms: 10 live allocations",
		"○ 5 rebuild",
		" 1 14:13:21  384.0 MiB  402.0 MiB      11.0 GiB       9,001",
		" 0 14:13:20  512.0 MiB  640.0 MiB      40.0 GiB      31,204",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the callback alone does not show %q:\n%s", want, got)
		}
	}
}

func TestPoolsOfAProgramAreChosen(t *testing.T) {
	f := renderedFixture(t)
	states := f.poolStates()
	second := states[0]
	second.ID, second.Name, second.Tier, second.Why, second.Ladder = states[0].ID+1, "textures", "A", "asked for", nil
	f.stream.EmitState(append(states, second))
	d := newScreen(t, f.snapshot(), layout.Pool, 120, 32)
	for d.focusedName() != layout.PoolPane {
		press(d, "tab")
	}
	for _, step := range []struct{ key, want string }{{"up", "Pool 1 of 2: tier B"}, {"down", "Pool 2 of 2: tier A (asked for)"}, {"down", "Pool 2 of 2: tier A"}, {"up", "Pool 1 of 2: tier B"}} {
		press(d, step.key)
		if got := bodyText(d); !strings.Contains(got, step.want) {
			t.Errorf("after %s there is no %q:\n%s", step.key, step.want, strings.SplitN(got, "\n", 2)[0])
		}
	}
}
