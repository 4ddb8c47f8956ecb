package pool

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// scriptedHost is a ReleaseEffects that writes down what is done to it and
// changes as the script says. A real host under pressure cannot be had in a
// test.
type scriptedHost struct {
	device      DeviceKind
	gpu         bool
	host        []bool // what HostPressure answers, the last one for good
	reclaimable int64
	available   []int64 // what HostAvailable answers, the last one for good
	program     bool
	resets      bool

	done      []string
	gpuProbes int
}

func next[T any](answers *[]T, otherwise T) T {
	if len(*answers) == 0 {
		return otherwise
	}
	answer := (*answers)[0]
	if len(*answers) > 1 {
		*answers = (*answers)[1:]
	}
	return answer
}

func (s *scriptedHost) Device() DeviceKind    { return s.device }
func (s *scriptedHost) HostPressure() bool    { return next(&s.host, false) }
func (s *scriptedHost) Reclaimable() int64    { return s.reclaimable }
func (s *scriptedHost) DriverFree() int64     { return Unknown }
func (s *scriptedHost) HostAvailable() int64  { return next(&s.available, Unknown) }
func (s *scriptedHost) ProgramHeadroom() bool { return s.program }

func (s *scriptedHost) GPUPressure() bool {
	s.gpuProbes++
	return s.gpu
}

func (s *scriptedHost) Collect() ReleaseOutcome {
	s.done = append(s.done, "gc")
	return ReleaseOutcome{Freed: Unknown}
}

func (s *scriptedHost) EmptyCaches() ReleaseOutcome {
	s.done = append(s.done, "empty")
	return ReleaseOutcome{Freed: 0}
}

func (s *scriptedHost) ClearImports() ReleaseOutcome {
	s.done = append(s.done, "imports")
	return ReleaseOutcome{Freed: 0}
}

func (s *scriptedHost) TrimHost() bool {
	s.done = append(s.done, "trim")
	return true
}

func (s *scriptedHost) ResetRuntime() bool {
	s.done = append(s.done, "reset")
	return s.resets
}

// release runs one release and says what it did.
func (s *scriptedHost) release(force bool) []string {
	NewReleasePolicy(s, (&manualClock{}).read).Release(force)
	return s.done
}

func TestThePinnedSequencesOfARelease(t *testing.T) {
	for _, row := range []struct {
		name  string
		host  scriptedHost
		force bool
		want  []string
	}{
		{"trim does not relieve: reset and trim again",
			scriptedHost{host: []bool{true}, resets: true}, false, []string{"gc", "trim", "reset", "trim"}},
		{"trim relieves", scriptedHost{host: []bool{true, false}, resets: true}, false, []string{"gc", "trim"}},
		{"the reset is refused: no second trim", scriptedHost{host: []bool{true}}, false, []string{"gc", "trim", "reset"}},
		{"forced without pressure", scriptedHost{}, true, []string{"gc"}},
		{"without pressure and a device", scriptedHost{}, false, nil},
		{"Metal drops its imports before its caches",
			scriptedHost{device: UnifiedDevice, gpu: true}, false, []string{"gc", "imports", "empty"}},
	} {
		if got := row.host.release(row.force); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}

func TestTheTruthTableOfARelease(t *testing.T) {
	const enough, little = MinimumReclaimable, MinimumReclaimable - 1
	for _, row := range []struct {
		force, gpu, host bool
		reclaimable      int64
		want             []string
	}{
		{false, false, false, little, nil},
		{false, false, false, enough, nil},
		{false, true, false, little, []string{"gc"}},
		{false, true, false, enough, []string{"gc", "empty"}},
		{true, false, false, little, []string{"gc", "empty"}},
		{true, true, false, enough, []string{"gc", "empty"}},
		{false, false, true, little, []string{"gc", "trim"}},
		{false, false, true, enough, []string{"gc", "empty", "trim"}},
		{false, true, true, little, []string{"gc", "trim"}},
		{true, false, true, little, []string{"gc", "empty", "trim"}},
	} {
		host := scriptedHost{device: CachingDevice, gpu: row.gpu, host: []bool{row.host, false}, reclaimable: row.reclaimable}
		if got := host.release(row.force); !slices.Equal(got, row.want) {
			t.Errorf("force %v, device %v, host %v, %d cached: %v, want %v",
				row.force, row.gpu, row.host, row.reclaimable, got, row.want)
		}
	}
}

func TestAForcedReleaseDoesNotProbeTheDevice(t *testing.T) {
	host := scriptedHost{device: CachingDevice, gpu: true}
	host.release(true)
	if host.gpuProbes != 0 {
		t.Errorf("probed %d times", host.gpuProbes)
	}
	host.release(false)
	if host.gpuProbes != 1 {
		t.Errorf("an unforced one probed %d times", host.gpuProbes)
	}
}

func TestHostPressureThatGainsNothingIsSkipped(t *testing.T) {
	host := &scriptedHost{host: []bool{true}, available: []int64{gib}}
	policy := NewReleasePolicy(host, nil)
	var ran []int
	for call := range 100 {
		host.done = nil
		report := policy.Release(false)
		if report.BackedOff == report.Acted() {
			t.Fatalf("call %d: skipped %v and acted %v", call, report.BackedOff, report.Acted())
		}
		if report.Acted() {
			ran = append(ran, call)
		} else if !strings.HasPrefix(report.Trigger, "host pressure, skipped") {
			t.Fatalf("call %d: %q", call, report.Trigger)
		}
	}
	if want := []int{0, 2, 5, 10, 19, 36, 69}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
}

func TestWhatTheBackoffNeverSkips(t *testing.T) {
	for _, row := range []struct {
		name   string
		host   scriptedHost
		policy func(*ReleasePolicy)
		force  bool
	}{
		{"forced", scriptedHost{host: []bool{true}, available: []int64{gib}}, nil, true},
		{"device pressure too", scriptedHost{host: []bool{true}, available: []int64{gib}, gpu: true}, nil, false},
		{"no telemetry", scriptedHost{host: []bool{true}}, nil, false},
		{"turned off", scriptedHost{host: []bool{true}, available: []int64{gib}},
			func(p *ReleasePolicy) { p.DisableBackoff = true }, false},
	} {
		policy := NewReleasePolicy(&row.host, nil)
		if row.policy != nil {
			row.policy(policy)
		}
		for range 10 {
			if report := policy.Release(row.force); report.BackedOff || !report.Acted() {
				t.Errorf("%s: skipped", row.name)
				break
			}
		}
	}
}

func TestReleasesCoalesceToOne(t *testing.T) {
	host := &scriptedHost{device: CachingDevice}
	policy := NewReleasePolicy(host, nil)
	report, released := policy.Coalesce(func() {
		for range 3 {
			if inner := policy.Release(false); !inner.Deferred || inner.Acted() {
				t.Errorf("not deferred: %+v", inner)
			}
		}
		host.gpu = true
	})
	if !released || !slices.Equal(host.done, []string{"gc"}) {
		t.Errorf("at the end: %v, %v", released, host.done)
	}
	if report.Trigger != "device pressure" || policy.Pending() {
		t.Errorf("report %+v, pending %v", report, policy.Pending())
	}
	if _, released := policy.Coalesce(func() {}); released {
		t.Error("released although nothing waited")
	}
}

func TestOnlyTheOutermostScopeReleases(t *testing.T) {
	host := &scriptedHost{device: CachingDevice}
	policy := NewReleasePolicy(host, nil)
	policy.Coalesce(func() {
		if _, released := policy.Coalesce(func() { policy.Release(false) }); released {
			t.Error("the inner scope released")
		}
		if !policy.Pending() {
			t.Error("the inner scope forgot what waits")
		}
	})
	if policy.Pending() {
		t.Error("still pending outside")
	}
}

func TestACoalescingScopeReleasesOnAPanic(t *testing.T) {
	host := &scriptedHost{device: CachingDevice}
	policy := NewReleasePolicy(host, nil)
	func() {
		defer func() { _ = recover() }()
		policy.Coalesce(func() {
			policy.Release(false)
			host.gpu = true
			panic("a frame failed")
		})
	}()
	if !slices.Equal(host.done, []string{"gc"}) || policy.Pending() {
		t.Errorf("done %v, pending %v", host.done, policy.Pending())
	}
	if report := policy.Release(false); report.Deferred {
		t.Error("the depth was not restored")
	}
}

func TestWhatACoalescingScopeDoesNotHoldUp(t *testing.T) {
	for _, row := range []struct {
		name   string
		host   scriptedHost
		force  bool
		defers bool
	}{
		{"no pressure, little cached", scriptedHost{device: CachingDevice, reclaimable: MinimumReclaimable - 1}, false, true},
		{"no pressure, 128 MiB cached", scriptedHost{device: CachingDevice, reclaimable: MinimumReclaimable}, false, false},
		{"forced", scriptedHost{device: CachingDevice}, true, false},
		{"device pressure", scriptedHost{device: CachingDevice, gpu: true}, false, false},
		{"Metal", scriptedHost{device: UnifiedDevice}, false, false},
		{"host pressure", scriptedHost{device: CachingDevice, host: []bool{true}}, false, false},
		{"host pressure with room for programs", scriptedHost{device: CachingDevice, host: []bool{true}, program: true}, false, true},
	} {
		policy := NewReleasePolicy(&row.host, nil)
		policy.Coalesce(func() {
			if report := policy.Release(row.force); report.Deferred != row.defers {
				t.Errorf("%s: deferred %v", row.name, report.Deferred)
			}
		})
	}
}

func TestProgramsStayAboveTheCommitFloor(t *testing.T) {
	for _, row := range []struct {
		available, limit int64
		want             bool
	}{
		{gib, 4 * gib, false}, {gib + 1, 4 * gib, true},
		{15 * gib, 100 * gib, false}, {15*gib + 1, 100 * gib, true},
	} {
		if got := ProgramHeadroom(row.available, row.limit); got != row.want {
			t.Errorf("%d of %d: %v", row.available, row.limit, got)
		}
	}
}

func TestAReleaseOfARealPoolSaysWhatItDidAndWhatStays(t *testing.T) {
	clock := &manualClock{}
	tiered, host := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsOnly}, Options{Clock: clock.read})
	kept := mustAllocate(t, tiered, 1<<20)
	cached := mustAllocate(t, tiered, 8<<20)
	tiered.OnCollect(func() int64 {
		clock.now += 200 * millisecond
		mustFree(t, tiered, cached, 8<<20)
		return 8 << 20
	})
	policy := NewReleasePolicy(tiered.ReleaseEffects(calmHost), clock.read)

	if report := policy.Release(false); report.Acted() || report.String() != "nothing done: no pressure" {
		t.Errorf("unforced without pressure: %s", report)
	}

	report := policy.Release(true)
	want := []string{
		"forced",
		"collect: cached 0 B → 8.0 MiB, 8.0 MiB freed in 200ms",
		"empty caches: driver free 55.0 MiB → 63.0 MiB, 8.0 MiB freed in 0s",
	}
	if got := strings.Split(report.String(), "\n"); !slices.Equal(got, want) {
		t.Errorf("got\n%s", report)
	}
	if free, _, _ := host.MemoryInfo(); report.DriverFreeAfter != free || report.DriverFreeBefore != 55<<20 || free != 63<<20 {
		t.Errorf("driver free %d → %d", report.DriverFreeBefore, report.DriverFreeAfter)
	}
	mustFree(t, tiered, kept, 1<<20)
}

func TestAReleaseSaysWhyLessCameBack(t *testing.T) {
	tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsOnly}, Options{Clock: (&manualClock{}).read})
	whole := mustAllocate(t, tiered, 16<<20)
	mustFree(t, tiered, whole, 16<<20)
	live := mustAllocate(t, tiered, 4<<20) // carved out of the 16 MiB
	report := NewReleasePolicy(tiered.ReleaseEffects(calmHost), (&manualClock{}).read).Release(true)
	want := "empty caches: driver free 48.0 MiB → 48.0 MiB, 0 B freed in 0s; " +
		"1 segment holds live blocks: 12.0 MiB free in them cannot go back"
	if got := report.Lines[1].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if report.Lines[0].Why != "no collection hook is registered" || report.Lines[0].Freed != Unknown {
		t.Errorf("collect: %+v", report.Lines[0])
	}
	mustFree(t, tiered, live, 4<<20)
}

func TestDevicePressureReleasesARealPool(t *testing.T) {
	tiered, host := tieredOver(t, HostOptions{Capacity: 256 << 20, Capabilities: poolsOnly}, Options{})
	mustFree(t, tiered, mustAllocate(t, tiered, 208<<20), 208<<20)
	report := NewReleasePolicy(tiered.ReleaseEffects(calmHost), nil).Release(false)
	free, total, _ := host.MemoryInfo()
	if report.Trigger != "device pressure" || len(report.Lines) != 2 || free != total {
		t.Errorf("81 %% used, all of it cached: %s, then %d of %d free", report, free, total)
	}
}

func TestATrimThatIsNotPossibleSaysSo(t *testing.T) {
	tiered, _ := tieredOver(t, HostOptions{Capacity: 64 << 20, Capabilities: poolsOnly}, Options{})
	host := HostEffects{
		Memory: func() HostMemory {
			return HostMemory{Total: 100, Available: 1, CgroupCurrent: Unknown, CgroupLimit: Unknown}
		},
		TrimHost: func() bool { return false },
	}
	report := NewReleasePolicy(tiered.ReleaseEffects(host), nil).Release(false)
	var words []string
	for _, line := range report.Lines {
		words = append(words, fmt.Sprintf("%s: %s", line.What, line.Why))
	}
	want := []string{
		"collect: no collection hook is registered",
		"trim host: this system's allocator gave nothing back",
		"reset runtime: refused, or there is no runtime to reset",
	}
	if !slices.Equal(words, want) {
		t.Errorf("got %q", words)
	}
}
