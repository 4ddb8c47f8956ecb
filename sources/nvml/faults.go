package nvml

import "time"

// faultSlice is how long one wait for an Xid blocks its thread, at most.
const faultSlice = 1000 // ms

// faultRest is how long the wait rests after a failure: of a lost GPU the
// driver answers GPU_IS_LOST at once and for ever, and a loop over that burns
// a core.
const faultRest = 10 * time.Second

// watchFaults waits for Xids of the GPUs and delivers them until stop closes.
// It may outlive stop by one slice. A set that fails is made anew after a
// rest, without the GPUs that are lost by then.
func watchFaults(lib library, gpus []handle, clock clock, deliver func(Fault), stop <-chan struct{}) {
	for {
		set, code := lib.faults(gpus)
		if code.neverAnswers() {
			return
		}
		if code == codeSuccess {
			waitForFaults(set, clock, deliver, stop)
			set.free()
		}
		select {
		case <-stop:
			return
		case <-clock.after(faultRest):
		}
	}
}

// waitForFaults returns when stop closes or the set fails.
func waitForFaults(set faultSet, clock clock, deliver func(Fault), stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		switch record, code := set.wait(faultSlice); code {
		case codeSuccess:
			deliver(newFault(record, clock.now()))
		case codeTimeout:
		default:
			return
		}
	}
}

func newFault(record faultRecord, now time.Time) Fault {
	meaning := xids[record.xid]
	if meaning.text == "" {
		meaning.text = "see NVIDIA's list of Xid errors and `dmesg`"
	}
	return Fault{
		UUID: record.uuid, Instance: instanceNumber(record.instance), Compute: instanceNumber(record.compute),
		Xid: record.xid, Text: meaning.text, Program: meaning.program, At: now,
	}
}

// xids has what the Xids that a render meets mean. The program's own are
// those that NVIDIA's Kubernetes plugin does not take for a broken GPU.
var xids = map[uint64]struct {
	text    string
	program bool
}{
	13:  {"a kernel did something illegal on the GPU, such as an address out of range: run the program under compute-sanitizer", true},
	31:  {"a kernel touched GPU memory that is not mapped: run the program under compute-sanitizer", true},
	43:  {"a channel of the GPU was stopped after a program's fault: the program cannot go on, the GPU can", true},
	45:  {"the GPU's work of a program was cleared away after it ended or failed: see the Xid before it", true},
	48:  {"a double bit error in GPU memory: the GPU must be reset, and replaced if it comes again", false},
	63:  {"a faulty row or page of GPU memory was set aside: it is out of use after the next reset", false},
	64:  {"setting aside faulty GPU memory failed: reset the GPU", false},
	68:  {"the video processor met a fault of a program", true},
	74:  {"an NVLink failed: see the link's other end and its cable", false},
	79:  {"the GPU has fallen off the bus: see power, temperature and seating, then reboot", false},
	94:  {"a memory error was contained: only the program that met it is hurt", false},
	95:  {"a memory error was not contained: reset the GPU", false},
	109: {"a program's work did not yield the GPU in time", true},
	119: {"the GPU's own firmware (GSP) did not answer: reset the GPU", false},
	120: {"the GPU's own firmware (GSP) failed: reset the GPU", false},
	999: {"an error that the driver has no number for: see `dmesg`", false},
}
