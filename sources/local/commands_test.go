package local

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/recorder/open"
)

// commanded runs a demo in a time of its own and calls at between frames.
func commanded(t *testing.T, options Options, at func(r *Render)) {
	t.Helper()
	r, err := newRender(options, &virtualClock{ns: 1e9}, recorder.Hello{Head: recorder.Head{Src: "demo"}}, nowhere(), func(recorder.Record) {})
	if err != nil {
		t.Fatal(err)
	}
	r.boundary = func() { at(r) }
	if err := r.run(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// once is at for one frame; betweenJobs for the first moment without an arena.
func once(frame int64, do func(r *Render)) func(*Render) {
	done := false
	return func(r *Render) {
		if r.frame == frame && !done {
			done = true
			do(r)
		}
	}
}

func betweenJobs(do func(r *Render)) func(*Render) {
	done := false
	return func(r *Render) {
		if r.arena == nil && !done {
			done = true
			do(r)
		}
	}
}

func command(name string) *recorder.Command { return &recorder.Command{ID: "x", Name: name} }

func TestForceReclaimGivesFreeSegmentsBack(t *testing.T) {
	commanded(t, Options{Frames: 30}, once(20, func(r *Render) {
		usage, _ := r.memory.usage()
		ack := r.do(command(recorder.CommandForceReclaim))
		if ack.State != recorder.AckDone || !*ack.Acted || len(ack.Result) < 2 {
			t.Fatalf("%+v", ack)
		}
		before, _ := ack.Before[1].Values.Get(recorder.Reserved)
		after, _ := ack.After[1].Values.Get(recorder.Reserved)
		var freed int64
		for _, line := range ack.Result {
			if strings.HasPrefix(line.What, "empty caches") {
				freed = *line.Freed
				if line.Why == "" && after > 0 {
					t.Error("it does not say why less came back")
				}
			}
		}
		if before != usage.Reserved || before-after != freed {
			t.Errorf("reserved %d → %d, and %d are said to be freed", before, after, freed)
		}
	}))
}

func TestReclaimWithoutPressureSaysThatNothingCallsForIt(t *testing.T) {
	commanded(t, Options{Frames: 3}, once(0, func(r *Render) {
		ack := r.do(command(recorder.CommandReclaim))
		if ack.State != recorder.AckDone || *ack.Acted || ack.Why == "" {
			t.Errorf("%+v", ack)
		}
	}))
}

func TestRebuildIsRefusedOverLiveBlocksAndDoneBetweenJobs(t *testing.T) {
	commanded(t, Options{Frames: jobFrames}, once(10, func(r *Render) {
		ack := r.do(command(recorder.CommandRebuild))
		if ack.State != recorder.AckFailed || !strings.Contains(ack.Why, "live allocations hold") || !strings.Contains(ack.Why, "textures ") {
			t.Errorf("%s: %s", ack.State, ack.Why)
		}
	}))
	commanded(t, Options{Frames: jobFrames + 5}, betweenJobs(func(r *Render) {
		ack := r.do(command(recorder.CommandRebuild))
		if ack.State != recorder.AckDone || !*ack.Acted || *ack.Result[0].Freed == 0 {
			t.Errorf("%+v", ack)
		}
		if states := r.poolStates(); states[0].Generation != 1 || len(states[0].Generations) != 1 || len(states[0].Blocks.Address) != 0 {
			t.Errorf("after a rebuild the pool is %+v", states[0])
		}
		if !r.stream.StateDue() {
			t.Error("no state is due after a rebuild")
		}
	}))
}

func TestResetPeakStartsOver(t *testing.T) {
	commanded(t, Options{Frames: 30}, once(25, func(r *Render) {
		ack := r.do(command(recorder.CommandResetPeak))
		line := ack.Result[0]
		if _, current := r.memory.outside.ReadPeak(); *line.After != current || *line.Before <= current {
			t.Errorf("the peak went %d → %d with %d in use", *line.Before, *line.After, current)
		}
		usage, _ := r.memory.usage()
		if usage.PeakAllocated != usage.Allocated {
			t.Errorf("the pool's peak is %d with %d in use", usage.PeakAllocated, usage.Allocated)
		}
	}))
}

func TestHeadroomCheckActsBelowItsFraction(t *testing.T) {
	commanded(t, Options{Frames: 20}, once(15, func(r *Render) {
		free, total, _ := r.memory.device.MemoryInfo()
		share := float64(free) / float64(total)
		idle := command(recorder.CommandHeadroom)
		idle.Args.Fraction = share / 2
		if ack := r.do(idle); ack.State != recorder.AckDone || *ack.Acted || ack.Result[0].Why == "" {
			t.Errorf("with %.2f free a check at half of it: %+v", share, ack)
		}
		acts := command(recorder.CommandHeadroom)
		acts.Args.Fraction = min(1, share*1.5)
		if ack := r.do(acts); ack.State != recorder.AckDone || !*ack.Acted {
			t.Errorf("with %.2f free a check above it: %+v", share, ack)
		}
		wrong := command(recorder.CommandHeadroom)
		wrong.Args.Fraction = 7
		if ack := r.do(wrong); ack.State != recorder.AckFailed {
			t.Errorf("a fraction of 7: %+v", ack)
		}
	}))
}

func TestCalibrationHoldsEveryArenaSinceRecordingWasArmed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "dump.vscope.zst")
	started := false
	commanded(t, Options{Frames: 3 * jobFrames}, func(r *Render) {
		switch {
		case !started:
			started = true
			none := command(recorder.CommandCalibration)
			none.Args.Path = path
			if ack := r.do(none); ack.State != recorder.AckFailed || !strings.Contains(ack.Why, "not armed") {
				t.Errorf("a dump of nothing: %+v", ack)
			}
			if ack := r.do(command(recorder.CommandRecordOn)); ack.State != recorder.AckDone || !*ack.Acted {
				t.Errorf("record on: %+v", ack)
			}
			if ack := r.do(none); ack.State != recorder.AckFailed || !strings.Contains(ack.Why, "no job has begun after recording was armed") {
				t.Errorf("a dump before the first job: %+v", ack)
			}
		case r.frame == 3*jobFrames-1 && r.arena == nil:
			write := command(recorder.CommandCalibration)
			write.Args.Path = path
			if ack := r.do(write); ack.State != recorder.AckDone || ack.Path != path {
				t.Errorf("the dump: %+v", ack)
			}
			if ack := r.do(write); ack.State != recorder.AckFailed || !strings.Contains(ack.Why, "exists") {
				t.Errorf("the same file again: %s %s", ack.State, ack.Why)
			}
			if ack := r.do(command(recorder.CommandRecordOff)); ack.State != recorder.AckDone || !*ack.Acted {
				t.Errorf("record off: %+v", ack)
			}
		}
	})
	file, err := open.Open(path, open.Watch{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Recording.Close()
	var arenas []recorder.ArenaState
	var hello *recorder.Hello
	peaks := 0
	for {
		record, err := file.Recording.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch r := record.(type) {
		case *recorder.Hello:
			hello = r
		case *recorder.State:
			arenas = append(arenas, r.Arenas...)
		case *recorder.Peak:
			peaks++
		}
	}
	if hello == nil || hello.Kind != recorder.KindCalibration {
		t.Fatalf("the dump begins with %+v", hello)
	}
	// The job under way when recording was armed is not in it.
	if len(arenas) != 2 || arenas[0].Job != "shot 2" || arenas[1].HasBuffer || len(arenas[1].Tree.Parent) == 0 || peaks == 0 {
		t.Errorf("%d arenas and %d transients are in the dump", len(arenas), peaks)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the dump has mode %v", info.Mode())
	}
}

func TestCalibrationWritesToNoLinkAndNoRelativePath(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "target"), link); err != nil {
		t.Fatal(err)
	}
	started := false
	commanded(t, Options{Frames: jobFrames + 5}, func(r *Render) {
		if !started {
			started = true
			r.do(command(recorder.CommandRecordOn))
		}
		if r.frame != jobFrames+2 {
			return
		}
		for _, path := range []string{link, "dump.vscope", ""} {
			write := command(recorder.CommandCalibration)
			write.Args.Path = path
			if ack := r.do(write); ack.State != recorder.AckFailed || ack.Why == "" {
				t.Errorf("a dump to %q: %+v", path, ack)
			}
		}
	})
	if _, err := os.Lstat(filepath.Join(dir, "target")); err == nil {
		t.Error("the dump went through the link")
	}
}
