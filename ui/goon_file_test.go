package ui

import (
	"testing"

	"vramscope/model"
	"vramscope/recorder"
)

// TestARecordingIsOpenedAtItsProgram: also where the machine spoke first.
func TestARecordingIsOpenedAtItsProgram(t *testing.T) {
	host := &model.SourceView{ID: "host", Kind: recorder.KindHost, File: "night.vscope"}
	program := &model.SourceView{ID: "pid:1-1", Kind: recorder.KindProcess, File: "night.vscope"}
	for _, sources := range [][]*model.SourceView{{host, program}, {program, host}} {
		if first := new(Dashboard).firstOf(&model.Snapshot{Sources: sources}); first != program {
			t.Errorf("%s is looked at", first.ID)
		}
	}
	if first := new(Dashboard).firstOf(&model.Snapshot{Sources: []*model.SourceView{host}}); first != host {
		t.Error("a recording of the machine alone is not looked at")
	}
}
