package python_test

import (
	"strings"
	"testing"

	"vramscope/recorder"
)

// What an arena does not tell, or tells as it cannot be, is not known, whenever it
// is looked at, and is never 0; the reason says what the program told.
func TestScopesOfAnArenaWhosePointersAreNeverKnown(t *testing.T) {
	for _, c := range []struct{ name, arena, why, length string }{
		{"they raise", `length=10, pointers=lambda: 1 // 0`, "pointers cannot be read: ZeroDivisionError", ""},
		{"they are no numbers", `length=10, pointers=lambda: ("a", None)`, "pointers cannot be read: ValueError", ""},
		{"they cross", `length=100, pointers=lambda: (90, 20)`, "pointers cannot be: forward 90, reverse 20 of 100 B", ""},
		{"they lie beyond the end", `length=100, pointers=lambda: (0, 101)`, "pointers cannot be: forward 0, reverse 101 of 100 B", ""},
		{"they lie before the beginning", `length=100, pointers=lambda: (-1, 100)`, "pointers cannot be: forward -1", ""},
		{"the length is impossible", `length=-1, pointers=lambda: (0, 0)`, "length cannot be: -1 B", "length cannot be: -1 B"},
		{"the length tells something impossible", `length=lambda: -1, pointers=lambda: (0, 0)`, "length cannot be: -1 B", "length cannot be: -1 B"},
		{"the length raises", `length=lambda: 1 // 0, pointers=lambda: (0, 0)`, "length cannot be read: ZeroDivisionError", "length cannot be read: ZeroDivisionError"},
	} {
		for when, script := range map[string]string{"at once": "look()\nsample()", "later": "drain()\nsample()\nprobe.ARENA_ADAPTER._records[handle.number].made -= probe.NOTE_IS_LATE\nlook()\nsample()"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				all := drive(t, `
handle = probe.arena("bad", `+c.arena+`)
with probe.scope("a", arena=handle):
    pass
`+script+"\n")
				state := all.arena(t, "bad")
				if state.Managed || state.HasBuffer || state.Length != 0 || state.HighWater != 0 || state.Root.AllocCount != 0 {
					t.Errorf("it is told as %+v, want its scopes alone", state)
				}
				if tree := all.tree(t, "bad"); tree.Len() != 1 {
					t.Errorf("its scopes are %+v", tree)
				}
				set := setNamed(said[*recorder.Sample](t, all).Sets, "arena:1")
				if set == nil {
					t.Fatal("the sample has no set of it")
				}
				want := map[string]string{"forward": c.why, "reverse": c.why, "free": c.why, "high_water": c.why}
				if c.length != "" {
					want["length"] = c.length
				}
				for name, why := range want {
					if counterNamed(t, set, name) != -1 || !strings.Contains(set.Why[name], why) {
						t.Errorf("%s is %d and missing since %q, want %q", name, counterNamed(t, set, name), set.Why[name], why)
					}
				}
			})
		}
	}
}

// One that could not be read at first is known from then on, and a state says so;
// one that notes its allocations meanwhile does so without numbers that are whole.
func TestScopesOfAnArenaWhosePointersAreKnownLater(t *testing.T) {
	all := drive(t, `
pointers = []
handle = probe.arena("late", length=100, pointers=lambda: (pointers[0], 100))
drain()
sample()
look()
pointers.append(40)
sample()
drain()
look()
sample()
`)
	if state := all.arena(t, "late"); !state.Managed || state.Length != 100 || state.Forward != 40 || state.Reverse != 100 {
		t.Errorf("once it is known it is told as %+v", state)
	}
	all = drive(t, `
handle = probe.arena("notes", length=100, pointers=lambda: 1 // 0)
handle.alloc(10)
look()
`)
	if state := all.arena(t, "notes"); state.Length != 100 || state.Root.PeakBound != 100 {
		t.Errorf("an arena that notes is told as %+v, want bounds alone", state)
	}
}

// What is in use of an arena when it is first seen is its high-water, of an arena
// that was never reset.
func TestScopesOfAnArenaThatWasInUseBeforeItWasKnown(t *testing.T) {
	all := drive(t, `
handle = probe.arena("in use", length=100, pointers=lambda: (10, 90))
drain()
look()
`)
	if state := all.arena(t, "in use"); state.HighWater != 20 || state.Root.Peak != 20 || state.Root.PeakBound != 100 {
		t.Errorf("it is told as %+v", state)
	}
}
