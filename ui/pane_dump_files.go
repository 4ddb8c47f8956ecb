package ui

import (
	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// dumpFilesPane is a table of every memory dump that is open and of their
// devices: the ranks of a run side by side. Enter looks at the selected one.
type dumpFilesPane struct {
	table  widget.Table
	rows   dumpFileRows
	seen   uint64 // Version of the snapshot that the rows were made of
	chosen string // the dump that was selected then
	wish   sourceWish
}

// sourceWish is a source, and a device of its dump, that a pane asks to look at.
type sourceWish struct {
	source string
	device int
	made   bool
}

// wisher is a pane that can ask for another source. The answer is given once.
type wisher interface {
	takeWish() sourceWish
}

// dumpFileRow is a device of a dump; of one that has not been read, none. It
// holds on to no index.
type dumpFileRow struct {
	view   model.SourceView // without its Dump
	kept   bool             // the dump's indexes are there
	device *dump.DeviceSummary
	name   string
}

type dumpFileRows struct {
	rows  []dumpFileRow
	scene *scene
}

// The columns of the table of dumps.
const (
	fileName = iota
	fileDevice
	fileEvents
	fileRequested
	fileAllocated
	fileReserved
	fileHeadroom
	fileOOMs
	fileHistory
	fileStatus
)

func newDumpFilesPane() *dumpFilesPane {
	p := &dumpFilesPane{}
	p.table = widget.Table{SortColumn: -1, Rows: &p.rows, Columns: []widget.TableColumn{
		fileName:      {Title: "file", Width: 12, Grow: 3},
		fileDevice:    {Title: "device", Width: 8, Drop: 6},
		fileEvents:    {Title: "events", Width: 10, Align: grid.Right, Drop: 4},
		fileRequested: {Title: "peak req.", Width: 10, Align: grid.Right},
		fileAllocated: {Title: "peak alloc.", Width: 11, Align: grid.Right, Drop: 5},
		fileReserved:  {Title: "reserved", Width: 10, Align: grid.Right, Drop: 7},
		fileHeadroom:  {Title: "headroom", Width: 10, Align: grid.Right},
		fileOOMs:      {Title: "OOM", Width: 4, Align: grid.Right, Drop: 3},
		fileHistory:   {Title: "history", Width: 11, Drop: 2},
		fileStatus:    {Title: "status", Width: 12, Grow: 1, Drop: 1},
	}}
	return p
}

func (p *dumpFilesPane) title(s *scene) (string, string) {
	return "Memory dumps", "enter looks at one"
}

func (*dumpFilesPane) keys() keymap.Context { return keymap.List }

// collect finds the rows of a snapshot, once.
func (p *dumpFilesPane) collect(s *scene) {
	p.rows.scene = s
	current := ""
	if s.view != nil {
		current = s.view.ID
	}
	if p.seen == s.snapshot.Version && p.chosen == current {
		return
	}
	moved := p.chosen != current
	p.seen, p.chosen = s.snapshot.Version, current
	p.rows.rows = p.rows.rows[:0]
	for _, view := range s.snapshot.Sources {
		if !isDump(view) {
			continue
		}
		if view.ID == current && moved {
			p.table.Selected = len(p.rows.rows)
		}
		row := dumpFileRow{view: *view, kept: view.Dump != nil, name: headName(view)}
		row.view.Dump = nil
		if view.Summary == nil || len(view.Summary.Devices) == 0 {
			p.rows.rows = append(p.rows.rows, row)
			continue
		}
		for i := range view.Summary.Devices {
			row.device = &view.Summary.Devices[i]
			p.rows.rows = append(p.rows.rows, row)
		}
	}
	p.tellApart()
	p.table.Selected = min(p.table.Selected, max(len(p.rows.rows)-1, 0))
}

// tellApart gives files of the same name their folders.
func (p *dumpFilesPane) tellApart() {
	first := map[string]string{}
	for i := range p.rows.rows {
		row := &p.rows.rows[i]
		if id, taken := first[row.name]; taken && id != row.view.ID {
			for j := range p.rows.rows {
				p.rows.rows[j].name = p.rows.rows[j].view.Name
			}
			return
		}
		first[row.name] = row.view.ID
	}
}

func (p *dumpFilesPane) draw(r grid.Region, s *scene, _ bool) {
	p.collect(s)
	p.table.Offset = widget.ScrollTo(p.table.Offset, p.table.Selected, r.Height()-1, len(p.rows.rows))
	p.table.Draw(r)
}

func (p *dumpFilesPane) do(action keymap.Action, s *scene) bool {
	p.collect(s)
	if action == keymap.Details && p.table.Selected < len(p.rows.rows) {
		row := &p.rows.rows[p.table.Selected]
		p.wish = sourceWish{source: row.view.ID, device: -1, made: true}
		if row.device != nil {
			p.wish.device = row.device.Number
		}
		return true
	}
	return moveIn(&p.table, action, len(p.rows.rows))
}

func (p *dumpFilesPane) takeWish() sourceWish {
	wish := p.wish
	p.wish = sourceWish{}
	return wish
}

func (p *dumpFilesPane) click(_, y, _, _ int, s *scene) {
	if row := p.table.Offset + y - 1; y > 0 && row < len(p.rows.rows) {
		p.table.Selected = row
	}
}

func (rows *dumpFileRows) Len() int { return len(rows.rows) }

func (rows *dumpFileRows) DrawCell(r grid.Region, row, column int) {
	d := &rows.rows[row]
	text, dim := grid.Of(themes.Text), grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	width := r.Width()
	switch column {
	case fileName:
		style := text
		if rows.scene.view != nil && d.view.ID == rows.scene.view.ID {
			style = style.With(themes.Bold)
		}
		r.FitMiddle(0, 0, width, style, d.name)
		return
	case fileStatus:
		drawFileStatus(r, d)
		return
	}
	if d.device == nil {
		return
	}
	switch column {
	case fileDevice:
		r.Fit(0, 0, width, dim, d.device.Name, grid.Left)
	case fileEvents:
		pen.Count(text, int64(d.device.Events), width)
	case fileRequested:
		pen.Bytes(grid.Of(themes.Peak), grid.Known(d.device.PeakRequested.Bytes, !tellsNoPeak(&d.view, d.device)), width)
	case fileAllocated:
		pen.Bytes(grid.Of(themes.Allocated), grid.Known(d.device.PeakAllocated.Bytes, !tellsNoPeak(&d.view, d.device)), width)
	case fileReserved:
		pen.Bytes(grid.Of(themes.Reserved), grid.Known(d.device.PeakReserved.Bytes, d.device.Reserves), width)
	case fileHeadroom:
		bytes, _, known := d.device.Headroom(rows.scene.reserve)
		pen.Bytes(grid.Of(themes.Accent), grid.Known(bytes, known), width)
	case fileOOMs:
		style := dim
		if d.device.OOMs > 0 {
			style = grid.Of(themes.Error)
		}
		pen.Count(style, int64(d.device.OOMs), width)
	case fileHistory:
		word, style := d.history()
		r.Text(0, 0, style, word)
	}
}

// history is the row's history in a word or two.
func (d *dumpFileRow) history() (string, grid.Style) {
	switch {
	case d.device.HistoryCut:
		return "cut", grid.Of(themes.Warning)
	case d.device.Events == 0:
		return "none", grid.Of(themes.Dim)
	case d.device.HistoryReason != "":
		return "late start", grid.Of(themes.Text)
	}
	return "whole", grid.Of(themes.OK)
}

// drawFileStatus says how a file is doing: how far it is read, and what is wrong
// with it.
func drawFileStatus(r grid.Region, d *dumpFileRow) {
	view := &d.view
	mark, style := widget.SourceMark(r.Glyphs(), sourceState(view, false))
	dim := grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	pen.Rune(style, mark)
	pen.Skip(1)
	switch {
	case view.Status == model.StatusLoading && view.Size > 0:
		drawProgress(&pen, dim, view)
	case view.StatusWhy != "":
		pen.Fit(grid.Of(themes.Warning), view.StatusWhy, pen.Left(), grid.Left)
	case view.Summary != nil && len(view.Summary.Problems) > 0:
		pen.Count(grid.Of(themes.Warning), int64(len(view.Summary.Problems)), 0)
		pen.Text(grid.Of(themes.Warning), " problems")
	case !d.kept && view.Summary != nil:
		pen.Text(dim, "read again when chosen")
	default:
		pen.Text(dim, view.Status.String())
	}
}

func (p *dumpFilesPane) selectedText(s *scene) string {
	p.collect(s)
	if p.table.Selected >= len(p.rows.rows) {
		return ""
	}
	row := &p.rows.rows[p.table.Selected]
	text := row.view.Name
	switch d := row.device; {
	case d == nil:
	case tellsNoPeak(&row.view, d):
		text += ", " + d.Name + ": no history, allocated " + string(grid.AppendExact(nil, d.End[dump.Allocated])) +
			", requested " + string(grid.AppendExact(nil, d.End[dump.Requested]))
	default:
		text += ", " + d.Name + ": " + countText(d.Events) + " events, peak requested " + string(grid.AppendExact(nil, d.PeakRequested.Bytes)) +
			", peak allocated " + string(grid.AppendExact(nil, d.PeakAllocated.Bytes))
	}
	return text
}
