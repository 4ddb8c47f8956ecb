package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"vramscope/model"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// onKey finds what a key means to whoever has the keys, and does it.
func (d *Dashboard) onKey(msg tea.KeyPressMsg) tea.Cmd {
	if d.message.said {
		d.message = message{}
	}
	context := d.context()
	if d.entry != nil {
		if binding := keymap.Lookup(context, msg.String()); binding != nil && (binding.Action == keymap.Quit || binding.Action == keymap.Suspend) {
			return d.do(binding.Action)
		}
		d.typeEntry(msg)
		return nil
	}
	if d.popup != nil && msg.String() == "q" {
		d.popup = nil // q leaves what is in front; ctrl+c quits from anywhere
		return nil
	}
	binding := keymap.Lookup(context, msg.String())
	if binding == nil {
		d.sorting = false
		return nil
	}
	return d.do(binding.Action)
}

// do carries out an action: what stands in front of the panes first, then the
// pane that has the keys, then the dashboard itself.
func (d *Dashboard) do(action keymap.Action) tea.Cmd {
	switch action {
	case keymap.Quit:
		return d.quit()
	case keymap.Suspend:
		return askForSuspension
	}
	if d.question != nil {
		if q := d.question; q.do(action) && d.question == q {
			d.question = nil
		}
		return nil
	}
	if d.sorting {
		d.sort(action)
		return nil
	}
	if d.popup != nil && d.doInPopup(action) {
		return nil
	}
	if p := d.focusedPane(); p != nil && p.do(action, &d.scene) {
		d.follow(p)
		return nil
	}
	return d.doOwn(action)
}

// follow looks at the moment that a pane asks for.
func (d *Dashboard) follow(p pane) {
	if w, ok := p.(wisher); ok {
		if wish := w.takeWish(); wish.made {
			d.grant(wish)
		}
	}
	m, ok := p.(mover)
	if !ok {
		return
	}
	if ns, live, asked := m.takeMoment(); asked {
		d.moment = ns
		if live {
			d.moment = 0
		}
		d.setScene()
	}
}

// doOwn carries out what is not a pane's business.
func (d *Dashboard) doOwn(action keymap.Action) tea.Cmd {
	switch action {
	case keymap.Reclaim, keymap.ForceReclaim, keymap.Rebuild, keymap.ResetPeak, keymap.Headroom:
		d.act(action)
	case keymap.Record:
		d.record()
	case keymap.Reach:
		d.wide = !d.wide
		if d.wide {
			d.say(widget.StatusInfo, "keys now reach every program with memory on the selected device")
		} else {
			d.say(widget.StatusInfo, "keys now reach the selected program alone")
		}
	case keymap.NextView, keymap.PreviousView:
		d.turnView(action)
	case keymap.NextPane, keymap.PreviousPane:
		d.turnFocus(action)
	case keymap.ZoomPane:
		d.zoomed = !d.zoomed
	case keymap.Sources:
		d.popup = newSourceChooser(d.snapshot, d.scene.newest, d.offer(), d.options.Reserve)
	case keymap.Filter:
		d.startFilter()
	case keymap.Command:
		d.entry = newEntryLine(":", d.typed, commandWords())
	case keymap.SortBy:
		d.startSorting()
	case keymap.ReverseSort:
		d.say(widget.StatusInfo, nothingToSort) // or the pane would have done it
	case keymap.Origin:
		d.showOrigins()
	case keymap.Details:
		d.showDetails()
	case keymap.CopyRow:
		return d.copyRow()
	case keymap.Diff:
		d.remember()
	case keymap.Pause:
		d.pause()
	case keymap.Follow:
		d.leaveMoment()
		d.moment, d.paused, d.pausedAt = 0, false, nil
		d.takeData()
	case keymap.AxisUnit:
		d.turnAxis()
	case keymap.NextArena, keymap.PreviousArena, keymap.AllArenas:
		if !d.turnDevice(action) {
			d.turnArena(action)
		}
	case keymap.JumpToPeak, keymap.NextOOM, keymap.PreviousOOM:
		d.jump(action)
	case keymap.MoreFrames, keymap.FewerFrames:
		if d.scene.sumsArenas() && !isCosts(d.scene.view) {
			d.say(widget.StatusInfo, "scopes are sized in one arena: A looks at one")
			return nil
		}
		d.turnFrames(action)
	case keymap.Flame:
		if d.scene.sumsArenas() {
			d.say(widget.StatusInfo, "a flame graph is of one arena: A looks at one")
		}
	case keymap.Help:
		d.popup = newHelp()
	case keymap.Back:
		d.back()
	case keymap.Theme:
		d.nextTheme()
	case keymap.Mouse:
		d.turnMouse()
	case keymap.Redraw:
		return tea.ClearScreen
	case keymap.Faster, keymap.Slower:
		d.turnRefresh(action)
	default:
		if view, ok := viewOf[action]; ok {
			d.showView(view)
		}
	}
	return nil
}

var viewOf = map[keymap.Action]layout.View{
	keymap.ShowOverview: layout.Overview, keymap.ShowDevices: layout.Devices, keymap.ShowArena: layout.Arena,
	keymap.ShowScopes: layout.Scopes, keymap.ShowTimeline: layout.Timeline, keymap.ShowPool: layout.Pool,
	keymap.ShowEvents: layout.Events,
}

func (d *Dashboard) quit() tea.Cmd {
	if d.feed.Recording() != "" {
		d.endRecord()
	}
	return tea.Quit
}

// back leaves the nearest thing that can be left. It never quits.
func (d *Dashboard) back() {
	p := d.focusedPane()
	if f, ok := p.(filterer); ok && f.filter() != "" {
		_ = f.setFilter("")
		return
	}
	if d.message.source != "" {
		d.message = message{} // another may come at once: the rest is left all the same
	}
	switch {
	case d.message.kept:
		d.message = message{}
	case d.zoomed:
		d.zoomed = false
	case d.paused:
		d.pause()
	case d.leaveMoment():
	case d.moment != 0:
		d.moment = 0
		d.setScene()
	case d.baseline != nil:
		d.endComparison()
		d.setScene()
	case d.view != layout.Overview:
		d.showView(layout.Overview)
	}
}

// pause lets the screen stand still, or go on. Records are received all the
// while.
func (d *Dashboard) pause() {
	d.paused = !d.paused
	d.pausedAt = nil
	if d.paused {
		d.pausedAt = d.snapshot
	}
	d.takeData()
}

func (d *Dashboard) turnView(action keymap.Action) {
	step := 1
	if action == keymap.PreviousView {
		step = layout.ViewCount - 1
	}
	d.showView(layout.View((int(d.view) + step) % layout.ViewCount))
}

// showView shows a view, and nothing in front of it: that was about another.
func (d *Dashboard) showView(view layout.View) {
	d.view, d.zoomed, d.popup = view, false, nil
}

// turnFocus gives the keys to the next pane.
func (d *Dashboard) turnFocus(action keymap.Action) {
	places := d.layout.Places()
	if len(places) == 0 {
		return
	}
	step := 1
	if action == keymap.PreviousPane {
		step = len(places) - 1
	}
	current := d.focusedName()
	for i, place := range places {
		if place.Pane == current {
			d.focus[d.view] = places[(i+step)%len(places)].Pane
			return
		}
	}
}

func (d *Dashboard) turnAxis() {
	if d.turnDumpAxis() {
		return
	}
	if d.axis == widget.Seconds {
		d.axis = widget.Frames
		if d.scene.newest != nil {
			if _, _, ok := d.scene.newest.Frames(); !ok {
				d.axis = widget.Seconds
				d.say(widget.StatusWarning, "this source numbers no frames: the time axis stays in seconds")
			}
		}
	} else {
		d.axis = widget.Seconds
	}
	d.setScene()
}

func (d *Dashboard) turnMouse() {
	d.mouse = !d.mouse
	if d.mouse {
		d.say(widget.StatusInfo, "the mouse is vramscope's again")
	} else {
		d.say(widget.StatusInfo, "the mouse is the terminal's: select text with it; v takes it back")
	}
}

// jump looks at the peak or at another failed allocation.
func (d *Dashboard) jump(action keymap.Action) {
	if d.scene.newest == nil || d.jumpInDump(action) {
		return
	}
	if action != keymap.JumpToPeak {
		d.jumpToFailure(action)
		return
	}
	ns, what, ok := peakMoment(&d.scene)
	if !ok {
		d.say(widget.StatusWarning, "no peak is known yet")
		return
	}
	d.lookAt(ns)
	d.say(widget.StatusInfo, "at the peak of "+what)
}

// jumpToFailure looks at the next failed allocation, or at the one before. From the
// end of what is known all are before, the newest record's too.
func (d *Dashboard) jumpToFailure(action keymap.Action) {
	at, end := d.scene.moment, d.moment == 0
	var before, here, after *model.Moment
	moments := d.scene.newest.Moments
	for i := range moments {
		m := &moments[i]
		switch {
		case m.Kind != model.MomentOOM && m.Kind != model.MomentRescued:
		case m.Ns < at, m.Ns == at && end:
			before = m
		case m.Ns == at:
			here = m
		case after == nil:
			after = m
		}
	}
	found, text := after, "no failed allocation comes later: O goes to the one before"
	if action == keymap.PreviousOOM {
		found, text = before, "no failed allocation comes before: o goes to the next one"
	}
	switch {
	case found != nil:
		d.lookAt(found.Ns)
		d.say(widget.StatusError, strings.TrimSpace(found.Text))
		return
	case before == nil && after == nil && here == nil:
		text = "no failed allocation is known here"
	case before == nil && after == nil:
		text = "this is the only failed allocation that is known here"
	}
	d.say(widget.StatusInfo, text)
}

// lookAt shows another moment.
func (d *Dashboard) lookAt(ns int64) {
	d.moment = ns
	d.setScene()
}

// endComparison forgets the remembered moment.
func (d *Dashboard) endComparison() {
	if d.baseline.pinned {
		d.choices.arena = 0
	}
	d.baseline = nil
}

// remember keeps the moment as the one that later ones are compared with.
func (d *Dashboard) remember() {
	if d.baseline != nil {
		d.endComparison()
		d.setScene()
		d.say(widget.StatusInfo, "no longer comparing")
		return
	}
	if d.scene.view == nil {
		return
	}
	if isCosts(d.scene.view) {
		d.say(widget.StatusInfo, "calibration files are compared with `vramscope diff A B`")
		return
	}
	d.baseline = &baseline{view: d.scene.view, name: d.scene.view.Name, dump: d.scene.dumpMoment()}
	if d.choices.summing == sumAlways {
		d.choices.summing = sumWhereArenasGo // scopes are compared in one arena
	}
	if arena := d.choices.arenaOf(d.scene.view); arena != nil && d.choices.arena == 0 {
		// The newest arena is another one in a moment: compare this one.
		d.choices.arena, d.baseline.pinned = arena.ID, true
	}
	d.setScene()
	d.say(widget.StatusInfo, "this moment is remembered: view 4 shows what changed since; d ends it")
}
