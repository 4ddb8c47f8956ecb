// Package keymap is the one list of keys: what a key does, the hint line, the
// help screen and the table in the README all come from it, so that none of
// them can lie.
//
// Keys have the names that Bubble Tea v2 gives them ("ctrl+c", "pgdown",
// "space", "shift+tab", "R").
package keymap

import (
	"strings"

	"charm.land/bubbles/v2/key"
)

// Context is what has the keys. Exactly one has them at a time.
type Context uint8

// The contexts. A pane says which it is; dialogs, input lines and the choice
// of a column take the keys from whatever pane has them.
const (
	List     Context = iota // a table or text that scrolls
	Tree                    // a table whose rows open and close
	Timeline                // a chart with a cursor on its time axis
	BlockMap                // a map of blocks with a cursor
	Dialog                  // a question with two buttons
	Input                   // a line of text: a filter, a command
	Sort                    // s was pressed: the next key names a column

	// ContextCount is the number of contexts.
	ContextCount = int(iota)
)

// contextNames are in the order of the constants.
var contextNames = [ContextCount]string{"list", "tree", "timeline", "block map", "dialog", "input", "sort"}

// String is the context's name in messages.
func (c Context) String() string {
	if int(c) < ContextCount {
		return contextNames[c]
	}
	return ""
}

// contexts is a set of contexts.
type contexts uint8

func in(list ...Context) contexts {
	var set contexts
	for _, c := range list {
		set |= 1 << c
	}
	return set
}

func (set contexts) has(c Context) bool { return set&(1<<c) != 0 }

var (
	everywhere = in(List, Tree, Timeline, BlockMap, Dialog, Input, Sort)
	panes      = in(List, Tree, Timeline, BlockMap)
)

// Group is a chapter of the help screen.
type Group uint8

// The groups, in the order of the help screen.
const (
	Memory Group = iota // keys that act on a process
	Views
	Moving
	Finding
	Sorting // after s
	Trees
	Time
	Blocks
	Screen
	Questions
	Typing

	// GroupCount is the number of groups.
	GroupCount = int(iota)
)

// groupNames are in the order of the constants.
var groupNames = [GroupCount]string{
	"Memory", "Views", "Moving", "Finding and sorting", "After s, sort", "Scopes and arenas", "Time", "Block map", "Screen and program", "Questions", "Filter and command line",
}

// String is the group's title.
func (g Group) String() string {
	if int(g) < GroupCount {
		return groupNames[g]
	}
	return ""
}

// Binding is what some keys do in some contexts.
type Binding struct {
	Action    Action
	Keys      []string // Bubble Tea's names; the first is the one that hints show
	Help      string   // two or three words, for the hint line
	Long      string   // one sentence, for the help screen and the README
	Group     Group
	Acts      bool // acts on a process: refused with --readonly
	Dangerous bool // asks first, with No as the default
	hint      int  // place in the hint line from the left; 0 is not in it
	where     contexts
}

// In reports whether the binding holds in a context.
func (b *Binding) In(c Context) bool { return b.where.has(c) }

// Label is the binding's keys as people read them: "↑/k".
func (b *Binding) Label() string {
	labels := make([]string, len(b.Keys))
	for i, name := range b.Keys {
		labels[i] = keyLabel(name)
	}
	return strings.Join(labels, "/")
}

// Bubbles is the binding as the components of Bubbles take it.
func (b *Binding) Bubbles() key.Binding {
	return key.NewBinding(key.WithKeys(b.Keys...), key.WithHelp(b.Label(), b.Help))
}

// keyLabel is a key's name as people read it.
func keyLabel(name string) string {
	switch name {
	case "up":
		return "↑"
	case "down":
		return "↓"
	case "left":
		return "←"
	case "right":
		return "→"
	case "pgup":
		return "PgUp"
	case "pgdown":
		return "PgDn"
	case "home", "end", "enter", "esc", "space", "tab", "backspace", "f1":
		return strings.ToUpper(name[:1]) + name[1:]
	case "shift+tab":
		return "Shift-Tab"
	}
	if rest, isControl := strings.CutPrefix(name, "ctrl+"); isControl {
		return "Ctrl-" + strings.ToUpper(rest)
	}
	return name
}

// All is every binding, in the order of the help screen. It must not be
// changed.
func All() []Binding { return bindings }

// table is bindings by context and key.
var table = func() (t [ContextCount]map[string]*Binding) {
	for c := range t {
		t[c] = map[string]*Binding{}
		for i := range bindings {
			if b := &bindings[i]; b.In(Context(c)) {
				for _, name := range b.Keys {
					t[c][name] = b
				}
			}
		}
	}
	return t
}()

// Lookup finds what a key does in a context; nil where it does nothing, and in
// Input where it is a letter to be typed.
func Lookup(c Context, name string) *Binding {
	if int(c) >= ContextCount {
		return nil
	}
	return table[c][name]
}

// Find is the first binding of an action, for saying which key does it; nil
// where none does.
func Find(a Action) *Binding {
	for i := range bindings {
		if bindings[i].Action == a {
			return &bindings[i]
		}
	}
	return nil
}
