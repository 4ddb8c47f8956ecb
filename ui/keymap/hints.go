package keymap

import (
	"cmp"
	"slices"
	"strings"
)

// Hint is one entry of the hint line.
type Hint struct {
	Key       string // as people read it
	Label     string
	Action    Action
	Off       bool // refused now: --readonly
	Dangerous bool
	Last      bool // stands at the right end and is left out last: help and quit
}

// lastHints is the first place in the hint line of those that stand at its
// right end.
const lastHints = 30

// Hints are the entries of a context's hint line from left to right. They do
// not change, so keep them; making them allocates.
func Hints(c Context, readOnly bool) []Hint {
	var found []*Binding
	for i := range bindings {
		if b := &bindings[i]; b.hint > 0 && b.In(c) {
			found = append(found, b)
		}
	}
	slices.SortStableFunc(found, func(a, b *Binding) int { return cmp.Compare(a.hint, b.hint) })
	hints := make([]Hint, len(found))
	for i, b := range found {
		hints[i] = Hint{
			Key: keyLabel(b.Keys[0]), Label: b.Help, Action: b.Action,
			Off: readOnly && b.Acts, Dangerous: b.Dangerous, Last: b.hint >= lastHints,
		}
	}
	return hints
}

// Markdown is the table of keys for the README: a heading and a table for
// each group. A test of the README compares.
func Markdown() string {
	var out strings.Builder
	for g := range GroupCount {
		if g > 0 {
			out.WriteByte('\n')
		}
		out.WriteString("### " + Group(g).String() + "\n\n| key | what it does |\n|---|---|\n")
		for i := range bindings {
			b := &bindings[i]
			if b.Group != Group(g) {
				continue
			}
			out.WriteString("| ")
			for j, name := range b.Keys {
				if j > 0 {
					out.WriteString(" ")
				}
				out.WriteString("`" + strings.ReplaceAll(keyLabel(name), "|", `\|`) + "`")
			}
			out.WriteString(" | " + b.Long + where(b) + " |\n")
		}
	}
	return out.String()
}

// where says in which panes a binding holds, if that is not plain from its
// group.
func where(b *Binding) string {
	if b.where == panes || b.where == everywhere || b.Group != Time && b.Group != Moving {
		return ""
	}
	var names []string
	for c := range ContextCount {
		if b.In(Context(c)) {
			names = append(names, Context(c).String())
		}
	}
	return " (" + strings.Join(names, ", ") + ")"
}
