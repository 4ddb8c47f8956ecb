package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// Dialog is a question before an action.
type Dialog struct {
	Title    string
	Text     string // what will happen, and to which process; wrapped, may hold newlines
	Yes, No  string // what the buttons say
	YesFocus bool   // the button that enter presses is Yes; by default it is No
}

// DialogPlaces are where a dialog has been drawn, in the grid's cells, for
// finding out what a mouse has hit.
type DialogPlaces struct {
	Box, Yes, No grid.Rect
}

// maxDialogWidth is the widest that a dialog gets.
const maxDialogWidth = 64

// Draw draws the dialog in the middle of a region, over what is there. In a
// region too small for all of it, the buttons stay longest.
func (d *Dialog) Draw(r grid.Region) DialogPlaces {
	width := min(r.Width(), maxDialogWidth)
	textHeight := WrapHeight(d.Text, width-4)
	height := min(r.Height(), textHeight+4)
	box := r.Sub((r.Width()-width)/2, (r.Height()-height)/2, width, height)
	box.Clear(0)
	inner := box
	if width >= 8 && height >= 3 {
		Frame(box, grid.Of(themes.BorderArmed))
		Title(box, d.Title, "", true)
		inner = box.Sub(2, 1, width-4, height-2)
	}
	if room := inner.Height() - 1; room > 0 {
		Paragraph(inner.Sub(0, 0, inner.Width(), min(room, textHeight)), 0, d.Text)
	}
	row := inner.Row(inner.Height() - 1)
	places := DialogPlaces{Box: box.Bounds()}
	noWidth, yesWidth := grid.Width(d.No)+4, grid.Width(d.Yes)+4
	x := max(0, inner.Width()-noWidth-yesWidth-2)
	places.No = button(row, x, noWidth, d.No, !d.YesFocus)
	places.Yes = button(row, x+noWidth+2, yesWidth, d.Yes, d.YesFocus)
	return places
}

// button draws a button and returns where it is.
func button(row grid.Region, x, width int, text string, focused bool) grid.Rect {
	style, mark := grid.Of(themes.Button), ' '
	if focused {
		style, mark = grid.Of(themes.ButtonFocused), row.Glyphs().Pointer
	}
	cell := row.Sub(x, 0, width, 1)
	p := cell.Pen(0, 0)
	p.Rune(style, row.Glyphs().ButtonLeft)
	p.Rune(style, mark)
	p.Text(style, text)
	p.Rune(style, ' ')
	p.Rune(style, row.Glyphs().ButtonRight)
	return cell.Bounds()
}
