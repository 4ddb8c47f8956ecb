package python_test

import (
	"testing"

	"vramscope/arena"
	"vramscope/recorder"
)

// numbers are those of a scope that the specification's worked tree tells.
type numbers struct {
	count, unclosed, allocs, self, total, peak, forward, reverse int64
}

func numbersOf(row recorder.ScopeRow) numbers {
	return numbers{
		row.Count, row.Unclosed, row.AllocCount, row.SelfBytes, row.TotalBytes, row.Peak, row.PeakForward, row.PeakReverse,
	}
}

// An arena of 1024 bytes: render{3 x u8; trace{10 x f32; 3 x f64 persistent;
// temp{50 x f32}}; post{5 x f64}}.
func TestScopesWorkedTree(t *testing.T) {
	all := drive(t, `
a = Arena(1024)
with probe.scope("render"):
    a.alloc(3, 1)
    with probe.scope("trace", frames=8, scale=2.0, mode="fast", denoise=True):
        a.alloc(40, 4)
        a.persist(24, 8)
        saved = a.push()
        a.alloc(200, 4)
        a.pop(saved)
    with probe.scope("post"):
        a.alloc(40, 8)
look()
`)
	tree := all.tree(t, "arena")
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
		t.Errorf("root: %+v", root)
	}
	if state := all.arena(t, "arena"); state.HighWater != 268 || state.Forward != 88 || state.Reverse != 1000 {
		t.Errorf("pointers %d and %d, high-water %d", state.Forward, state.Reverse, state.HighWater)
	}
	params := all.row(t, tree, "render", "trace").Params
	want := []arena.Param{arena.Int("frames", 8), arena.Float("scale", 2), arena.Text("mode", "fast"), arena.Bool("denoise", true)}
	if len(params) != len(want) {
		t.Fatalf("parameters %+v", params)
	}
	for i := range want {
		if params[i] != want[i] {
			t.Errorf("parameter %d: got %+v, want %+v", i, params[i], want[i])
		}
	}
}

// What algan's own tests of its recorder assert, said through the handle.
func TestScopesAssertions(t *testing.T) {
	for _, test := range []struct {
		name, script string
		want         map[string]numbers // by the scope's name under the root
		abandoned    map[string]numbers
	}{
		{"self bytes are numel times itemsize", `
with probe.scope("a"):
    a.alloc(24, 4)
    a.alloc(5, 1)
`, map[string]numbers{"a": {1, 0, 2, 29, 29, 29, 29, 0}}, nil},
		{"entry and peaks after an earlier allocation", `
a.alloc(32, 4)
with probe.scope("a"):
    a.alloc(40, 4)
    a.persist(12, 4)
`, map[string]numbers{"a": {1, 0, 2, 52, 52, 52, 40, 12}}, nil},
		{"a temporary context's bytes stay in the peak", `
with probe.scope("a"):
    a.alloc(16, 4)
    saved = a.push()
    a.alloc(64, 4)
    a.pop(saved)
    a.alloc(16, 4)
`, map[string]numbers{"a": {1, 0, 3, 96, 96, 80, 80, 0}}, nil},
		{"siblings of one name merge", `
for size in (8, 40, 16):
    with probe.scope("a"):
        saved = a.push()
        a.alloc(size, 8)
        a.pop(saved)
`, map[string]numbers{"a": {3, 0, 3, 64, 64, 40, 40, 0}}, nil},
		{"an exception closes, and the next is a sibling", `
try:
    with probe.scope("a"):
        a.alloc(8, 4)
        raise ValueError
except ValueError:
    pass
with probe.scope("b"):
    a.alloc(8, 4)
`, map[string]numbers{"a": {1, 0, 1, 8, 8, 8, 8, 0}, "b": {1, 0, 1, 8, 8, 8, 8, 0}}, nil},
		{"a reset abandons what is open", `
with probe.scope("wavefront"):
    a.alloc(16, 4)
    with probe.scope("inner"):
        a.alloc(16, 4)
        a.reset("retry")
with probe.scope("retry"):
    a.alloc(8, 4)
`, map[string]numbers{"retry": {1, 0, 1, 8, 8, 8, 8, 0}}, map[string]numbers{"wavefront": {1, 1, 2, 16, 32, 32, 32, 0}}},
		{"a reset gives back what was merged before", `
with probe.scope("a"):
    a.alloc(8, 4)
with probe.scope("a"):
    a.alloc(64, 4)
    a.reset()
`, map[string]numbers{"a": {1, 0, 1, 8, 8, 8, 8, 0}}, map[string]numbers{"a": {1, 1, 1, 64, 64, 64, 64, 0}}},
		{"a scope that is closed out of order ends those inside", `
outer = probe.scope("outer")
outer.__enter__()
def held():
    with probe.scope("held"):
        a.alloc(8, 4)
        yield
generator = held()
next(generator)
outer.__exit__(None, None, None)
generator.close()
with probe.scope("after"):
    a.alloc(4, 4)
`, map[string]numbers{"outer": {1, 0, 1, 0, 8, 8, 8, 0}, "after": {1, 0, 1, 4, 4, 4, 4, 0}}, nil},
		{"what no note told of counts where a scope begins or ends", `
with probe.scope("a"):
    a.current_pointer += 100
    a.current_reverse_pointer -= 50
with probe.scope("b"):
    a.current_pointer = 10
    with probe.scope("c"):
        a.current_pointer += 20
`, map[string]numbers{"a": {1, 0, 2, 150, 150, 150, 100, 50}, "b": {1, 0, 1, 0, 20, 0, 0, 0}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := drive(t, "a = Arena(1024)\n"+test.script+"\nlook()\n")
			tree := all.tree(t, "arena")
			for name, want := range test.want {
				if got := numbersOf(all.row(t, tree, name)); got != want {
					t.Errorf("%s: got %+v, want %+v", name, got, want)
				}
			}
			for name, want := range test.abandoned {
				if got := numbersOf(all.row(t, tree.Abandoned(), name)); got != want {
					t.Errorf("abandoned %s: got %+v, want %+v", name, got, want)
				}
			}
			level := 0
			for range tree.Children(-1) {
				level++
			}
			if level != len(test.want) {
				t.Errorf("%d rows under the root, want %d", level, len(test.want))
			}
			all.sameAsEvents(t)
		})
	}
}
