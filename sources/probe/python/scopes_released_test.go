package python_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"vramscope/recorder"
)

// lastArenas are the arenas of the last state that have a name, by the length
// that tells them apart in these tests; one without a name is a mistake.
func lastArenas(t *testing.T, all *told) map[int64]recorder.ArenaState {
	t.Helper()
	arenas := map[int64]recorder.ArenaState{}
	for _, arena := range all.states[len(all.states)-1].Arenas {
		if arena.ID == 0 || arena.Name == "" || arena.Length == 0 {
			t.Errorf("an arena that nobody knows anything of: %+v", arena)
		}
		arenas[arena.Length] = arena
	}
	return arenas
}

// An arena that was made and released between two states keeps what was seen of
// it; one that nobody saw is not told of.
func TestScopesOfAlganArenasThatAreReleasedBetweenStates(t *testing.T) {
	all := drive(t, `
import algan.utils.memory_utils as memory
drain()
look()
seen = memory.ManualMemory(0, num_bytes=2048)
drain()
seen.get_tensor((300,), memory.uint8)
drain()
seen.reset()
drain()
del seen
unseen = memory.ManualMemory(0, num_bytes=4096)
del unseen
drain()
kept = memory.ManualMemory(0, num_bytes=8192)
kept.get_tensor((7,), memory.uint8)
look()
sample()
`)
	arenas := lastArenas(t, all)
	if len(arenas) != 2 {
		t.Fatalf("%+v, want the one that was seen and the one that is there", arenas)
	}
	seen := arenas[2048]
	if seen.Released == 0 || seen.HasBuffer || seen.Forward != 0 || seen.Reverse != 2048 || seen.HighWater != 300 {
		t.Errorf("the released one: %+v", seen)
	}
	sets := said[*recorder.Sample](t, all).Sets
	if slices.ContainsFunc(sets, func(s recorder.CounterSet) bool { return s.ID == fmt.Sprintf("arena:%d", seen.ID) }) {
		t.Error("it is sampled still")
	}
}

// How many allocations an arena has seen that nobody recorded is not known: its
// count is a lower bound, and so is the highest that was seen of it.
func TestScopesOfAlganArenasThatNobodyRecordedKnowNoCounts(t *testing.T) {
	all := drive(t, `
import algan.utils.memory_utils as memory
drain()
a = memory.ManualMemory(0, num_bytes=1024)
a.get_tensor((100,), memory.uint8)
a.get_tensor((20,), memory.uint8, persist=True)
drain()
a.reset()
a.get_tensor((10,), memory.uint8)
look()
`)
	root := all.tree(t, "algan arena").Root()
	if root.AllocCount != 0 || root.Peak != 120 || root.PeakForward != 100 || root.PeakBound != 1024 || root.PeakNs == 0 {
		t.Errorf("%+v, want a peak of 120 at least and 1024 at most", root)
	}
}

// The same goes for an arena of the program's own that notes nothing and opens no
// scope; one that is new and empty may note everything that comes.
func TestScopesOfArenasThatTellNothingKnowNoCounts(t *testing.T) {
	for _, test := range []struct {
		name, script string
		peak, bound  int64
	}{
		{"new and empty", ``, 0, 0},
		{"in use", `memory.up(10)`, 10, 100},
		{"it was in use", "memory.up(30); memory.down(30); sample()", 30, 100},
		{"empty for long", "probe.ARENA_ADAPTER._records[handle.number].made -= probe.NOTE_IS_LATE", 0, 100},
		{"it notes", "memory.up(10); handle.alloc(10)", 10, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := drive(t, silent+`
memory = Silent(True)
handle = probe.arena("silent", memory)
drain()
`+test.script+`
look()
`)
			if root := all.tree(t, "silent").Root(); root.Peak != test.peak || root.PeakBound != test.bound {
				t.Errorf("%+v, want a peak of %d and at most %d", root, test.peak, test.bound)
			}
		})
	}
}

// An arena keeps its tree and its numbers when its buffer is given back, but
// nothing of it is in use any more.
func TestScopesOfArenasThatAreReleased(t *testing.T) {
	for _, test := range []struct {
		name, end string
		highWater int64
	}{
		{"in use", ``, 35},
		{"emptied before", `
memory.current_pointer = memory.max_pointer = 0
handle.reset("frame")
`, 35},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := drive(t, silent+`
memory = Silent(True)
handle = probe.arena("silent", memory)
render(memory)
memory.up(10)
`+test.end+`
handle.close("the end")
look()
sample()
`)
			arena := all.arena(t, "silent")
			if arena.Released == 0 || arena.HasBuffer || arena.Forward != 0 || arena.Reverse != 100 || arena.HighWater != test.highWater {
				t.Errorf("%+v", arena)
			}
			if row := all.row(t, all.tree(t, "silent"), "render"); row.Peak != 35 {
				t.Errorf("%+v", row)
			}
			if sets := said[*recorder.Sample](t, all).Sets; len(sets) != 0 {
				t.Errorf("it is sampled still: %+v", sets)
			}
		})
	}
}

// A state lists the arenas that were released within a minute and those that are
// recorded, sixteen at most: the last ones.
func TestScopesOfArenasThatAreReleasedAreLetGo(t *testing.T) {
	const minute = 60_000_000_000
	for _, test := range []struct {
		name, script string
		lengths      []int64
	}{
		{"at most sixteen", `
for number in range(20):
    probe.arena("arena", length=100 + number, pointers=lambda: (0, 100)).close()
drain()
`, seq(104, 120)},
		{"a minute", fmt.Sprintf(`
for number in range(4):
    probe.arena("arena", length=100 + number, pointers=lambda: (0, 100)).close()
drain()
for record in probe.ARENA_ADAPTER._released[:2]:
    record.gone -= %d
`, minute), seq(102, 104)},
		{"recorded ones stay", fmt.Sprintf(`
command("record", True)
drain()
for number in range(4):
    probe.arena("arena", length=100 + number, pointers=lambda: (0, 100)).close()
drain()
for record in probe.ARENA_ADAPTER._released[:2]:
    record.gone -= %d
`, minute), seq(100, 104)},
		{"algan's, at most sixteen", `
import algan.utils.memory_utils as memory
drain()
for number in range(20):
    a = memory.ManualMemory(0, num_bytes=100 + number)
    drain()
del a
drain()
`, seq(104, 120)},
		{"algan's, a minute", fmt.Sprintf(`
import algan.utils.memory_utils as memory
drain()
held = [memory.ManualMemory(0, num_bytes=100 + number) for number in range(4)]
drain()
del held
drain()
for record in probe.ALGAN_ADAPTER._arenas[:2]:
    record.gone -= %d
`, minute), seq(102, 104)},
		{"algan's, recorded ones stay", fmt.Sprintf(`
import algan.utils.memory_utils as memory
drain()
command("record", True)
for number in range(4):
    memory.ManualMemory(0, num_bytes=100 + number).data = None
drain()
for record in probe.ALGAN_ADAPTER._arenas[:2]:
    record.gone -= %d
`, minute), seq(100, 104)},
		{"algan's, none that is unmanaged", `
import algan.utils.memory_utils as memory
drain()
for number in range(16):
    a = memory.ManualMemory(0, num_bytes=100 + number)
    drain()
    b = memory.ManualMemory(0, managed=False)
    drain()
del a, b
drain()
`, seq(100, 116)},
		{"algan's, more recorded ones than are known", `
import algan.utils.memory_utils as memory
drain()
command("record", True)
for number in range(300):
    memory.ManualMemory(0, num_bytes=100 + number).data = None
drain()
drain()
`, seq(384, 400)},
		{"algan's, recorded anew after its registry was cleared", `
import algan.utils.memory_utils as memory
drain()
command("record", True)
for number in range(3):
    memory.ManualMemory(0, num_bytes=100 + number).data = None
drain()
memory.clear_recorded_arenas()
for number in range(4):
    memory.ManualMemory(0, num_bytes=200 + number).data = None
    probe.ALGAN_ADAPTER._births.clear()
drain()
`, seq(200, 204)},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := drive(t, test.script+"look()\n")
			var lengths []int64
			for length := range lastArenas(t, all) {
				lengths = append(lengths, length)
			}
			slices.Sort(lengths)
			if !slices.Equal(lengths, test.lengths) {
				t.Errorf("the state tells of %v, want %v", lengths, test.lengths)
			}
		})
	}
}

// A tree is built now and then, and once more at the arena's end: what is told of
// it from then on is all that it did.
func TestScopesOfAlganArenasAreWholeAtTheirEnd(t *testing.T) {
	all := drive(t, alganBegins+`
with a.scope("first"):
    a.get_tensor((3,), memory.uint8)
drain()
with a.scope("second"):
    a.get_tensor((5,), memory.uint8)
drain()
a.data = None
look()
`)
	tree := all.tree(t, alganName)
	if row := all.row(t, tree, "second"); row.Count != 1 || row.SelfBytes != 5 || tree.Root().AllocCount != 2 {
		t.Errorf("%+v, and the root %+v", row, tree.Root())
	}
}

// Arenas that algan has registered beyond those that are known are met once, and
// a dump says how many it leaves out.
func TestScopesOfAlganArenasBeyondThoseThatAreKnown(t *testing.T) {
	p := run(t, `
import algan.utils.memory_utils as memory
drain()
command("record", True)
for number in range(300):
    memory.ManualMemory(0, num_bytes=100 + number).data = None
look()
look()
probe.save_calibration(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calibration.vscope"))
`)
	live := read(t, filepath.Join(p.Module, "records.vscope"))
	var numbers [2][]uint64
	for i, state := range live.states[len(live.states)-2:] {
		for _, arena := range state.Arenas {
			numbers[i] = append(numbers[i], uint64(arena.ID))
		}
	}
	if len(numbers[0]) != 16 || !slices.Equal(numbers[0], numbers[1]) {
		t.Errorf("two states tell of the arenas %v and %v", numbers[0], numbers[1])
	}
	dump := read(t, filepath.Join(p.Module, "calibration.vscope"))
	if state := dump.states[0]; len(state.Arenas) != 256 || state.Dropped != 44 {
		t.Errorf("the dump has %d arenas and left out %d, want 256 and 44", len(state.Arenas), state.Dropped)
	}
}

// seq is first, first + 1 and so on, up to end and without it.
func seq(first, end int64) []int64 {
	var numbers []int64
	for ; first < end; first++ {
		numbers = append(numbers, first)
	}
	return numbers
}
