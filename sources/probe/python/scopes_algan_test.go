package python_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vramscope/recorder"
)

// said is the last record of a type that is no state and no batch.
func said[R recorder.Record](t testing.TB, all *told) R {
	t.Helper()
	for _, record := range slices.Backward(all.others) {
		if r, ok := record.(R); ok {
			return r
		}
	}
	t.Fatalf("nothing of the kind was said: %+v", all.others)
	panic("unreachable")
}

// set is the counter set of that identity in the last sample.
func (a *told) set(t testing.TB, id string) *recorder.CounterSet {
	t.Helper()
	sample := said[*recorder.Sample](t, a)
	for i := range sample.Sets {
		if sample.Sets[i].ID == id {
			return &sample.Sets[i]
		}
	}
	t.Fatalf("the sample has no set %q: %+v", id, sample.Sets)
	return nil
}

// counters are the known counters of a set.
func counters(set *recorder.CounterSet) map[string]int64 {
	known := map[string]int64{}
	for counter := range recorder.Counter(recorder.NumCounters) {
		if value, ok := set.Values.Get(counter); ok {
			known[counter.String()] = value
		}
	}
	return known
}

const alganBegins = `
import algan.utils.memory_utils as memory
drain()
early = memory.ManualMemory(0, num_bytes=2048)
command("record", True)
a = memory.ManualMemory(0, num_bytes=1024)
`

const alganWorked = `
with a.scope("render", frames=8):
    a.get_tensor((3,), memory.uint8)
    with a.scope("trace"):
        a.get_tensor((10,), memory.float32)
        a.get_tensor((3,), memory.float64, persist=True)
        with a.temp():
            a.get_tensor((50,), memory.float32)
    with a.scope("post"):
        a.get_tensor((5,), memory.float64)
`

const alganName = "algan arena (scopes replayed)"

func TestScopesOfAlgan(t *testing.T) {
	all := drive(t, alganBegins+alganWorked+`
memory.note_nonarena_peak("project", 100, 900)
memory.note_nonarena_peak("project", 200, 700)
look()
sample()
assert not memory.RECLAIMED
`)
	t.Run("the worked tree", func(t *testing.T) {
		tree := all.tree(t, alganName)
		for _, want := range []struct {
			path []string
			numbers
		}{
			{[]string{"render"}, numbers{1, 0, 5, 3, 307, 268, 244, 24}},
			{[]string{"render", "trace"}, numbers{1, 0, 3, 264, 264, 265, 241, 24}},
			{[]string{"render", "post"}, numbers{1, 0, 1, 40, 40, 44, 44, 0}},
		} {
			if got := numbersOf(all.row(t, tree, want.path...)); got != want.numbers {
				t.Errorf("%v: got %+v, want %+v", want.path, got, want.numbers)
			}
		}
		if root := tree.Root(); root.AllocCount != 5 || root.PeakForward != 244 || root.Peak != 268 {
			t.Errorf("root %+v", root)
		}
	})
	t.Run("pointers of both arenas", func(t *testing.T) {
		recorded := all.arena(t, alganName)
		want := map[string]int64{"length": 1024, "forward": 88, "reverse": 1000, "free": 912, "high_water": 268, "open_scopes": 0}
		set := all.set(t, fmt.Sprintf("arena:%d", recorded.ID))
		if diff := cmp.Diff(want, counters(set)); diff != "" {
			t.Error(diff)
		}
		if set.In != "torch:0" || !strings.Contains(set.Call, "replayed") {
			t.Errorf("the set lies in %q and comes from %q", set.In, set.Call)
		}
		if !recorded.Recorded || !recorded.HasBuffer || !recorded.Managed || recorded.HighWater != 268 {
			t.Errorf("%+v", recorded)
		}
		early := all.arena(t, "algan arena")
		set = all.set(t, fmt.Sprintf("arena:%d", early.ID))
		if early.Recorded || set.Values.Known(recorder.OpenScopes) || set.Why["open_scopes"] == "" {
			t.Errorf("an arena that is not recorded says %+v and %+v", early, set)
		}
	})
	t.Run("what recording does is said", func(t *testing.T) {
		why := said[*recorder.Ack](t, all).Result
		if !slices.ContainsFunc(why, func(l recorder.ResultLine) bool {
			return strings.Contains(l.What, "set_auto_record(True)") && strings.Contains(l.Why, "of those that are there already, 1 is not")
		}) {
			t.Errorf("%+v", why)
		}
	})
	t.Run("transients", func(t *testing.T) {
		want := []recorder.NonArena{{Name: "project", InputBytes: 100, PeakBytes: 900, Count: 2}}
		if diff := cmp.Diff(want, all.states[len(all.states)-1].NonArena); diff != "" {
			t.Error(diff)
		}
		peaks := 0
		for _, record := range all.others {
			if _, ok := record.(*recorder.Peak); ok {
				peaks++
			}
		}
		if peaks != 2 {
			t.Errorf("%d peaks were told, want 2", peaks)
		}
	})
}

func TestScopesOfAlganAsTheyEnd(t *testing.T) {
	for _, test := range []struct {
		name, script string
		check        func(t *testing.T, all *told)
	}{
		{"open scopes", `
with a.scope("render"):
    a.get_tensor((10,), memory.uint8)
    with a.scope("trace"):
        a.get_tensor((6,), memory.uint8)
        look()
`, func(t *testing.T, all *told) {
			open := all.arena(t, alganName).Open
			if len(open) != 2 || open[0].EntryForward != 0 || open[1].EntryForward != 10 || open[1].Peak != 6 || open[0].Peak != 16 {
				t.Errorf("open scopes %+v", open)
			}
		}},
		{"abandoned scopes are apart", `
try:
    with a.scope("wavefront"):
        a.get_tensor((16,), memory.uint8)
        a.get_tensor((4096,), memory.uint8)
except memory.InsufficientMemoryException:
    pass
a.reset()
with a.scope("wavefront"):
    with a.scope("inner"):
        a.get_tensor((8,), memory.uint8)
        a.reset()
with a.scope("retry"):
    a.get_tensor((8,), memory.uint8)
look()
`, func(t *testing.T, all *told) {
			tree := all.tree(t, alganName)
			if got := numbersOf(all.row(t, tree, "wavefront")); got.count != 1 || got.self != 16 || got.peak != 16 {
				t.Errorf("the closed one: %+v", got)
			}
			if got := numbersOf(all.row(t, tree.Abandoned(), "wavefront", "inner")); got.count != 1 || got.self != 8 {
				t.Errorf("the abandoned one: %+v", got)
			}
			if got := numbersOf(all.row(t, tree, "retry")); got.self != 8 {
				t.Errorf("the next: %+v", got)
			}
		}},
		{"a half-built arena", `
memory.CLAIM_FAILS = True
try:
    memory.ManualMemory(0.4)
except RuntimeError:
    pass
look()
sample()
`, func(t *testing.T, all *told) {
			last, half := all.states[len(all.states)-1], 0
			for _, arena := range last.Arenas {
				if arena.HalfBuilt {
					half++
					if arena.HasBuffer || arena.Length != 0 || !arena.Recorded {
						t.Errorf("%+v", arena)
					}
				}
			}
			if half != 1 {
				t.Errorf("%d half-built arenas", half)
			}
		}},
		{"a buffer that is gone", alganWorked + `
a.data = None
look()
sample()
`, func(t *testing.T, all *told) {
			arena := all.arena(t, alganName)
			if arena.HasBuffer || arena.Released == 0 || len(arena.Tree.Parent) != 3 {
				t.Errorf("%+v", arena)
			}
			for _, set := range said[*recorder.Sample](t, all).Sets {
				if set.ID == fmt.Sprintf("arena:%d", arena.ID) {
					t.Error("it is sampled still")
				}
			}
		}},
		{"an arena that nobody recorded and that is gone", `
look()
del early
look()
`, func(t *testing.T, all *told) {
			if arena := all.arena(t, "algan arena"); arena.HasBuffer || arena.Released == 0 || arena.Length != 2048 {
				t.Errorf("%+v", arena)
			}
		}},
		{"the registry is cleared when recording ends, and that is said", alganWorked + `
look()
command("record", False)
drain()
assert not memory.recorded_arenas() and not memory.auto_record_enabled()
`, func(t *testing.T, all *told) {
			lines := said[*recorder.Ack](t, all).Result
			if !slices.ContainsFunc(lines, func(l recorder.ResultLine) bool {
				return strings.Contains(l.Why, "forgets 1 arena that it had recorded")
			}) {
				t.Errorf("%+v", lines)
			}
		}},
		{"persist floors and pointers set from outside", `
with a.scope("outer"):
    with a.temp(clear_persist=True, persist_floor=lambda: 900):
        a.get_tensor((124,), memory.uint8, persist=True)
        with a.scope("inner"):
            a.get_tensor((10,), memory.uint8)
    a.set_pointers((50, 900))
    with a.scope("late"):
        a.get_tensor((10,), memory.uint8)
look()
`, func(t *testing.T, all *told) {
			tree := all.tree(t, alganName)
			// algan counts 60 forward and 124 reverse, at different moments: the
			// larger is the least that both can have been together.
			if got := numbersOf(all.row(t, tree, "outer")); got.forward != 60 || got.reverse != 124 || got.peak < 124 || got.peak > 184 {
				t.Errorf("outer %+v", got)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.check(t, drive(t, alganBegins+test.script))
		})
	}
}

// An arena that was made before the probe came is found when recording is
// switched on, and its pointers are told from then on.
func TestScopesOfAlganFindsEarlyArenas(t *testing.T) {
	all := drive(t, `
import algan.utils.memory_utils as memory
early = memory.ManualMemory(0, num_bytes=2048)
early.get_tensor((7,), memory.uint8)
command("record", True)
look()
sample()
`)
	arena := all.arena(t, "algan arena")
	if set := all.set(t, fmt.Sprintf("arena:%d", arena.ID)); counters(set)["forward"] != 7 {
		t.Errorf("%+v", set)
	}
}

// A program loads for long: recording that was switched on meanwhile counts for
// algan too, once it is there, and what was switched off does not.
func TestScopesOfAlganThatIsLoadedAfterRecordOn(t *testing.T) {
	for before, recorded := range map[string]bool{
		`command("record", True)`:                           true,
		`command("record", True); command("record", False)`: false,
		``: false,
	} {
		all := drive(t, before+`
import algan.utils.memory_utils as memory
drain()
a = memory.ManualMemory(0, num_bytes=1024)
look()
`)
		if arena := all.states[len(all.states)-1].Arenas[0]; arena.Recorded != recorded || arena.Length != 1024 {
			t.Errorf("after %q: %+v", before, arena)
		}
	}
}

// The search for early arenas stops the program: once is enough, since those that
// come after it are noted.
func TestScopesOfAlganLooksForEarlyArenasOnce(t *testing.T) {
	all := drive(t, `
import algan.utils.memory_utils as memory, gc
early = memory.ManualMemory(0, num_bytes=2048)
walk, walks = gc.get_objects, []
gc.get_objects = lambda: walks.append(1) or walk()
command("record", True)
command("record", False)
command("record", True)
look()
write({"t": "note", "ns": 1, "level": "info", "text": "walks: %d" % len(walks)})
`)
	if text := said[*recorder.Note](t, all).Text; text != "walks: 1" {
		t.Error(text)
	}
	if arena := all.arena(t, "algan arena"); arena.Length != 2048 {
		t.Errorf("%+v", arena)
	}
}

// An answer tells whether recording was armed, or ended, by it: what somebody else
// has armed is not to be ended.
func TestScopesOfAlganAreArmedOnce(t *testing.T) {
	for script, acted := range map[string]bool{
		`command("record", True)`:                               true,
		`command("record", True); command("record", True)`:      false,
		`memory.set_auto_record(True); command("record", True)`: true, // the program's own arenas are
		`command("record", True); command("record", False)`:     true,
		`command("record", False)`:                              false,
	} {
		all := drive(t, "import algan.utils.memory_utils as memory\n"+script+"\n")
		if ack := said[*recorder.Ack](t, all); ack.Acted == nil || *ack.Acted != acted {
			t.Errorf("%s: %+v", script, ack)
		}
	}
}

// algan's recorder does not tell where among the root's own allocations its
// scopes lay, and a render loop moves the pointers by hand: the arena's peak is
// at least what it was seen to have counted, in a dump too. A dump tells what
// arenas held whose buffers went before anybody looked.
func TestScopesOfAlganPeaksThatAReplayMisses(t *testing.T) {
	p := run(t, alganBegins+`
with a.scope("upload"):
    a.get_tensor((300,), memory.uint8, persist=True)
with a.temp(clear_persist=True, persist_floor=lambda: a.length - 500):
    with a.scope("precompute"):
        a.get_tensor((200,), memory.uint8, persist=True)
a.get_tensor((100,), memory.uint8)
drain()
a.reset()
a.data = None
unseen = memory.ManualMemory(0, num_bytes=4096)
unseen.get_tensor((70,), memory.uint8)
unseen.reset()
unseen.data = None
drain()
probe.save_calibration(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calibration.vscope"))
look()
`)
	live := read(t, filepath.Join(p.Module, "records.vscope"))
	dump := read(t, filepath.Join(p.Module, "calibration.vscope"))
	for name, all := range map[string]*told{"live": live, "the dump": dump} {
		for _, arena := range all.states[len(all.states)-1].Arenas {
			want, recorded := map[int64]int64{1024: 600, 4096: 70}[arena.Length]
			if !recorded {
				continue // made before recording was armed
			}
			tree, err := recorder.LoadScopeTree(&arena, recorder.TreeLimits{})
			if err != nil {
				t.Fatal(err)
			}
			if root := tree.Snapshot().Root(); arena.Released == 0 || arena.HighWater != want || root.Peak != want {
				t.Errorf("%s: high-water and peak of %d bytes are %d and %d, want %d: %+v", name, arena.Length, arena.HighWater, root.Peak, want, arena)
			}
		}
	}
}

// Whatever an algan render does, its counts, bytes and the peaks of either side
// come through as algan has them, and no peak of both is impossible.
func TestScopesOfAlganRandomHistories(t *testing.T) {
	for seed := range 4 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			all := drive(t, alganBegins+fmt.Sprintf(alganRandom, seed))
			tree := all.tree(t, alganName)
			for line := range strings.SplitSeq(strings.TrimSuffix(said[*recorder.Note](t, all).Text, ";"), ";") {
				var path string
				var n, allocs, self, forward, reverse int64
				if _, err := fmt.Sscan(line, &path, &n, &allocs, &self, &forward, &reverse); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				got := numbersOf(all.row(t, tree, strings.Split(path, "/")...))
				if got.count != n || got.allocs != allocs || got.self != self || got.forward != forward || got.reverse != reverse {
					t.Errorf("%s: got %+v", line, got)
				}
				if got.peak < max(forward, reverse) || got.peak > forward+reverse {
					t.Errorf("%s: a peak of %d", line, got.peak)
				}
			}
		})
	}
}

const alganRandom = `
import random
chance = random.Random(%d)
opened = []
for step in range(1200):
    what = chance.randrange(100)
    try:
        if what < 35:
            a.get_tensor((chance.randrange(1, 5), chance.randrange(0, 12)), chance.choice((memory.uint8, memory.float16, memory.float32)),
                         persist=chance.random() < .3)
        elif what < 58 and len(opened) < 8:
            scope = a.scope("s%%d" %% chance.randrange(4), k=step)
            scope.__enter__()
            opened.append(scope)
        elif what < 70 and len(opened) < 8:
            context = a.temp(chance.random() < .5)
            context.__enter__()
            opened.append(context)
        elif what < 97 and opened:
            opened.pop(-1 if chance.random() < .9 else chance.randrange(len(opened))).__exit__(None, None, None)
        elif what < 98:
            a.reset()
            opened = []
    except memory.InsufficientMemoryException:
        pass
    if chance.random() < .01:
        drain()
rows = {}
def walk(record, path):
    path += record.name
    row = rows.setdefault(path, [0, 0, 0, 0, 0])
    row[0] += 1
    row[1] += record.alloc_count
    row[2] += sum(e[4] * e[5] for e in record.events if e[0] == "alloc")
    row[3] = max(row[3], record.peak_forward)
    row[4] = max(row[4], record.peak_reverse)
    for child in record.children:
        walk(child, path + "/")
for top in a._recorder.root.children:
    walk(top, "")
write({"t": "note", "ns": 1, "level": "info", "text": ";".join(" ".join(map(str, [path] + row)) for path, row in rows.items())})
for held in probe.ALGAN_ADAPTER._arenas:
    held._next = 0
look()
`
