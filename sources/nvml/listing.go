package nvml

import "slices"

// surroundings is what is read of the machine beside NVML.
type surroundings struct {
	files   processFiles
	pci     pciDevices
	meminfo func() ([]byte, error)
}

func theMachine() surroundings {
	return surroundings{
		files:   newProcessFiles("/proc"),
		pci:     pciDevices{root: "/sys/bus/pci/devices"},
		meminfo: func() ([]byte, error) { return readUpTo("/proc/meminfo", maxStatus) },
	}
}

// listing is what the driver says is there.
type listing struct {
	code        Code
	gpus        []*gpu
	unreachable []Device // an index each, and why
}

// list asks the driver for its GPUs and their MIG devices.
func list(lib library, around surroundings) listing {
	slots, code := lib.devices()
	if code != codeSuccess {
		return listing{code: code}
	}
	var l listing
	for index, slot := range slots {
		if slot.handle == nil {
			l.unreachable = append(l.unreachable, unreachable(index, slot.code))
			continue
		}
		id, code := slot.handle.identity()
		if code.losesDriver() {
			return listing{code: code}
		}
		if code != codeSuccess {
			l.unreachable = append(l.unreachable, unreachable(index, code))
			continue
		}
		g := newGPU(slot.handle, id, index, "", around)
		if id.mig {
			code = g.addInstances(around)
		}
		if code.losesDriver() {
			return listing{code: code}
		}
		l.gpus = append(l.gpus, g)
	}
	return l
}

func unreachable(index int, code Code) Device {
	return Device{Index: index, Instance: NoInstance, Compute: NoInstance, State: gpuState(code)}
}

func newGPU(h handle, id identity, index int, parent string, around surroundings) *gpu {
	return &gpu{
		device: Device{
			UUID: id.uuid, Parent: parent, Index: index, Name: id.name, PCI: id.pci, Driver: id.driver,
			Unified: id.unified, MIG: id.mig, Instance: id.instance, Compute: id.compute, State: running,
		},
		handle:    h,
		pci:       around.pci,
		memory:    memoryReader{unified: id.unified, meminfo: around.meminfo},
		processes: processReader{files: around.files},
		last:      Reading{UUID: id.uuid, Parent: parent, State: starting},
	}
}

// addInstances lists the GPU's MIG devices. One that cannot be named is left
// out: its numbers could not be told from another's.
func (g *gpu) addInstances(around surroundings) Code {
	handles, code := g.handle.instances()
	for index, h := range handles {
		id, code := h.identity()
		if code.losesDriver() {
			return code
		}
		if code == codeSuccess && id.uuid != "" {
			g.instances = append(g.instances, newGPU(h, id, index, g.device.UUID, around))
		}
	}
	return code
}

// devices is the GPU and its MIG devices.
func (g *gpu) devices() []Device {
	all := []Device{g.device}
	for _, instance := range g.instances {
		all = append(all, instance.device)
	}
	return all
}

// sameAs says whether two listings agree about the GPU and its MIG devices.
func (g *gpu) sameAs(other *gpu) bool {
	return slices.Equal(g.devices(), other.devices())
}

// resume takes up the numbers that were told before, so that they stay until
// there are new ones.
func (g *gpu) resume(told []Reading) {
	for _, part := range append([]*gpu{g}, g.instances...) {
		for _, r := range told {
			if r.UUID == part.device.UUID {
				r.State = part.last.State
				part.last = r
			}
		}
	}
}
