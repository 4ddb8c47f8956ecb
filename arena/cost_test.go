package arena_test

import (
	"testing"

	"vramscope/arena"
)

// silent observes and keeps nothing.
type silent struct{ events int }

func (s *silent) ObserveArena(arena.Event) { s.events++ }

// frame is what a render does: a scope with parameters, a context that clears,
// and allocations of several kinds.
func frame(a *arena.Arena, number int64) error {
	defer a.Scope("frame", arena.Int("number", number), arena.Text("route", "wavefront"), arena.Float("scale", 0.5)).End()
	defer a.Temporary(true, nil).End()
	a.Mark()
	if _, err := a.Alloc(1000, 4); err != nil {
		return err
	}
	if _, err := a.AllocPersist(10, 8); err != nil {
		return err
	}
	if err := a.Restore(); err != nil {
		return err
	}
	a.NoteParams(arena.Int("cells", number))
	if _, err := a.AllocTyped(arena.DTypeFloat32, false, 4, number%7); err != nil {
		return err
	}
	_, err := arena.Slice[float32](a, 3, int(number%5))
	return err
}

func TestNothingMakesGarbage(t *testing.T) {
	off := newArena(t, arena.Config{Bytes: 1 << 16})
	on := newArena(t, arena.Config{Bytes: 1 << 16, Observer: &silent{}})
	for _, c := range []struct {
		name  string
		arena *arena.Arena
	}{{"off", off}, {"on", on}} {
		number := int64(0)
		allocations := testing.AllocsPerRun(1000, func() {
			number++
			if err := frame(c.arena, number); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 0 {
			t.Errorf("recording %s: %v allocations per frame, want 0", c.name, allocations)
		}
	}
}

var sink arena.Block

func BenchmarkAlloc(b *testing.B) {
	for _, c := range []struct {
		name     string
		allocate func(a *arena.Arena) (arena.Block, error)
	}{
		{"forward", func(a *arena.Arena) (arena.Block, error) { return a.Alloc(2, 4) }},
		{"reverse", func(a *arena.Arena) (arena.Block, error) { return a.AllocPersist(2, 4) }},
		{"typed", func(a *arena.Arena) (arena.Block, error) { return a.AllocTyped(arena.DTypeFloat32, false, 1, 2) }},
		{"item of 12", func(a *arena.Arena) (arena.Block, error) { return a.Alloc(1, 12) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			a := newArena(b, arena.Config{Bytes: 1 << 24})
			b.ReportAllocs()
			for b.Loop() {
				block, err := c.allocate(a)
				if err != nil {
					if err = a.SetPointers(0, a.Length()); err != nil {
						b.Fatal(err)
					}
				}
				sink = block
			}
		})
	}
}

// BenchmarkAllocForward is the figure of the design: at most 10 ns, no garbage.
func BenchmarkAllocForward(b *testing.B) {
	a := newArena(b, arena.Config{Bytes: 1 << 24})
	b.ReportAllocs()
	for b.Loop() {
		block, err := a.Alloc(2, 4)
		if err != nil {
			if err = a.SetPointers(0, a.Length()); err != nil {
				b.Fatal(err)
			}
		}
		sink = block
	}
}

func BenchmarkSlice(b *testing.B) {
	a := newArena(b, arena.Config{Bytes: 1 << 24})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := arena.Slice[float32](a, 2, 1); err != nil {
			if err = a.SetPointers(0, a.Length()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkAllocObserved(b *testing.B) {
	a := newArena(b, arena.Config{Bytes: 1 << 24, Observer: &silent{}})
	b.ReportAllocs()
	for b.Loop() {
		block, err := a.Alloc(2, 4)
		if err != nil {
			if err = a.SetPointers(0, a.Length()); err != nil {
				b.Fatal(err)
			}
		}
		sink = block
	}
}

// BenchmarkTemporary is a context with one allocation in it.
func BenchmarkTemporary(b *testing.B) {
	a := newArena(b, arena.Config{Bytes: 1 << 16})
	b.ReportAllocs()
	for b.Loop() {
		temporary := a.Temporary(true, nil)
		block, err := a.Alloc(100, 4)
		if err != nil {
			b.Fatal(err)
		}
		sink = block
		temporary.End()
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, c := range []struct {
		name     string
		observer arena.Observer
	}{{"off", nil}, {"on", &silent{}}} {
		b.Run(c.name, func(b *testing.B) {
			a := newArena(b, arena.Config{Bytes: 1 << 16, Observer: c.observer})
			b.ReportAllocs()
			for b.Loop() {
				if err := frame(a, 3); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// scoped is a function with a scope: what costs there is what Scope inlines.
//
//go:noinline
func scoped(a *arena.Arena, number int64) {
	scope := a.Scope("postprocess", arena.Int("width", number), arena.Text("tonemap", "aces"))
	scope.End()
}

func BenchmarkScope(b *testing.B) {
	for _, c := range []struct {
		name     string
		observer arena.Observer
	}{{"off", nil}, {"on", &silent{}}} {
		b.Run(c.name, func(b *testing.B) {
			a := newArena(b, arena.Config{Bytes: 64, Observer: c.observer})
			number := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				number++
				scoped(a, number)
			}
		})
	}
}

// bare is a scope without parameters, whose building costs more than the test.
//
//go:noinline
func bare(a *arena.Arena) {
	scope := a.Scope("postprocess")
	scope.End()
}

func BenchmarkScopeWithoutParams(b *testing.B) {
	a := newArena(b, arena.Config{Bytes: 64})
	b.ReportAllocs()
	for b.Loop() {
		bare(a)
	}
}
