package model

import (
	"fmt"
	"slices"
	"strings"

	"vramscope/recorder"
)

// CommandTitle is a command's name on the screen, such as "force reclaim".
func CommandTitle(name string) string {
	if c, ok := commands[name]; ok {
		return c.title
	}
	return name
}

// CommandAsks says whether a command is confirmed before it is sent.
func CommandAsks(name string) bool { return commands[name].effect != "" }

// commands are the commands in words. Effect is set for those that are confirmed
// first.
var commands = map[string]struct{ title, effect string }{
	recorder.CommandReclaim: {title: "reclaim"},
	recorder.CommandForceReclaim: {title: "force reclaim",
		effect: "collects garbage and gives every cached block back to the driver. The program waits meanwhile, up to a second while kernels run, and allocates anew afterwards"},
	recorder.CommandRebuild: {title: "rebuild pool",
		effect: "tears the pool down and builds the same tier again: all blocks return to the driver, and its counters start a new generation"},
	recorder.CommandResetPeak: {title: "reset peak floor",
		effect: "resets the peak counters that the program's own log reads too. The peaks so far stay in what was recorded"},
	recorder.CommandHeadroom:    {title: "headroom check"},
	recorder.CommandSnapshot:    {title: "snapshot"},
	recorder.CommandRecordOn:    {title: "record on"},
	recorder.CommandRecordOff:   {title: "record off"},
	recorder.CommandCalibration: {title: "calibration dump"},
}

// howToAttach is how a program is started so that it can be acted on.
const howToAttach = "start the program with `vramscope run -- python render.py` to be let in"

// RefusedError says why a command is not sent, in one sentence.
type RefusedError struct {
	Command string // as recorder names it
	Target  string // what to call the target; "" when there is none
	Why     string // a sentence that says what to do, where anything can be done
}

// Error is the sentence.
func (e *RefusedError) Error() string {
	if e.Target == "" {
		return fmt.Sprintf("%s: %s", CommandTitle(e.Command), e.Why)
	}
	return fmt.Sprintf("%s on %s: %s", CommandTitle(e.Command), e.Target, e.Why)
}

// Targets are the sources that a key acts on: the selected one, or where a GPU is
// selected the programs with memory on it. The error is a *RefusedError where
// nobody is meant.
func (s *Snapshot) Targets(selected *SourceView, command string) ([]*SourceView, error) {
	if selected == nil {
		return nil, &RefusedError{Command: command, Why: "no source is selected; " + howToAttach}
	}
	if selected.Kind != recorder.KindDevice || selected.File != "" {
		return []*SourceView{selected}, nil // a recorded GPU is no GPU of now: Permit says so
	}
	targets, why := s.programsOn(selected.FirstDevice())
	if len(targets) == 0 {
		return nil, &RefusedError{Command: command, Target: selected.title(), Why: why}
	}
	return targets, nil
}

// TargetsOn are the selected program and all others with memory on a device (a
// GPU's UUID, or "host") that let us in, whether or not the device has a source of
// its own. The error is a *RefusedError where there is none.
func (s *Snapshot) TargetsOn(device string, selected *SourceView, command string) ([]*SourceView, error) {
	targets, why := s.programsOn(device)
	if selected != nil && !slices.Contains(targets, selected) {
		targets = append([]*SourceView{selected}, targets...) // where it lies elsewhere, it is meant all the same
	}
	if len(targets) == 0 {
		return nil, &RefusedError{Command: command, Target: device, Why: why}
	}
	return targets, nil
}

// programsOn are the programs that have memory on a device and obey something, and
// why there is none.
func (s *Snapshot) programsOn(device string) (targets []*SourceView, why string) {
	if device == "" {
		return nil, "it tells of no device, so no program is known to have memory on it; choose a program with c"
	}
	mute := 0
	for _, v := range s.Sources {
		switch {
		case v.Kind != recorder.KindProcess || v.File != "" || !v.Status.alive() || !v.holds(s.Sources, device):
		case len(v.Hello.Commands) == 0:
			mute++
		default:
			targets = append(targets, v)
		}
	}
	if mute > 0 {
		return targets, fmt.Sprintf("%s on it, and none lets us in; %s", programsHave(mute), howToAttach)
	}
	return targets, "no process that is watched has memory on it; choose another with c, or " + howToAttach
}

// programsHave is so many programs that have memory somewhere.
func programsHave(n int) string {
	if n == 1 {
		return "1 process has memory"
	}
	return fmt.Sprintf("%d processes have memory", n)
}

// holds says whether a process is known to have memory on a device: an allocator
// that is not known to be empty, a context, or bytes that the driver counts. To see
// a device, or to read how much of it is free, is to have none.
func (v *SourceView) holds(beside []*SourceView, device string) bool {
	if v.Hello == nil || device == "" {
		return false
	}
	for i := range v.Sets {
		set := &v.Sets[i]
		if set.Device != device {
			continue
		}
		var taken Figure
		switch {
		case isAllocator(set):
			taken = v.reserved(set)
		case set.Of == recorder.OfContext, set.Of == recorder.OfProcess && !IsResident(set):
			taken = v.Figure(set, recorder.Used)
		default:
			continue
		}
		if !taken.Known || taken.Value > 0 {
			return true
		}
	}
	return v.isCountedOn(device, beside)
}

// Uses says whether a process can use a device, or has memory on it.
func (v *SourceView) Uses(device string) bool {
	if v.Hello == nil {
		return false
	}
	return slices.ContainsFunc(v.Hello.GPUs, func(gpu recorder.GPU) bool { return gpu.UUID == device }) ||
		slices.ContainsFunc(v.Sets, func(set recorder.CounterSet) bool { return set.Device == device })
}

func (s Status) alive() bool { return s == StatusLive || s == StatusStale }

// Permit says whether a command can be sent to a source now. The error is a
// *RefusedError.
func Permit(v *SourceView, command string, readOnly bool) error {
	if why := v.refusal(command, readOnly); why != "" {
		return &RefusedError{Command: command, Target: ProgramTitle(v.title(), v.Hello), Why: why}
	}
	return nil
}

// Obeys says whether a source carries out a command at all; Permit says whether
// it can be sent now.
func Obeys(v *SourceView, command string) bool {
	if v == nil || v.Hello == nil || v.File != "" {
		return false
	}
	_, refused := v.Hello.Refuses[command]
	return !refused && slices.Contains(v.Hello.Commands, command)
}

func (v *SourceView) refusal(command string, readOnly bool) string {
	switch {
	case readOnly:
		return "vramscope was started with --readonly, which refuses every key that acts on a process"
	case v.File != "":
		return "this is a recording, and nothing runs behind it"
	case v.Kind == recorder.KindHost, v.Kind == recorder.KindDevice:
		return "it takes no commands by itself; select a process that uses it, or " + howToAttach
	case v.Status == StatusConnecting || v.Hello == nil:
		return "it has not said hello yet; wait a moment"
	case v.Status == StatusEnded:
		return strings.TrimSuffix("it has ended and takes no commands any more: "+v.StatusWhy, ": ")
	case !v.Status.alive():
		return strings.TrimSuffix("it is "+v.Status.String()+": "+v.StatusWhy, ": ")
	}
	if why, refused := v.Hello.Refuses[command]; refused {
		return why
	}
	if len(v.Hello.Commands) == 0 {
		return "it tells and does not obey; " + howToAttach
	}
	if !slices.Contains(v.Hello.Commands, command) {
		return "it does not know this command; it knows " + strings.Join(v.Hello.Commands, ", ")
	}
	if command == recorder.CommandRebuild {
		if why := v.liveBlocks(); why != "" {
			return why
		}
	}
	if action := v.underWay(command); action != nil {
		return "it is under way already: " + action.Waiting(v.Now, "")
	}
	return ""
}

// liveBlocks says how many blocks of a pool of ours are in use and whose they
// are; "" when none is known to be.
func (v *SourceView) liveBlocks() string {
	for _, p := range v.Pools {
		id := fmt.Sprintf("pool:%d", p.ID)
		set := v.FindSet(id)
		live := v.Figure(set, recorder.LiveBlocks)
		if !live.Known || live.Value == 0 {
			continue
		}
		text := fmt.Sprintf("%s in %s", countOf(live.Value, "live allocation"), poolTitle(p))
		if bytes := v.Figure(set, recorder.Allocated); bytes.Known {
			hold := "hold"
			if live.Value == 1 {
				hold = "holds"
			}
			text = fmt.Sprintf("%s %s %s in %s", countOf(live.Value, "live allocation"), hold, FormatBytes(bytes.Value), poolTitle(p))
		}
		for i := range v.Sets {
			if inner := &v.Sets[i]; inner.In == id && isAllocator(inner) {
				text += ", among them " + setTitle(inner)
			}
		}
		return text + "; a pool is rebuilt only when nothing in it is in use"
	}
	return ""
}

func poolTitle(p *PoolView) string {
	if p.State.Name != "" {
		return p.State.Name
	}
	return fmt.Sprintf("pool %d", p.ID)
}

// underWay is the newest command of that name that has no final answer yet; nil
// when there is none.
func (v *SourceView) underWay(command string) *Action {
	for i := len(v.Actions) - 1; i >= 0; i-- {
		if action := &v.Actions[i]; action.Command.Name == command && action.Final == nil && !action.Overdue(v.Now) {
			return action
		}
	}
	return nil
}

// Action is the command of an ID; nil where none is known.
func (v *SourceView) Action(id string) *Action {
	for i := len(v.Actions) - 1; i >= 0; i-- {
		if v.Actions[i].Command.ID == id {
			return &v.Actions[i]
		}
	}
	return nil
}

// Overdue says that an answer can not be waited for any more: the process was
// replaced, or the answer was lost with the connection. Now is monotonic ns.
func (a *Action) Overdue(now int64) bool {
	return a.Command.TTL > 0 && now-a.Sent > (a.Command.TTL+answerGrace)*1_000_000
}

// answerGrace is how long after a command's end of life its answer can still
// come, in ms: it may have begun to run at the last moment.
const answerGrace = 30_000

// Confirmation is the question before a command that asks first: it names every
// process and says what will happen. It is "" for commands that do not ask.
func Confirmation(command string, targets []*SourceView) string {
	effect := commands[command].effect
	if effect == "" {
		return ""
	}
	names := make([]string, len(targets))
	for i, v := range targets {
		names[i] = v.title()
		if v.Hello != nil && v.Hello.PID > 0 {
			names[i] += fmt.Sprintf(" (pid %d)", v.Hello.PID)
			if v.Hello.Rank != nil {
				names[i] = fmt.Sprintf("%s (pid %d, rank %d)", v.title(), v.Hello.PID, *v.Hello.Rank)
			}
		}
		if cached := v.cachedText(command); cached != "" {
			names[i] += ", " + cached
		}
	}
	title := CommandTitle(command)
	text := fmt.Sprintf("%s%s on %s? It %s.", strings.ToUpper(title[:1]), title[1:], strings.Join(names, " and on "), effect)
	if command == recorder.CommandRebuild && slices.ContainsFunc(targets, runsPython) {
		text += " " + rebuildInPython
	}
	return text
}

// runsPython says whether a source is a Python program, whose libraries have
// their own ways.
func runsPython(v *SourceView) bool { return v.Hello != nil && v.Hello.Python != "" }

// rebuildInPython is what else a rebuild may be.
const rebuildInPython = "In a Python program that is so where the library can do it; where it cannot, as torch, its caches are emptied instead, and the answer says so."

// cachedText says what could come back, where that is known.
func (v *SourceView) cachedText(command string) string {
	if command == recorder.CommandResetPeak {
		return ""
	}
	if releasable := v.Sum(recorder.Releasable, ""); releasable.Known {
		return FormatBytes(releasable.Value) + " releasable"
	}
	return ""
}
