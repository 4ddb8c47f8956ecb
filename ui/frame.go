package ui

import (
	"errors"

	"vramscope/model"
	"vramscope/recorder"
)

// Frame is one picture of a snapshot as a string, without a terminal: with
// colour sequences when colored, as plain text otherwise. It is what the
// dashboard would show in a terminal of that many cells.
func Frame(snapshot *model.Snapshot, options Options, width, height int, colored bool) string {
	d := newDashboard(still{snapshot}, options)
	d.width, d.height = width, height
	d.message = message{}
	d.settle()
	d.draw()
	if colored {
		return d.grid.Encode()
	}
	return d.grid.Plain()
}

// still is a feed of one snapshot that never changes.
type still struct{ snapshot *model.Snapshot }

func (s still) Snapshot() *model.Snapshot { return s.snapshot }

func (still) Wake() <-chan struct{} { return nil }

func (still) Send(string, *recorder.Command) error { return errStill }

func (still) Record([]string, bool) (string, error) { return "", errStill }

func (still) Recording() string { return "" }

func (still) Show(Interest) {}

func (still) Open(string) error { return errStill }

func (still) Close(string) error { return errStill }

var errStill = errors.New("this is a picture: open the dashboard to act")
