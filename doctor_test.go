package main

import (
	"testing"

	"vramscope/model"
	"vramscope/recorder"
)

// TestDiagnosisOfAnIdleProgram: one that is there and holds nothing yet is well,
// and it is said why it tells no numbers.
func TestDiagnosisOfAnIdleProgram(t *testing.T) {
	idle := &model.SourceView{Kind: recorder.KindProcess, Status: model.StatusLive}
	if good, how := diagnosis(idle); !good || how == "" {
		t.Errorf("%v, %q", good, how)
	}
	telling := &model.SourceView{Kind: recorder.KindProcess, Status: model.StatusLive, Sets: make([]recorder.CounterSet, 1)}
	if good, how := diagnosis(telling); !good || how != "" {
		t.Errorf("%v, %q", good, how)
	}
	if good, _ := diagnosis(&model.SourceView{Kind: recorder.KindDevice, Status: model.StatusLive}); good {
		t.Error("a device without numbers is said to be well")
	}
}
