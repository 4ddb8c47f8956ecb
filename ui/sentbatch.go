package ui

import (
	"fmt"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/widget"
)

// sentBatch is a command that one key sent to several programs. Its message has
// a line for each of them, until all have answered and after that.
type sentBatch struct {
	title   string // of the command
	members []batchMember
	refused []string // why others were left out, each with its name
}

// batchMember is a program of a batch.
type batchMember struct {
	sentCommand
	name string
	line string            // how it stands
	kind widget.StatusKind // of its answer; busy before that
}

// isOver says whether a program will say no more.
func (m *batchMember) isOver() bool { return m.kind != widget.StatusBusy }

// member is the program of a batch that a command was sent to; nil where it
// belongs to no batch.
func (b *sentBatch) member(sent sentCommand) *batchMember {
	if b == nil {
		return nil
	}
	for i := range b.members {
		if b.members[i].sentCommand == sent {
			return &b.members[i]
		}
	}
	return nil
}

// tells says whether an entry of the log is the answer of one of the programs,
// which the batch's own message tells.
func (b *sentBatch) tells(entry *model.Entry) bool {
	if b == nil || entry.Kind != model.EntryAction || entry.Command == "" {
		return false
	}
	return b.member(sentCommand{entry.Source, entry.Command}) != nil
}

// answer takes a program's final answer.
func (m *batchMember) answer(action *model.Action) {
	m.line, m.kind = action.Line(), widget.StatusOK
	if action.Final.State != recorder.AckDone {
		m.kind = widget.StatusWarning
	}
}

// message is how the batch stands: a count, and a line for each program.
func (b *sentBatch) message(wall int64) message {
	m := message{kind: widget.StatusOK, wall: wall, kept: true, batch: b}
	answered := 0
	for i := range b.members {
		member := &b.members[i]
		if member.isOver() {
			answered++
		}
		if member.kind == widget.StatusWarning {
			m.kind = widget.StatusWarning
		}
		m.lines = append(m.lines, grid.Sanitize(member.name+": "+member.line))
	}
	for _, why := range b.refused {
		m.kind = widget.StatusWarning
		m.lines = append(m.lines, grid.Sanitize(why))
	}
	if answered < len(b.members) {
		m.kind = widget.StatusBusy
	}
	m.text = fmt.Sprintf("%s: %d of %d programs have answered", b.title, answered, len(b.members))
	if len(b.refused) > 0 {
		m.text += fmt.Sprintf(", %d left out", len(b.refused))
	}
	return m
}

// tellBatch shows how the newest batch stands: what is new at once, and what
// only goes on as long as nothing else is shown.
func (d *Dashboard) tellBatch(isNew bool) {
	if d.batch == nil || !isNew && d.message.batch != d.batch {
		return
	}
	d.message = d.batch.message(d.clock().UnixNano())
}

// drawLines writes the lines under a message, and where they are too many how
// many are left.
func (m *message) drawLines(r grid.Region) {
	for y := range r.Height() {
		if y >= len(m.lines) {
			return
		}
		if left := len(m.lines) - y; left > 1 && y == r.Height()-1 {
			r.Fit(3, y, r.Width()-4, grid.Of(themes.Dim), fmt.Sprintf("%d more: 7 tells each", left), grid.Left)
			return
		}
		r.Fit(3, y, r.Width()-4, grid.Of(themes.Text), m.lines[y], grid.Left)
	}
}
