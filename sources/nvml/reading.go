package nvml

import "time"

// Labels of where a number came from, as Number.Source has them.
const (
	SourceV2      = "NVML v2"       // nvmlDeviceGetMemoryInfo_v2: the driver's reserve apart
	SourceV1      = "NVML v1"       // nvmlDeviceGetMemoryInfo: used includes the driver's reserve
	SourceMeminfo = "/proc/meminfo" // a GPU that has no memory of its own
	SourceNVML    = "NVML"          // any other call
)

// Number is a number that may be unknown. The zero value is unknown.
type Number struct {
	Value   uint64 // meaningful only if Known; the field's comment has the unit
	Known   bool
	Source  string // a Source label; "" if unknown
	Missing string // why it is unknown, one sentence; "" if known or never asked for
}

func known(value uint64, source string) Number {
	return Number{Value: value, Known: true, Source: source}
}

func unknown(why string) Number { return Number{Missing: why} }

// Device is what does not change about a GPU, or about a MIG device (a part
// of a GPU that is one to its users).
type Device struct {
	UUID     string // as CUDA names it: "GPU-…" or "MIG-…"; "" if the GPU cannot even be asked for that
	Parent   string // UUID of the GPU that a MIG device is part of, "" for a GPU
	Index    int    // NVML's ordinal at the moment of listing, from 0; of a MIG device, within its parent. Not stable: never a key
	Name     string // from the driver, at most 96 bytes; not for a terminal as it is
	PCI      string // as in sysfs: "0000:3b:00.0"; "" if unknown
	Driver   string // version of the driver, "" if unknown
	Unified  bool   // shares the system's memory, as far as the driver or its name says
	MIG      bool   // a GPU that is split into MIG devices: they have the processes
	Instance int    // GPU instance of a MIG device, -1 none
	Compute  int    // compute instance of a MIG device, -1 none
	State    State  // Running, or why the listing could not ask for the rest
}

// Memory is the memory of a device, in bytes. Total = Reserved + Used + Free
// where all are known; from NVML v1 the reserve is unknown and lies in Used.
type Memory struct {
	Total    Number
	Used     Number
	Free     Number
	Reserved Number // held by the driver itself
	Shared   bool   // shared with system: Used is the machine's, not the GPU's alone
}

// NoInstance is the GPU or compute instance of what runs on no MIG device.
const NoInstance = -1

// Kind is what a process does on a GPU, a set.
type Kind uint8

// The kinds.
const (
	KindCompute  Kind = 1 << iota // has a CUDA context
	KindGraphics                  // has a graphics context (Vulkan, OpenGL)
)

// String is "C", "G" or "C+G", as nvidia-smi prints them.
func (k Kind) String() string {
	switch k {
	case KindCompute:
		return "C"
	case KindGraphics:
		return "G"
	case KindCompute | KindGraphics:
		return "C+G"
	}
	return "?"
}

// Process is a process that holds memory of a device. Name and Arguments come
// from the process and may hold any byte: what draws them makes them fit for a
// terminal.
type Process struct {
	PID         int // as the driver says: of the host, or of this PID namespace with recent drivers
	Kind        Kind
	Memory      Number // bytes, its contexts included
	Instance    int    // GPU instance, NoInstance if none
	Compute     int    // compute instance, NoInstance if none
	Utilization Number // percent of the SMs' time over the last samples; only while slow calls are asked for
	Facts              // nothing is known of it if Name is ""
	Doubt       string // why PID or Name may be wrong, one sentence; "" if there is no reason to think so
}

// Facts is what /proc says about a process.
type Facts struct {
	Name      string   // command name, at most 64 bytes; "" if unknown
	Arguments []string // command line, cut after 512 bytes; nil if unknown
	NSPIDs    []int    // its numbers from the outermost to the innermost PID namespace seen here; nil if unknown
	UID       int      // owner, -1 if unknown
}

// Processes is a list of the processes on a device, by falling memory. It is
// immutable.
type Processes struct {
	List    []Process
	Known   bool      // List is what the driver said; it may be empty
	Source  string    // a Source label
	Missing string    // why it is not known, one sentence; "" if known or never asked for
	At      time.Time // when the driver was asked
}

// Reading is the newest of everything known about one device. It is immutable.
// While State is not Running the numbers are the last that came, at At: a lost
// GPU keeps them, and one that never answered has none.
type Reading struct {
	UUID   string
	Parent string    // UUID of the GPU that a MIG device is part of, "" for a GPU
	At     time.Time // when the driver last answered; zero if it never did
	State  State

	Memory         Memory // bytes
	Utilization    Number // percent of the time that a kernel ran, over the driver's own window of 1/6 s to 1 s
	MemoryActivity Number // percent of the time that memory was read or written; no measure of capacity
	Temperature    Number // degrees Celsius
	Power          Number // milliwatts
	PowerLimit     Number // milliwatts, as enforced
	Clock          Number // MHz of the SMs
	PCIeReceive    Number // bytes a second with the bus's own overhead (about a tenth); only while slow calls are asked for
	PCIeTransmit   Number // the same
	Processes      Processes
}

// Fault is an Xid that the driver reported.
type Fault struct {
	UUID     string // of the GPU; "" if the driver did not say
	Instance int    // GPU instance, NoInstance if none
	Compute  int    // compute instance, NoInstance if none
	Xid      uint64 // NVIDIA's number; 999 is the driver's own "unknown"
	Text     string // what it means, one sentence
	Program  bool   // a fault of a program, such as a bad kernel, rather than of the hardware
	At       time.Time
}

// Receiver takes what a Watcher learns. Its methods are called from Run's
// goroutine, one at a time, and should return soon: while they run nothing
// else is watched.
type Receiver interface {
	// Driver says how NVML as a whole is doing. It comes first, and with
	// every change.
	Driver(State)
	// Devices lists the GPUs, each followed by its MIG devices. It comes
	// after NVML has started, and with every change.
	Devices([]Device)
	// Reading has the newest numbers of one device, or its changed state.
	Reading(Reading)
	// Fault is an Xid.
	Fault(Fault)
}
