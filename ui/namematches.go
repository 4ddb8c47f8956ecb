package ui

import "vramscope/ui/grid"

// nameMatches are the columns of names that a pattern matches.
type nameMatches struct {
	of    *filterPattern
	spans map[string][2]int
}

func (m *nameMatches) reset(of *filterPattern) { m.of, m.spans = of, map[string][2]int{} }

// span is the columns of a name that match; the same twice for none.
func (m *nameMatches) span(name string) (from, to int) {
	if m.of == nil || m.of.pattern == nil || m.of.invert {
		return 0, 0
	}
	span, known := m.spans[name]
	if !known {
		if at := m.of.pattern.FindStringIndex(name); at != nil {
			span = [2]int{grid.Width(name[:at[0]]), grid.Width(name[:at[1]])}
		}
		if len(m.spans) < maximumMatches {
			m.spans[name] = span
		}
	}
	return span[0], span[1]
}

// maximumMatches bounds the names whose match is remembered.
const maximumMatches = 4096
