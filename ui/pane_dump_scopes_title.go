package ui

import (
	"fmt"

	"vramscope/model/dump"
)

// stacksTitle is what the title of the stacks depends on, and the title.
type stacksTitle struct {
	mode      stacksMode
	order     stackOrder
	direction dump.Direction
	unfolded  bool
	filter    string
	root      string
	against   string
	hidden    int
	narrow    bool
	written   bool
	text      string
}

// numberNames are the numbers of a stack in words.
var numberNames = [weightCount]string{"live", "at the peak", "allocated", "unfreed"}

func (p *dumpScopesPane) title(s *scene) (title, note string) {
	if p.busy || p.tree.waits || p.diff.busy {
		note = "working…"
	}
	t := stacksTitle{order: p.order, direction: p.direction, unfolded: p.unfolded, filter: p.pattern.text, narrow: p.tree.narrow, written: true}
	switch {
	case s.baseline != nil && s.baseline.dump.index != nil:
		t.mode, t.against, t.hidden = stacksDiff, s.baseline.name, p.diff.same()
	case p.flaming:
		t.mode = stacksFlame
	}
	if p.tree.rows.forest != nil && p.tree.rows.root != 0 {
		forest := p.tree.rows.forest
		t.root = s.dumps.names.of(forest.question.index).frame(forest.tree.Frame[p.tree.rows.root]).name
	}
	t.text = p.titled.text
	if t != p.titled {
		t.text = t.write()
		p.titled = t
	}
	return t.text, note
}

// write makes the title.
func (t *stacksTitle) write() string {
	if t.mode == stacksDiff {
		text := "Stacks against " + dump.CleanText(t.against)
		if t.narrow {
			text = "Changes"
		}
		if t.hidden > 0 && !t.narrow {
			text += fmt.Sprintf(", %d unchanged left out", t.hidden)
		}
		return t.filtered(text)
	}
	text := "Stacks"
	if t.root != "" {
		text += " in " + t.root
	}
	way := [...]string{dump.FromAllocator: " from the allocator up", dump.FromProgram: " from the program down"}
	if t.narrow {
		way = [...]string{dump.FromAllocator: " up", dump.FromProgram: " down"}
	}
	text += way[t.direction&1]
	if t.unfolded {
		text += ", noise too"
	}
	if t.mode == stacksFlame {
		return t.filtered(text + " as a flame graph of bytes " + numberNames[t.order.number])
	}
	return t.filtered(text)
}

func (t *stacksTitle) filtered(text string) string {
	if t.filter != "" {
		text += ", filter " + dump.CleanText(t.filter)
	}
	return text
}
