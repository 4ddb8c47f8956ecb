package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// StatusKind is what a message is about.
type StatusKind uint8

// The kinds.
const (
	StatusInfo    StatusKind = iota // a remark
	StatusOK                        // done
	StatusWarning                   // not what was asked
	StatusError                     // failed
	StatusBusy                      // under way
)

// Status writes a message into a region, with a mark for its
// kind, and a note such as its time at the right end where there is room. The
// text may be anything; what does not fit is cut.
func Status(r grid.Region, kind StatusKind, text, note string) {
	mark, style := statusLook(r.Glyphs(), kind)
	r.Set(1, 0, mark, style)
	room := r.Width() - 4
	if noteWidth := grid.Width(note); noteWidth > 0 && grid.Width(text)+noteWidth+2 <= room {
		r.Fit(r.Width()-noteWidth-1, 0, noteWidth, grid.Of(themes.Dim), note, grid.Right)
		room -= noteWidth + 2
	}
	textStyle := grid.Of(themes.Text)
	if kind == StatusError || kind == StatusWarning {
		textStyle = style
	}
	if r.Height() > 1 && grid.Width(text) > room {
		Paragraph(r.Sub(3, 0, r.Width()-4, r.Height()), textStyle, text)
		return
	}
	r.Fit(3, 0, room, textStyle, text, grid.Left)
}

// StatusHeight is how many rows Status needs for a text to be whole.
func StatusHeight(text string, width int) int {
	if grid.Width(text) <= width-4 {
		return 1
	}
	return WrapHeight(text, width-4)
}

// statusLook is the mark and the style of a kind of message.
func statusLook(glyphs *themes.Glyphs, kind StatusKind) (rune, grid.Style) {
	switch kind {
	case StatusOK:
		return glyphs.StatusOK, grid.Of(themes.OK)
	case StatusWarning:
		return glyphs.StatusWarning, grid.Of(themes.Warning)
	case StatusError:
		return glyphs.StatusError, grid.Of(themes.Error)
	case StatusBusy:
		return glyphs.StatusBusy, grid.Of(themes.Info)
	default:
		return glyphs.StatusInfo, grid.Of(themes.Info)
	}
}

// SourceState is how a source stands.
type SourceState uint8

// The states.
const (
	SourceLive    SourceState = iota // records arrive
	SourcePaused                     // the screen stands still
	SourceStale                      // no record for a while
	SourceEnded                      // it said goodbye, or the file is at its end
	SourceLost                       // it went away without a word
	SourceRefused                    // it does not let us in
)

// SourceMark is the mark and the style of a source's state.
func SourceMark(glyphs *themes.Glyphs, state SourceState) (rune, grid.Style) {
	switch state {
	case SourceLive:
		return glyphs.SourceLive, grid.Of(themes.OK)
	case SourcePaused:
		return glyphs.SourcePaused, grid.Of(themes.Info)
	case SourceStale:
		return glyphs.SourceStale, grid.Of(themes.Stale)
	case SourceEnded:
		return glyphs.SourceEnded, grid.Of(themes.Dim)
	case SourceRefused:
		return glyphs.SourceRefused, grid.Of(themes.Warning)
	default:
		return glyphs.SourceLost, grid.Of(themes.Error)
	}
}
