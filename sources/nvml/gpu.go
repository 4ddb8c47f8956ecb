package nvml

import (
	"math"
	"time"
)

// want is what a worker is asked to renew, a set.
type want uint8

const (
	wantMemory      want = 1 << iota // memory and load: about 15 us on an H200
	wantEnvironment                  // temperature, power, clock: about 2 us
	wantProcesses                    // the list of processes: 17 us to 10 ms
	wantSlow                         // PCIe throughput: 42 ms
	keepProcesses                    // the list is shown: do not forget the last one
	keepSlow                         // slow numbers are shown: do not forget the last ones, and ask for processes' load (2.4 ms)
)

// field is one kind of question to one device. It is closed for good when the
// driver says that it will never answer.
type field struct {
	closed bool
	code   Code
	why    string // why the last answer was none; "" if it was one
}

func (f *field) open() bool { return !f.closed }

func (f *field) note(code Code) {
	f.closed = code.neverAnswers()
	if code == codeSuccess {
		f.why = ""
	} else if f.why == "" || code != f.code {
		f.why = code.missing()
	}
	f.code = code
}

// number is the field's value after the driver's answer.
func (f *field) number(value uint64, code Code) Number {
	f.note(code)
	if code != codeSuccess {
		return unknown(f.why)
	}
	return known(value, SourceNVML)
}

// gpu asks one GPU and its MIG devices, and keeps the newest of everything.
// It belongs to its worker's goroutine.
type gpu struct {
	device    Device
	handle    handle
	instances []*gpu // MIG devices
	pci       pciDevices

	memory    memoryReader
	processes processReader
	load      field
	heat      field
	power     field
	limit     field
	clock     field
	receive   field
	transmit  field

	last Reading
}

// answer is what asking a GPU came to.
type answer struct {
	readings []Reading // of the GPU, then of its MIG devices
	driver   Code      // the code that lost the driver, else codeSuccess
	relist   bool      // the GPU or one of its MIG devices is gone: list the devices again
}

// read renews what is wanted. A code that loses the driver ends it.
func (g *gpu) read(w want, now time.Time) answer {
	if g.pci.suspended(g.device.PCI) {
		g.mark(asleep)
		return answer{readings: g.readings()}
	}
	code := g.ask(w, now)
	if code.losesDriver() {
		return answer{driver: code}
	}
	if code.losesGPU() {
		g.mark(gpuState(code))
		return answer{readings: g.readings(), relist: true}
	}
	relist := false
	for _, instance := range g.instances {
		code := instance.ask(w, now)
		if code.losesDriver() {
			return answer{driver: code}
		}
		if code.losesGPU() {
			instance.mark(gpuState(code))
		}
		if code.losesGPU() || !instance.last.Memory.Total.Known && instance.memory.dead == "" {
			relist = true
		}
	}
	return answer{readings: g.readings(), relist: relist}
}

// mark changes the state and leaves the numbers as they were.
func (g *gpu) mark(s State) {
	g.last.State = s
	for _, instance := range g.instances {
		instance.last.State = s
	}
}

func (g *gpu) readings() []Reading {
	list := make([]Reading, 0, 1+len(g.instances))
	list = append(list, g.last)
	for _, instance := range g.instances {
		list = append(list, instance.last)
	}
	return list
}

// ask puts the wanted questions to this device alone. It stops at a code that
// loses the device or the driver, and then leaves the numbers as they were.
func (g *gpu) ask(w want, now time.Time) Code {
	g.forget(w)
	steps := [...]struct {
		of want
		do func(want, time.Time) Code
	}{
		{wantMemory, g.askMemory},
		{wantEnvironment, g.askEnvironment},
		{wantProcesses, g.askProcesses},
		{wantSlow, g.askSlow},
	}
	for _, step := range steps {
		if w&step.of == 0 {
			continue
		}
		if code := step.do(w, now); code.losesGPU() || code.losesDriver() {
			return code
		}
	}
	g.last.At = now
	g.last.State = running
	return codeSuccess
}

// forget drops what is no longer kept fresh: an old list of processes would be
// taken for a new one.
func (g *gpu) forget(w want) {
	if w&keepProcesses == 0 {
		g.last.Processes = Processes{}
	}
	if w&keepSlow == 0 {
		g.last.PCIeReceive, g.last.PCIeTransmit = Number{}, Number{}
	}
}

func (g *gpu) askMemory(want, time.Time) Code {
	memory, code := g.memory.read(g.handle)
	if code != codeSuccess {
		return code
	}
	g.last.Memory = memory
	if !g.load.open() {
		return codeSuccess
	}
	load, activity, code := g.handle.utilization()
	if code.losesGPU() || code.losesDriver() {
		return code
	}
	g.last.Utilization = percent(g.load.number(uint64(load), code))
	g.last.MemoryActivity = percent(g.load.number(uint64(activity), code))
	return codeSuccess
}

func (g *gpu) askEnvironment(want, time.Time) Code {
	if g.device.Parent != "" {
		n := unknown("measured for the whole GPU only: see the GPU that this MIG device is part of")
		g.last.Temperature, g.last.Power, g.last.PowerLimit, g.last.Clock = n, n, n, n
		return codeSuccess
	}
	if code := g.askNumber(&g.last.Temperature, &g.heat, 1, g.handle.temperature); code != codeSuccess {
		return code
	}
	if code := g.askNumber(&g.last.Power, &g.power, 1, g.handle.power); code != codeSuccess {
		return code
	}
	if code := g.askNumber(&g.last.PowerLimit, &g.limit, 1, g.handle.powerLimit); code != codeSuccess {
		return code
	}
	return g.askNumber(&g.last.Clock, &g.clock, 1, g.handle.clock)
}

func (g *gpu) askSlow(want, time.Time) Code {
	if g.device.Parent != "" {
		n := unknown("measured for the whole GPU only: see the GPU that this MIG device is part of")
		g.last.PCIeReceive, g.last.PCIeTransmit = n, n
		return codeSuccess
	}
	if code := g.askNumber(&g.last.PCIeReceive, &g.receive, 1024, g.handle.pcieReceive); code != codeSuccess {
		return code
	}
	return g.askNumber(&g.last.PCIeTransmit, &g.transmit, 1024, g.handle.pcieTransmit)
}

// askNumber puts one question and stores the answer times unit. Only a code
// that loses the device or the driver comes back.
func (g *gpu) askNumber(to *Number, f *field, unit uint64, question func() (uint32, Code)) Code {
	if !f.open() {
		return codeSuccess
	}
	value, code := question()
	if code.losesGPU() || code.losesDriver() {
		return code
	}
	*to = f.number(uint64(value)*unit, code)
	if to.Known && value == math.MaxUint32 {
		*to = unknown("the driver has no number for it")
	}
	return codeSuccess
}

func (g *gpu) askProcesses(w want, now time.Time) Code {
	if len(g.instances) > 0 {
		g.last.Processes = Processes{Missing: "this GPU is split: see its MIG devices for their processes"}
		return codeSuccess
	}
	processes, code := g.processes.read(g.handle, g.last.Memory.Total.Value, now)
	if code != codeSuccess {
		return code
	}
	if w&keepSlow != 0 {
		if processes, code = g.processes.addUtilization(g.handle, processes); code != codeSuccess {
			return code
		}
	}
	g.last.Processes = processes
	return codeSuccess
}

// percent refuses a share above the whole.
func percent(n Number) Number {
	if n.Known && n.Value > 100 {
		return unknown("the driver reports garbage: more than 100 percent")
	}
	return n
}
