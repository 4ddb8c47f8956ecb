package main

import (
	"vramscope/model"
	"vramscope/recorder"
)

// sendAnswer is the answer to a command as `vramscope send --json` prints it. Its
// keys are those of `report --json` where they name the same thing: they are added
// to and never change meaning. All sizes are bytes, all times ns; a number that is
// not known is left out, never 0.
type sendAnswer struct {
	Source  string        `json:"source"` // ID of the program
	Name    string        `json:"name"`
	PID     int           `json:"pid,omitempty"`
	Command string        `json:"command"`
	State   string        `json:"state"` // of the last answer: "done", "failed", "refused", ...
	Why     string        `json:"why,omitempty"`
	TookNs  int64         `json:"took_ns,omitempty"`
	Acted   *bool         `json:"acted,omitempty"` // whether it changed anything
	Line    string        `json:"line"`
	Detail  []string      `json:"detail,omitempty"`
	Steps   []stepAnswer  `json:"steps,omitempty"`
	Before  []countersNow `json:"counter_sets_before,omitempty"`
	After   []countersNow `json:"counter_sets_after,omitempty"`
	File    string        `json:"file,omitempty"` // that was written
}

// stepAnswer is one thing that a command did.
type stepAnswer struct {
	What   string `json:"what"`
	Before *int64 `json:"before_bytes,omitempty"`
	After  *int64 `json:"after_bytes,omitempty"`
	Freed  *int64 `json:"freed_bytes,omitempty"` // that went back to the driver
	Why    string `json:"why,omitempty"`         // less came back than asked
	TookNs int64  `json:"took_ns,omitempty"`
}

// countersNow is a counter set at one moment.
type countersNow struct {
	ID       string            `json:"id"`
	Of       string            `json:"of"`
	Name     string            `json:"name,omitempty"`
	Device   string            `json:"device,omitempty"`
	Call     string            `json:"call,omitempty"` // that the numbers came from
	In       string            `json:"in,omitempty"`   // the set that it lies inside
	Counters map[string]int64  `json:"counters"`
	Why      map[string]string `json:"why_missing,omitempty"`
}

func answerOf(view *model.SourceView, action *model.Action) *sendAnswer {
	ack := action.Final
	answer := &sendAnswer{Source: view.ID, Name: view.Name, Command: action.Command.Name, State: ack.State, Why: ack.Why, TookNs: ack.Took, Acted: ack.Acted,
		Line: action.Line(), Detail: action.Detail(), Before: countersOf(ack.Before), After: countersOf(ack.After), File: ack.Path}
	if view.Hello != nil {
		answer.PID = view.Hello.PID
	}
	for _, line := range ack.Result {
		answer.Steps = append(answer.Steps, stepAnswer{line.What, line.Before, line.After, line.Freed, line.Why, line.Took})
	}
	return answer
}

func countersOf(sets []recorder.CounterSet) (now []countersNow) {
	for i := range sets {
		set := &sets[i]
		row := countersNow{ID: set.ID, Of: set.Of, Name: set.Name, Device: set.Device, Call: set.Call, In: set.In, Counters: map[string]int64{}, Why: set.Why}
		for counter := range recorder.Counter(recorder.NumCounters) {
			if value, known := set.Values.Get(counter); known {
				row.Counters[counter.String()] = value
			}
		}
		now = append(now, row)
	}
	return now
}
