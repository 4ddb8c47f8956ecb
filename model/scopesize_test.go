package model

import (
	"errors"
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/recorder"
)

// runPost runs a scope inside another, with the events of the published example
// and 4 + 3n items of 4 bytes in front, for so many frames.
func (a *renderArena) runPost(frames int64, params ...arena.Param) {
	must := func(_ arena.Block, err error) {
		if err != nil {
			a.render.t.Fatal(err)
		}
	}
	a.open("render")
	a.open("post", append(params, arena.Int(FramesParam, frames))...)
	must(a.Alloc(4+3*frames, 4))
	a.pushTemp(false)
	must(a.Alloc(64*frames, 4))
	a.open("inside")
	must(a.Alloc(5, 8)) // another scope's
	a.close()
	a.popTemp()
	a.close()
	a.close()
}

func sizeOfPost(r *render, a *renderArena) *ScopeSize {
	r.flush()
	v := keep(r.records, Limits{}).published()
	return NewScopeSizer(a.id, []string{"render", "post"}).Size(v, 1_000_000)
}

// TestScopeIsSolvedFromTwoRuns: runs of 1 and 3 frames say what 8 take.
func TestScopeIsSolvedFromTwoRuns(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1 << 20)
	a.runPost(3)
	a.runPost(1)
	a.runPost(3)
	size := sizeOfPost(r, a)
	if size.Err != nil || size.Low != 1 || size.High != 3 || size.Runs != 3 || size.Bound {
		t.Fatalf("%+v", size)
	}
	if want := (recorder.CostEvent{Op: arena.OpAlloc, Intercept: 4, Slope: 3, ItemSize: 4}); len(size.Trace) != 4 || size.Trace[0] != want {
		t.Fatalf("%+v", size.Trace)
	}
	if peak := size.PeakAt(8); !peak.Known || peak.Value != 4*(4+3*8)+4*64*8 || !strings.Contains(peak.Origin, "runs of 1 and 3 frames") {
		t.Errorf("%+v", peak)
	}
}

// TestReplayOfARunIsItsPeak: for the frames of a recorded run the replay is what
// the arena itself reached, where the scope has none inside it.
func TestReplayOfARunIsItsPeak(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1 << 20)
	for _, frames := range []int64{2, 5} {
		a.open("post", arena.Int(FramesParam, frames))
		for _, items := range []int64{frames, 7, 9 * frames} {
			if _, err := a.Alloc(items, 2); err != nil {
				t.Fatal(err)
			}
		}
		a.close()
		a.restart("the next")
	}
	r.flush()
	v := keep(r.records, Limits{}).published()
	size := NewScopeSizer(a.id, []string{"post"}).Size(v, 1_000_000)
	row := v.Arenas[0].Scopes.Row(0)
	if peak := size.PeakAt(5); !peak.Known || peak.Value != row.PeakForward {
		t.Errorf("replayed %+v, recorded %d", peak, row.PeakForward)
	}
}

func TestScopeThatIsNotSolved(t *testing.T) {
	for _, test := range []struct {
		name  string
		run   func(*renderArena)
		want  UnsizedReason
		bound bool
		says  string
	}{
		{"no run", func(a *renderArena) { a.open("render"); a.open("post") }, UnsizedNoRun, false, "no whole run of the scope is among the events that are kept: record while it runs"},
		{"a run that was abandoned", func(a *renderArena) {
			a.open("render")
			a.open("post", arena.Int(FramesParam, 1))
			a.restart("full")
		}, UnsizedNoRun, false, "no whole run"},
		{"a run that an outer scope ended", func(a *renderArena) {
			a.open("render")
			a.open("post", arena.Int(FramesParam, 1))
			a.scopes[0].End()
		}, UnsizedNoRun, false, "no whole run"},
		{"no frames", func(a *renderArena) { a.open("render"); a.open("post"); a.close(); a.close() }, UnsizedNoFrames, false, "give the scope a parameter named frames"},
		{"one frame", func(a *renderArena) { a.runPost(1); a.runPost(1) }, UnsizedOneCount, true, "were for 1 frame: record another number"},
		{"several frames, always as many", func(a *renderArena) { a.runPost(4) }, UnsizedOneCount, false, "were for 4 frames"},
		{"marks that are restored", func(a *renderArena) {
			a.open("render")
			a.open("post", arena.Int(FramesParam, 1))
			a.Mark()
			_ = a.Restore()
			a.close()
		}, UnsizedMoves, false, "which a replay cannot follow"},
		{"another route", func(a *renderArena) { a.runPost(1, arena.Int("width", 480)); a.runPost(3, arena.Int("width", 960)) }, UnsizedOneCount, false, "were for 3 frames"},
	} {
		r := newRender(t)
		a := r.newArena(1 << 20)
		test.run(a)
		size := sizeOfPost(r, a)
		var failed *UnsizedError
		if !errors.As(size.Err, &failed) || failed.Reason != test.want || size.Bound != test.bound || !strings.Contains(size.Err.Error(), test.says) {
			t.Errorf("%s: %+v, %v", test.name, size, size.Err)
		}
		if peak := size.PeakAt(2); peak.Known != test.bound || test.bound && peak.Value != 2*(4*7+4*64) || peak.Known == (peak.Why != "") {
			t.Errorf("%s: the peak for 2 frames is %+v", test.name, peak)
		}
	}
}

// TestRunsThatDependOnTheirData are not solved, and say so.
func TestRunsThatDependOnTheirData(t *testing.T) {
	post := func(a *renderArena, frames int64, items ...int64) {
		a.open("render")
		a.open("post", arena.Int(FramesParam, frames))
		for _, n := range items {
			if _, err := a.Alloc(n, 4); err != nil {
				t.Fatal(err)
			}
		}
		a.close()
		a.close()
	}
	r := newRender(t)
	a := r.newArena(1 << 20)
	post(a, 2, 5)
	post(a, 4, 5, 5)
	var unsolved *recorder.SolveError
	if size := sizeOfPost(r, a); !errors.As(size.Err, &unsolved) || unsolved.Reason != recorder.SolveOtherCount || size.Trace != nil {
		t.Errorf("%+v", size)
	}
	post(a, 1, 3)
	if size := sizeOfPost(r, a); !errors.As(size.Err, &unsolved) || !size.Bound || size.PeakAt(4).Value != 4*3*4 {
		t.Errorf("with a run of 1 frame: %+v", size)
	}
	r = newRender(t)
	a = r.newArena(1 << 20)
	post(a, 1, 3)
	post(a, 2, 6)
	post(a, 3, 10)
	post(a, 5, 15)
	var failed *UnsizedError
	if size := sizeOfPost(r, a); !errors.As(size.Err, &failed) || failed.Reason != UnsizedDisagrees || failed.Frames != 3 {
		t.Errorf("a run off the line: %+v, %v", size, size.Err)
	}
}

// TestSizerFollows a live arena: what is solved stays so, and what is not is
// looked at again.
func TestSizerFollows(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1 << 20)
	sizer := NewScopeSizer(a.id, []string{"render", "post"})
	a.runPost(2)
	r.flush()
	k := keep(r.records, Limits{})
	if size := sizer.Size(k.published(), 1_000_000); size.Trace != nil {
		t.Fatalf("%+v", size)
	}
	from := len(r.records)
	a.runPost(4)
	r.flush()
	for _, record := range r.records[from:] {
		k.take(record)
	}
	if size := sizer.Size(k.published(), 1_000_000); size.Trace == nil || size.Low != 2 || size.High != 4 {
		t.Fatalf("%+v, %v", size, size.Err)
	}
}
