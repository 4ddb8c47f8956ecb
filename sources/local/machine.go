package local

import (
	"context"
	"errors"
	"os"
	"time"

	"vramscope/pool"
	"vramscope/recorder"
)

// Machine watches this machine's own memory: RAM and the limit of the control
// group that this process is in. It satisfies model.Source. The zero value
// will do.
type Machine struct {
	// Tick says when to sample; nil is at once and then once a second.
	Tick <-chan time.Time
	// Now tells monotonic nanoseconds; nil is the system's.
	Now func() int64
	// Read reads the memory; nil reads this machine's.
	Read func() pool.HostMemory
}

// MachineID names the machine's source.
const MachineID = "host"

// ErrNoCommands is what a Machine answers to every command: nothing can be
// asked of it. Send commands to a process.
var ErrNoCommands = errors.New("the machine itself takes no commands: select a process")

// ID is "host".
func (*Machine) ID() string { return MachineID }

// Send refuses: the error is ErrNoCommands.
func (*Machine) Send(context.Context, *recorder.Command) error { return ErrNoCommands }

// Run emits a hello, a state without anything in it, and a sample each second,
// until ctx ends, which is an orderly end.
func (m *Machine) Run(ctx context.Context, emit func(recorder.Record)) error {
	now, read, tick := m.Now, m.Read, m.Tick
	if now == nil {
		now = recorder.MonotonicClock()
	}
	if read == nil {
		root := os.DirFS("/")
		read = func() pool.HostMemory { return pool.ReadHostMemory(root) }
	}
	if tick == nil {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		tick = ticker.C
	}
	head := func() recorder.Head { return recorder.Head{Src: MachineID, Ns: now()} }
	name, err := os.Hostname()
	if err != nil {
		name = "this machine"
	}
	emit(&recorder.Hello{
		Head: head(), Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindHost,
		Name: name, Wall: time.Now().UnixNano(), Hz: 1,
	})
	emit(&recorder.State{Head: head()})
	for seq := int64(1); ; seq++ {
		emit(&recorder.Sample{Head: head(), Seq: seq, Sets: []recorder.CounterSet{hostSet(read())}})
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
		}
	}
}
