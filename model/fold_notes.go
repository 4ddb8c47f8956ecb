package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vramscope/recorder"
)

// takePeak counts a transient that was made outside the arena.
func (f *fold) takePeak(ns int64, peak *recorder.NonArena) {
	total := f.nonArenaTotal(peak.Name)
	if total == nil {
		f.problems.add("transients", "there are too many names; the rest is left out")
		return
	}
	total.Count += max(1, peak.Count)
	if peak.PeakBytes >= total.PeakBytes {
		total.PeakBytes, total.InputBytes = peak.PeakBytes, peak.InputBytes
	}
	total.LastInput, total.LastPeak, total.LastNs = peak.InputBytes, peak.PeakBytes, ns
}

// nonArenaTotal is the total of a name, ready to be changed; nil when there are
// too many.
func (f *fold) nonArenaTotal(name string) *NonArenaTotal {
	at, known := slices.BinarySearchFunc(f.nonArena, name, func(total NonArenaTotal, name string) int {
		return cmp.Compare(total.Name, name)
	})
	if !known && len(f.nonArena) >= maximumNames {
		return nil
	}
	if f.nonArenaShared {
		f.nonArena, f.nonArenaShared = slices.Clone(f.nonArena), false
	}
	if !known {
		f.nonArena = slices.Insert(f.nonArena, at, NonArenaTotal{Name: name})
	}
	return &f.nonArena[at]
}

// replaceNonArena takes over what a state says of transients. What it cannot
// know, the newest one, stays.
func (f *fold) replaceNonArena(totals []recorder.NonArena, ns int64) {
	for i := range totals {
		total := f.nonArenaTotal(totals[i].Name)
		if total == nil {
			return
		}
		total.Count = max(1, totals[i].Count)
		total.PeakBytes, total.InputBytes = totals[i].PeakBytes, totals[i].InputBytes
		if total.LastNs == 0 {
			total.LastInput, total.LastPeak = total.InputBytes, total.PeakBytes
		}
	}
}

// takeOOM keeps an allocation failure. A program that is watched anew may tell
// of one again.
func (f *fold) takeOOM(oom *recorder.OOM) {
	for _, known := range f.ooms {
		if known.Ns == oom.Ns && known.ID == oom.ID && known.Asked == oom.Asked {
			return
		}
	}
	f.ooms = bound(append(f.ooms, oom), keptOOMs)
	kind, level := MomentOOM, LevelError
	if oom.Rescued {
		kind, level = MomentRescued, LevelWarning
	}
	frame := f.frame
	if oom.Frame != nil {
		frame = *oom.Frame
	}
	text := OOMText(oom)
	f.moment(Moment{Ns: oom.Ns, Frame: frame, Kind: kind, Text: text})
	f.log(oom.Ns, level, EntryOOM, text, OOMDetail(oom)...)
}

// OOMText is an allocation failure in one line: who asked for how much, what was
// free, and how it ended.
func OOMText(oom *recorder.OOM) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: out of memory: asked %s", oom.ID, FormatBytes(oom.Asked))
	for _, part := range []struct {
		name  string
		bytes *int64
	}{{"device free", oom.Free}, {"free in pool", oom.PoolFree}, {"largest free block", oom.LargestFree}} {
		if part.bytes != nil {
			fmt.Fprintf(&text, ", %s %s", part.name, FormatBytes(*part.bytes))
		}
	}
	switch {
	case oom.Rescued && len(oom.Steps) > 0:
		fmt.Fprintf(&text, "; rescued after %s", countOf(int64(len(oom.Steps)), "retry step"))
	case oom.Rescued:
		text.WriteString("; rescued")
	default:
		text.WriteString("; failed")
	}
	return text.String()
}

// OOMDetail is more lines on an allocation failure: where, by which rule, what
// the failure callback did, and what the program did then.
func OOMDetail(oom *recorder.OOM) []string {
	var lines []string
	if oom.Scope != "" {
		lines = append(lines, "in scope "+oom.Scope)
	}
	if oom.Rule != "" {
		lines = append(lines, "classified by: "+oom.Rule)
	}
	lines = append(lines, ladderLines(oom)...)
	if oom.Outcome != "" {
		lines = append(lines, "then: "+oom.Outcome)
	}
	return lines
}

// ladderLines are what the failure callback did, a line for each retry.
func ladderLines(oom *recorder.OOM) []string {
	var lines []string
	for _, step := range oom.Steps {
		line := fmt.Sprintf("retry %d: %s, took %s", step.Attempt, step.Action, FormatDuration(step.Ns))
		if step.Freed != nil {
			line += ", freed " + FormatBytes(*step.Freed)
		}
		if step.Why != "" {
			line += " (" + step.Why + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// takeCommand notes that a command was given. The dashboard notes its own when
// it sends them and may see them again in the stream.
func (f *fold) takeCommand(command *recorder.Command) {
	if f.findAction(command.ID) >= 0 {
		return
	}
	f.actions = bound(append(f.actions, Action{Command: *command, Sent: command.Ns}), keptActions)
}

// takeAck notes what became of a command. A final answer is taken once.
func (f *fold) takeAck(ack *recorder.Ack) {
	at := f.findAction(ack.ID)
	if at < 0 {
		f.actions = append(f.actions, Action{Command: recorder.Command{Head: ack.Head, ID: ack.ID, Name: ack.Name}})
		at = len(f.actions) - 1
	}
	action := f.actions[at]
	if action.Final != nil {
		return
	}
	if ack.State == recorder.AckAccepted {
		action.Accepted = ack
	} else {
		action.Final = ack
	}
	f.actions = slices.Clone(f.actions)
	f.actions[at] = action
	if action.Final != nil {
		f.finish(&action)
	}
	f.actions = bound(f.actions, keptActions)
}

// finish leaves the line of a command that ended.
func (f *fold) finish(action *Action) {
	ack, level := action.Final, LevelInfo
	if ack.State != recorder.AckDone {
		level = LevelWarning
	}
	line := action.Line()
	f.moment(Moment{Ns: ack.Ns, Frame: f.frame, Kind: MomentAction, Text: line})
	if ack.State == recorder.AckDone && action.Command.Name == recorder.CommandResetPeak {
		f.moment(Moment{Ns: ack.Ns, Frame: f.frame, Kind: MomentPeakReset, Text: "peak floor reset"})
	}
	f.tell(Entry{Ns: ack.Ns, Level: level, Kind: EntryAction, Text: line, Detail: action.Detail(), Command: action.Command.ID})
}

// unanswered names the commands that a source took with it: "; headroom check was
// not answered", "" where there are none.
func (f *fold) unanswered() string {
	var titles []string
	for i := range f.actions {
		if f.actions[i].Final == nil {
			titles = append(titles, CommandTitle(f.actions[i].Command.Name))
		}
	}
	switch len(titles) {
	case 0:
		return ""
	case 1:
		return "; " + titles[0] + " was not answered"
	}
	return "; " + strings.Join(titles, ", ") + " were not answered"
}

func (f *fold) findAction(id string) int {
	return slices.IndexFunc(f.actions, func(a Action) bool { return a.Command.ID == id })
}

// takeLost counts what the source dropped.
func (f *fold) takeLost(lost *recorder.Lost) {
	f.lost += lost.N
	what := map[string]string{"s": "sample", "ev": "event"}[lost.What]
	text := countOf(lost.N, cmp.Or(what, "record")) + " lost: the source had no room for more"
	f.moment(Moment{Ns: lost.Ns, Frame: f.frame, Kind: MomentLost, Text: text})
	f.log(lost.Ns, LevelWarning, EntryLost, text)
}
