package python_test

import "testing"

// alganIsOff is how recording ends in the middle of an arena's life.
const alganIsOff = `
with a.scope("whole"):
    a.get_tensor((3,), memory.uint8)
with a.scope("render"):
    a.get_tensor((10,), memory.uint8)
    with a.scope("trace"):
        a.get_tensor((2,), memory.uint8)
        drain()
        a.get_tensor((4,), memory.uint8) # which no look has seen yet
        command("record", False)
        drain()
`

// Where recording is switched off in the middle of an algan arena's life, what
// was counted until then is the least, and no scope stays open for ever.
func TestScopesOfAlganThatIsSwitchedOffInTheMiddleAreLowerBounds(t *testing.T) {
	for name, end := range map[string]string{
		"the arena lives": "look()",
		"it is released":  "a.data = None\nlook()",
	} {
		t.Run(name, func(t *testing.T) {
			all := drive(t, alganBegins+alganIsOff+end+"\n")
			arena := all.arena(t, "algan arena")
			if len(arena.Open) != 0 {
				t.Errorf("open scopes %+v", arena.Open)
			}
			tree := all.tree(t, "algan arena")
			if root := tree.Root(); root.AllocCount != 4 || root.PeakBound != arena.Length {
				t.Errorf("the root %+v, want 4 allocations at least", root)
			}
			for _, path := range [][]string{{"whole"}, {"render"}, {"render", "trace"}} {
				if row := all.row(t, tree, path...); row.Count != 1 || row.PeakBound != arena.Length || row.PeakBound <= row.Peak {
					t.Errorf("%v: %+v, want lower bounds", path, row)
				}
			}
			if row := all.row(t, tree, "render", "trace"); row.SelfBytes != 6 || row.Unclosed != 1 {
				t.Errorf("what was open: %+v", row)
			}
		})
	}
}

// An arena that ended before is whole, and what is switched off then changes
// nothing.
func TestScopesOfAlganThatIsSwitchedOffAfterTheEndAreWhole(t *testing.T) {
	all := drive(t, alganBegins+`
with a.scope("render"):
    a.get_tensor((10,), memory.uint8)
    a.data = None
    drain()
memory.set_auto_record(False)
look()
`)
	tree := all.tree(t, "algan arena")
	if row := all.row(t, tree, "render"); row.PeakBound != 0 || tree.Root().PeakBound != 0 || row.SelfBytes != 10 || row.Unclosed != 1 {
		t.Errorf("%+v, and the root %+v", row, tree.Root())
	}
	if open := all.arena(t, "algan arena").Open; len(open) != 0 {
		t.Errorf("open scopes of an arena that is gone: %+v", open)
	}
}

// Scopes that are open when an arena of the program's own is released end with
// it, in the events as in the state.
func TestScopesThatAreOpenAtTheReleaseEnd(t *testing.T) {
	all := drive(t, silent+`
memory = Silent(True)
handle = probe.arena("silent", memory)
drain()
look()
handle_scope = probe.scope("open", arena=handle)
handle_scope.__enter__()
memory.up(30)
drain()
handle.close("its end")
drain()
look()
`)
	if open := all.arena(t, "silent").Open; len(open) != 0 {
		t.Errorf("open scopes of an arena that is gone: %+v", open)
	}
	if row := all.row(t, all.tree(t, "silent"), "open"); row.Count != 1 || row.Open != 0 {
		t.Errorf("the scope %+v", row)
	}
}
