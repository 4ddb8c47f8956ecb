package ui

import (
	"time"

	"vramscope/model"
	"vramscope/recorder"
)

// Feed is where the dashboard gets what it shows and where it sends what the
// user asks for. main wires one over the sources; tests wire one over a store.
// All its methods return at once and may be called from the update loop.
type Feed interface {
	// Snapshot is the newest snapshot, never nil.
	Snapshot() *model.Snapshot
	// Wake holds a token whenever a newer snapshot than the last one taken may
	// be there. It is closed when nothing more will come.
	Wake() <-chan struct{}
	// Send hands a command to a source. The answers appear in the snapshot's
	// actions and log; the error says in a sentence why it could not be sent.
	Send(source string, command *recorder.Command) error
	// Record starts (path "" lets the feed choose one) or stops recording the
	// named sources, and returns where the recording is.
	Record(sources []string, start bool) (path string, err error)
	// Recording is the path being recorded to, "" when nothing is recorded.
	Recording() string
	// Show says what is on the screen, so that slow readings are made only
	// while somebody looks.
	Show(interest Interest)
	// Open adds a file to what is watched.
	Open(path string) error
	// Close takes a source away that is a file, and ends its reading. The error
	// says why another source stays.
	Close(source string) error
}

// Interest is what the screen shows at the moment.
type Interest struct {
	Source    string // ID of the selected source
	Events    bool   // scope trees, pointers or blocks: the source's events are wanted
	Processes bool   // the device's list of processes
	Slow      bool   // readings that take milliseconds (PCIe throughput)
	Focused   bool   // the terminal has the focus, as far as it says
	// Refresh is how often new data is drawn: snapshots need not come oftener.
	Refresh time.Duration
}
