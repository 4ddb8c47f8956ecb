package nvml

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"vramscope/recorder"

	"golang.org/x/sys/unix"
)

// SourceID is the ID of the one Source. Its records are of a source for each
// device, "gpu:" and the UUID, and of this one while NVML does not answer.
const SourceID = "nvml"

// Source turns what a Watcher learns into records.
type Source struct {
	*Watcher
}

// NewSource makes a Source. It touches nothing until Run.
func NewSource(config Config) *Source { return &Source{New(config)} }

// ID is SourceID.
func (s *Source) ID() string { return SourceID }

// Run watches until ctx ends and hands over records: a hello for each device,
// then samples. A sample without counter sets and with an error says that the
// device does not answer; its numbers are the last ones. The error is
// ErrRunning or nil.
func (s *Source) Run(ctx context.Context, emit func(recorder.Record)) error {
	return s.Watcher.Run(ctx, &teller{emit: emit, interval: s.interval, devices: make(map[string]*told), now: monotonic})
}

// errNoCommands is the answer to every command.
var errNoCommands = errors.New("a GPU takes no commands: choose a process on it that has a probe")

// Send refuses: a device does nothing by itself.
func (s *Source) Send(context.Context, *recorder.Command) error { return errNoCommands }

// monotonic is CLOCK_MONOTONIC in nanoseconds, the time of all records.
func monotonic() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return now.Nano()
}

// teller is the receiver that speaks in records.
type teller struct {
	emit     func(recorder.Record)
	interval time.Duration
	now      func() int64
	devices  map[string]*told // by UUID
	failing  bool             // the source for NVML itself has said hello
}

// told is what was said of one device.
type told struct {
	device Device
	state  State
	seq    int64
}

func gpuSource(uuid string) string { return "gpu:" + uuid }

// Driver speaks of NVML itself while it does not answer, and no longer when it
// does.
func (t *teller) Driver(state State) {
	ns := t.now()
	head := recorder.Head{Src: SourceID, Ns: ns}
	switch {
	case state.Condition == Starting:
	case state.OK():
		if t.failing {
			t.failing = false
			t.emit(&recorder.Bye{Head: head, Why: "the driver answers"})
		}
	default:
		if !t.failing {
			t.failing = true
			t.emit(t.hello(head, "NVIDIA driver", nil))
		}
		t.emit(&recorder.Sample{Head: head, Error: state.Text})
		t.emit(&recorder.Note{Head: head, Level: level(state), Text: state.Text})
	}
}

// Devices says hello for every device that is new or has changed, and goodbye
// for those that are no longer listed.
func (t *teller) Devices(devices []Device) {
	ns := t.now()
	listed := make(map[string]bool, len(devices))
	for _, d := range devices {
		uuid := d.UUID
		if uuid == "" { // a GPU that cannot even be asked for its name
			uuid = fmt.Sprintf("#%d", d.Index)
		}
		listed[uuid] = true
		known := t.devices[uuid]
		if known == nil {
			known = &told{state: starting}
			t.devices[uuid] = known
		} else if known.device == d {
			continue
		}
		known.device = d
		head := recorder.Head{Src: gpuSource(uuid), Ns: ns}
		gpu := recorder.GPU{Ordinal: d.Index, UUID: d.UUID, Name: utf8Text(d.Name)}
		t.emit(t.hello(head, d.label(), []recorder.GPU{gpu}))
		if !d.State.OK() && d.State.Text != "" {
			// A reader begins anew with the hello: it is told again why no
			// numbers come, since nothing is asked of the device for now.
			t.emit(&recorder.Sample{Head: head, Error: d.State.Text})
			if d.State != known.state {
				t.tellState(head, known.state, d.State)
				known.state = d.State
			}
		}
	}
	for uuid := range t.devices {
		if !listed[uuid] {
			delete(t.devices, uuid)
			t.emit(&recorder.Bye{Head: recorder.Head{Src: gpuSource(uuid), Ns: ns}, Why: "the driver no longer lists it"})
		}
	}
}

func (t *teller) hello(head recorder.Head, name string, gpus []recorder.GPU) *recorder.Hello {
	return &recorder.Hello{
		Head: head, Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindDevice, Name: name,
		Wall: time.Now().UnixNano(), GPUs: gpus, Hz: float64(time.Second) / float64(t.interval),
	}
}

// label is what to call the device on a screen, such as "NVIDIA H200 #0".
func (d Device) label() string {
	name := utf8Text(d.Name)
	if name == "" {
		name = "GPU"
	}
	return fmt.Sprintf("%s #%d", name, d.Index)
}

// Reading is a sample, or why there is none.
func (t *teller) Reading(r Reading) {
	device := t.devices[r.UUID]
	if device == nil {
		return
	}
	device.seq++
	sample := &recorder.Sample{Head: recorder.Head{Src: gpuSource(r.UUID), Ns: t.now()}, Seq: device.seq}
	if r.State.OK() {
		sample.Sets = counterSets(device.device, r)
	} else {
		sample.Error = r.State.Text
	}
	t.emit(sample)
	if r.State != device.state {
		t.tellState(sample.Head, device.state, r.State)
		device.state = r.State
	}
}

// tellState leaves a line about a device that stopped or began to answer.
func (t *teller) tellState(head recorder.Head, before, after State) {
	switch {
	case !after.OK() && after.Text != "":
		t.emit(&recorder.Note{Head: head, Level: level(after), Text: after.Text})
	case after.OK() && before.Text != "":
		t.emit(&recorder.Note{Head: head, Level: "info", Text: "the GPU answers again"})
	}
}

// Fault is a line that stays.
func (t *teller) Fault(f Fault) {
	note := &recorder.Note{Level: "error", Text: fmt.Sprintf("the driver reports Xid %d: %s", f.Xid, f.Text)}
	if f.Instance != NoInstance {
		note.Text = fmt.Sprintf("the driver reports Xid %d on GPU instance %d: %s", f.Xid, f.Instance, f.Text)
	}
	if f.Program {
		note.Level = "warning"
	}
	note.Ns = t.now()
	if t.devices[f.UUID] != nil {
		note.Src = gpuSource(f.UUID)
		t.emit(note)
		return
	}
	note.Src = SourceID
	if t.failing {
		t.emit(note)
		return
	}
	t.emit(t.hello(note.Head, "NVIDIA driver", nil))
	t.emit(note)
	t.emit(&recorder.Bye{Head: note.Head, Why: "the fault names no GPU"})
}

// level is how much a state matters: a GPU that sleeps is nothing to worry
// about.
func level(s State) string {
	switch s.Condition {
	case Asleep, Unavailable:
		return "info"
	case NoLibrary, NoDriver, NoDevices, Hanging:
		return "warning"
	}
	return "error"
}

// counterSets is a reading as counters: the device, and each process inside
// it.
func counterSets(d Device, r Reading) []recorder.CounterSet {
	set := recorder.CounterSet{ID: "device", Of: recorder.OfDevice, Name: d.label(), Device: d.UUID, Call: r.Memory.Total.Source}
	if r.Memory.Shared {
		set.Name += " (shared with system)"
	}
	put(&set, recorder.Total, r.Memory.Total)
	put(&set, recorder.Used, r.Memory.Used)
	put(&set, recorder.Free, r.Memory.Free)
	put(&set, recorder.DriverReserved, r.Memory.Reserved)
	put(&set, recorder.Utilization, r.Utilization)
	put(&set, recorder.Temperature, r.Temperature)
	put(&set, recorder.Power, r.Power)
	put(&set, recorder.Clock, r.Clock)
	put(&set, recorder.PCIeReceive, r.PCIeReceive)
	put(&set, recorder.PCIeTransmit, r.PCIeTransmit)
	sets := []recorder.CounterSet{set}
	for _, p := range r.Processes.List {
		sets = append(sets, processSet(d, p))
	}
	if r.Processes.Missing != "" {
		list := recorder.CounterSet{ID: "processes", Of: recorder.OfProcess, Name: "processes", Device: d.UUID, In: "device"}
		put(&list, recorder.Used, unknown(r.Processes.Missing))
		sets = append(sets, list)
	}
	return sets
}

func processSet(d Device, p Process) recorder.CounterSet {
	set := recorder.CounterSet{
		ID: fmt.Sprintf("process:%d", p.PID), Of: recorder.OfProcess, Name: p.label(), Device: d.UUID,
		Call: SourceNVML + " per process, " + p.Kind.String(), In: "device",
	}
	if p.Doubt != "" {
		set.Call += "; " + p.Doubt
	}
	put(&set, recorder.Used, p.Memory)
	put(&set, recorder.Utilization, p.Utilization)
	return set
}

// label is the program and, for an interpreter's sake, its first argument
// that is no option: "python3 render.py".
func (p Process) label() string {
	if len(p.Arguments) == 0 {
		return utf8Text(p.Name)
	}
	label := utf8Text(filepath.Base(p.Arguments[0]))
	for _, argument := range p.Arguments[1:] {
		if argument != "" && !strings.HasPrefix(argument, "-") {
			return label + " " + utf8Text(filepath.Base(argument))
		}
	}
	return label
}

// put makes a counter known, or says why it is not; one that was not asked
// for is left out.
func put(set *recorder.CounterSet, counter recorder.Counter, n Number) {
	switch {
	case n.Known && n.Value <= 1<<63-1:
		set.Values.Set(counter, int64(n.Value))
	case n.Missing != "":
		if set.Why == nil {
			set.Why = make(map[string]string)
		}
		set.Why[counter.String()] = n.Missing
	}
}

// utf8Text makes a text of the driver's or a process's fit for a record,
// which is UTF-8. It is still not fit for a terminal.
func utf8Text(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
