package main

import (
	"errors"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/sources/file"
	"vramscope/sources/probe"
)

// TestVerdict: what the end of a source means. A program that is gone has ended,
// however that was found out, and is not called again.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		status model.Status
		again  bool
	}{
		{"goodbye", nil, model.StatusEnded, false},
		{"killed while it spoke", &probe.EndError{ID: "pid:1-1", Gone: true}, model.StatusEnded, false},
		{"killed before it was called again", &probe.DialError{ID: "pid:1-1", Gone: true}, model.StatusEnded, false},
		{"connection broke", &probe.EndError{ID: "pid:1-1"}, model.StatusStale, true},
		{"does not answer", &probe.DialError{ID: "pid:1-1", Err: errors.New("refused")}, model.StatusStale, true},
		{"file cut", &file.CutError{}, model.StatusCut, false},
		{"anything else", errors.New("broken"), model.StatusFailed, false},
	} {
		status, why, again := verdict(c.err)
		if status != c.status || again != c.again || c.err != nil && why == "" {
			t.Errorf("%s is %s, again %v, %q; want %s, %v", c.name, status, again, why, c.status, c.again)
		}
		if status == model.StatusEnded && c.name == "killed while it spoke" && strings.Contains(why, "pid:") {
			t.Errorf("%s: the program's own line names it by a number of ours: %q", c.name, why)
		}
	}
}
