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

// longestBytes is how long a number of bytes can be, such as "-1023.9 MiB".
const longestBytes = 12

// drawScopeBytes writes bytes in the style of what they mean, right-aligned.
func drawScopeBytes(r grid.Region, role themes.Role, n int64) {
	pen := r.Pen(0, 0)
	var room [16]byte
	if r.Width() < narrowBytes || r.Width() < longestBytes && n >= 1000 && len(grid.AppendBytes(room[:0], n)) > r.Width() {
		pen.Short(grid.Of(role), n, r.Width())
		return
	}
	pen.Bytes(grid.Of(role), n, r.Width())
}

// drawScopeLeast writes bytes that may be a lower bound, with its mark; one that is
// nothing then says nothing.
func drawScopeLeast(r grid.Region, role themes.Role, n int64, isLeast bool) {
	switch {
	case !isLeast:
		drawScopeBytes(r, role, n)
	case n == 0:
		r.Set(r.Width()-1, 0, r.Glyphs().Unknown, grid.Of(themes.Dim))
	default:
		var room [16]byte
		text := grid.AppendBytes(room[:0], n)
		if r.Width() < narrowBytes || len(text) >= r.Width() {
			text = grid.AppendShort(room[:0], n)
		}
		x := max(r.Width()-len(text)-1, 0)
		r.Set(x, 0, atLeast(r), grid.Of(role))
		r.Bytes(x+1, 0, grid.Of(role), text)
	}
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
// that they took. isLeast says that the allocations are a lower bound.
func drawScopeCounts(r grid.Region, count, allocs int64, isLeast bool) int {
	scopes, allocations := scopeCountWidths(r.Width())
	if scopes == 0 {
		return 0
	}
	dim := grid.Of(themes.Dim)
	pen := r.Pen(r.Width()-scopes-allocations, 0)
	pen.Count(dim, count, scopes-1)
	pen.Rune(dim, r.Glyphs().Times)
	switch {
	case allocations > 0 && isLeast:
		drawCountLeast(r.Sub(r.Width()-allocations, 0, allocations, 1), allocs)
	case allocations > 0:
		pen.Count(dim, allocs, allocations)
	}
	return scopes + allocations
}

// drawCountLeast writes a count that is a lower bound, as drawScopeLeast does.
func drawCountLeast(r grid.Region, n int64) {
	if n == 0 {
		r.Set(r.Width()-1, 0, r.Glyphs().Unknown, grid.Of(themes.Dim))
		return
	}
	var room [32]byte
	text := grid.AppendCount(room[:0], n)
	x := max(r.Width()-len(text)-1, 0)
	r.Set(x, 0, atLeast(r), grid.Of(themes.Dim))
	r.Bytes(x+1, 0, grid.Of(themes.Dim), text)
}
