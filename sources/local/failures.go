package local

import (
	"errors"

	"vramscope/arena"
	"vramscope/pool"
	"vramscope/recorder"
)

// failure is an out-of-memory that readers have not been told of.
type failure struct {
	id     string // of the allocator
	why    string // why it was refused, where that was not for want of memory on the device
	report pool.OutOfMemoryReport
}

// failed notes an out-of-memory that is over.
func (r *Render) failed(id string, report pool.OutOfMemoryReport) {
	r.failures = append(r.failures, failure{id: id, why: r.memory.device.Refusal(), report: report})
}

// tellFailures reports what could not be had since the last time. outcome is
// what the render did when nothing helped.
func (r *Render) tellFailures(outcome string) {
	for _, failure := range r.failures {
		report := failure.report
		frame := r.frame
		oom := &recorder.OOM{
			Head: r.stream.Head(), ID: failure.id, Asked: report.Asked,
			Free: known(report.FreeDevice), PoolFree: known(report.PoolFree), LargestFree: known(report.LargestFree),
			Rule: report.Rule, Scope: r.where(), Frame: &frame, Rescued: report.Rescued, Outcome: report.Outcome,
		}
		if !report.Rescued && outcome != "" {
			oom.Outcome += "; " + outcome
		}
		if failure.why != "" {
			oom.Outcome += "; " + failure.why
		}
		for _, step := range report.Steps {
			oom.Steps = append(oom.Steps, recorder.LadderStep{
				Attempt: step.Attempt, Action: step.Action.String(), Freed: known(step.Freed), Ns: step.Nanoseconds, Why: step.Why,
			})
		}
		r.stream.Emit(oom)
	}
	r.failures = r.failures[:0]
}

// tellArenaFull reports an allocation that did not fit between the pointers.
func (r *Render) tellArenaFull(err error, rule, outcome string) {
	var full *arena.InsufficientMemoryError
	if !errors.As(err, &full) {
		return
	}
	frame, remaining := r.frame, full.Remaining
	r.stream.Emit(&recorder.OOM{
		Head: r.stream.Head(), ID: r.arenaID(), Asked: full.Asked, LargestFree: &remaining, Rule: rule,
		Scope: r.where(), Frame: &frame, Rescued: true, Outcome: outcome,
	})
}

func (r *Render) note(level, text string) {
	r.stream.Emit(&recorder.Note{Head: r.stream.Head(), Level: level, Text: text})
}

// known is a number that may be pool.Unknown, as records say it.
func known(n int64) *int64 {
	if n == pool.Unknown {
		return nil
	}
	return &n
}
