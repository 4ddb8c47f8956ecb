package main

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
)

// TestSourcesOfOneNumber: a process that has executed another program leaves two,
// which are offered by names that differ and that name one each.
func TestSourcesOfOneNumber(t *testing.T) {
	source := func(src string, pid int) *model.SourceView {
		return &model.SourceView{ID: "file:a#" + src, Src: src, Kind: recorder.KindProcess, Name: "execs.py", Hello: &recorder.Hello{PID: pid}}
	}
	snapshot := &model.Snapshot{Sources: []*model.SourceView{source("pid:7-1", 7), source("pid:7-2", 7), source("pid:8-3", 8)}}
	for i, want := range []string{"pid:7-1 (execs.py)", "pid:7-2 (execs.py)", "pid:8 (execs.py)"} {
		name := nameIn(snapshot, snapshot.Sources[i])
		if name != want {
			t.Errorf("it is called %q, want %q", name, want)
		}
		offered, _, _ := strings.Cut(name, " ")
		if found, err := sourceIn(snapshot, offered); err != nil || found != snapshot.Sources[i] {
			t.Errorf("--source %s draws %v, %v", offered, found, err)
		}
	}
}
