package ui

import (
	"fmt"
	"strings"

	"vramscope/model/costs"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// costScopePane is everything about the scope of a calibration file that is
// selected.
type costScopePane struct {
	flow flow
	of   costFactsOf
	text costFacts
}

// costFactsOf is what the texts about a scope depend on.
type costFactsOf struct {
	scope *costs.Scope
	asked int
}

// costFacts are texts about a scope, made once.
type costFacts struct {
	formula, density, falls, needs, expected string
}

func (p *costScopePane) title(s *scene) (string, string) {
	if scope, _ := s.costScope(); scope != nil && scope.Cost.Units != nil {
		return "Scope", "reckoned"
	}
	return "Scope", "replayed"
}

func (*costScopePane) keys() keymap.Context { return keymap.List }

func (*costScopePane) do(keymap.Action, *scene) bool { return false }

func (p *costScopePane) take(s *scene, scope *costs.Scope, answer *costs.Answer) {
	of := costFactsOf{scope, s.choices.cost.asked}
	if of == p.of {
		return
	}
	p.of, p.text = of, costFacts{formula: scope.Formula(), density: scope.DensityText(s.view.Costs.Costs)}
	if scope.Falls.Frames > 0 {
		p.text.falls = scope.Falls.String()
	}
	if len(answer.Needs) > 0 {
		p.text.needs = ":driver " + strings.Join(answer.Needs, "=N, :driver ") + "=N"
	}
	if answer.Expected >= 0 {
		p.text.expected = countText(int(answer.Expected)) + " of " + scope.Cost.Density.Of
	}
}

func (p *costScopePane) draw(r grid.Region, s *scene, _ bool) {
	scope, answer := s.costScope()
	if scope == nil {
		nothing(r, costsUnread(s))
		return
	}
	p.take(s, scope, answer)
	row := r.Row(0).Pen(0, 0)
	row.Text(grid.Of(themes.Accent).With(themes.Bold), scope.Name)
	row.Skip(2)
	row.Fit(grid.Of(themes.Text), scope.Route, row.Left(), grid.Left)
	f, text, warning := &p.flow, grid.Of(themes.Text), grid.Of(themes.Warning)
	f.begin(r.Sub(0, 1, r.Width(), r.Height()-1))
	f.bytes("peak", grid.Of(themes.Peak), grid.Known(answer.Peak.Bytes, answer.Peak.Known))
	if scope.Cost.Trace != nil {
		f.bytes("end", grid.Of(themes.Live), grid.Known(answer.End.Bytes, answer.End.Known))
		f.bytes("reverse peak", grid.Of(themes.Reverse), grid.Known(answer.ReversePeak.Bytes, answer.ReversePeak.Known))
		f.bytes("reverse end", grid.Of(themes.Reverse), grid.Known(answer.ReverseEnd.Bytes, answer.ReverseEnd.Known))
		f.count("allocations", text, scope.Allocs)
	}
	for _, line := range [...]struct {
		label, text string
		style       grid.Style
	}{
		{"why", answer.Peak.Why, warning}, {"type", p.text.needs, warning}, {"bytes", p.text.formula, text},
		{"expected", p.text.expected, text}, {"density", p.text.density, text}, {"the peak falls", p.text.falls, warning},
	} {
		if line.text != "" {
			f.line()
			f.text(line.label, line.style, line.text)
		}
	}
}

func (p *costScopePane) details(s *scene) (string, []string) { return costDetails(s) }

func (p *costScopePane) origins(s *scene) []origin { return costOrigins(s) }

// costDetails are all numbers of the selected scope, to the byte.
func costDetails(s *scene) (string, []string) {
	scope, answer := s.costScope()
	if scope == nil {
		return "", nil
	}
	frames := framesText(s.choices.cost.question.Frames)
	lines := []string{"route  " + scope.Route}
	add := func(name string, a costs.Amount) {
		if a.Known {
			lines = append(lines, fmt.Sprintf("%s for %s  %s", name, frames, grid.AppendExact(nil, a.Bytes)))
		} else {
			lines = append(lines, name+"  not known: "+a.Why)
		}
	}
	add("peak", answer.Peak)
	if scope.Cost.Trace == nil {
		lines = append(lines, "bytes  "+scope.Formula())
		if text := scope.DensityText(s.view.Costs.Costs); text != "" {
			lines = append(lines, text)
		}
		return "Scope " + scope.Name, lines
	}
	add("end", answer.End)
	add("reverse peak", answer.ReversePeak)
	add("reverse end", answer.ReverseEnd)
	lines = append(lines, "allocations  "+countText(int(scope.Allocs)))
	for _, n := range costs.DefaultFrames {
		at := scope.At(costs.Question{Frames: n}, 0)
		if at.Peak.Known {
			lines = append(lines, fmt.Sprintf("peak for %s  %s", framesText(n), grid.AppendExact(nil, at.Peak.Bytes)))
		}
	}
	if scope.Falls.Frames > 0 {
		lines = append(lines, "the peak falls "+scope.Falls.String())
	}
	return "Scope " + scope.Name, append(lines, "the arena view (3) lists the events with a running pointer")
}

var (
	_ detailer   = (*costScopePane)(nil)
	_ originator = (*costScopePane)(nil)
)
