package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// ScrollTo is the offset that shows the selected of total rows in a window of
// visible rows, moved from the old offset no further than it must be. The
// result never shows blank rows where there are others to show.
func ScrollTo(offset, selected, visible, total int) int {
	if selected < offset {
		offset = selected
	}
	if selected >= offset+visible {
		offset = selected - visible + 1
	}
	return max(0, min(offset, total-visible))
}

// Scrollbar draws where a window of visible rows at offset lies among total
// rows, into the first column of a region. Where all rows are visible it draws
// nothing.
func Scrollbar(r grid.Region, offset, visible, total int) {
	height := r.Height()
	if total <= visible || height <= 0 || visible <= 0 {
		return
	}
	length := max(1, int(float64(visible)/float64(total)*float64(height)+0.5))
	last := height - length
	top := min(int(float64(offset)/float64(total-visible)*float64(last)+0.5), last)
	for y := range height {
		if y >= top && y < top+length {
			r.Set(0, y, r.Glyphs().Thumb, grid.Of(themes.Axis))
		} else {
			r.Set(0, y, r.Glyphs().Track, grid.Of(themes.Guide))
		}
	}
}
