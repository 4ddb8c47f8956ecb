package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// HintBar writes key hints into the first row of a region, those that stand at
// the right end there, the others from the left, as many as fit. What is
// refused now is dim and in brackets.
func HintBar(r grid.Region, hints []keymap.Hint) {
	placeHints(hints, r.Width(), func(x int, h *keymap.Hint) { drawHint(r, x, h) })
}

// HintAt is the action of the hint at column x of a bar of the given width;
// false where there is none, or one that is refused.
func HintAt(hints []keymap.Hint, width, x int) (keymap.Action, bool) {
	action, ok := keymap.None, false
	placeHints(hints, width, func(at int, h *keymap.Hint) {
		if x >= at && x < at+hintWidth(h) {
			action, ok = h.Action, !h.Off
		}
	})
	return action, ok
}

// placeHints visits the hints that fit, with their columns.
func placeHints(hints []keymap.Hint, width int, visit func(x int, h *keymap.Hint)) {
	end := width
	for i := len(hints) - 1; i >= 0; i-- {
		if h := &hints[i]; h.Last {
			if start := end - hintWidth(h) - 1; start >= 0 {
				visit(start, h)
				end = start - 1
			}
		}
	}
	x := 1
	for i := range hints {
		h := &hints[i]
		if h.Last {
			continue
		}
		if x+hintWidth(h) > end {
			break
		}
		visit(x, h)
		x += hintWidth(h) + 2
	}
}

// hintWidth is the columns of a hint: its key, a blank, its label.
func hintWidth(h *keymap.Hint) int {
	width := grid.Width(h.Key) + 1 + grid.Width(h.Label)
	if h.Off {
		width += 2
	}
	return width
}

func drawHint(r grid.Region, x int, h *keymap.Hint) {
	p := r.Pen(x, 0)
	key, label := grid.Of(themes.Key), grid.Of(themes.Footer)
	if h.Off {
		key, label = grid.Of(themes.KeyOff), grid.Of(themes.KeyOff)
		p.Rune(key, '(')
	}
	p.Text(key, h.Key)
	p.Skip(1)
	p.Text(label, h.Label)
	if h.Off {
		p.Rune(key, ')')
	}
}
