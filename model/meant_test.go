package model

import (
	"strings"
	"testing"

	"vramscope/recorder"
)

// TestAKeyMeetsWhoHasMemoryThere: over all kinds of sources that can be selected,
// and all ways in which a program can stand to a GPU. Nobody else is ever meant.
func TestAKeyMeetsWhoHasMemoryThere(t *testing.T) {
	set := func(id, of, device string, counter recorder.Counter, value int64) recorder.CounterSet {
		return counters(id, of, device, "", map[recorder.Counter]int64{counter: value})
	}
	program := func(id string, pid int, sets ...recorder.CounterSet) *SourceView {
		v := obedient() // it sees GPU-1
		v.ID, v.Sets, v.Hello.PID = id, sets, pid
		return v
	}
	gpu := &SourceView{ID: "gpu:GPU-1", Kind: recorder.KindDevice, Name: "H200 #0", Status: StatusLive, Sets: []recorder.CounterSet{
		set("device", recorder.OfDevice, "GPU-1", recorder.Total, 1<<37), set("process:16", recorder.OfProcess, "GPU-1", recorder.Used, 1<<30)}}
	lostGPU := &SourceView{ID: "gpu:GPU-1", Kind: recorder.KindDevice, Name: "H200 #0", Status: StatusLost, Sets: gpu.Sets}
	lostDriver := &SourceView{ID: "nvml", Kind: recorder.KindDevice, Name: "NVIDIA driver", Status: StatusLost}
	recordedGPU := &SourceView{ID: "file:a#gpu:GPU-1", Kind: recorder.KindDevice, Name: "H200 #0", Status: StatusComplete, File: "a.vscope", Sets: gpu.Sets}
	host := &SourceView{ID: "host", Kind: recorder.KindHost, Name: "host", Status: StatusLive, Sets: []recorder.CounterSet{set("host", recorder.OfHost, "host", recorder.Total, 1<<35)}}
	unnamed := program("no hello", 0)
	unnamed.Hello = nil
	mute := program("mute", 17, set("torch:0", recorder.OfPool, "GPU-1", recorder.Reserved, 1<<30))
	mute.Hello.Commands = nil
	programs := []*SourceView{
		program("sees it", 10),
		program("in no device", 11, set("arena:1", recorder.OfArena, "", recorder.Length, 1<<26)),
		program("on the host", 12, set("torch:cpu", recorder.OfPool, "host", recorder.Reserved, 1<<26)),
		program("reads it", 13, set("device:0", recorder.OfDevice, "GPU-1", recorder.Free, 1<<30)),
		program("nothing taken", 14, set("torch:0", recorder.OfPool, "GPU-1", recorder.Reserved, 0)),
		program("resident", 15, set("process", recorder.OfProcess, "host", recorder.Resident, 1<<30)),
		program("the driver counts it", 16),
		program("torch on it", 18, set("torch:0", recorder.OfPool, "GPU-1", recorder.Reserved, 1<<30)),
		program("does not say how much", 19, counters("rmm", recorder.OfPool, "GPU-1", "", nil)),
		program("a context on it", 20, set("context", recorder.OfContext, "GPU-1", recorder.Used, 1<<29)),
		unnamed, mute,
	}
	onGPU := "the driver counts it, torch on it, does not say how much, a context on it"
	for _, check := range []struct {
		name     string
		selected *SourceView
		others   []*SourceView
		want     string // who is meant
		why      string // where nobody is
	}{
		{"a GPU", gpu, programs, onGPU, ""},
		{"a GPU that fell off the bus", lostGPU, programs, onGPU, ""},
		{"a driver that was lost", lostDriver, programs, "", "tells of no device"},
		{"a GPU of a recording", recordedGPU, programs, "", "recording"},
		{"the host", host, programs, "", "takes no commands by itself"},
		{"a GPU that nobody uses", gpu, programs[:5], "", "no process that is watched has memory on it"},
		{"a GPU whose only program does not obey", gpu, []*SourceView{mute}, "", "1 process has memory on it, and none lets us in"},
		{"a program", programs[1], programs, "in no device", ""},
		{"a program that has not said hello", unnamed, programs, "", "hello"},
	} {
		s := &Snapshot{Sources: append([]*SourceView{check.selected}, check.others...)}
		for _, command := range []string{recorder.CommandReclaim, recorder.CommandForceReclaim, recorder.CommandRebuild} {
			var meant []string
			targets, err := s.Targets(check.selected, command)
			for _, target := range targets {
				if err = Permit(target, command, false); err == nil {
					meant = append(meant, target.ID)
				}
			}
			if got := strings.Join(meant, ", "); got != check.want {
				t.Errorf("%s: %s meets %q, want %q", check.name, command, got, check.want)
			}
			if check.want == "" && (err == nil || !strings.Contains(err.Error(), check.why)) {
				t.Errorf("%s: %v, want %q", check.name, err, check.why)
			}
		}
	}
}

// TestTheReachOfAllNeedsADevice: with a, a program whose device is not known is
// met alone.
func TestTheReachOfAllNeedsADevice(t *testing.T) {
	alone, other := obedient(), obedient()
	alone.ID, other.ID = "alone", "other"
	other.Sets = []recorder.CounterSet{counters("arena:1", recorder.OfArena, "", "", nil)}
	s := &Snapshot{Sources: []*SourceView{alone, other}}
	for _, device := range []string{"", "GPU-1"} { // both see GPU-1 and have nothing on it
		if targets, err := s.TargetsOn(device, alone, recorder.CommandReclaim); err != nil || len(targets) != 1 || targets[0] != alone {
			t.Errorf("on %q it meets %v, %v", device, targets, err)
		}
	}
}
