package nvml

import (
	"context"
	"reflect"
	"testing"
	"time"

	"vramscope/recorder"
)

// The shape of model's Source, which this package does not import.
var _ interface {
	ID() string
	Run(context.Context, func(recorder.Record)) error
	Send(context.Context, *recorder.Command) error
} = (*Source)(nil)

// newTeller is a teller at 7 ns after boot, and what it tells.
func newTeller() (*teller, *[]recorder.Record) {
	records := new([]recorder.Record)
	return &teller{
		emit: func(r recorder.Record) { *records = append(*records, r) }, interval: MinInterval,
		devices: make(map[string]*told), now: func() int64 { return 7 },
	}, records
}

var h200 = Device{UUID: "GPU-1", Index: 2, Name: "NVIDIA H200", Instance: NoInstance, Compute: NoInstance, State: running}

func takeHello(t *testing.T, r recorder.Record) recorder.Hello {
	t.Helper()
	hello, ok := r.(*recorder.Hello)
	if !ok {
		t.Fatalf("%T, want a hello", r)
	}
	if hello.Wall == 0 {
		t.Error("the hello has no wall clock")
	}
	copied := *hello
	copied.Wall = 0
	return copied
}

func TestAReadingAsRecords(t *testing.T) {
	teller, records := newTeller()
	teller.Driver(starting)
	teller.Driver(running)
	teller.Devices([]Device{h200})
	teller.Devices([]Device{h200}) // nothing new
	teller.Reading(Reading{
		UUID: "GPU-1", State: running, At: time.Unix(9, 0),
		Memory: Memory{
			Total: known(1000, SourceV1), Used: known(300, SourceV1), Free: known(700, SourceV1),
			Reserved: unknown("v1 does not tell"),
		},
		Utilization: known(37, SourceNVML), Temperature: unknown("not measured"), Power: known(310000, SourceNVML), Clock: known(0, SourceNVML),
		Processes: Processes{Known: true, List: []Process{{
			PID: 812, Kind: KindCompute, Memory: known(250, SourceNVML), Doubt: "maybe another",
			Facts: Facts{Name: "python3", Arguments: []string{"/usr/bin/python3", "-u", "/a/\xffrender.py"}},
		}}},
	})
	if len(*records) != 2 {
		t.Fatalf("%d records, want hello and sample", len(*records))
	}
	hello := takeHello(t, (*records)[0])
	wantHello := recorder.Hello{
		Head: recorder.Head{Src: "gpu:GPU-1", Ns: 7}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol,
		Kind: recorder.KindDevice, Name: "NVIDIA H200 #2", Hz: 4,
		GPUs: []recorder.GPU{{Ordinal: 2, UUID: "GPU-1", Name: "NVIDIA H200"}},
	}
	if !reflect.DeepEqual(hello, wantHello) {
		t.Errorf("hello = %+v\nwant %+v", hello, wantHello)
	}
	device := recorder.CounterSet{
		ID: "device", Of: recorder.OfDevice, Name: "NVIDIA H200 #2", Device: "GPU-1", Call: SourceV1,
		Why: map[string]string{"driver_reserved": "v1 does not tell", "temperature": "not measured"},
	}
	device.Values.Set(recorder.Total, 1000)
	device.Values.Set(recorder.Used, 300)
	device.Values.Set(recorder.Free, 700)
	device.Values.Set(recorder.Utilization, 37)
	device.Values.Set(recorder.Power, 310000)
	device.Values.Set(recorder.Clock, 0) // known to be zero
	process := recorder.CounterSet{
		ID: "process:812", Of: recorder.OfProcess, Name: "python3 \ufffdrender.py", Device: "GPU-1", In: "device",
		Call: "NVML per process, C; maybe another",
	}
	process.Values.Set(recorder.Used, 250)
	want := &recorder.Sample{Head: recorder.Head{Src: "gpu:GPU-1", Ns: 7}, Seq: 1, Sets: []recorder.CounterSet{device, process}}
	if !reflect.DeepEqual((*records)[1], want) {
		t.Errorf("sample = %+v\nwant %+v", (*records)[1], want)
	}
}

func TestAListOfProcessesThatIsMissingSaysWhy(t *testing.T) {
	sets := counterSets(h200, Reading{UUID: "GPU-1", State: running, Processes: Processes{Missing: "the driver reports garbage"}})
	want := recorder.CounterSet{
		ID: "processes", Of: recorder.OfProcess, Name: "processes", Device: "GPU-1", In: "device",
		Why: map[string]string{"used": "the driver reports garbage"},
	}
	if len(sets) != 2 || !reflect.DeepEqual(sets[1], want) {
		t.Errorf("sets = %+v", sets)
	}
	if sets[0].Values.Len() != 0 {
		t.Errorf("a device of which nothing is known has %d counters", sets[0].Values.Len())
	}
}

func TestALostGPUAsRecords(t *testing.T) {
	teller, records := newTeller()
	teller.Devices([]Device{h200})
	good := Reading{UUID: "GPU-1", State: running, Memory: Memory{Total: known(1000, SourceV2)}}
	bad := good
	bad.State = gpuState(codeGPUIsLost)
	for _, r := range []Reading{good, bad, bad, good} {
		teller.Reading(r)
	}
	teller.Fault(Fault{UUID: "GPU-1", Xid: 79, Text: "fallen", Instance: 3})
	teller.Fault(Fault{Xid: 13, Text: "bad kernel", Instance: NoInstance, Program: true})
	head := recorder.Head{Src: "gpu:GPU-1", Ns: 7}
	want := []recorder.Record{
		&recorder.Sample{Head: head, Seq: 2, Error: bad.State.Text},
		&recorder.Note{Head: head, Level: "error", Text: bad.State.Text},
		&recorder.Sample{Head: head, Seq: 3, Error: bad.State.Text},
	}
	if got := (*records)[2:5]; !reflect.DeepEqual(got, want) {
		t.Errorf("records = %+v\nwant %+v", got, want)
	}
	tail := []recorder.Record{
		&recorder.Note{Head: head, Level: "info", Text: "the GPU answers again"},
		&recorder.Note{Head: head, Level: "error", Text: "the driver reports Xid 79 on GPU instance 3: fallen"},
		&recorder.Note{Head: recorder.Head{Src: SourceID, Ns: 7}, Level: "warning", Text: "the driver reports Xid 13: bad kernel"},
	}
	takeHello(t, (*records)[8])
	got := append((*records)[6:8:8], (*records)[9])
	if !reflect.DeepEqual(got, tail) {
		t.Errorf("records = %+v\nwant %+v", got, tail)
	}
}

// A lost GPU that the next listing does not have is introduced anew, and says
// again why it has no numbers: nothing is asked of it that would.
func TestALostGPUStaysLostInItsNextHello(t *testing.T) {
	teller, records := newTeller()
	teller.Devices([]Device{h200})
	lost := gpuState(codeGPUIsLost)
	teller.Reading(Reading{UUID: "GPU-1", State: lost})
	before := len(*records)
	missing := h200
	missing.State = lost
	teller.Devices([]Device{missing})
	teller.Devices([]Device{missing})
	got := (*records)[before:]
	if len(got) != 2 {
		t.Fatalf("%d records, want a hello and a sample", len(got))
	}
	takeHello(t, got[0])
	if s, ok := got[1].(*recorder.Sample); !ok || s.Error != lost.Text || len(s.Sets) != 0 {
		t.Errorf("record = %+v, want why", got[1])
	}
}

func TestADriverThatIsNotThereAsRecords(t *testing.T) {
	teller, records := newTeller()
	state := driverState(codeDriverNotLoaded, "")
	teller.Driver(starting)
	teller.Driver(state)
	teller.Driver(running)
	if len(*records) != 4 {
		t.Fatalf("%d records, want hello, sample, note, bye", len(*records))
	}
	head := recorder.Head{Src: SourceID, Ns: 7}
	if hello := takeHello(t, (*records)[0]); hello.Head != head || hello.Kind != recorder.KindDevice || hello.Name != "NVIDIA driver" {
		t.Errorf("hello = %+v", hello)
	}
	want := []recorder.Record{
		&recorder.Sample{Head: head, Error: state.Text},
		&recorder.Note{Head: head, Level: "warning", Text: state.Text},
		&recorder.Bye{Head: head, Why: "the driver answers"},
	}
	if got := (*records)[1:]; !reflect.DeepEqual(got, want) {
		t.Errorf("records = %+v\nwant %+v", got, want)
	}
}

func TestAGPUWithoutAName(t *testing.T) {
	teller, records := newTeller()
	teller.Devices([]Device{unreachable(1, codeGPUIsLost)})
	if hello := takeHello(t, (*records)[0]); hello.Src != "gpu:#1" || hello.Name != "GPU #1" {
		t.Errorf("hello = %+v", hello)
	}
	if s, ok := (*records)[1].(*recorder.Sample); !ok || s.Error != gpuState(codeGPUIsLost).Text {
		t.Errorf("record = %+v, want why", (*records)[1])
	}
	teller.Devices([]Device{h200})
	last := (*records)[len(*records)-1]
	if bye, ok := last.(*recorder.Bye); !ok || bye.Src != "gpu:#1" {
		t.Errorf("when it has a name again the last record is %+v, want the nameless one's bye", last)
	}
}

func TestAGPUTakesNoCommands(t *testing.T) {
	if err := NewSource(Config{}).Send(context.Background(), &recorder.Command{Name: recorder.CommandReclaim}); err == nil {
		t.Error("a command was taken")
	}
}

// One reading of a GPU with three processes, as it comes four times a second.
func BenchmarkReadingToRecords(b *testing.B) {
	teller, records := newTeller()
	teller.Devices([]Device{h200})
	r := Reading{UUID: "GPU-1", State: running, Memory: judgeMemory(memoryNumbers{total: 100, used: 50, free: 50}, SourceV2)}
	r.Processes.List = make([]Process, 3)
	b.ReportAllocs()
	for b.Loop() {
		*records = (*records)[:0]
		teller.Reading(r)
	}
}
