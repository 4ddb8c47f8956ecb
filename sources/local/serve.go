package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"vramscope/recorder"
	"vramscope/sources/probe"
)

// Surroundings is what a served render needs besides its options.
type Surroundings struct {
	Path    string            // of the socket; "" is this process's own place
	Version string            // of the program, such as "vramscope 0.1.0"
	Ready   func(path string) // is told of the socket when it is there; may be nil
	Parent  io.Reader         // the render ends when this does; nil is no parent. A child's standard input
}

// Serve runs a render in this process, which readers can watch through its
// socket, until its options end it, ctx does, or its parent. An orderly end is
// nil. It closes the options' device.
func Serve(ctx context.Context, options Options, surroundings Surroundings) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if options.Device != nil {
		defer func() { _ = options.Device.Close() }() // the render's own end closes it first, where it comes so far
	}
	if surroundings.Parent != nil {
		go func() { // ends with the parent, or with this process
			_, _ = io.Copy(io.Discard, surroundings.Parent)
			cancel()
		}()
	}
	time := newRealClock()
	hello, err := ownHello(surroundings.Version)
	if err != nil {
		return err
	}
	var server *probe.Server
	r, err := newRender(options, time, hello, machine(time.now), func(record recorder.Record) {
		if server != nil {
			server.Publish(record)
		}
	})
	if err != nil {
		return err
	}
	server, err = probe.Listen(probe.Options{
		Path: surroundings.Path, Hello: r.hello, Now: time.now, Waits: r.waits(),
	}, served{r})
	if err != nil {
		return err
	}
	r.boundary, r.work = server.Poll, server.Work()
	if surroundings.Ready != nil {
		surroundings.Ready(server.Path())
	}
	err = r.run(ctx)
	why := "all frames are rendered"
	switch {
	case err != nil:
		why = err.Error()
	case ctx.Err() != nil:
		why = "it was asked to end"
	}
	if closed := server.Close(why); err == nil {
		err = closed
	}
	return err
}

// waits is what commands wait for beyond the frame boundary.
func (r *Render) waits() map[string]string {
	if !r.identity.Queued {
		return nil
	}
	const device = "frame boundary, then the device's work in flight"
	return map[string]string{
		recorder.CommandReclaim: device, recorder.CommandForceReclaim: device, recorder.CommandRebuild: device,
	}
}

// served is the render as its server knows it.
type served struct{ *Render }

// State is everything that a late reader needs.
func (s served) State() []recorder.Record {
	var records []recorder.Record
	s.stream.EmitAll(s.poolStates(), func(record recorder.Record) { records = append(records, record) })
	return records
}

// Arm turns the events on or off.
func (s served) Arm(events bool) { s.stream.WantEvents(events) }

// Do carries out a command.
func (s served) Do(command *recorder.Command) *recorder.Ack { return s.do(command) }

// ownHello is what this process says of itself.
func ownHello(version string) (recorder.Hello, error) {
	name, err := probe.OwnName()
	if err != nil {
		return recorder.Hello{}, fmt.Errorf("this process's start time cannot be read: %w", err)
	}
	return recorder.Hello{
		Head: recorder.Head{Src: name.ID()}, Version: version,
		PID: name.PID, NSPIDs: namespacePIDs(), Start: name.Start, Argv: os.Args,
	}, nil
}

// namespacePIDs is this process in each PID namespace, outermost first, from
// /proc/self/status; nil where it does not say.
func namespacePIDs() []int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		list, found := strings.CutPrefix(line, "NSpid:")
		if !found {
			continue
		}
		var pids []int
		for _, field := range strings.Fields(list) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	return nil
}
