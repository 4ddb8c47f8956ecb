package ui

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"vramscope/ui/grid"
	"vramscope/ui/keymap"

	"vramscope/themes"
)

// maximumEntry is the longest text that can be typed, in characters.
const maximumEntry = 256

// entryLine is the line at the bottom in which a filter or a command is typed.
// The editing is that of Bubbles' text input, the drawing is the grid's.
type entryLine struct {
	prompt  string // "/" or ":"
	input   textinput.Model
	history []string
	place   int // in history while walking through it
	words   []string
	problem string
}

func newEntryLine(prompt string, history, words []string) *entryLine {
	input := textinput.New()
	input.CharLimit = maximumEntry
	input.Focus()
	return &entryLine{prompt: prompt, input: input, history: history, place: len(history), words: words}
}

// key takes a key; done says that the line is over, applied that it counts.
func (e *entryLine) key(msg tea.KeyPressMsg) (done, applied bool) {
	binding := keymap.Lookup(keymap.Input, msg.String())
	if binding == nil {
		e.input, _ = e.input.Update(msg)
		e.problem = ""
		return false, false
	}
	switch binding.Action {
	case keymap.Submit:
		return true, true
	case keymap.Cancel:
		return true, false
	case keymap.Complete:
		e.complete()
	case keymap.HistoryBack:
		e.walk(-1)
	case keymap.HistoryForward:
		e.walk(+1)
	}
	return false, false
}

// paste takes pasted text.
func (e *entryLine) paste(msg tea.PasteMsg) { e.input, _ = e.input.Update(msg) }

func (e *entryLine) walk(step int) {
	e.place = min(max(e.place+step, 0), len(e.history))
	text := ""
	if e.place < len(e.history) {
		text = e.history[e.place]
	}
	e.input.SetValue(text)
	e.input.CursorEnd()
}

// complete fills in what all words that begin like the text have in common.
func (e *entryLine) complete() {
	typed := e.input.Value()
	common, found := "", false
	for _, word := range e.words {
		if len(word) < len(typed) || word[:len(typed)] != typed {
			continue
		}
		if !found {
			common, found = word, true
			continue
		}
		n := 0
		for n < len(common) && n < len(word) && common[n] == word[n] {
			n++
		}
		common = common[:n]
	}
	if found {
		e.input.SetValue(common)
		e.input.CursorEnd()
	}
}

func (e *entryLine) draw(r grid.Region) {
	r.Clear(grid.Of(themes.Text))
	p := r.Pen(0, 0)
	p.Text(grid.Of(themes.Accent), e.prompt)
	at := p.X()
	text := []rune(e.input.Value())
	cursor := min(e.input.Position(), len(text))
	// Long texts show their end: what is typed must be seen.
	from := max(0, cursor-max(r.Width()-at-2, 1))
	p.Text(grid.Of(themes.Text), string(text[from:]))
	x := at + grid.Width(string(text[from:cursor]))
	char, style := r.Get(x, 0)
	if char == 0 {
		char = ' '
	}
	r.Set(x, 0, char, style.With(themes.Inverse))
	if e.problem != "" {
		width := grid.Width(e.problem)
		if start := r.Width() - width - 1; start > p.X()+1 {
			r.Text(start, 0, grid.Of(themes.Error), e.problem)
		}
	}
}
