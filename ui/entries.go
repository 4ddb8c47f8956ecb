package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"vramscope/recorder"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// maximumHistory is how many lines of each kind are remembered.
const maximumHistory = 50

// nothingToFilter says why a filter has no effect in a pane.
const nothingToFilter = "nothing to filter here: filters work on trees and lists"

// startFilter asks for a pattern for the rows of the pane that has the keys.
func (d *Dashboard) startFilter() {
	d.entry = newEntryLine("/", d.filters, nil)
	f, ok := d.focusedPane().(filterer)
	if !ok {
		// The line opens all the same: what is typed next was never meant as
		// keys, which could act on a program.
		d.entry.problem = nothingToFilter
		return
	}
	d.entry.input.SetValue(f.filter())
	d.entry.input.CursorEnd()
}

// typeEntry gives a key to the line that is being typed, and applies it. A
// filter is applied with every key, so that its effect is seen.
func (d *Dashboard) typeEntry(msg tea.KeyPressMsg) {
	entry := d.entry
	done, applied := entry.key(msg)
	text := entry.input.Value()
	if entry.prompt == "/" {
		if f, ok := d.focusedPane().(filterer); ok {
			if done && !applied {
				text = ""
			}
			if err := f.setFilter(text); err != nil {
				entry.problem = err.Error()
			} else {
				entry.problem = ""
			}
		} else {
			entry.problem = nothingToFilter
		}
		if done {
			d.entry = nil
			d.filters = remembered(d.filters, text, applied)
			if applied && entry.problem != "" {
				d.say(widget.StatusError, "no filter: "+entry.problem)
			}
		}
		return
	}
	if done {
		d.entry = nil
		d.typed = remembered(d.typed, text, applied)
		if applied {
			d.obey(strings.TrimSpace(text))
		}
	}
}

func remembered(lines []string, text string, applied bool) []string {
	if !applied || text == "" || len(lines) > 0 && lines[len(lines)-1] == text {
		return lines
	}
	return append(lines[max(0, len(lines)-maximumHistory+1):], text)
}

// obey carries out a typed command: an action by its name, a view by its
// name, "open FILE", "close" for the file that is looked at, "source NAME",
// "at MOMENT" of a memory dump, or "snapshot" and "calibration", with the PATH
// to write if that matters.
func (d *Dashboard) obey(text string) {
	verb, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch verb {
	case "":
		return
	case "open":
		if err := d.feed.Open(rest); err != nil {
			d.say(widget.StatusError, err.Error())
		} else {
			d.say(widget.StatusBusy, "opening "+rest)
		}
		return
	case "close":
		d.closeSource()
		return
	case "source":
		d.selectByName(rest)
		return
	case "at":
		d.lookAtTyped(rest)
		return
	case recorder.CommandSnapshot, recorder.CommandCalibration:
		d.askTyped(verb, rest)
		return
	case framesVerb, driverVerb:
		d.sizeTyped(verb, rest)
		return
	case "panic":
		d.breakOnPurpose(rest)
		return
	}
	if view, ok := viewByName(verb); ok {
		d.view, d.zoomed = view, false
		return
	}
	if action, ok := keymap.ActionByName(verb); ok && typeable(action) {
		if command := d.do(action); command != nil {
			d.later = append(d.later, command)
		}
		return
	}
	d.say(widget.StatusError, fmt.Sprintf("there is no command %q: press tab after : for those there are", text))
}

// breakOnPurpose panics, for trying that the terminal is restored. It is no
// word of the completion.
func (d *Dashboard) breakOnPurpose(where string) {
	const cause = "broken on purpose, by :panic"
	if where == "goroutine" {
		d.later = append(d.later, func() tea.Msg { panic(cause) })
		return
	}
	panic(cause)
}

// typeable says whether an action makes sense by its name.
func typeable(action keymap.Action) bool {
	switch action {
	case keymap.Yes, keymap.No, keymap.Press, keymap.SwitchButton, keymap.Submit, keymap.Cancel, keymap.Complete,
		keymap.HistoryBack, keymap.HistoryForward, keymap.None:
		return false
	}
	return true
}

// commandWords are what can be typed after ":", for completion.
func commandWords() []string {
	words := []string{"open ", "source ", "at ", framesVerb + " ", driverVerb + " ", recorder.CommandSnapshot, recorder.CommandCalibration}
	for _, view := range layout.ViewNames() {
		words = append(words, strings.ToLower(view))
	}
	for action := range keymap.ActionCount {
		if a := keymap.Action(action); typeable(a) && a.String() != "" {
			words = append(words, a.String())
		}
	}
	return words
}

// closeSource forgets the file that is looked at, and ends its reading.
func (d *Dashboard) closeSource() {
	if d.scene.newest == nil {
		d.say(widget.StatusInfo, "there is nothing to close")
		return
	}
	name := d.scene.newest.Name
	if err := d.feed.Close(d.scene.newest.Source); err != nil {
		d.say(widget.StatusError, err.Error())
		return
	}
	d.baseline = nil
	d.choose("")
	d.say(widget.StatusOK, "closed "+name)
}

func (d *Dashboard) selectByName(name string) {
	for _, view := range d.snapshot.Sources {
		if view.ID == name || strings.Contains(view.Name, name) {
			d.choose(view.ID)
			return
		}
	}
	d.say(widget.StatusError, fmt.Sprintf("no source is called %q: press c for those there are", name))
}

// choose selects a source.
func (d *Dashboard) choose(id string) {
	switch {
	case id != d.offer() || id == "":
		d.offered = ""
	case d.scene.newest != nil:
		d.offered = d.scene.newest.ID // the way back
	}
	d.selected, d.chosen, d.moment = id, id != "", 0
	if id == "" {
		d.began = ""
	}
	d.paused, d.pausedAt = false, nil
	d.takeData()
}

// copyRow sends the selected row to the terminal's clipboard.
func (d *Dashboard) copyRow() tea.Cmd {
	c, ok := d.focusedPane().(copier)
	text := ""
	if ok {
		text = c.selectedText(&d.scene)
	}
	if text == "" {
		d.say(widget.StatusInfo, "nothing is selected here that could be copied")
		return nil
	}
	d.say(widget.StatusInfo, "sent to the terminal's clipboard (a terminal or tmux may decline it): "+text)
	return tea.SetClipboard(grid.Sanitize(text))
}

// Bounds of the time between two drawings of new data.
const (
	fastest = 100 * time.Millisecond
	slowest = 8 * time.Second
)

func (d *Dashboard) turnRefresh(action keymap.Action) {
	if action == keymap.Faster {
		d.options.Refresh /= 2
	} else {
		d.options.Refresh *= 2
	}
	d.options.Refresh = min(max(d.options.Refresh, fastest), slowest)
	d.say(widget.StatusInfo, fmt.Sprintf("new data is drawn every %v", d.options.Refresh))
}
