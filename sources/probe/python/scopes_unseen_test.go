package python_test

import (
	"cmp"
	"fmt"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"vramscope/recorder"
)

// silent is an arena whose program notes no allocation: only its pointers tell,
// and its own high-water where it keeps one.
const silent = `
class Silent:
    """A bump arena that says nothing. Lengths are in bytes."""
    length = 100

    def __init__(self, keeps):
        self.current_pointer, self.current_reverse_pointer = 0, self.length
        if keeps:
            self.max_pointer = 0

    def up(self, size):
        self.current_pointer += size
        if hasattr(self, "max_pointer"):
            self.max_pointer = max(self.max_pointer, self.current_pointer + self.length - self.current_reverse_pointer)

    def down(self, size):
        self.current_pointer -= size

    def keep(self, size):
        self.current_reverse_pointer -= size
        self.up(0)

def render(memory):
    """10 in render, 5 more in tile, and 20 in shade that come back at once."""
    with probe.scope("render"):
        memory.up(10)
        with probe.scope("tile"):
            memory.up(5)
            with probe.scope("shade"):
                memory.up(20)
                memory.down(20)
    memory.down(15)
`

// unseenRow is what a row says of an arena that is looked at now and then.
type unseenRow struct {
	Peak, Bound, Allocs, Self int64
	PeakIsLeast, CountIsLeast bool
}

func unseenRowOf(row recorder.ScopeRow) unseenRow {
	return unseenRow{row.Peak, row.PeakBound, row.AllocCount, row.SelfBytes, row.PeakIsLeast(), row.CountIsLeast()}
}

// noBound is what a peak is bounded by where nothing bounds it.
const noBound = 1 << 62

// A pointer that goes up and comes back inside a scope shows in the arena's own
// high-water: where that rose, the peak is known to the byte; where not, and where
// there is none, the peak is a lower bound and is said to be one.
func TestScopesOfAnArenaThatTellsPointersAlone(t *testing.T) {
	for _, test := range []struct {
		name, script, arena string
		render, tile, shade unseenRow
		rootPeak, rootBound int64
	}{
		{
			name:   "its high-water rises",
			script: `render(memory)`,
			render: unseenRow{35, 35, 3, 10, false, true}, tile: unseenRow{25, 25, 2, 5, false, true},
			shade: unseenRow{20, 20, 1, 20, false, true}, rootPeak: 35, rootBound: 35,
		},
		{
			name: "it does not rise again",
			script: `
render(memory)
render(memory)`,
			render: unseenRow{35, 35, 5, 20, false, true}, tile: unseenRow{25, 25, 3, 10, false, true},
			shade: unseenRow{20, 20, 1, 20, false, true}, rootPeak: 35, rootBound: 35,
		},
		{
			name: "it was higher before",
			script: `
memory.up(50)
memory.down(50)
render(memory)`,
			// What the edges saw is at most what was in use at one of them.
			render: unseenRow{15, 50, 2, 10, true, true}, tile: unseenRow{5, 40, 1, 5, true, true},
			shade: unseenRow{0, 35, 0, 0, true, true}, rootPeak: 15, rootBound: 50,
		},
		{
			name: "it was restarted in between",
			script: `
with probe.scope("render"):
    memory.up(40)
    with probe.scope("tile"):
        with probe.scope("shade"):
            memory.current_pointer = memory.max_pointer = 0
            memory.up(30)
            memory.down(30)
        memory.up(0)
`,
			render: unseenRow{40, 100, 1, 40, true, true}, tile: unseenRow{0, 60, 0, 0, true, true},
			shade: unseenRow{0, 60, 0, 0, true, true}, rootPeak: 40, rootBound: 100,
		},
		{
			name: "the other side",
			script: `
with probe.scope("render"):
    memory.keep(10)
    with probe.scope("tile"):
        with probe.scope("shade"):
            memory.up(30)
            memory.down(30)
            memory.keep(10)
`,
			render: unseenRow{40, 40, 3, 10, false, true}, tile: unseenRow{30, 30, 2, 0, false, true},
			shade: unseenRow{30, 30, 2, 30, false, true}, rootPeak: 40, rootBound: 40,
		},
		{
			name: "it keeps none", arena: "tells no high-water",
			script: `
handle.close()
memory = Silent(False)
handle = probe.arena("tells no high-water", memory)
render(memory)`,
			render: unseenRow{15, 100, 2, 10, true, true}, tile: unseenRow{5, 90, 1, 5, true, true},
			shade: unseenRow{0, 85, 0, 0, true, true}, rootPeak: 15, rootBound: 100,
		},
		{
			name: "its pointers raise", arena: "raises",
			script: `
handle.close()
handle = probe.arena("raises", length=100, pointers=lambda: 1 // 0)
render(memory)`,
			render: unseenRow{0, 100, 0, 0, true, true}, tile: unseenRow{0, 100, 0, 0, true, true},
			shade: unseenRow{0, 100, 0, 0, true, true}, rootBound: 100,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := drive(t, silent+`
memory = Silent(True)
handle = probe.arena("silent", memory)
drain()
`+test.script+`
look()
`)
			tree := all.tree(t, cmp.Or(test.arena, "silent"))
			got := []unseenRow{unseenRowOf(all.row(t, tree, "render")), unseenRowOf(all.row(t, tree, "render", "tile")),
				unseenRowOf(all.row(t, tree, "render", "tile", "shade"))}
			if diff := gocmp.Diff([]unseenRow{test.render, test.tile, test.shade}, got); diff != "" {
				t.Errorf("render, tile, shade (-want +got):\n%s", diff)
			}
			if root := tree.Root(); root.Peak != test.rootPeak || root.PeakBound != test.rootBound {
				t.Errorf("root %+v, want a peak of %d, at most %d", root, test.rootPeak, test.rootBound)
			}
			all.sameAsEvents(t)
		})
	}
}

// Memory that comes and goes within a scope leaves nothing at its ends: the looks
// in between show it, from the first scope on.
func TestScopesOfASilentArenaWhoseMemoryComesAndGoes(t *testing.T) {
	for _, test := range []struct {
		name, keeps, before, trace string
		want                       unseenRow
	}{
		{"its high-water was there before, and is reached", "True", "memory.up(15); memory.down(15)", "memory.up(10); drain(); memory.up(5); drain(); memory.down(15)",
			unseenRow{15, 15, 1, 15, false, true}},
		{"its high-water was there before, and the looks miss it", "True", "memory.up(15); memory.down(15)", "memory.up(10); drain(); memory.up(5); memory.down(15)",
			unseenRow{10, 15, 1, 10, true, true}},
		{"its high-water rises behind the look", "True", "memory.up(12); memory.down(12)", "memory.up(10); drain(); memory.up(5); memory.down(15)",
			unseenRow{15, 15, 2, 15, false, true}},
		{"it keeps none", "False", "", "memory.up(10); drain(); memory.up(5); drain(); memory.down(15)", unseenRow{15, 100, 1, 15, true, true}},
		{"nothing moved", "True", "", "drain()", unseenRow{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := drive(t, silent+`
memory = Silent(`+test.keeps+`)
handle = probe.arena("silent", memory)
`+test.before+`
drain()
with probe.scope("trace"):
    `+test.trace+`
look()
`)
			if got := unseenRowOf(all.row(t, all.tree(t, "silent"), "trace")); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			all.sameAsEvents(t)
		})
	}
}

// A scope that stays open shows what is in it once no note can be under way.
func TestScopesOfASilentArenaThatStayOpen(t *testing.T) {
	all := drive(t, silent+`
memory = Silent(True)
handle = probe.arena("silent", memory)
with probe.scope("long"):
    memory.up(10)
    drain()
    probe.ARENA_ADAPTER._records[handle.number]._sighted -= probe.NOTE_IS_LATE
    look()
`)
	tree := all.tree(t, "silent")
	if live, open := tree.Live(all.arena(t, "silent").Open[0].Node); !open || live != 10 {
		t.Errorf("live %d %t, want 10", live, open)
	}
	if got, want := unseenRowOf(all.row(t, tree, "long")), (unseenRow{10, 10, 1, 10, false, true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	all.sameAsEvents(t)
}

// While a long scope is open, what is in it is looked at as often as the probe
// looks at anything.
func TestScopesOfASilentArenaThatAreOpen(t *testing.T) {
	all := drive(t, silent+`
memory = Silent(True)
handle = probe.arena("silent", memory)
with probe.scope("before"):
    memory.up(1)
with probe.scope("long"):
    memory.up(30)
    memory.down(25)
    look()
other = Silent(False)
kept = probe.arena("tells none", other)
with probe.scope("up", arena=kept):
    other.up(3)
sample()
`)
	if set := said[*recorder.Sample](t, all).Sets[1]; set.Name != "tells none" || set.Values.Known(recorder.HighWater) || set.Why["high_water"] == "" {
		t.Errorf("a high-water that nobody knows: %+v", set)
	}
	tree := all.tree(t, "silent")
	if got, want := unseenRowOf(all.row(t, tree, "long")), (unseenRow{30, 30, 1, 30, false, true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if live, open := tree.Live(all.arena(t, "silent").Open[0].Node); !open || live != 5 {
		t.Errorf("live %d %t, want 5", live, open)
	}
	all.sameAsEvents(t)
}

// What a program notes is known to the byte, whatever its high-water was before
// and wherever scopes stand open before the first allocation.
func TestScopesOfAnArenaThatNotesAreNoBounds(t *testing.T) {
	for _, keeps := range []string{"True", "False"} {
		t.Run(fmt.Sprintf("keeps a high-water: %s", keeps), func(t *testing.T) {
			all := drive(t, silent+`
memory = Silent(`+keeps+`)
handle = probe.arena("silent", memory)
for turn in range(3):
    with probe.scope("outer"):
        with probe.scope("inner"):
            memory.up(30)
            drain()  # the note is under way
            handle.alloc(30)
            memory.down(30)
            handle.temp_pop()
        with probe.scope("nothing"):
            pass
    drain()
look()
`)
			tree := all.tree(t, "silent")
			for _, path := range [][]string{{"outer"}, {"outer", "inner"}, {"outer", "nothing"}} {
				if row := all.row(t, tree, path...); row.PeakIsLeast() || row.CountIsLeast() {
					t.Errorf("%v: %+v", path, row)
				}
			}
			if root := tree.Root(); root.PeakBound != 0 || root.AllocCount != 3 || root.Peak != 30 {
				t.Errorf("%+v", root)
			}
			all.sameAsEvents(t)
		})
	}
}

// Scopes that lie in no arena know no bytes: none of their zeros is a number.
func TestScopesThatLieInNoArenaKnowNoBytes(t *testing.T) {
	all := drive(t, `
with probe.scope("frame"):
    with probe.scope("shade"):
        pass
look()
`)
	tree := all.tree(t, "scopes of MainThread")
	for _, path := range [][]string{{"frame"}, {"frame", "shade"}} {
		if got, want := unseenRowOf(all.row(t, tree, path...)), (unseenRow{Bound: noBound, PeakIsLeast: true, CountIsLeast: true}); got != want {
			t.Errorf("%v: %+v, want %+v", path, got, want)
		}
	}
	all.sameAsEvents(t)
}

// A silent arena that is reset under open scopes may have held anything in them.
func TestScopesOfASilentArenaThatAreAbandoned(t *testing.T) {
	all := drive(t, silent+`
memory = Silent(True)
handle = probe.arena("silent", memory)
with probe.scope("render"):
    memory.up(10)
    with probe.scope("tile"):
        memory.up(5)
        memory.down(15)
        handle.reset("full")
look()
`)
	abandoned := all.tree(t, "silent").Abandoned()
	if got, want := unseenRowOf(all.row(t, abandoned, "render", "tile")), (unseenRow{Bound: 90, PeakIsLeast: true, CountIsLeast: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	all.sameAsEvents(t)
}
