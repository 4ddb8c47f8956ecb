package probe

import "time"

// backlog is the last minutes for a reader that comes late: samples, and what
// marks the time axis.
type backlog struct {
	limit int   // bytes
	age   int64 // ns
	lines []backlogLine
	bytes int
}

type backlogLine struct {
	line line
	ns   int64
}

func newBacklog(limit int, age time.Duration) *backlog {
	return &backlog{limit: limit, age: int64(age)}
}

func (b *backlog) add(l line, ns int64) {
	b.lines = append(b.lines, backlogLine{l, ns})
	b.bytes += len(l.bytes)
	first := 0
	for first < len(b.lines) && (b.bytes > b.limit || (b.lines[first].ns != 0 && b.lines[first].ns < ns-b.age)) {
		b.bytes -= len(b.lines[first].line.bytes)
		b.lines[first] = backlogLine{}
		first++
	}
	b.lines = b.lines[first:] // append moves them down when the room behind is used up
}

// copy is what there is, oldest first.
func (b *backlog) copy() []line {
	lines := make([]line, len(b.lines))
	for i := range b.lines {
		lines[i] = b.lines[i].line
	}
	return lines
}
