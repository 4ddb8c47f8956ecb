package ui

import (
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
			p.offset = min(p.offset+1, max(len(s.view.NonArena)-1, 0))
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
	y := 0
	for i := range s.view.Sets {
		if set := &s.view.Sets[i]; set.Of == recorder.OfPeaks && y < r.Height() {
			drawPeaks(r.Row(y), s.view, set)
			y++
			if y < r.Height() && r.Height() > 2 {
				drawCompatible(r.Row(y), s.view, set)
				y++
			}
		}
	}
	if y == 0 {
		if peak, ok := allocatedPeak(s.view); ok {
			pen := r.Pen(0, 0)
			pen.Text(grid.Of(themes.Dim), "allocated peak ")
			pen.Bytes(grid.Of(themes.Peak), peak, 0)
			y++
		}
	}
	p.offset = min(p.offset, max(len(s.view.NonArena)-(r.Height()-y), 0))
	for i := p.offset; i < len(s.view.NonArena) && y < r.Height(); i++ {
		drawNonArena(r.Row(y), &s.view.NonArena[i])
		y++
	}
	if y == 0 {
		nothing(r, "No peak was told yet. Peak regions and notes of transients outside the arena fill this.")
	}
}

func drawPeaks(r grid.Region, view *model.SourceView, set *recorder.CounterSet) {
	dim, plain := grid.Of(themes.Dim), grid.Of(themes.Text)
	figure := func(c recorder.Counter) int64 { return value(view.Figure(set, c)) }
	number := numbersFor(r)
	pen := r.Pen(0, 0)
	pen.Text(dim, "reported ")
	number(&pen, grid.Of(themes.Peak).With(themes.Bold), figure(recorder.PeakReported), 0)
	pen.Text(dim, " = max(live ")
	number(&pen, plain, figure(recorder.PeakLive), 0)
	pen.Text(dim, ", floor ")
	number(&pen, plain, figure(recorder.PeakFloor), 0)
	pen.Text(dim, ", open ")
	number(&pen, plain, figure(recorder.PeakOpen), 0)
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

func drawNonArena(r grid.Region, t *model.NonArenaTotal) {
	dim := grid.Of(themes.Dim)
	number := numbersFor(r)
	pen := r.Pen(0, 0)
	pen.Text(dim, "outside the arena: ")
	pen.Text(grid.Of(themes.Text), t.Name)
	pen.Rune(dim, ' ')
	number(&pen, grid.Of(themes.Text), t.InputBytes, 0)
	pen.Rune(dim, ' ')
	pen.Rune(dim, r.Glyphs().Arrow)
	pen.Rune(dim, ' ')
	number(&pen, grid.Of(themes.Peak), t.PeakBytes, 0)
	pen.Text(dim, " (")
	pen.Rune(dim, r.Glyphs().Times)
	pen.Factor(dim, t.PeakBytes, t.InputBytes, 0)
	pen.Text(dim, ", worst of ")
	pen.Count(dim, t.Count, 0)
	pen.Text(dim, ")")
}

// allocatedPeak is the largest allocated peak that an allocator tells itself.
func allocatedPeak(view *model.SourceView) (peak int64, ok bool) {
	for i := range view.Sets {
		if f := view.Figure(&view.Sets[i], recorder.PeakAllocated); f.Known && f.Value >= peak {
			peak, ok = f.Value, true
		}
	}
	return peak, ok
}

func (*peaksPane) origins(s *scene) (all []origin) {
	if s.view == nil {
		return nil
	}
	for i := range s.view.Sets {
		set := &s.view.Sets[i]
		if set.Of != recorder.OfPeaks {
			continue
		}
		for _, c := range [...]recorder.Counter{recorder.PeakReported, recorder.PeakLive, recorder.PeakFloor, recorder.PeakOpen, recorder.PeakCompatible} {
			all = append(all, origin{name: c.String(), figure: s.view.Figure(set, c)})
		}
	}
	return all
}
