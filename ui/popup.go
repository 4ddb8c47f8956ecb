package ui

import (
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// popup is a list in front of the panes: the help, the sources, where numbers
// come from, everything about one thing.
type popup struct {
	title    string
	lines    []popupLine
	offset   int
	selected int // -1: nothing can be chosen, the list only scrolls
	page     int // rows that were visible when it was drawn last
	choose   func(id string)
	sources  bool // it lists the sources, and is made anew with new data
	scene    bool // it tells of the source that is looked at, and goes with it
}

// popupLine is one row: a label at the left and text at the right of it.
type popupLine struct {
	label string
	text  string
	style grid.Style // of the text
	id    string     // what is chosen with it
	head  bool       // a heading
}

// widestPopup is the most columns of a popup, its frame among them.
const widestPopup = 100

// popupWidth is the columns inside a popup on a screen.
func popupWidth(screen int) int { return min(screen, widestPopup) - 2 }

// labelWidth is the widest label of a popup that does not push its text away.
const labelWidth = 30

func (p *popup) draw(r grid.Region) {
	width := min(r.Width(), widestPopup)
	height := min(r.Height(), len(p.lines)+2)
	if width < 3 || height < 3 {
		width, height = r.Width(), r.Height()
	}
	box := r.Sub((r.Width()-width)/2, (r.Height()-height)/2, width, height)
	box.Clear(grid.Of(themes.Text))
	widget.Frame(box, widget.FrameStyle(true))
	inside := box.Sub(1, 1, width-2, height-2)
	p.page = max(inside.Height(), 1)
	if p.selected >= 0 {
		p.offset = widget.ScrollTo(p.offset, p.selected, p.page, len(p.lines))
	}
	p.offset = min(max(p.offset, 0), max(len(p.lines)-p.page, 0))
	column := 0
	for _, line := range p.lines {
		if !line.head {
			column = max(column, min(grid.Width(line.label), labelWidth))
		}
	}
	for y := 0; y < inside.Height() && p.offset+y < len(p.lines); y++ {
		p.drawLine(inside.Row(y), p.offset+y, column)
	}
	widget.Scrollbar(box.Sub(width-1, 1, 1, height-2), p.offset, p.page, len(p.lines))
	note := ""
	if p.selected >= 0 {
		note = "enter chooses"
	}
	widget.Title(box, p.title, note, true)
}

func (p *popup) drawLine(row grid.Region, index, column int) {
	line := &p.lines[index]
	if line.head {
		row.Text(1, 0, grid.Of(themes.Title), line.label)
		return
	}
	if index == p.selected {
		row.Clear(grid.Of(themes.Selection))
		row = row.Forced(grid.Of(themes.Selection))
		row.Set(0, 0, row.Glyphs().Selected, grid.Of(themes.Selection))
	}
	row.FitMiddle(1, 0, column, grid.Of(themes.Key), line.label)
	row.Fit(column+3, 0, max(row.Width()-column-3, 0), line.style, line.text, grid.Left)
}

// doInPopup gives an action to the popup; false leaves it to the dashboard.
func (d *Dashboard) doInPopup(action keymap.Action) bool {
	p := d.popup
	switch action {
	case keymap.Back, keymap.Help, keymap.Sources, keymap.Origin:
		d.popup = nil
	case keymap.Details:
		d.popup = nil
		if p.choose != nil && p.selected >= 0 {
			p.choose(p.lines[p.selected].id)
			if chosen := p.lines[p.selected].id; chosen != "" {
				d.choose(chosen)
			}
		}
	case keymap.Up:
		p.move(-1)
	case keymap.Down:
		p.move(1)
	case keymap.PageUp:
		p.move(-p.page)
	case keymap.PageDown:
		p.move(p.page)
	case keymap.Top:
		p.move(-len(p.lines))
	case keymap.Bottom:
		p.move(len(p.lines))
	case keymap.ForceReclaim, keymap.Rebuild, keymap.Reclaim, keymap.ResetPeak, keymap.Headroom:
		// Not while something hides what is acted on.
	default:
		return false
	}
	return true
}

// move moves the selection, or the list where nothing can be selected.
func (p *popup) move(rows int) {
	if p.selected < 0 {
		p.offset = min(max(p.offset+rows, 0), max(len(p.lines)-p.page, 0))
		return
	}
	next := min(max(p.selected+rows, 0), len(p.lines)-1)
	step := 1
	if rows < 0 {
		step = -1
	}
	for _, step := range [...]int{step, -step} { // before the first heading and behind the last there is nothing
		for at := next; at >= 0 && at < len(p.lines); at += step {
			if !p.lines[at].head {
				p.selected = at
				return
			}
		}
	}
}
