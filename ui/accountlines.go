package ui

import (
	"strconv"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/grid"
)

// accountLine is one line of the sum that takes a device apart: an allocator,
// a part of the driver's figures, or the heading of a device.
type accountLine struct {
	kind   accountKind
	device string               // GPU UUID, or "host"
	label  string               // what it is
	set    *recorder.CounterSet // of an allocator
	depth  int                  // of an allocator: 0 is a root, and is added
	figure model.Figure         // what counts into the sum, bytes

	told *recorder.CounterSet // of an allocator that tells no numbers any more: what it told last
	age  int64                // how long ago that was, or the device was read, ns; 0 of what is of now

	peak    int64 // of an allocator: its largest allocated bytes; grid.Missing where not even samples tell
	sampled bool  // the peak is the largest of the samples: the true one may lie above
}

// accountKind is what a line is.
type accountKind uint8

const (
	accountDevice    accountKind = iota // a heading
	accountAllocator                    // in an allocator's own words
	accountPart                         // is added
	accountSum                          // is the sum of what stands above
	accountRemark                       // why the allocator above tells nothing
)

// accountLines are the lines of all devices of a process, made once for a
// snapshot.
type accountLines struct {
	view     *model.SourceView
	snapshot *model.Snapshot
	lines    []accountLine
	devices  int
	device   string // name of the last of them
	width    int    // columns of the longest label, with what stands before it
}

// update makes the lines of a scene anew if it is another one.
func (a *accountLines) update(s *scene) {
	if a.view == s.view && a.snapshot == s.snapshot {
		return
	}
	a.view, a.snapshot = s.view, s.snapshot
	a.lines, a.devices = a.lines[:0], 0
	if s.view == nil || s.view.Kind == recorder.KindDevice || s.view.Kind == recorder.KindHost {
		return
	}
	devices := s.view.Devices(s.beside)
	a.devices = len(devices)
	for _, device := range devices {
		accounts := model.AccountsOf(s.view, s.beside, device)
		if len(devices) > 1 {
			a.lines = append(a.lines, accountLine{kind: accountDevice, device: device, label: accounts.Name, peak: grid.Missing})
		}
		a.device = accounts.Name
		a.addAllocators(&accounts)
		a.addDriver(&accounts)
	}
	a.width = 0
	for i := range a.lines {
		if line := &a.lines[i]; line.kind != accountRemark {
			a.width = max(a.width, grid.Width(line.label)+line.ageWidth()+2+2*min(line.depth, deepestIndent))
		}
	}
}

// deepestIndent is how deep allocators inside others are indented.
const deepestIndent = 4

func (a *accountLines) addAllocators(accounts *model.Accounts) {
	for _, row := range accounts.Rows {
		line := accountLine{
			kind: accountAllocator, device: accounts.Device, label: row.Set.Name, set: row.Set, depth: row.Depth,
			figure: a.view.Reserved(row.Set), peak: counterOf(row.Set, recorder.PeakAllocated),
		}
		if line.label == "" {
			line.label = row.Set.ID
		}
		if told, ns := a.view.ToldLast(row.Set); told != nil {
			line.told, line.age = told, a.view.Now-ns
			a.addSilent(line)
			continue
		}
		if row.Set.Of == recorder.OfArena {
			line.peak = counterOf(row.Set, recorder.HighWater)
		}
		line.sampled = line.peak != grid.Missing && isSampledPeak(row.Set)
		if line.peak == grid.Missing {
			if value, _, known := a.view.Peak(row.Set.ID, recorder.Allocated); known {
				line.peak, line.sampled = value, true
			}
		}
		a.lines = append(a.lines, line)
	}
}

// addSilent adds an allocator that tells no numbers any more, with what it told last
// and under it the reason.
func (a *accountLines) addSilent(line accountLine) {
	line.peak = counterOf(line.told, recorder.PeakAllocated)
	if line.set.Of == recorder.OfArena {
		line.peak = counterOf(line.told, recorder.HighWater)
	}
	line.sampled = line.peak != grid.Missing // what came after is not known
	why := model.WhySilent(line.set)
	told := line.depth > 0 && a.lastRemark() == why // by the allocator that it lies in
	if a.lines = append(a.lines, line); !told {
		a.lines = append(a.lines, accountLine{kind: accountRemark, device: line.device, label: why, depth: line.depth, peak: grid.Missing})
	}
}

// lastRemark is the newest remark on the root that lines are added to, or on what lies
// in it; "" without one.
func (a *accountLines) lastRemark() string {
	for i := len(a.lines) - 1; i >= 0; i-- {
		switch line := &a.lines[i]; {
		case line.kind == accountRemark:
			return line.label
		case line.depth == 0:
			return ""
		}
	}
	return ""
}

// isSampledPeak says whether the peak that an allocator's set has is the largest
// of the samples that were taken of it: the set's call says so.
func isSampledPeak(set *recorder.CounterSet) bool {
	return set.Of == recorder.OfPool && strings.Contains(set.Call, "largest of the samples")
}

// addDriver adds what the driver says, so that the lines add up to the device.
func (a *accountLines) addDriver(accounts *model.Accounts) {
	add := func(kind accountKind, label string, figure model.Figure) {
		a.lines = append(a.lines, accountLine{kind: kind, device: accounts.Device, label: label, figure: figure, peak: grid.Missing})
	}
	addRead := func(label string, figure model.Figure) { // of the device, which may have been read before
		add(accountPart, label, figure)
		a.lines[len(a.lines)-1].age = accounts.Age
	}
	if !accounts.Driver.Known && !accounts.Total.Known && !accounts.Free.Known {
		held := "by its allocators"
		if accounts.Silent > 0 {
			held = "by those that tell"
		}
		add(accountSum, held, accounts.Held)
		rest := "rest of the device"
		if accounts.Device == model.HostDevice {
			rest = "rest of the machine"
		}
		add(accountPart, rest, accounts.Free)
		return
	}
	if accounts.Device == model.HostDevice && !accounts.Driver.Known {
		add(accountSum, "by its allocators", accounts.Held)
		add(accountPart, "used by all processes", accounts.Others)
		add(accountPart, "free", accounts.Free)
		add(accountSum, accounts.Name, accounts.Total)
		return
	}
	a.addRest(accounts, add)
	add(accountSum, a.view.Name+" by the driver", accounts.Driver)
	others := "other processes"
	if !accounts.Driver.Known {
		others = "used by all processes"
	}
	addRead(others, accounts.Others)
	if accounts.Reserve.Known {
		addRead("driver's reserve", accounts.Reserve)
	}
	addRead("free", accounts.Free)
	if accounts.Untold.Known {
		add(accountPart, "not told by the driver", accounts.Untold)
	}
	add(accountSum, accounts.Name, accounts.Total)
}

// addRest adds what the driver counts to the process and no allocator has: the
// context apart where the process knows what that takes.
func (a *accountLines) addRest(accounts *model.Accounts, add func(accountKind, string, model.Figure)) {
	rest, apart := accounts.Rest, accounts.Rest.Known && accounts.Context.Known
	label := "context, other libraries"
	switch {
	case len(accounts.Rows) == 0:
		return
	case apart && accounts.Silent > 0:
		label = "what does not tell"
	case apart:
		label = "other libraries"
	case accounts.Silent > 0:
		label = "context, what does not tell"
	}
	if apart {
		add(accountPart, "CUDA context", accounts.Context)
		rest.Value -= accounts.Context.Value
		rest.Origin += " − the CUDA context (" + accounts.Context.Origin + ")"
		switch {
		case rest.About && rest.Value <= rest.Within:
			rest.Value = 0 // what moved meanwhile is more than what is left
		case rest.Value < 0:
			rest = model.Figure{Why: "less than the CUDA context is left of the driver's figure: the driver leaves a part of it out"}
		}
	}
	add(accountPart, label, rest)
}

// find is the place of an allocator's line; -1 where there is none.
func (a *accountLines) find(set string) int {
	for i := range a.lines {
		if a.lines[i].set != nil && a.lines[i].set.ID == set {
			return i
		}
	}
	return -1
}

// selectable says whether a line can be looked at: not a heading or a remark.
func (l *accountLine) selectable() bool { return l.kind != accountDevice && l.kind != accountRemark }

// ageWidth is the columns of what says how old the numbers of a line are.
func (l *accountLine) ageWidth() int {
	if l.age == 0 {
		return 0
	}
	var room [24]byte
	return len(grid.AppendDuration(room[:0], l.age)) + len(" ago: ")
}

// ageText says how old the numbers of a line are; "" where they are of now.
func (l *accountLine) ageText() string {
	if l.age == 0 {
		return ""
	}
	return ", " + string(grid.AppendDuration(nil, l.age)) + " ago"
}

// shown is the allocator's set as it is shown: as it was told last where it tells
// nothing any more.
func (l *accountLine) shown() *recorder.CounterSet {
	if l.told != nil {
		return l.told
	}
	return l.set
}

// taken is what an allocator has taken, or had when it told that last.
func (l *accountLine) taken() int64 {
	switch {
	case l.told == nil:
		return value(l.figure)
	case l.figure.LastNs == 0:
		return grid.Missing // it never told
	}
	return l.figure.Last
}

// number is a counter of an allocator; grid.Missing on other lines.
func (l *accountLine) number(counter recorder.Counter) int64 {
	set := l.shown()
	if set == nil {
		return grid.Missing
	}
	if set.Of == recorder.OfArena && counter == recorder.Allocated {
		return arenaInUse(set)
	}
	return counterOf(set, counter)
}

// arenaInUse is what both sides of an arena have handed out.
func arenaInUse(set *recorder.CounterSet) int64 {
	forward, reverse := counterOf(set, recorder.Forward), setValue(set, recorder.Reverse)
	if forward == grid.Missing || reverse == grid.Missing || forward+reverse > counterOf(set, recorder.Length) {
		return grid.Missing // or told as they cannot be
	}
	return forward + reverse
}

// cached is what an allocator keeps of what it has taken.
func (l *accountLine) cached() int64 {
	return difference(l.taken(), l.number(recorder.Allocated))
}

// setLabel is what to call a counter set where several of one kind may have one
// name: with the ordinal of its device, which the set's ID has.
func setLabel(view *model.SourceView, set *recorder.CounterSet) string {
	name := poolSetName(set)
	for i := range view.Sets {
		other := &view.Sets[i]
		if other.ID == set.ID || other.Of != set.Of || poolSetName(other) != name {
			continue
		}
		_, ordinal, _ := strings.Cut(set.ID, ":")
		ordinal, _, _ = strings.Cut(ordinal, ":")
		if _, err := strconv.Atoi(ordinal); err == nil {
			return name + " " + ordinal
		}
		return set.ID
	}
	return name
}
