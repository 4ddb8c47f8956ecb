package model

import (
	"errors"
	"strings"
	"testing"

	"vramscope/recorder"
)

func pointer[T any](value T) *T { return &value }

// TestTheLineThatStays: what · took · before → after · why less.
func TestTheLineThatStays(t *testing.T) {
	before := []recorder.CounterSet{
		counters("pool:1", recorder.OfPool, "host", "", map[recorder.Counter]int64{recorder.Reserved: tenth(227)}),
		counters("cupy", recorder.OfPool, "host", "pool:1", map[recorder.Counter]int64{recorder.Reserved: tenth(50)}),
	}
	after := []recorder.CounterSet{
		counters("pool:1", recorder.OfPool, "host", "", map[recorder.Counter]int64{recorder.Reserved: tenth(184)}),
		counters("cupy", recorder.OfPool, "host", "pool:1", map[recorder.Counter]int64{recorder.Reserved: tenth(10)}),
	}
	peak := func(value int64) []recorder.CounterSet {
		return []recorder.CounterSet{counters("peaks", recorder.OfPeaks, "", "", map[recorder.Counter]int64{recorder.PeakReported: value})}
	}
	for _, check := range []struct {
		name   string
		action Action
		want   string
	}{
		{"sent", Action{Command: recorder.Command{Name: recorder.CommandReclaim}}, "reclaim · sent"},
		{"accepted", Action{Command: recorder.Command{Name: recorder.CommandReclaim}, Accepted: &recorder.Ack{State: recorder.AckAccepted, Where: "frame boundary"}},
			"reclaim · accepted, waits for the program's next frame boundary"},
		{"accepted by a program that tells no frames", Action{Command: recorder.Command{Name: recorder.CommandReclaim}, Accepted: &recorder.Ack{State: recorder.AckAccepted, Where: "between bytecodes"}},
			"reclaim · accepted, waits until the program's main thread is between two bytecodes"},
		{"done", Action{Command: recorder.Command{Name: recorder.CommandForceReclaim}, Final: &recorder.Ack{State: recorder.AckDone, Took: 4_200_000, Before: before, After: after,
			Result: []recorder.ResultLine{{What: "empty cache", Why: "1 segment is split"}}}},
			"force reclaim · 4.2 ms · reserved 22.7 GiB → 18.4 GiB · 1 segment is split"},
		{"several", Action{Command: recorder.Command{Name: recorder.CommandForceReclaim}, Final: &recorder.Ack{State: recorder.AckDone, Result: []recorder.ResultLine{
			{What: "gc"}, {What: "torch 0", Freed: pointer(int64(1 << 30)), Why: "12 segments are split"}, {What: "cupy", Why: "its blocks are in use"},
			{What: "rmm", Why: "an RMM pool never shrinks: rebuild it once nothing lives in it, and only then"}, {What: "jax", Why: "it has no call for it"}}}},
			"force reclaim · 1.0 GiB back to the driver · torch 0: 12 segments are split · cupy: its blocks are in use · 2 more reasons"},
		{"freed", Action{Command: recorder.Command{Name: recorder.CommandReclaim}, Final: &recorder.Ack{State: recorder.AckDone,
			Result: []recorder.ResultLine{{What: "gc", Freed: pointer(int64(1 << 20))}, {What: "empty cache", Freed: pointer(int64(1 << 20))}}}},
			"reclaim · 2.0 MiB back to the driver"},
		{"what came back of what is reserved, and of which step the reason is", Action{Command: recorder.Command{Name: recorder.CommandForceReclaim}, Final: &recorder.Ack{
			State: recorder.AckDone, Before: before, After: after, Result: []recorder.ResultLine{
				{What: "torch: empty cache: driver free on GPU #1", Before: pointer(int64(0)), After: pointer(int64(3 << 30)), Freed: pointer(int64(3 << 30)), Why: "12 segments are split"},
				{What: "cupy: free all blocks: driver free", Before: pointer(int64(3 << 30)), After: pointer(int64(3 << 30)), Freed: pointer(int64(0)), Why: "34.0 MiB lie in split chunks"}}}},
			"force reclaim · reserved 22.7 GiB → 18.4 GiB · 3.0 GiB back to the driver · torch: empty cache on GPU #1: 12 segments are split · " +
				"cupy: free all blocks: 34.0 MiB lie in split chunks"},
		{"nothing came back", Action{Command: recorder.Command{Name: recorder.CommandForceReclaim}, Final: &recorder.Ack{State: recorder.AckDone, Before: before, After: before,
			Result: []recorder.ResultLine{{What: "empty cache: driver free", Before: pointer(int64(0)), After: pointer(int64(0)), Freed: pointer(int64(0)), Why: "1 segment is split"}}}},
			"force reclaim · reserved 22.7 GiB → 22.7 GiB · nothing back to the driver · 1 segment is split"},
		{"a pool that lies in no other one any more", Action{Command: recorder.Command{Name: recorder.CommandRebuild}, Final: &recorder.Ack{State: recorder.AckDone,
			Before: []recorder.CounterSet{
				counters("rmm:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{recorder.Reserved: tenth(40)}),
				counters("vibespatial", recorder.OfPool, "gpu", "rmm:0", map[recorder.Counter]int64{recorder.Reserved: tenth(6)})},
			After: []recorder.CounterSet{
				counters("rmm:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{recorder.Reserved: tenth(19)}),
				counters("vibespatial", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{recorder.Reserved: tenth(6)})}}},
			"rebuild pool · reserved 4.0 GiB → 2.5 GiB"},
		{"what the one step counts", Action{Command: recorder.Command{Name: recorder.CommandForceReclaim}, Final: &recorder.Ack{State: recorder.AckDone,
			Result: []recorder.ResultLine{{What: "collect garbage, 3 unreachable objects: resident set", Before: pointer(int64(3 << 20)), After: pointer(int64(2 << 20))}}}},
			"force reclaim · resident set 3.0 MiB → 2.0 MiB"},
		{"nothing was needed", Action{Command: recorder.Command{Name: recorder.CommandHeadroom}, Final: &recorder.Ack{State: recorder.AckDone, Acted: pointer(false), Before: before, After: before,
			Result: []recorder.ResultLine{{What: "headroom check at 15 %: driver free", Before: pointer(int64(9)), After: pointer(int64(9)), Freed: pointer(int64(0))}}}},
			"headroom check · nothing was needed · reserved 22.7 GiB → 22.7 GiB"},
		{"headroom", Action{Command: recorder.Command{Name: recorder.CommandHeadroom}, Final: &recorder.Ack{State: recorder.AckDone, Acted: pointer(false), Why: "40 % of the device are free"}},
			"headroom check · nothing was needed · 40 % of the device are free"},
		{"peak", Action{Command: recorder.Command{Name: recorder.CommandResetPeak}, Final: &recorder.Ack{State: recorder.AckDone, Took: 2700, Before: peak(1000), After: peak(300)}},
			"reset peak floor · 2.7 us · peak 1000 B → 300 B"},
		{"refused", Action{Command: recorder.Command{Name: recorder.CommandRebuild}, Final: &recorder.Ack{State: recorder.AckRefused, Why: "3 live allocations hold 4096 bytes"}},
			"rebuild pool refused · 3 live allocations hold 4096 bytes"},
		{"recorded", Action{Command: recorder.Command{Name: recorder.CommandRecordOn}, Final: &recorder.Ack{State: recorder.AckDone, Path: "/tmp/r.vscope"}},
			"record on · /tmp/r.vscope"},
	} {
		if got := check.action.Line(); got != check.want {
			t.Errorf("%s: %q, want %q", check.name, got, check.want)
		}
	}
}

// TestWhatACommandWaitsFor: what, for how long, and until when.
func TestWhatACommandWaitsFor(t *testing.T) {
	a := Action{Command: recorder.Command{Name: recorder.CommandReclaim, TTL: 30_000}, Sent: 5_000_000_000}
	for _, check := range []struct {
		accepted *recorder.Ack
		now      int64
		want     string
	}{
		{nil, 5_000_000_000, "reclaim on render.py · sent, not taken yet"},
		{nil, 9_900_000_000, "reclaim on render.py · sent, not taken yet · 4 s"},
		{&recorder.Ack{State: recorder.AckAccepted}, 5_500_000_000, "reclaim on render.py · accepted"},
		{&recorder.Ack{State: recorder.AckAccepted, Where: "the next frame boundary"}, 12_000_000_000, "reclaim on render.py · waits for the next frame boundary · 7 s of at most 30 s"},
		{&recorder.Ack{State: recorder.AckAccepted, Where: "between bytecodes"}, 12_000_000_000,
			"reclaim on render.py · waits until the program's main thread is between two bytecodes · 7 s of at most 30 s"},
		{&recorder.Ack{State: recorder.AckAccepted, Where: "frame boundary, then the device's work in flight"}, 12_000_000_000,
			"reclaim on render.py · waits for the program's next frame boundary, then the device's work in flight · 7 s of at most 30 s"},
		{&recorder.Ack{State: recorder.AckAccepted, Where: "running"}, 12_000_000_000, "reclaim on render.py · runs · 7 s of at most 30 s"},
		{&recorder.Ack{State: recorder.AckAccepted, Where: "the device"}, 40_000_000_000, "reclaim on render.py · waits for the device · 35 s: its 30 s are over, it begins no more"}, // it runs
	} {
		a.Accepted = check.accepted
		if got := a.Waiting(check.now, "render.py"); got != check.want {
			t.Errorf("%q, want %q", got, check.want)
		}
	}
}

// obedient is a live process that obeys everything.
func obedient() *SourceView {
	return &SourceView{ID: "pid:812-1", Src: "pid:812-1", Kind: recorder.KindProcess, Name: "render.py", Status: StatusLive, Now: 1_000_000_000,
		Hello: &recorder.Hello{PID: 812, GPUs: []recorder.GPU{{UUID: "GPU-1"}}, Refuses: map[string]string{recorder.CommandCalibration: "nothing was recorded"},
			Commands: []string{recorder.CommandReclaim, recorder.CommandForceReclaim, recorder.CommandRebuild}}}
}

func TestWhatAKeyMayDo(t *testing.T) {
	change := func(do func(*SourceView)) *SourceView {
		v := obedient()
		do(v)
		return v
	}
	livePool := change(func(v *SourceView) {
		v.Pools = []*PoolView{{ID: 1, State: recorder.PoolState{ID: 1, Name: "device pool"}}}
		v.Sets = []recorder.CounterSet{
			counters("pool:1", recorder.OfPool, "host", "", map[recorder.Counter]int64{recorder.LiveBlocks: 2113, recorder.Allocated: tenth(184)}),
			counters("arena:0", recorder.OfArena, "host", "pool:1", nil),
		}
	})
	oneBlock := change(func(v *SourceView) {
		v.Pools = livePool.Pools
		v.Sets = []recorder.CounterSet{counters("pool:1", recorder.OfPool, "host", "", map[recorder.Counter]int64{recorder.LiveBlocks: 1, recorder.Allocated: 55 << 20})}
	})
	for _, check := range []struct {
		name     string
		view     *SourceView
		command  string
		readOnly bool
		want     string // part of the refusal; "" for none
	}{
		{"obeys", obedient(), recorder.CommandReclaim, false, ""},
		{"read-only", obedient(), recorder.CommandReclaim, true, "--readonly"},
		{"a reason of its own", obedient(), recorder.CommandCalibration, false, "nothing was recorded"},
		{"not known", obedient(), recorder.CommandHeadroom, false, "does not know this command; it knows reclaim, force-reclaim, rebuild"},
		{"a recording", change(func(v *SourceView) { v.File = "a.vscope" }), recorder.CommandReclaim, false, "recording"},
		{"a device", change(func(v *SourceView) { v.Kind = recorder.KindDevice }), recorder.CommandReclaim, false, "vramscope run -- python render.py"},
		{"no commands", change(func(v *SourceView) { v.Hello.Commands = nil }), recorder.CommandReclaim, false, "vramscope run -- python render.py"},
		{"no hello", change(func(v *SourceView) { v.Hello = nil }), recorder.CommandReclaim, false, "hello"},
		{"ended", change(func(v *SourceView) { v.Status, v.StatusWhy = StatusEnded, "exit 0" }), recorder.CommandReclaim, false, "it has ended and takes no commands any more: exit 0"},
		{"silent", change(func(v *SourceView) { v.Status = StatusStale }), recorder.CommandReclaim, false, ""},
		{"live blocks", livePool, recorder.CommandRebuild, false, "2113 live allocations hold 18.4 GiB in device pool, among them arena:0"},
		{"a live block", oneBlock, recorder.CommandRebuild, false, "1 live allocation holds 55.0 MiB in device pool"},
		{"live blocks, another key", livePool, recorder.CommandForceReclaim, false, ""},
		{"under way", change(func(v *SourceView) {
			v.Actions = []Action{{Command: recorder.Command{ID: "1", Name: recorder.CommandReclaim, TTL: 5000}, Sent: v.Now - 1}}
		}), recorder.CommandReclaim, false, "under way already: sent, not taken yet"},
		{"long overdue", change(func(v *SourceView) {
			v.Now = 100_000_000_000
			v.Actions = []Action{{Command: recorder.Command{ID: "1", Name: recorder.CommandReclaim, TTL: 5000}, Sent: 1}}
		}), recorder.CommandReclaim, false, ""},
	} {
		err := Permit(check.view, check.command, check.readOnly)
		var refused *RefusedError
		switch {
		case check.want == "" && err != nil:
			t.Errorf("%s: %v", check.name, err)
		case check.want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), check.want) || !strings.Contains(err.Error(), "render.py")):
			t.Errorf("%s: %v, want %q", check.name, err, check.want)
		}
	}
}

func TestOneKeyForAllOfAGPU(t *testing.T) {
	device := &SourceView{ID: "gpu:GPU-1", Kind: recorder.KindDevice, Name: "H200 #0",
		Sets: []recorder.CounterSet{counters("device", recorder.OfDevice, "GPU-1", "", nil)}}
	on := func(id, device string, sets ...recorder.CounterSet) *SourceView {
		v := obedient()
		v.ID, v.Sets = id, append(sets, counters("torch:0", recorder.OfPool, device, "", map[recorder.Counter]int64{recorder.Reserved: 1 << 30}))
		return v
	}
	first, second, elsewhere, recording, ended := on("pid:1", "GPU-1"), on("pid:2", "GPU-1"), on("pid:3", "GPU-2"), on("pid:4", "GPU-1"), on("pid:5", "GPU-1")
	recording.File, ended.Status = "a.vscope", StatusEnded
	s := &Snapshot{Sources: []*SourceView{first, second, elsewhere, recording, ended, device}}
	targets, err := s.Targets(device, recorder.CommandReclaim)
	if err != nil || len(targets) != 2 || targets[0] != first || targets[1] != second {
		t.Errorf("%v, %v", targets, err)
	}
	if targets, err := s.Targets(first, recorder.CommandReclaim); err != nil || len(targets) != 1 {
		t.Errorf("%v, %v", targets, err)
	}
	s.Sources = []*SourceView{device}
	if _, err := s.Targets(device, recorder.CommandReclaim); err == nil || !strings.Contains(err.Error(), "no process that is watched has memory on it; choose another with c, or start the program with `vramscope run -- python render.py`") {
		t.Errorf("%v", err)
	}
}

func TestTheQuestionNamesProcessAndEffect(t *testing.T) {
	for _, command := range []string{recorder.CommandForceReclaim, recorder.CommandRebuild, recorder.CommandResetPeak} {
		if text := Confirmation(command, []*SourceView{obedient()}); !strings.Contains(text, "render.py (pid 812)") || !CommandAsks(command) || len(text) < 60 {
			t.Errorf("%q", text)
		}
	}
	for _, command := range []string{recorder.CommandReclaim, recorder.CommandHeadroom, recorder.CommandRecordOn} {
		if text := Confirmation(command, []*SourceView{obedient()}); text != "" || CommandAsks(command) {
			t.Errorf("%s asks %q", command, text)
		}
	}
}

func TestNoCommandIsSentTwice(t *testing.T) {
	var box Outbox
	v := obedient()
	first, err := box.Command(v, recorder.CommandReclaim, recorder.CommandArgs{}, 1)
	if err != nil || first.TTL <= 0 || len(first.ID) != 16 || first.Src != v.Src {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := box.Command(v, recorder.CommandReclaim, recorder.CommandArgs{}, 2); err == nil {
		t.Error("the key was pressed twice and two commands were made")
	}
	other, err := box.Command(v, recorder.CommandForceReclaim, recorder.CommandArgs{}, 2)
	if err != nil || other.ID == first.ID {
		t.Errorf("another command: %+v, %v", other, err)
	}
	v.Actions = []Action{{Command: *first, Final: &recorder.Ack{State: recorder.AckDone}}}
	if _, err := box.Command(v, recorder.CommandReclaim, recorder.CommandArgs{}, 3); err != nil {
		t.Errorf("answered, and still refused: %v", err)
	}
	box.Failed(v, other)
	if _, err := box.Command(v, recorder.CommandForceReclaim, recorder.CommandArgs{}, 4); err != nil {
		t.Errorf("it could not be sent, and is still refused: %v", err)
	}
	box.ReadOnly = true
	if _, err := box.Command(v, recorder.CommandRebuild, recorder.CommandArgs{}, 5); err == nil {
		t.Error("read-only sends")
	}
}

func TestSizesAndTimesInWords(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", -3 << 29: "−1.5 GiB", 1<<63 - 1: "8.0 EiB", 1048575: "1.0 MiB"} {
		if got := FormatBytes(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
	for ns, want := range map[int64]string{12: "12 ns", 2700: "2.7 us", 4_200_000: "4.2 ms", 1_300_000_000: "1.3 s", 125_000_000_000: "2 min 5 s", 7_260_000_000_000: "2 h 1 min", -12: "−12 ns"} {
		if got := FormatDuration(ns); got != want {
			t.Errorf("%d: %q, want %q", ns, got, want)
		}
	}
}
