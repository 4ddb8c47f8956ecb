package ui

import (
	"cmp"
	"fmt"

	"vramscope/model"
	"vramscope/model/costs"
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// costAboutPane is what a calibration file says of itself: what was measured,
// when and with what, and what does not add up.
type costAboutPane struct{ costLines }

// costLines are lines of text about a calibration file, made once.
type costLines struct {
	cursor listCursor
	index  *costs.Index
	lines  []noteLine
}

func (p *costAboutPane) title(s *scene) (string, string) {
	if s.view == nil {
		return "About", ""
	}
	return "About this calibration", ""
}

func (*costLines) keys() keymap.Context { return keymap.List }

// collect says what there is to say, once for each file.
func (p *costAboutPane) collect(s *scene) {
	index, _ := s.costs()
	if index == p.index || index == nil {
		return
	}
	p.index, p.lines = index, p.lines[:0]
	plain, warning, dim := grid.Of(themes.Text), grid.Of(themes.Warning), grid.Of(themes.Dim)
	add := func(style grid.Style, text string) { p.lines = append(p.lines, noteLine{text, style}) }
	head := index.Head()
	add(plain, head.Text()+", "+model.FormatBytes(index.Costs.Bytes))
	add(plain, "fingerprint "+cmp.Or(head.Fingerprint, "not told"))
	if text := head.EnvironmentText(); text != "" {
		add(plain, "measured with "+text)
	}
	add(plain, countText(len(index.Scopes))+" scopes and routes, measured in "+countText(len(index.Costs.Corpus))+" runs")
	for _, problem := range index.Problems {
		add(warning, problem)
	}
	if safety := index.Costs.DensitySafety; safety > 0 {
		add(plain, fmt.Sprintf("densities at the %gth percentile are taken ×%g", index.Costs.DensityPercentile, safety))
	}
	for _, extra := range index.Costs.Extras {
		add(dim, "kept aside: "+dump.CleanText(extra))
	}
	for _, run := range index.Costs.Corpus {
		add(dim, "run "+dump.CleanText(run))
	}
}

func (p *costAboutPane) do(action keymap.Action, s *scene) bool {
	p.collect(s)
	return p.cursor.move(action, len(p.lines))
}

func (p *costAboutPane) draw(r grid.Region, s *scene, focused bool) {
	p.collect(s)
	p.drawLines(r, s, focused)
}

func (p *costAboutPane) details(s *scene) (string, []string) {
	p.collect(s)
	return p.selected("About this calibration")
}

// drawLines draws the lines, or why there are none.
func (p *costLines) drawLines(r grid.Region, s *scene, focused bool) {
	if index, _ := s.costs(); index == nil {
		nothing(r, costsUnread(s))
		return
	}
	p.cursor.at = min(p.cursor.at, max(len(p.lines)-1, 0))
	p.cursor.scroll(len(p.lines), r.Height())
	for y := 0; y < r.Height() && p.cursor.offset+y < len(p.lines); y++ {
		line, row := &p.lines[p.cursor.offset+y], r.Row(y)
		if focused && p.cursor.offset+y == p.cursor.at {
			row = row.Forced(grid.Of(themes.Selection))
			row.Clear(0)
		}
		row.Fit(0, 0, r.Width(), line.style, line.text, grid.Left)
	}
}

func (p *costLines) selected(title string) (string, []string) {
	if p.cursor.at >= len(p.lines) {
		return "", nil
	}
	return title, []string{p.lines[p.cursor.at].text}
}

// costRatiosPane is what a calibration measured outside the arena.
type costRatiosPane struct{ costLines }

func (*costRatiosPane) title(*scene) (string, string) { return "Outside the arena", "" }

func (p *costRatiosPane) collect(s *scene) {
	index, _ := s.costs()
	if index == p.index || index == nil {
		return
	}
	p.index, p.lines = index, p.lines[:0]
	switch ratios := index.Costs.Ratios; {
	case !index.Costs.RatiosKnown:
		p.lines = append(p.lines, noteLine{"The file has no table of transients outside the arena.", grid.Of(themes.Dim)})
	case len(ratios) == 0:
		p.lines = append(p.lines, noteLine{"No transient outside the arena was measured.", grid.Of(themes.Dim)})
	default:
		for _, ratio := range ratios {
			text := fmt.Sprintf("%s: peak ×%g of its input, ×%g at the 95th percentile, %d samples", dump.CleanText(ratio.Name), ratio.Ratio, ratio.P95, ratio.Samples)
			p.lines = append(p.lines, noteLine{text, grid.Of(themes.Text)})
		}
	}
}

func (p *costRatiosPane) do(action keymap.Action, s *scene) bool {
	p.collect(s)
	return p.cursor.move(action, len(p.lines))
}

func (p *costRatiosPane) draw(r grid.Region, s *scene, focused bool) {
	p.collect(s)
	p.drawLines(r, s, focused)
}

func (p *costRatiosPane) details(s *scene) (string, []string) {
	p.collect(s)
	return p.selected("Outside the arena")
}

// costQuestionPane is for what scopes are sized, and how to size them for
// something else.
type costQuestionPane struct {
	asked int
	made  bool
	text  string
}

func (*costQuestionPane) title(*scene) (string, string) { return "Sized for", "" }

func (*costQuestionPane) keys() keymap.Context { return keymap.List }

func (*costQuestionPane) do(keymap.Action, *scene) bool { return false }

func (p *costQuestionPane) draw(r grid.Region, s *scene, _ bool) {
	if c := &s.choices.cost; !p.made || p.asked != c.asked {
		p.made, p.asked = true, c.asked
		p.text = framesText(c.question.Frames)
		if drivers := c.question.DriversText(); drivers != "" {
			p.text += ", " + drivers
		}
		p.text += "  (+ and -, :frames 64, :driver pool=65536)"
	}
	nothing(r, p.text)
}
