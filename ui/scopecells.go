package ui

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// scopeRoles are what the columns of bytes mean.
var scopeRoles = [scopeColumns]themes.Role{scopeLive: themes.Live, scopeSelf: themes.Self, scopeTotal: themes.Total, scopePeak: themes.Peak}

// narrowBytes is the width of a column of bytes under which they are written
// short.
const narrowBytes = 9

// drawScopeBytes writes bytes in the style of what they mean, right-aligned.
func drawScopeBytes(r grid.Region, role themes.Role, n int64) {
	pen := r.Pen(0, 0)
	if r.Width() < narrowBytes {
		pen.Short(grid.Of(role), n, r.Width())
		return
	}
	pen.Bytes(grid.Of(role), n, r.Width())
}

// scopeCountWidths are the columns for how many scopes and how many allocations a
// row counts, at the right end of a cell of the given width; 0 where there is no
// room.
func scopeCountWidths(width int) (scopes, allocations int) {
	switch {
	case width >= 40:
		return 8, 9
	case width >= 32:
		return 8, 0
	}
	return 0, 0
}

// drawScopeCounts writes both at the right end of a cell, and returns the columns
// that they took.
func drawScopeCounts(r grid.Region, count, allocs int64) int {
	scopes, allocations := scopeCountWidths(r.Width())
	if scopes == 0 {
		return 0
	}
	dim := grid.Of(themes.Dim)
	pen := r.Pen(r.Width()-scopes-allocations, 0)
	pen.Count(dim, count, scopes-1)
	pen.Rune(dim, r.Glyphs().Times)
	if allocations > 0 {
		pen.Count(dim, allocs, allocations)
	}
	return scopes + allocations
}
