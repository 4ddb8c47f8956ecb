// Package plain writes what the dashboard knows as text: for pipes, logs,
// screen readers, and wherever there is no terminal to draw in. It writes no
// control sequence; names from programs and files are cleaned as on the screen.
package plain

import (
	"fmt"
	"strings"

	"vramscope/ui/grid"
)

// page collects lines of text.
type page struct{ out strings.Builder }

// line writes a line, indented by levels of two blanks.
func (p *page) line(level int, format string, arguments ...any) {
	for i, argument := range arguments {
		if text, ok := argument.(string); ok {
			arguments[i] = grid.Sanitize(text)
		}
	}
	p.out.WriteString(strings.Repeat("  ", level))
	fmt.Fprintf(&p.out, format, arguments...)
	p.out.WriteByte('\n')
}

func (p *page) blank() { p.out.WriteByte('\n') }

func (p *page) String() string { return p.out.String() }

// size is a number of bytes for people.
func size(n int64) string { return string(grid.AppendBytes(nil, n)) }

// known is a number of bytes that may be missing.
func known(n *int64) string {
	if n == nil {
		return "not known"
	}
	return size(*n)
}

// least is a number, as written, that may be a lower bound: one that is nothing
// then says nothing.
func least(n int64, written func(int64) string, isLeast bool) string {
	switch {
	case !isLeast:
		return written(n)
	case n == 0:
		return "not known"
	}
	return "≥ " + written(n)
}

// allocations is how many there were.
func allocations(n int64, isLeast bool) string {
	if isLeast && n == 0 {
		return "allocations that are not known"
	}
	if n == 1 {
		return least(n, count, isLeast) + " allocation"
	}
	return least(n, count, isLeast) + " allocations"
}

// counted is a number of things whose name has an s where they are many.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return count(int64(n)) + " " + noun
}

// count is a whole number with commas.
func count(n int64) string { return string(grid.AppendCount(nil, n)) }

// duration is a time in ns for people.
func duration(ns int64) string { return string(grid.AppendDuration(nil, ns)) }
