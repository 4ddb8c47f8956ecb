package ui

import (
	"vramscope/model/costs"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// costFramesPane is the peak of the selected scope over the number of frames:
// how many fit.
type costFramesPane struct {
	of    costFactsOf
	count int // of rows
	rows  []costFramesRow
	text  string
}

// mostReplayed is how many events are replayed for one picture, all rows taken
// together.
const mostReplayed = 1_000_000

// costFramesRow is the peak for so many frames.
type costFramesRow struct {
	frames int64
	peak   costs.Amount
}

func (p *costFramesPane) title(s *scene) (string, string) {
	if p.text == "" {
		return "Peak by frames", ""
	}
	return p.text, "replayed"
}

func (*costFramesPane) keys() keymap.Context { return keymap.List }

func (*costFramesPane) do(keymap.Action, *scene) bool { return false }

// take replays the scope for so many numbers of frames: powers of two, and the
// one that is asked for.
func (p *costFramesPane) take(s *scene, scope *costs.Scope, count int) {
	of := costFactsOf{scope, s.choices.cost.asked}
	if of == p.of && count == p.count {
		return
	}
	p.of, p.count, p.rows = of, count, p.rows[:0]
	count = max(min(count, mostReplayed/max(len(scope.Cost.Trace), 1)), 1)
	q := s.choices.cost.question
	asked := q.Frames
	for frames := int64(1); len(p.rows) < count-1 && frames <= costs.MostFrames; frames *= 2 {
		if asked < frames {
			p.add(scope, s, asked)
			asked = costs.MostFrames + 1
		}
		if frames == asked {
			asked = costs.MostFrames + 1
		}
		p.add(scope, s, frames)
	}
	if asked <= costs.MostFrames {
		p.add(scope, s, asked)
	}
	p.text = "Peak of " + scope.Name + " by frames"
}

func (p *costFramesPane) add(scope *costs.Scope, s *scene, frames int64) {
	q := costs.Question{Frames: frames, Drivers: s.choices.cost.question.Drivers}
	p.rows = append(p.rows, costFramesRow{frames, scope.At(q, s.view.Costs.Costs.DensitySafety).Peak})
}

func (p *costFramesPane) draw(r grid.Region, s *scene, _ bool) {
	scope, answer := s.costScope()
	switch {
	case scope == nil:
		nothing(r, costsUnread(s))
		return
	case !answer.Peak.Known:
		nothing(r, scope.Name+": "+answer.Peak.Why)
		return
	}
	p.take(s, scope, r.Height())
	largest := int64(0)
	for i := range p.rows {
		largest = max(largest, p.rows[i].peak.Bytes)
	}
	for y := range p.rows {
		row := &p.rows[y]
		style := grid.Of(themes.Text)
		if row.frames == s.choices.cost.question.Frames {
			style = style.With(themes.Bold)
		}
		pen := r.Row(y).Pen(0, 0)
		pen.Count(style, row.frames, 13)
		pen.Skip(1)
		pen.Bytes(grid.Of(themes.Peak), grid.Known(row.peak.Bytes, row.peak.Known), longBytes)
		pen.Skip(1)
		if left := pen.Left(); left > 0 && row.peak.Known {
			widget.MiniBar(r.Sub(pen.X(), y, left, 1), row.peak.Bytes, largest, grid.Of(themes.Peak))
		}
	}
}

func (*costFramesPane) origins(s *scene) []origin { return costOrigins(s) }
