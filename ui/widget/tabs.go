package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// Tabs writes the names of views into the first row of a region with the
// number keys that show them, the current one inverse and in brackets. Where
// there is no room for all names, the others are numbers alone. It returns the
// columns that it took.
func Tabs(r grid.Region, names []string, current int) int {
	used := 0
	placeTabs(names, current, r.Width(), func(i, x, width int, named bool) {
		style := grid.Of(themes.Footer)
		left, right := ' ', ' '
		if i == current {
			style = grid.Of(themes.TitleFocused)
			left, right = r.Glyphs().ButtonLeft, r.Glyphs().ButtonRight
		}
		p := r.Sub(x, 0, width, 1).Pen(0, 0)
		p.Rune(style, left)
		p.Count(style, int64(i+1), 0)
		if named {
			p.Rune(style, ' ')
			p.Text(style, names[i])
		}
		p.Rune(style, right)
		used = x + width
	})
	return used
}

// TabAt is the tab at column x of a row of the given width, -1 for none.
func TabAt(names []string, current, width, x int) int {
	hit := -1
	placeTabs(names, current, width, func(i, at, tabWidth int, _ bool) {
		if x >= at && x < at+tabWidth {
			hit = i
		}
	})
	return hit
}

// placeTabs visits the tabs that fit, with their columns.
func placeTabs(names []string, current, width int, visit func(i, x, width int, named bool)) {
	all := 0
	for _, name := range names {
		all += grid.Width(name) + 4
	}
	x := 0
	for i, name := range names {
		named := all <= width || i == current
		tabWidth := 3
		if named {
			tabWidth += grid.Width(name) + 1
		}
		if x+tabWidth > width {
			return
		}
		visit(i, x, tabWidth, named)
		x += tabWidth
	}
}
