package local

import (
	"context"
	"fmt"

	"vramscope/recorder"
)

// Record runs a demo render as fast as it can, in a time of its own, and hands
// every record to write, events included. The same options give the same
// records, byte for byte. Options.Frames or Options.For must end it; Speed only
// says how the records' times lie. A record is only valid during the call of
// write, whose error ends the run and is returned.
func Record(ctx context.Context, options Options, write func(recorder.Record) error) error {
	if options.Frames <= 0 && options.For <= 0 {
		return &OptionError{Option: "frames", Reason: "say how many to record, or for how long"}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	emit := func(record recorder.Record) {
		if failed != nil {
			return
		}
		if failed = write(record); failed != nil {
			cancel()
		}
	}
	time := &virtualClock{ns: 1e9}
	hello := recorder.Hello{Head: recorder.Head{Src: fmt.Sprintf("demo:%d", options.Seed), Ns: time.ns}}
	r, err := newRender(options, time, hello, nowhere(), emit)
	if err != nil {
		return err
	}
	emit(&r.hello)
	r.stream.WantEvents(true)
	r.stream.EmitState(r.poolStates())
	if err := r.run(ctx); err != nil {
		return err
	}
	r.stream.Emit(&recorder.Bye{Head: r.stream.Head(), Why: "all frames are rendered"})
	if failed == nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return failed
}
