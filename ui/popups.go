package ui

import (
	"fmt"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// helpWidth is how wide the sentences of the help are: they fit beside the keys
// on 80 columns.
const helpWidth = 48

// newHelp lists every key.
func newHelp() *popup {
	p := &popup{title: "Keys", selected: -1}
	for group := range keymap.GroupCount {
		p.lines = append(p.lines, popupLine{label: keymap.Group(group).String(), head: true})
		for _, binding := range keymap.All() {
			if binding.Group != keymap.Group(group) {
				continue
			}
			label := binding.Label()
			wrapped := widget.Wrap(binding.Long, helpWidth)
			for text, more := wrapped.Next(); more; text, more = wrapped.Next() {
				p.lines = append(p.lines, popupLine{label: label, text: text})
				label = ""
			}
		}
	}
	return p
}

// newSourceChooser lists everything that is watched. The current source is
// selected, or the one that is offered if it is there.
func newSourceChooser(snapshot *model.Snapshot, current *model.SourceView, offered string, reserve int64) *popup {
	p := &popup{title: "Sources", choose: func(string) {}, sources: true}
	group := ""
	if snapshot.Find(offered) == nil {
		offered = ""
	}
	files := recordingsOf(snapshot)
	for _, view := range inRankOrder(snapshot.Sources) {
		name := groupOf(view)
		if isRecording(view) {
			name += " " + files.name(view)
		}
		if name != group {
			group = name
			p.lines = append(p.lines, popupLine{label: name, head: true})
		}
		if view.ID == offered || offered == "" && view == current {
			p.selected = len(p.lines)
		}
		text := view.Status.String()
		if view.StatusWhy != "" {
			text += ": " + view.StatusWhy
		}
		label := headName(view)
		if view.Hello != nil && view.Hello.PID > 0 {
			label += " " + pidText(view.Hello.PID) // two programs may have one name
		}
		if job := jobText(view); job != "" {
			text = job + ", " + text
		}
		p.lines = append(p.lines, popupLine{label: label, text: summaryText(view, reserve) + text, style: statusStyle(view.Status), id: view.ID})
	}
	if len(p.lines) == 0 {
		p.lines = []popupLine{{text: "nothing is watched: start a program with `vramscope run -- python render.py`, or `vramscope demo`"}}
		p.selected = -1
		p.choose = nil
		return p
	}
	if p.lines[p.selected].head {
		p.move(1)
	}
	return p
}

// refreshChooser keeps the list of sources true while it is open: it stands beside
// a header that says how the selected one is.
func (d *Dashboard) refreshChooser() {
	old := d.popup
	if old == nil || !old.sources || old.selected < 0 {
		return
	}
	fresh := newSourceChooser(d.snapshot, d.scene.newest, d.offer(), d.options.Reserve)
	for i := range fresh.lines {
		if fresh.lines[i].id == old.lines[old.selected].id {
			fresh.selected = i
		}
	}
	fresh.offset, fresh.page = old.offset, old.page
	d.popup = fresh
}

// summaryText is a memory dump in a few numbers; "" for other sources. reserve
// is what headroom holds back.
func summaryText(view *model.SourceView, reserve int64) (text string) {
	if view.Summary == nil {
		return ""
	}
	for i := range view.Summary.Devices {
		d := &view.Summary.Devices[i]
		if tellsNoPeak(view, d) {
			text += "live " + model.FormatBytes(d.End[dump.Allocated]) + ", no history, "
			continue
		}
		text += "peak " + model.FormatBytes(d.PeakRequested.Bytes)
		if bytes, _, known := d.Headroom(reserve); known {
			text += ", headroom " + model.FormatBytes(bytes)
		}
		text += ", "
	}
	return text
}

// tellsNoPeak says whether a device of a dump has no history: what is live in the
// end is then all that is known, and no peak.
func tellsNoPeak(view *model.SourceView, d *dump.DeviceSummary) bool {
	return d.Events == 0 && view.Status != model.StatusLoading
}

func groupOf(view *model.SourceView) string {
	switch {
	case isDump(view):
		return "Memory dumps"
	case isCosts(view):
		return "Calibration files"
	case view.File != "":
		return "Recording"
	case view.Kind == recorder.KindDevice:
		return "Devices"
	case view.Kind == recorder.KindHost:
		return "Host"
	}
	return "Processes"
}

func statusStyle(status model.Status) grid.Style {
	switch status {
	case model.StatusLive, model.StatusFollowing, model.StatusComplete:
		return grid.Of(themes.OK)
	case model.StatusFailed, model.StatusLost:
		return grid.Of(themes.Error)
	case model.StatusStale, model.StatusCut:
		return grid.Of(themes.Warning)
	}
	return grid.Of(themes.Dim)
}

// showOrigins says where the numbers of the focused pane come from.
func (d *Dashboard) showOrigins() {
	focused := d.focusedPane()
	o, ok := focused.(originator)
	if !ok || d.scene.view == nil {
		text := "the numbers of this pane are counted from the source's records"
		if focused != nil {
			title, _ := focused.title(&d.scene)
			text = "the numbers of \"" + title + "\" are counted from the source's records; Tab goes to the next pane"
		}
		d.say(widget.StatusInfo, text)
		return
	}
	p := &popup{title: "Where these numbers come from", selected: -1, scene: true}
	all, column := o.origins(&d.scene), 0
	for _, line := range all {
		column = max(column, min(grid.Width(line.name), labelWidth))
	}
	for _, line := range all {
		p.lines = append(p.lines, wrapped(originLine(line), popupWidth(d.width)-column-3)...)
	}
	if len(p.lines) == 0 {
		d.say(widget.StatusInfo, "this pane shows no number yet")
		return
	}
	d.popup = p
}

func originLine(o origin) popupLine {
	if !o.figure.Known {
		why := o.figure.Why
		if why == "" {
			why = "the source does not tell"
		}
		return popupLine{label: o.name, text: "not known: " + why, style: grid.Of(themes.Dim)}
	}
	number := string(grid.AppendExact(nil, o.figure.Value))
	if o.count {
		number = string(grid.AppendCount(nil, o.figure.Value))
	}
	from := o.figure.Origin
	if from == "" {
		from = "the source's own records"
	}
	return popupLine{label: o.name, text: fmt.Sprintf("%s  from %s", number, from)}
}

// showDetails says everything about the selected thing.
func (d *Dashboard) showDetails() {
	p, ok := d.focusedPane().(detailer)
	if !ok || d.scene.view == nil {
		return
	}
	title, lines := p.details(&d.scene)
	if len(lines) == 0 {
		return
	}
	shown := &popup{title: title, selected: -1, scene: true}
	for _, line := range lines {
		shown.lines = append(shown.lines, wrapped(popupLine{text: line}, popupWidth(d.width)-3)...)
	}
	d.popup = shown
}

// wrapped is a line of a pop-up as the rows that it takes, its text in so many
// columns. What has no text is a row all the same.
func wrapped(line popupLine, columns int) []popupLine {
	wrap := widget.Wrap(line.text, max(columns, 10))
	text, more := wrap.Next()
	rows := []popupLine{{label: line.label, text: text, style: line.style}}
	for text, more = wrap.Next(); more; text, more = wrap.Next() {
		rows = append(rows, popupLine{text: text, style: line.style})
	}
	return rows
}
