package ui

import (
	"strings"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// peaksPane is the reported peak with what it is the maximum of, and the
// transients made outside the arena.
type peaksPane struct{ offset int }

func (*peaksPane) title(*scene) (string, string) { return "Peaks", "" }
func (*peaksPane) keys() keymap.Context          { return keymap.List }

func (p *peaksPane) do(action keymap.Action, s *scene) bool {
	switch action {
	case keymap.Up:
		p.offset = max(p.offset-1, 0)
	case keymap.Down:
		if s.view != nil {
			p.offset = min(p.offset+1, max(p.rows(s.view)-1, 0))
		}
	default:
		return false
	}
	return true
}

func (p *peaksPane) draw(r grid.Region, s *scene, _ bool) {
	if s.view == nil {
		nothing(r, "A program that measures its peaks fills this.")
		return
	}
	all := p.rows(s.view)
	p.offset = min(p.offset, max(all-r.Height(), 0))
	for y := range min(all-p.offset, r.Height()) {
		p.drawRow(r.Row(y), s.view, p.offset+y)
	}
	if all == 0 {
		nothing(r, "No peak was told yet. Peak regions and notes of transients outside the arena fill this.")
	}
}

// rows is how many rows there are: each peak stack, what it would be without
// open regions where that is told, each allocator outside the stacks, and each
// transient.
func (p *peaksPane) rows(view *model.SourceView) int {
	rows := len(view.NonArena)
	for i := range view.Sets {
		rows += rowsOfPeak(view, &view.Sets[i])
	}
	return rows
}

// rowsOfPeak is how many rows a set has.
func rowsOfPeak(view *model.SourceView, set *recorder.CounterSet) int {
	switch {
	case set.Of == recorder.OfPeaks && set.Values.Known(recorder.PeakCompatible) && (stacks(view) == 1 || compatibleDiffers(set)):
		return 2
	case set.Of == recorder.OfPeaks, set.Of == recorder.OfPool && !hasStack(view, set) && peakIsKnown(view, set):
		return 1
	}
	return 0
}

// compatibleDiffers says whether the original would report another peak.
func compatibleDiffers(set *recorder.CounterSet) bool {
	return counterOf(set, recorder.PeakCompatible) != counterOf(set, recorder.PeakReported)
}

// hasStack says whether a peak stack tells of an allocator: the stack of a
// device is torch's.
func hasStack(view *model.SourceView, set *recorder.CounterSet) bool {
	device, isTorch := strings.CutPrefix(set.ID, "torch:")
	if !isTorch {
		return false
	}
	device, _, _ = strings.Cut(device, ":")
	for i := range view.Sets {
		if number, ok := strings.CutPrefix(view.Sets[i].ID, "peaks:"); ok && number == device {
			return true
		}
	}
	return false
}

// peakIsKnown says whether an allocator counts its peak, or samples tell one.
func peakIsKnown(view *model.SourceView, set *recorder.CounterSet) bool {
	if set.Values.Known(recorder.PeakAllocated) {
		return true
	}
	_, _, known := view.Peak(set.ID, recorder.Allocated)
	return known
}

func (p *peaksPane) drawRow(r grid.Region, view *model.SourceView, row int) {
	for _, of := range [...]string{recorder.OfPeaks, recorder.OfPool} {
		for i := range view.Sets {
			set := &view.Sets[i]
			if set.Of != of {
				continue
			}
			rows := rowsOfPeak(view, set)
			switch {
			case row >= rows:
				row -= rows
				continue
			case of == recorder.OfPool:
				drawOwnPeak(r, view, set)
			case row == 1:
				drawCompatible(r, view, set)
			default:
				drawPeaks(r, view, set)
			}
			return
		}
	}
	if row < len(view.NonArena) {
		drawNonArena(r, &view.NonArena[row])
	}
}

// The words of an allocator's own peak.
const allocatedPeak, largestSample = " allocated peak ", ", the largest sample"

// drawOwnPeak writes the peak that an allocator counts itself, or the largest of
// its samples: the true one is that or more. A long name gives way to the number.
func drawOwnPeak(r grid.Region, view *model.SourceView, set *recorder.CounterSet) {
	dim := grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	fitName(r, &pen, grid.Of(themes.Text), setLabel(view, set), len(allocatedPeak)+1+longNumber)
	pen.Text(dim, allocatedPeak)
	peak := counterOf(set, recorder.PeakAllocated)
	if peak != grid.Missing && !isSampledPeak(set) {
		pen.Bytes(grid.Of(themes.Peak), peak, 0)
		return
	}
	if peak == grid.Missing {
		peak, _, _ = view.Peak(set.ID, recorder.Allocated)
	}
	pen.Rune(grid.Of(themes.Peak), atLeast(r))
	pen.Bytes(grid.Of(themes.Peak), peak, 0)
	if pen.Left() >= len(largestSample) { // the mark says it too
		pen.Text(dim, largestSample)
	}
}

// The columns that a number of bytes takes at most, written short or not.
const shortNumber, longNumber = len("99.9M"), len("1023.9 MiB")

// fitName writes a name, with its middle cut where it would leave fewer columns
// than so many to what follows.
func fitName(r grid.Region, pen *grid.Pen, style grid.Style, name string, follows int) {
	width := min(grid.Width(name), max(pen.Left()-follows, 1))
	r.FitMiddle(pen.X(), 0, width, style, name)
	pen.Skip(width)
}

// stacks is how many peak stacks a source has.
func stacks(view *model.SourceView) (n int) {
	for i := range view.Sets {
		if view.Sets[i].Of == recorder.OfPeaks {
			n++
		}
	}
	return n
}

func drawPeaks(r grid.Region, view *model.SourceView, set *recorder.CounterSet) {
	dim, plain := grid.Of(themes.Dim), grid.Of(themes.Text)
	number, width := numbersFor(r), shortNumber
	if r.Width() >= formulaWidth {
		width = longNumber
	}
	pen := r.Pen(0, 0)
	if told, ns := view.ToldLast(set); told != nil {
		pen.Duration(dim, view.Now-ns, 0)
		pen.Text(dim, " ago: ")
		set = told
	}
	if stacks(view) > 1 {
		pen.Text(plain, strings.TrimPrefix(setLabel(view, set), "peaks of "))
		pen.Text(dim, ": ")
	} else {
		pen.Text(dim, "reported ")
	}
	// It is a peak as the others are, and not what is live now.
	live := " = max(live peak "
	if pen.Left() < len(live)+len(", floor , open )")+4*width {
		live = " = max(live "
	}
	number(&pen, grid.Of(themes.Peak).With(themes.Bold), counterOf(set, recorder.PeakReported), 0)
	parts := [...]struct {
		before  string
		counter recorder.Counter
	}{{live, recorder.PeakLive}, {", floor ", recorder.PeakFloor}, {", open ", recorder.PeakOpen}}
	var room [24]byte
	for i, part := range parts {
		bytes := counterOf(set, part.counter)
		columns, end := len(grid.AppendShort(room[:0], bytes)), len(", .)")
		if width == longNumber {
			columns = len(grid.AppendBytes(room[:0], bytes))
		}
		if i == len(parts)-1 {
			end = len(")")
		}
		if pen.Left() < len(part.before)+columns+end { // a number that is cut is another number
			if i > 0 {
				pen.Text(dim, ", ")
				pen.Rune(dim, r.Glyphs().Ellipsis)
				pen.Text(dim, ")")
			}
			return
		}
		pen.Text(dim, part.before)
		number(&pen, plain, bytes, 0)
	}
	pen.Text(dim, ")")
}

// drawCompatible shows what the original would report, where it differs: it
// loses what an open region has displaced.
func drawCompatible(r grid.Region, view *model.SourceView, set *recorder.CounterSet) {
	dim := grid.Of(themes.Dim)
	pen := r.Pen(1, 0)
	pen.Text(dim, "without open regions (as algan counts) ")
	pen.Bytes(dim, value(view.Figure(set, recorder.PeakCompatible)), 0)
}

// drawNonArena writes the largest peak of a transient with what went in. What does
// not fit is left out whole, from the end on.
func drawNonArena(r grid.Region, t *model.NonArenaTotal) {
	dim := grid.Of(themes.Dim)
	number, width := numbersFor(r), shortNumber
	if r.Width() >= formulaWidth {
		width = longNumber
	}
	pen := r.Pen(0, 0)
	pen.Text(dim, "outside the arena: ")
	fitName(r, &pen, grid.Of(themes.Text), t.Name, len(" ")+width+len(" > ")+width)
	pen.Rune(dim, ' ')
	number(&pen, grid.Of(themes.Text), t.InputBytes, 0)
	pen.Rune(dim, ' ')
	pen.Rune(dim, r.Glyphs().Arrow)
	pen.Rune(dim, ' ')
	number(&pen, grid.Of(themes.Peak), t.PeakBytes, 0)
	var room [24]byte
	left := pen.Left() - len(" (x)") - len(grid.AppendFactor(room[:0], t.PeakBytes, t.InputBytes))
	if left < 0 {
		return
	}
	pen.Text(dim, " (")
	pen.Rune(dim, r.Glyphs().Times)
	pen.Factor(dim, t.PeakBytes, t.InputBytes, 0)
	if left >= len(worstOf)+len(grid.AppendCount(room[:0], t.Count)) {
		pen.Text(dim, worstOf)
		pen.Count(dim, t.Count, 0)
	}
	pen.Text(dim, ")")
}

// worstOf stands before how many transients the largest one is of.
const worstOf = ", worst of "

func (*peaksPane) origins(s *scene) (all []origin) {
	if s.view == nil {
		return nil
	}
	for i := range s.view.Sets {
		set := &s.view.Sets[i]
		if set.Of == recorder.OfPool && rowsOfPeak(s.view, set) > 0 {
			all = append(all, peakOrigin(s.view, set))
		}
		if set.Of != recorder.OfPeaks {
			continue
		}
		for _, c := range [...]recorder.Counter{recorder.PeakReported, recorder.PeakLive, recorder.PeakFloor, recorder.PeakOpen, recorder.PeakCompatible} {
			all = append(all, origin{name: poolSetName(set) + " " + c.String(), figure: s.view.Figure(set, c)})
		}
	}
	return all
}

// peakOrigin is where the peak of an allocator comes from.
func peakOrigin(view *model.SourceView, set *recorder.CounterSet) origin {
	figure := view.Figure(set, recorder.PeakAllocated)
	if !figure.Known {
		peak, _, _ := view.Peak(set.ID, recorder.Allocated)
		figure = model.Figure{Value: peak, Known: true, Origin: "the largest of the samples that were seen: the true peak is that or more"}
	}
	return origin{name: poolSetName(set) + " peak", figure: figure}
}
