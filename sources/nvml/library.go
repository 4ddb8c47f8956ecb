package nvml

// library is the driver's library, as little of it as is used here. open and
// devices are called from one goroutine at a time, the rest from any.
type library interface {
	// open loads the library, looks up its symbols and calls Init. What the
	// loader said about a failure comes with it.
	open() (Code, string)
	// devices lists the GPUs by index. A slot without a handle has what NVML
	// said instead.
	devices() ([]slot, Code)
	// faults makes a set that waits for the Xids of these GPUs.
	faults([]handle) (faultSet, Code)
	// close forbids further calls and shuts NVML down, now or when the last
	// call under way returns.
	close()
}

// slot is one index of NVML's list of GPUs.
type slot struct {
	handle handle // nil if NVML handed none out
	code   Code   // why not
}

// handle is one GPU or MIG device, to be asked one call at a time. A call
// whose symbol is missing answers codeFunctionNotFound.
type handle interface {
	identity() (identity, Code)
	instances() ([]handle, Code) // MIG devices; codeNotSupported and an empty list are both "none"
	memoryV2() (memoryNumbers, Code)
	memoryV1() (memoryNumbers, Code)
	utilization() (gpu, memory uint32, code Code)
	temperature() (uint32, Code)
	power() (uint32, Code)
	powerLimit() (uint32, Code)
	clock() (uint32, Code)
	computeProcesses() ([]processRecord, Code)
	graphicsProcesses() ([]processRecord, Code)
	processUtilization(since uint64) ([]utilizationSample, Code)
	pcieReceive() (uint32, Code)  // kB a second; takes the driver about 21 ms
	pcieTransmit() (uint32, Code) // the same
}

// faultSet waits for Xids. It is used by one goroutine.
type faultSet interface {
	wait(milliseconds uint32) (faultRecord, Code)
	free()
}

// identity is what does not change about a device.
type identity struct {
	uuid, name, pci, driver string
	unified                 bool
	mig                     bool // MIG mode is on
	instance, compute       int
}

// memoryNumbers are bytes. reserved is 0 from v1.
type memoryNumbers struct{ total, reserved, used, free uint64 }

// notAvailable is what NVML puts where it has no 64-bit number
// (NVML_VALUE_NOT_AVAILABLE), and noInstance where there is no instance.
const (
	notAvailable = ^uint64(0)
	noInstance   = ^uint32(0)
)

// processRecord is a process as NVML lists it. The numbers are raw.
type processRecord struct {
	pid               uint32
	memory            uint64
	instance, compute uint32
}

// utilizationSample is one process's share of the SMs over the driver's
// sampling period; stamp is in microseconds.
type utilizationSample struct {
	pid   uint32
	stamp uint64
	sm    uint32
}

// faultRecord is one event. uuid is "" if the driver did not say whose.
type faultRecord struct {
	uuid              string
	xid               uint64
	instance, compute uint32
}

// instanceNumber turns NVML's instance number into ours.
func instanceNumber(raw uint32) int {
	if raw == noInstance {
		return NoInstance
	}
	return int(raw)
}
