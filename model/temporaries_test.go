package model

import (
	"testing"

	"vramscope/arena"
)

// What is open at a moment is what the arena itself has open.
func TestOpenTemporaries(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1000)
	take := func(bytes int64, persist bool) {
		if _, err := a.AllocTyped(arena.DTypeUint8, persist, bytes); err != nil {
			t.Fatal(err)
		}
	}
	take(100, false)
	a.pushTemp(false)
	outer := r.ns
	take(50, false)
	a.pushTemp(true)
	take(25, true)
	inner := r.ns
	a.popTemp()
	take(10, false)
	r.flush()
	view := keep(r.records, Limits{}).published()
	now := view.Arenas[0]
	if len(now.Temporaries) != 1 || !now.TemporariesKnown {
		t.Fatalf("%+v are open now, known %v", now.Temporaries, now.TemporariesKnown)
	}
	if got := now.Temporaries[0]; got.Ns != outer || got.Forward != 100 || got.Reverse != 1000 || got.Clear {
		t.Errorf("the outer one is %+v", got)
	}
	then := view.At(inner).Arenas[0]
	if len(then.Temporaries) != 2 || !then.Temporaries[1].Clear || then.Temporaries[1].Forward != 150 {
		t.Errorf("inside the inner one %+v are open", then.Temporaries)
	}
	r.state()
	a.pushTemp(false)
	r.flush()
	if got := keep(r.records, Limits{}).published().Arenas[0]; len(got.Temporaries) != 2 || !got.TemporariesKnown {
		t.Errorf("after a state %+v are open, known %v", got.Temporaries, got.TemporariesKnown)
	}
	a.Reset("")
	r.flush()
	if got := keep(r.records, Limits{}).published().Arenas[0]; len(got.Temporaries) != 0 || !got.TemporariesKnown {
		t.Errorf("after a reset %+v are open", got.Temporaries)
	}
}

// A reader that comes in the middle knows of those alone that it saw opening.
func TestTemporariesOfALateReader(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1000)
	a.pushTemp(false)
	r.flush()
	begin := len(r.records)
	r.state()
	a.pushTemp(false)
	r.flush()
	late := append(r.records[:1:1], r.records[begin:]...)
	got := keep(late, Limits{}).published().Arenas[0]
	if len(got.Temporaries) != 1 || got.TemporariesKnown {
		t.Errorf("%+v are open, known %v", got.Temporaries, got.TemporariesKnown)
	}
	a.Observer().ObserveArena(arena.Event{Op: arena.OpReset, Reverse: 1000})
	r.flush()
	late = append(r.records[:1:1], r.records[begin:]...)
	if got := keep(late, Limits{}).published().Arenas[0]; !got.TemporariesKnown {
		t.Error("after a reset it still does not know")
	}
}
