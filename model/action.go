package model

import (
	"fmt"
	"strings"

	"vramscope/recorder"
)

// Line is the command in the line that stays: what was done, how long it took,
// before → after, and why less came back than asked; or why it was not done; or
// what it waits for.
func (a *Action) Line() string {
	title := CommandTitle(a.Command.Name)
	switch {
	case a.Final == nil && a.Accepted == nil:
		return title + " · sent"
	case a.Final == nil && a.Accepted.Where != "":
		return title + " · accepted, " + waitsFor(a.Accepted.Where)
	case a.Final == nil:
		return title + " · accepted"
	}
	ack := a.Final
	parts := []string{title}
	if ack.State != recorder.AckDone {
		parts[0] += " " + ack.State
	}
	if ack.Took > 0 {
		parts = append(parts, FormatDuration(ack.Took))
	}
	if ack.State == recorder.AckDone {
		parts = append(parts, a.outcome()...)
	}
	if ack.Why != "" {
		parts = append(parts, ack.Why)
	}
	if ack.Path != "" {
		parts = append(parts, ack.Path)
	}
	return strings.Join(parts, " · ")
}

// Waiting is a command without an answer in a line: what it waits for, for how
// long it has, and when it gives up. Now is monotonic ns, name what to call the
// program; "" leaves command and program out.
func (a *Action) Waiting(now int64, name string) string {
	text := CommandTitle(a.Command.Name) + " on " + name
	if name == "" {
		text = ""
	}
	switch {
	case a.Accepted == nil:
		text += " · sent, not taken yet"
	case a.Accepted.Where != "":
		text += " · " + waitsFor(a.Accepted.Where)
	default:
		text += " · accepted"
	}
	if waited := (now - a.Sent) / 1e9; a.Sent > 0 && waited > 0 {
		text += fmt.Sprintf(" · %d s", waited)
		if limit := a.Command.TTL / 1000; limit > 0 && a.Accepted != nil {
			if waited <= limit {
				text += fmt.Sprintf(" of at most %d s", limit)
			} else {
				text += fmt.Sprintf(": its %d s are over, it begins no more", limit)
			}
		}
	}
	return strings.TrimPrefix(text, " · ")
}

// waitsFor says what an accepted command waits for. Where is what a source calls
// the safe point, which alone makes no sentence.
func waitsFor(where string) string {
	switch where {
	case "between bytecodes":
		return "waits until the program's main thread is between two bytecodes"
	case "running": // it waits no more
		return "runs"
	}
	if then, ok := strings.CutPrefix(where, "frame boundary"); ok {
		return "waits for the program's next frame boundary" + then
	}
	return "waits for " + where
}

// outcome is before → after, and why it is not more.
func (a *Action) outcome() (parts []string) {
	ack := a.Final
	if ack.Acted != nil && !*ack.Acted {
		parts = append(parts, "nothing was needed")
	}
	change := a.change()
	if change != "" {
		parts = append(parts, change)
	}
	if back := a.back(); back != "" && back != change {
		parts = append(parts, back)
	}
	return append(parts, reasons(ack.Result)...)
}

// back is how much went back to the driver, in all steps together; "" when none
// of them tells, or when none was needed.
func (a *Action) back() string {
	freed, told := int64(0), false
	for _, line := range a.Final.Result {
		if line.Freed != nil {
			freed, told = freed+*line.Freed, true
		}
	}
	switch {
	case !told || a.Final.Acted != nil && !*a.Final.Acted:
		return ""
	case freed == 0:
		return "nothing back to the driver"
	}
	return FormatBytes(freed) + " back to the driver"
}

// The reasons that the line of a command has: the first, and others as long as
// all of them together are no longer than a line of the screen or two. Every one
// is among its details.
const reasonsLength = 120

// reasons are why less came back than asked. Of several, each says what of.
func reasons(results []recorder.ResultLine) (parts []string) {
	all := 0
	for _, line := range results {
		if line.Why != "" {
			all++
		}
	}
	length := 0
	for _, line := range results {
		if line.Why == "" {
			continue
		}
		reason := line.Why
		if all > 1 && line.What != "" {
			did, _ := deed(line.What)
			reason = did + ": " + reason
		}
		if length += len(reason); len(parts) > 0 && length > reasonsLength {
			return append(parts, countOf(int64(all-len(parts)), "more reason"))
		}
		parts = append(parts, reason)
	}
	return parts
}

// deed is what a step did, and what its before and after count, "" where it does
// not say: a reason behind "driver free:" would read as if it were that.
func deed(what string) (did, counted string) {
	for _, counted := range [...]string{"driver free", "allocated", "cached", "host available", "resident set"} {
		if at := strings.LastIndex(what, ": "+counted); at >= 0 {
			return what[:at] + what[at+len(": "+counted):], counted
		}
	}
	return what, ""
}

// change is what the command changed, in numbers; "" when the answer has none.
func (a *Action) change() string {
	counter, name := recorder.Reserved, "reserved"
	if a.Command.Name == recorder.CommandResetPeak {
		counter, name = recorder.PeakReported, "peak"
	}
	before, after, ok := a.Change(counter)
	if !ok && counter == recorder.PeakReported {
		before, after, ok = a.Change(recorder.PeakAllocated)
	}
	if ok {
		return name + " " + beforeAfter(before, after)
	}
	return a.resultChange()
}

// resultChange is before → after of the one step that tells both, else what went
// back to the driver.
func (a *Action) resultChange() string {
	var only *recorder.ResultLine
	for i := range a.Final.Result {
		line := &a.Final.Result[i]
		if line.Before == nil || line.After == nil {
			continue
		}
		if only != nil {
			return a.back()
		}
		only = line
	}
	if only == nil {
		return a.back()
	}
	_, counted := deed(only.What)
	return strings.TrimPrefix(counted+" "+beforeAfter(*only.Before, *only.After), " ")
}

func beforeAfter(before, after int64) string {
	return FormatBytes(before) + " → " + FormatBytes(after)
}

// Change is a counter before and after the command, added up over the allocators
// that lie in no other one (or, for counters of peaks and devices, over every set
// that has it): at each of the two moments over those of that moment, since a
// rebuild can set one free of another. It is not ok when a set tells only one of
// the two.
func (a *Action) Change(counter recorder.Counter) (before, after int64, ok bool) {
	if a.Final == nil {
		return 0, 0, false
	}
	was, is := &SourceView{Sets: a.Final.Before}, &SourceView{Sets: a.Final.After}
	counts := func(view *SourceView, set *recorder.CounterSet) bool {
		return !isAllocator(set) || !view.inAllocator(set)
	}
	for i := range was.Sets {
		set := &was.Sets[i]
		value, known := set.Values.Get(counter)
		if !known {
			continue
		}
		then := is.FindSet(set.ID)
		counted, countsThen := counts(was, set), then != nil && counts(is, then)
		if !counted && !countsThen {
			continue
		}
		if then == nil {
			return 0, 0, false
		}
		later, known := then.Values.Get(counter)
		if !known {
			return 0, 0, false
		}
		if ok = true; counted {
			before += value
		}
		if countsThen {
			after += later
		}
	}
	return before, after, ok
}

// Detail is one line for each thing that the command did.
func (a *Action) Detail() []string {
	if a.Final == nil {
		return nil
	}
	lines := make([]string, 0, len(a.Final.Result))
	for _, result := range a.Final.Result {
		parts := []string{result.What}
		if result.Took > 0 {
			parts = append(parts, FormatDuration(result.Took))
		}
		if result.Before != nil && result.After != nil {
			parts = append(parts, beforeAfter(*result.Before, *result.After))
		}
		if result.Freed != nil {
			parts = append(parts, fmt.Sprintf("%s back to the driver", FormatBytes(*result.Freed)))
		}
		if result.Why != "" {
			parts = append(parts, result.Why)
		}
		lines = append(lines, strings.Join(parts, " · "))
	}
	return lines
}
