package ui

import (
	"fmt"

	"vramscope/model/dump"
	"vramscope/ui/grid"
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
	same      int
	room      int // columns
	text      string
}

// numberNames are the numbers of a stack in words.
var numberNames = [weightCount]string{"live", "at the peak", "allocated", "unfreed"}

func (p *dumpScopesPane) title(s *scene) (title, note string) {
	t := stacksTitle{order: p.order, direction: p.direction, unfolded: p.unfolded, filter: p.pattern.text, room: p.room, text: p.titled.text}
	m := s.dumpMoment()
	switch {
	case m.index != nil && p.compares(s, m):
		t.mode, t.against, t.same = stacksDiff, s.baseline.name, p.diff.same()
	case p.flaming:
		t.mode = stacksFlame
	}
	if forest := p.tree.rows.forest; forest != nil && p.tree.rows.root != 0 {
		t.root = s.dumps.names.of(forest.question.index).frame(forest.tree.Frame[p.tree.rows.root]).name
	}
	if t != p.titled || t.text == "" {
		t.text = t.write()
		p.titled = t
	}
	if p.busy || p.tree.waits || t.mode == stacksDiff && p.diff.busy {
		note = "working..."
	}
	return t.text, note
}

// titleRoom is the columns beside those of the table.
func (p *dumpScopesPane) titleRoom() int { return p.room }

// write makes the title, as long as there is room for.
func (t *stacksTitle) write() string {
	for short := range 3 {
		if text := t.writeShort(short); t.room == 0 || grid.Width(text) <= t.room || short == 2 {
			return text
		}
	}
	return ""
}

// writeShort makes the title, shorter and shorter.
func (t *stacksTitle) writeShort(short int) (text string) {
	switch {
	case t.mode == stacksDiff:
		text = [...]string{"Stacks against ", "Stacks against ", "Changes"}[short]
		if short < 2 {
			text += dump.CleanText(t.against)
		}
		if short == 0 && t.same > 0 {
			text += fmt.Sprintf(", %d unchanged left out", t.same)
		}
	default:
		text = "Stacks"
		if t.root != "" && short < 2 {
			text += " in " + t.root
		}
		text += t.way(short)
		if t.unfolded {
			text += [...]string{", noise too", ", noise", ""}[short]
		}
		if t.mode == stacksFlame {
			text += " as a flame graph of bytes " + numberNames[t.order.number]
		}
	}
	if t.filter != "" {
		text += [...]string{", filter ", ", filter ", " /"}[short] + dump.CleanText(t.filter)
	}
	return text
}

// way says in which direction the tree grows.
func (t *stacksTitle) way(short int) string {
	switch up := t.direction == dump.FromAllocator; {
	case up && short == 0:
		return " from the allocator up"
	case up:
		return " up"
	case short == 0:
		return " from the program down"
	}
	return " down"
}
