package ui

import (
	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// dumpPeaksPane is the peaks of a dump with the events that reach them: they can
// lie at different moments. Enter goes to the selected one.
type dumpPeaksPane struct{ cursor listCursor }

// peakSeries is which peaks are shown.
var peakSeries = [...]dump.Series{dump.Requested, dump.Allocated, dump.Reserved, dump.Pending}

func (*dumpPeaksPane) title(*scene) (string, string) { return "Peaks", "" }
func (*dumpPeaksPane) keys() keymap.Context          { return keymap.List }

// noPeakTold is why a dump without a history has no peak.
const noPeakTold = "only the end state was written: torch.cuda.memory._record_memory_history() before the run tells peaks"

// tellsNoPeak says whether the device has no history, which alone tells peaks.
func (f *dumpFacts) tellsNoPeak() bool { return f.device.Events.Len() == 0 && !f.reading }

// rows is how many peaks there are to show.
func peakRows(f *dumpFacts) int {
	if f.device.Peaks[dump.Pending].Bytes > 0 {
		return len(peakSeries)
	}
	return len(peakSeries) - 1
}

func (p *dumpPeaksPane) do(action keymap.Action, s *scene) bool {
	f := s.dumpFacts()
	if f == nil {
		return false
	}
	if action == keymap.Details {
		if f.tellsNoPeak() {
			return false
		}
		s.choices.dump.lookAt(f.device, f.device.Peaks[peakSeries[p.cursor.at]].Event)
		return true
	}
	return p.cursor.move(action, peakRows(f))
}

func (p *dumpPeaksPane) draw(r grid.Region, s *scene, focused bool) {
	f := s.dumpFacts()
	if f == nil {
		nothing(r, unreadText(s, "The peaks of a dump fill this."))
		return
	}
	rows := peakRows(f)
	p.cursor.at = min(p.cursor.at, rows-1)
	p.cursor.scroll(rows, r.Height())
	for y := 0; y < r.Height() && p.cursor.offset+y < rows; y++ {
		row := r.Row(y)
		if focused && p.cursor.offset+y == p.cursor.at {
			row = row.Forced(grid.Of(themes.Selection))
			row.Clear(0)
		}
		drawDumpPeak(row, f, peakSeries[p.cursor.offset+y])
	}
}

// drawDumpPeak is a peak: its bytes, the event, and when that was.
func drawDumpPeak(r grid.Region, f *dumpFacts, series dump.Series) {
	dim, plain := grid.Of(themes.Dim), grid.Of(themes.Text)
	pen := r.Pen(0, 0)
	pen.Fit(dim, series.String(), 13, grid.Left)
	if series == dump.Reserved && !f.device.Reserves {
		pen.Bytes(dim, grid.Missing, 10)
		return
	}
	if f.tellsNoPeak() {
		pen.Bytes(dim, grid.Missing, 10)
		pen.Text(dim, " no history tells it")
		return
	}
	peak := f.device.Peaks[series]
	pen.Bytes(grid.Of(themes.Peak).With(themes.Bold), peak.Bytes, 10)
	if peak.Event < 0 {
		pen.Text(dim, " before the first event")
		return
	}
	pen.Text(dim, " at event ")
	pen.Count(plain, int64(peak.Event), 0)
	if us := f.device.TimeAt(peak.Event); us != 0 && pen.Left() >= 14 {
		pen.Text(dim, ", +")
		drawMilliseconds(&pen, dim, (us-f.device.FirstUs)*1000)
	}
}

func (p *dumpPeaksPane) click(_, y, _, _ int, s *scene) {
	if f := s.dumpFacts(); f != nil && p.cursor.offset+y < peakRows(f) {
		p.cursor.at = p.cursor.offset + y
	}
}

func (*dumpPeaksPane) origins(s *scene) (all []origin) {
	f := s.dumpFacts()
	if f == nil {
		return nil
	}
	trace := *f
	trace.atEnd = false
	for _, series := range peakSeries {
		figure := model.Figure{Known: true, Value: f.device.Peaks[series].Bytes, Origin: trace.originOf(series)}
		if series == dump.Reserved && !f.device.Reserves {
			figure = model.Figure{Why: "the dump says nothing about segments"}
		}
		if f.tellsNoPeak() {
			figure = model.Figure{Why: noPeakTold}
		}
		all = append(all, origin{name: "peak of " + series.String() + " bytes", figure: figure})
	}
	return all
}
