package plain

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
)

func pointer(n int64) *int64 { return &n }

// TestReportAsText holds a report's text to what it must say, line by line.
func TestReportAsText(t *testing.T) {
	share := 0.56
	report := &model.Report{
		File: "run.vscope", Status: "cut", Why: "the file ends in the middle of a record", Bytes: 3 << 20, Records: 1234, BadLines: 1,
		Bad: []model.BadLine{{Line: 17, Reason: "no JSON"}}, Missing: []string{"render.py did not say goodbye"},
		Sources: []model.SourceReport{{
			Kind: recorder.KindProcess, Name: "render.py", DurationNs: 12e9, Lost: 3,
			Sets: []model.SetReport{{ID: "pool:1", Of: recorder.OfPool, Name: "render pool", Why: map[string]string{"active": "the pool has no streams"},
				Counters: map[string]model.CounterReport{"reserved": {Last: pointer(1 << 30), Max: 2 << 30, At: 3e9}, "allocated": {Max: 5}}}},
			Frames: &model.FramesReport{First: 1, Last: 120, AverageNs: pointer(100e6)},
			Arenas: []model.ArenaReport{{
				ID: 1, Name: "shot 1", Length: pointer(1 << 30), HighWater: pointer(700 << 20), PeakEver: 700 << 20, AllocCount: 5120, Failed: 1, EventsComplete: true,
				Scopes: []model.ScopeReport{{
					Name: "render", Count: 64, SelfBytes: 1 << 20, TotalBytes: 3 << 30, Peak: 600 << 20, AllocCount: 5000, LiveBytes: pointer(2 << 20),
					Children: []model.ScopeReport{{Name: "trace", Count: 128, Unclosed: 2}},
				}},
				Abandoned: []model.ScopeReport{{Name: "wavefront", Count: 2}},
			}},
			Pools: []model.PoolReport{{ID: 1, Name: "render pool", Tier: "B", Why: "default: 71 % of the device was free", Generation: 3,
				Reserved: pointer(4 << 30), Fragmentation: &share, Generations: []model.GenerationReport{{Generation: 2, EndedAt: 5e9}}}},
			Peak:    &model.PeakReport{Reported: pointer(47 << 30), Live: pointer(44 << 30), Floor: pointer(47 << 30)},
			OOMs:    []model.OOMReport{{AtNs: 7e9, Allocator: "pool:1", Asked: 2 << 30, Free: pointer(1 << 30), Scope: "render/trace", Rescued: true, Steps: []string{"retry 1: collect"}}},
			Actions: []model.ActionReport{{AtNs: 8e9, Line: "force reclaim · 4.2 ms · reserved 4.0 GiB → 3.0 GiB"}},
		}},
	}
	text := Report(report)
	for _, line := range []string{
		"run.vscope: cut", "3.0 MiB in 1,234 records", "line 17: no JSON", "missing: render.py did not say goodbye",
		"pool:1 render pool: reserved 1.0 GiB (most 2.0 GiB after 3.0 s), allocated not known (most 5 B after 0 ns)",
		"active is not known: the pool has no streams", "process render.py", "frames 1 to 120, 100 ms each", "records that were lost: 3",
		"arena 1 shot 1: 1.0 GiB long, high-water 700.0 MiB, 5,120 allocations, 1 failed",
		"    render ×64: self 1.0 MiB, total 3.0 GiB, peak 600.0 MiB in 5,000 allocations, live now 2.0 MiB",
		"      trace ×128", "2 unclosed", "abandoned: wavefront ×2",
		"pool 1 render pool: tier B (default: 71 % of the device was free), generation 3",
		"reserved 4.0 GiB, live not known", "fragmentation 56 %", "generation 2 ended after",
		"peak 47.0 GiB = max(live 44.0 GiB, floor 47.0 GiB, open not known)",
		"render/trace asked 2.0 GiB of pool:1, free on the device 1.0 GiB, in the pool not known, largest not known: rescued",
		"retry 1: collect", "force reclaim · 4.2 ms",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the report lacks %q:\n%s", line, text)
		}
	}
}

// TestWhyIsSaidUnderItsOwnSet: a set without a known number has a line all the
// same, and a pool's numbers say whose they are.
func TestWhyIsSaidUnderItsOwnSet(t *testing.T) {
	report := &model.Report{Sources: []model.SourceReport{{
		Sets: []model.SetReport{
			{ID: "vibespatial", Of: recorder.OfPool, Name: "vibespatial pool, tier B", Counters: map[string]model.CounterReport{"free": {Last: pointer(0)}}},
			{ID: "jax:0", Of: recorder.OfPool, Name: "jax", Why: map[string]string{"allocated": "this allocator of JAX keeps no counters"}},
		},
		Pools: []model.PoolReport{{ID: 2, Name: "vibespatial pool", Tier: "B", Why: "default", Reserved: pointer(3 << 30), CountedBy: "vibespatial"}},
	}}}
	for _, want := range []string{
		"\n  vibespatial vibespatial pool, tier B: free 0 B\n  jax:0 jax\n    allocated is not known: this allocator of JAX keeps no counters\n",
		"    reserved 3.0 GiB, live not known, free not known, largest free not known, releasable not known (by vibespatial; it tells of no blocks)\n",
	} {
		if text := Report(report); !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}

// TestUnmanagedArenasAreCountedTogether: of those that nothing was told of, a
// render has one beside each of its own.
func TestUnmanagedArenasAreCountedTogether(t *testing.T) {
	arenas := []model.ArenaReport{{ID: 1, Name: "frames", Managed: true}, {ID: 2, Name: "scratch", CountIsLeast: true}, {ID: 3, Name: "scratch"},
		{ID: 4, Name: "with scopes", Scopes: []model.ScopeReport{{Name: "trace"}}}, {ID: 5, Name: "joined late", Partial: true}}
	text := Report(&model.Report{Sources: []model.SourceReport{{Arenas: arenas}}})
	if strings.Contains(text, "scratch") || !strings.Contains(text, "2 unmanaged arenas, of which nothing was told: what is allocated from them") {
		t.Error(text)
	}
	for _, name := range []string{"frames", "with scopes", "joined late"} {
		if !strings.Contains(text, name) {
			t.Errorf("%s is left out:\n%s", name, text)
		}
	}
	if text = Report(&model.Report{Sources: []model.SourceReport{{Arenas: arenas[:2]}}}); !strings.Contains(text, "1 unmanaged arena, ") {
		t.Error(text)
	}
	view := &model.SourceView{Kind: recorder.KindProcess, Name: "loop.py", Arenas: []*model.ArenaView{
		{ID: 2, State: recorder.ArenaState{Name: "scratch", Length: 1, Reverse: 1}}}}
	text = Overview(&model.Snapshot{Sources: []*model.SourceView{view}}, 0)
	if !strings.Contains(text, "arena scratch: unmanaged") || strings.Contains(text, "high-water") {
		t.Error(text)
	}
}

// TestHostileNamesStayText: what a program calls itself never reaches the
// terminal as anything but text.
func TestHostileNamesStayText(t *testing.T) {
	const hostile = "\x1b]0;owned\x07\x1b[2J\nnew line\u202e\x00"
	view := &model.SourceView{ID: hostile, Kind: recorder.KindProcess, Name: hostile, StatusWhy: hostile, Trouble: hostile, Frame: -1,
		Sets:  []recorder.CounterSet{{ID: hostile, Of: recorder.OfDevice}},
		Pools: []*model.PoolView{{State: recorder.PoolState{Name: hostile, Tier: hostile, Why: hostile}}},
	}
	view.Sets[0].Values.Set(recorder.Total, 1)
	texts := []string{
		Overview(&model.Snapshot{Sources: []*model.SourceView{view}}, 0),
		Report(&model.Report{File: hostile, Status: hostile, Why: hostile, Sources: []model.SourceReport{{
			Name: hostile, Kind: hostile, Ended: hostile, Problems: []string{hostile},
			Arenas: []model.ArenaReport{{Name: hostile, Scopes: []model.ScopeReport{{Name: hostile}}}},
			OOMs:   []model.OOMReport{{Scope: hostile, Outcome: hostile, Steps: []string{hostile}}},
			Notes:  []model.NoteReport{{Text: hostile, Level: hostile}},
		}}}),
	}
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && r < ' ' || r == 0x7f || r == 0x202e }) {
			t.Errorf("a control character was written: %q", text)
		}
		if strings.Contains(text, "\nnew line") {
			t.Errorf("a name made a line of its own: %q", text)
		}
	}
}

// TestNothingWatched says so.
func TestNothingWatched(t *testing.T) {
	if text := Overview(&model.Snapshot{}, 0); text != "nothing is watched\n" {
		t.Errorf("%q", text)
	}
}

// TestRanksAreToldApart: processes of one name are told apart by number and by
// their place in the job.
func TestRanksAreToldApart(t *testing.T) {
	rank := 3
	hello := &recorder.Hello{PID: 812, Job: "night", Rank: &rank}
	view := &model.SourceView{Kind: recorder.KindProcess, Name: "train.py", Hello: hello, Frame: -1}
	if text := Overview(&model.Snapshot{Sources: []*model.SourceView{view}}, 0); !strings.HasPrefix(text, "process train.py 812, rank 3 of night: ") {
		t.Errorf("the overview: %s", text)
	}
	report := &model.Report{Sources: []model.SourceReport{
		{Kind: recorder.KindProcess, Name: "train.py", Job: "night", Rank: &rank}, {Kind: recorder.KindProcess, Name: "render.py"}}}
	if text := Report(report); !strings.Contains(text, "process train.py, rank 3 of night\n") || !strings.Contains(text, "process render.py\n") {
		t.Errorf("the report: %s", text)
	}
}

// TestLowerBoundsAreMarked: what was not seen is at least so much, and where that
// is nothing it is not known.
func TestLowerBoundsAreMarked(t *testing.T) {
	report := &model.Report{Sources: []model.SourceReport{{Name: "render.py", Summed: &model.SummedReport{}, Arenas: []model.ArenaReport{{
		ID: 1, Name: "silent", Length: pointer(100 << 20), HighWater: pointer(35 << 20), PeakEver: 35 << 20, AllocCount: 2, CountIsLeast: true,
		Scopes: []model.ScopeReport{{Name: "render", Count: 1, SelfBytes: 10 << 20, TotalBytes: 15 << 20, Peak: 15 << 20, AllocCount: 2,
			PeakIsLeast: true, CountIsLeast: true, Children: []model.ScopeReport{{Name: "shade", Count: 1, PeakIsLeast: true, CountIsLeast: true}}}},
	}}}}}
	text := Report(report)
	for _, line := range []string{
		"arena 1 silent: 100.0 MiB long, high-water 35.0 MiB, ≥ 2 allocations, failures that are not known\n",
		"render ×1: self ≥ 10.0 MiB, total ≥ 15.0 MiB, peak ≥ 15.0 MiB in ≥ 2 allocations\n",
		"shade ×1: what it took is not known\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the report lacks %q:\n%s", line, text)
		}
	}
	if strings.Contains(text, "scopes by name") {
		t.Errorf("a heading with nothing below it:\n%s", text)
	}
}

// TestScopesInNoArena: a thread's scopes outside every arena have only their number.
func TestScopesInNoArena(t *testing.T) {
	report := &model.Report{Sources: []model.SourceReport{{Name: "train.py", Arenas: []model.ArenaReport{{
		ID: 1, Name: "scopes of MainThread", Length: pointer(int64(0)), HighWater: pointer(int64(0)), PeakIsLeast: true, CountIsLeast: true, EventsSeen: 6,
		WhyLeast: "not all were told", Scopes: []model.ScopeReport{{Name: "epoch", Count: 2, Unclosed: 1, PeakIsLeast: true, CountIsLeast: true,
			Children: []model.ScopeReport{{Name: "step", Count: 40, Open: 1, LiveBytes: pointer(int64(0)), PeakIsLeast: true, CountIsLeast: true}}}},
	}}}}}
	want := "  arena 1 scopes of MainThread: unmanaged, its scopes have no bytes of their own\n    epoch ×2, 1 unclosed\n      step ×40, open\n"
	if text := Report(report); !strings.Contains(text, want) || strings.Contains(text, "not known") || strings.Contains(text, "at least") {
		t.Errorf("the report lacks\n%s:\n%s", want, text)
	}
}

// TestTheHighWaterOfAnArena: one that was reset says so, one that is gone has the
// most over its life, and one whose pointers cannot be has none.
func TestTheHighWaterOfAnArena(t *testing.T) {
	const mib = int64(1) << 20
	for _, check := range []struct {
		arena model.ArenaReport
		want  string
		lacks string
	}{
		{model.ArenaReport{HighWater: pointer(40 * mib), PeakEver: 40 * mib}, ": not known long, high-water 40.0 MiB, 0", "ever"},
		{model.ArenaReport{HighWater: pointer(10 * mib), PeakEver: 40 * mib}, "high-water 10.0 MiB, highest ever 40.0 MiB", "reset"},
		{model.ArenaReport{HighWater: pointer(int64(0)), PeakEver: 40 * mib}, "long, reset, highest ever 40.0 MiB", "high-water"},
		{model.ArenaReport{HighWater: pointer(int64(0)), PeakEver: 40 * mib, ReleasedAt: pointer(int64(5))}, "long, high-water 40.0 MiB", "highest"},
		{model.ArenaReport{HighWater: pointer(int64(0))}, "high-water 0 B", "reset"},
		{model.ArenaReport{PeakEver: 74 * mib, Inconsistent: "its pointers cannot be"}, "high-water not known, 0 allocations, failures that are not known\n    its pointers cannot be\n", "74"},
		{model.ArenaReport{AllocCount: 1, CountIsLeast: true, WhyLeast: "not all were told"}, "≥ 1 allocation,", "pointers were read"},
		{model.ArenaReport{AllocCount: 1, CountIsLeast: true, WhyLeast: "not all were told"}, "≥ is at least: not all were told\n", "1 allocations"},
	} {
		check.arena.Managed = true
		text := Report(&model.Report{Sources: []model.SourceReport{{Arenas: []model.ArenaReport{check.arena}}}})
		if !strings.Contains(text, check.want) || strings.Contains(text, check.lacks) {
			t.Errorf("want %q and no %q:\n%s", check.want, check.lacks, text)
		}
	}

	// Why the numbers of many arenas of one kind are lower bounds is said once.
	arenas := make([]model.ArenaReport, 0, 6)
	for id, why := range []string{"a", "a", "", "a", "b", "a"} {
		arenas = append(arenas, model.ArenaReport{ID: int64(id), Managed: true, AllocCount: 1, CountIsLeast: why != "", WhyLeast: why})
	}
	text := Report(&model.Report{Sources: []model.SourceReport{{Arenas: arenas}}})
	if count := strings.Count(text, "≥ is at least: "); count != 3 {
		t.Errorf("a, b and a again are said in %d lines:\n%s", count, text)
	}
}

// TestWhatIsLeftTellsItsLeast, and what is used its most; a process's own memory is
// called that, and processes of one name have their numbers.
func TestWhatIsLeftTellsItsLeast(t *testing.T) {
	counter := func(last, most, least int64) model.CounterReport {
		return model.CounterReport{Last: &last, Max: most, At: 5e9, Min: least, MinAt: 7e9}
	}
	report := &model.Report{Sources: []model.SourceReport{
		{Kind: recorder.KindProcess, Name: "train.py", PID: 812, Sets: []model.SetReport{
			{ID: "process", Of: recorder.OfProcess, Device: model.HostDevice, Counters: map[string]model.CounterReport{"resident": counter(1<<30, 2<<30, 0)}},
			{ID: "torch:0", Of: recorder.OfPool, Counters: map[string]model.CounterReport{"free": counter(1<<30, 2<<30, 0)}},
			{ID: "cupy:0", Of: recorder.OfPool, LastAt: 4e9, Counters: map[string]model.CounterReport{"free": counter(1<<30, 1<<30, 0)}}}},
		{Kind: recorder.KindProcess, Name: "train.py", PID: 900},
		{Kind: recorder.KindHost, Name: "vm", PID: 900, Sets: []model.SetReport{{ID: "host", Of: recorder.OfHost, Counters: map[string]model.CounterReport{
			"total": counter(4<<30, 4<<30, 4<<30), "available": counter(3<<30, 4<<30, 1<<30)}}}},
		{Kind: recorder.KindDevice, Name: "H200", Sets: []model.SetReport{{ID: "device", Of: recorder.OfDevice, Counters: map[string]model.CounterReport{"free": counter(1<<30, 2<<30, 1<<30)}}}},
	}}
	text := Report(report)
	for _, want := range []string{
		"process train.py 812\n", "process train.py 900\n", "host vm\n",
		"host memory of the process: resident 1.0 GiB (most 2.0 GiB after 5.0 s)\n", "torch:0: free 1.0 GiB (most 2.0 GiB after 5.0 s)\n",
		"cupy:0: free 1.0 GiB, told last after 4.0 s\n",
		"host: total 4.0 GiB, available 3.0 GiB (least 1.0 GiB after 7.0 s)\n", "device: free 1.0 GiB\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
}
