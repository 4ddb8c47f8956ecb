package pool

// ReleasePolicy gives memory back when pressure calls for it, and only then. It
// mirrors algan's release_torch_memory with its host backoff and its coalescing
// scope. The original forces by default; here the caller always says.
//
// One goroutine owns a policy: the one whose allocations it releases.
type ReleasePolicy struct {
	// DisableBackoff lets host pressure act each time, however little it gains.
	DisableBackoff bool

	effects ReleaseEffects
	clock   func() int64
	backoff Backoff
	depth   int
	pending bool
}

// ReleaseEffects is what a policy reads and does. Every byte count may be
// Unknown.
type ReleaseEffects interface {
	// Device says what there is to empty. It does not change.
	Device() DeviceKind
	// HostPressure and GPUPressure are the pressure predicates.
	HostPressure() bool
	GPUPressure() bool
	// Reclaimable is reserved − allocated of the device in bytes, 0 when it
	// cannot be read.
	Reclaimable() int64
	// DriverFree is the device's free memory as the driver counts it, bytes.
	DriverFree() int64
	// HostAvailable is the host's available memory, bytes. Unknown turns the
	// backoff off, as everywhere but on Windows in algan.
	HostAvailable() int64
	// ProgramHeadroom says whether compiled programs may stay (see the function
	// of that name); false where it is not measured.
	ProgramHeadroom() bool

	// Collect drops what nothing needs any more.
	Collect() ReleaseOutcome
	// EmptyCaches gives whole free segments back to the driver.
	EmptyCaches() ReleaseOutcome
	// ClearImports drops zero-copy imports of a UnifiedDevice.
	ClearImports() ReleaseOutcome
	// TrimHost gives free host memory back to the system, false where that is
	// not possible.
	TrimHost() bool
	// ResetRuntime drops what a second runtime holds, such as compiled kernels;
	// false when it refuses, as while a render is active.
	ResetRuntime() bool
}

// ReleaseOutcome is what one effect did.
type ReleaseOutcome struct {
	Freed int64  // bytes, Unknown when nobody counted
	Why   string // why not more came back, a sentence without a full stop; "" when everything did
}

// NewReleasePolicy makes a policy over effects. clock gives monotonic
// nanoseconds; nil takes the process's own.
func NewReleasePolicy(effects ReleaseEffects, clock func() int64) *ReleasePolicy {
	return &ReleasePolicy{effects: effects, clock: clockOr(clock)}
}

// Release does what pressure calls for, or with force empties the caches
// whatever the pressure. Force skips the backoff and the coalescing scope; it
// forces no trim and no reset.
func (p *ReleasePolicy) Release(force bool) ReleaseReport {
	run := p.begin(force)
	if p.skipForBackoff(force, &run) {
		run.situation.HostPressured = false
		run.report.BackedOff = true
	}
	decision := DecideRelease(run.situation)
	run.report.Trigger = decision.Trigger
	if run.report.BackedOff && decision.Trigger == "no pressure" {
		run.report.Trigger = "host pressure, skipped: the last releases gained little"
	}
	if decision.Defer {
		p.pending = true
		run.report.Deferred = true
		return run.end(p)
	}
	p.pending = false
	run.perform(p, decision)
	if run.noteBackoff != Unknown {
		p.backoff.Note(run.noteBackoff, p.effects.HostAvailable())
	}
	return run.end(p)
}

// Coalesce runs body and lets unforced releases inside it wait for its end,
// where one is run for all of them. Releases that pressure makes worth while
// are not held up. Scopes nest: the outermost releases. That happens on a panic
// in body too. released is false when none was waiting.
func (p *ReleasePolicy) Coalesce(body func()) (report ReleaseReport, released bool) {
	p.depth++
	defer func() {
		p.depth--
		if p.depth == 0 && p.pending {
			p.pending = false
			report, released = p.Release(false), true
		}
	}()
	body()
	return report, released
}

// Pending says that a release waits for the end of the coalescing scope.
func (p *ReleasePolicy) Pending() bool { return p.pending }

// BackoffState is how many calls the backoff still skips, and its window.
func (p *ReleasePolicy) BackoffState() (skip, window int) { return p.backoff.State() }

// releaseRun is one release under way.
type releaseRun struct {
	situation   ReleaseSituation
	report      ReleaseReport
	started     int64
	noteBackoff int64 // host available before, for the backoff; Unknown when it does not count this run
}

// begin reads the situation. A forced release does not probe the device.
func (p *ReleasePolicy) begin(force bool) releaseRun {
	run := releaseRun{started: p.clock(), noteBackoff: Unknown}
	run.situation = ReleaseSituation{
		Force:           force,
		HostPressured:   p.effects.HostPressure(),
		Device:          p.effects.Device(),
		Coalescing:      p.depth > 0,
		ProgramHeadroom: p.effects.ProgramHeadroom(),
	}
	if !force {
		run.situation.GPUPressured = p.effects.GPUPressure()
	}
	if run.situation.Device != NoDevice {
		run.situation.Reclaimable = p.effects.Reclaimable()
	}
	run.report.Forced = force
	run.report.DriverFreeBefore = p.effects.DriverFree()
	run.report.HostAvailableBefore = p.effects.HostAvailable()
	return run
}

// skipForBackoff says whether host pressure is left alone this time. Only a
// release that nothing but host pressure calls for can be skipped.
func (p *ReleasePolicy) skipForBackoff(force bool, run *releaseRun) bool {
	available := run.report.HostAvailableBefore
	if !run.situation.HostPressured || run.situation.GPUPressured || force || p.DisableBackoff || available == Unknown {
		return false
	}
	if p.backoff.BackedOff() {
		return true
	}
	run.noteBackoff = available
	return false
}

func (r *releaseRun) perform(p *ReleasePolicy, decision ReleaseDecision) {
	if decision.Collect {
		r.step(p, "collect", GaugeCached, p.effects.Collect)
	}
	if decision.EmptyCaches {
		r.step(p, "empty caches", GaugeDriverFree, p.effects.EmptyCaches)
	}
	if decision.ClearImports {
		r.step(p, "clear imports", GaugeDriverFree, p.effects.ClearImports)
		r.step(p, "empty caches", GaugeDriverFree, p.effects.EmptyCaches)
	}
	if !decision.TrimHost {
		return
	}
	r.trim(p)
	if p.effects.HostPressure() && r.reset(p) {
		r.trim(p)
	}
}

func (r *releaseRun) trim(p *ReleasePolicy) {
	r.step(p, "trim host", GaugeHostAvailable, func() ReleaseOutcome {
		if p.effects.TrimHost() {
			return ReleaseOutcome{Freed: Unknown}
		}
		return ReleaseOutcome{Freed: Unknown, Why: "this system's allocator gave nothing back"}
	})
}

func (r *releaseRun) reset(p *ReleasePolicy) (done bool) {
	r.step(p, "reset runtime", GaugeHostAvailable, func() ReleaseOutcome {
		done = p.effects.ResetRuntime()
		if done {
			return ReleaseOutcome{Freed: Unknown}
		}
		return ReleaseOutcome{Freed: Unknown, Why: "refused, or there is no runtime to reset"}
	})
	return done
}

// step runs one effect between two readings of the gauge that shows it.
func (r *releaseRun) step(p *ReleasePolicy, what string, gauge ReleaseGauge, effect func() ReleaseOutcome) {
	line := ReleaseLine{What: what, Gauge: gauge, Before: p.read(gauge)}
	started := p.clock()
	outcome := effect()
	line.Nanoseconds = p.clock() - started
	line.After = p.read(gauge)
	line.Freed, line.Why = outcome.Freed, outcome.Why
	r.report.Lines = append(r.report.Lines, line)
}

func (p *ReleasePolicy) read(gauge ReleaseGauge) int64 {
	switch gauge {
	case GaugeCached:
		if p.effects.Device() == NoDevice {
			return Unknown
		}
		return p.effects.Reclaimable()
	case GaugeDriverFree:
		return p.effects.DriverFree()
	default:
		return p.effects.HostAvailable()
	}
}

func (r *releaseRun) end(p *ReleasePolicy) ReleaseReport {
	r.report.Reclaimable = r.situation.Reclaimable
	r.report.DriverFreeAfter = p.effects.DriverFree()
	r.report.HostAvailableAfter = p.effects.HostAvailable()
	r.report.BackoffSkip, r.report.BackoffWindow = p.backoff.State()
	r.report.Nanoseconds = p.clock() - r.started
	return r.report
}
