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

// TestTheProgramThatWasStartedHereIsLookedAt: one that runs beside it began before
// it, and has spoken before it.
func TestTheProgramThatWasStartedHereIsLookedAt(t *testing.T) {
	beside := &model.SourceView{ID: "pid:1-1", Kind: recorder.KindProcess, Hello: &recorder.Hello{Start: 1}}
	own := &model.SourceView{ID: "pid:2-2", Kind: recorder.KindProcess, Own: true}
	another := &model.SourceView{ID: "pid:3-3", Kind: recorder.KindProcess, Own: true, Hello: &recorder.Hello{Start: 3}}
	for _, sources := range [][]*model.SourceView{{beside, own, another}, {own, beside, another}} {
		if first := new(Dashboard).firstOf(&model.Snapshot{Sources: sources}); first != own {
			t.Errorf("%s is looked at", first.ID)
		}
	}
	own.Status = model.StatusEnded
	if first := new(Dashboard).firstOf(&model.Snapshot{Sources: []*model.SourceView{own, beside}}); first != beside {
		t.Errorf("once it has ended, %s is looked at", first.ID)
	}
}
