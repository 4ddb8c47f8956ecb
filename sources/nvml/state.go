package nvml

import "fmt"

// Condition is how NVML, or one GPU, is doing.
type Condition uint8

// The conditions. Those up to NoDevices are NVML's, for all GPUs; the rest are
// one GPU's. Running, NotPermitted, Hanging, Asleep and Failed can be either.
const (
	Starting        Condition = iota // Init has not returned yet
	Running                          // answers come
	Unavailable                      // this build of the program has no NVML in it
	NoLibrary                        // libnvidia-ml.so.1 cannot be loaded
	NoDriver                         // the kernel driver is not loaded
	VersionMismatch                  // library and kernel driver are of different versions
	NotPermitted                     // this user, or this cgroup, may not use the device
	NoDevices                        // the driver is fine and has no GPU
	Hanging                          // a call has not returned for longer than a second
	Lost                             // the GPU is off the bus or needs a reset
	Asleep                           // the GPU is suspended, and asking would wake it
	Failed                           // anything else; Code has what NVML said
)

var conditionNames = [...]string{
	"starting", "running", "unavailable", "no library", "no driver", "version mismatch", "not permitted",
	"no devices", "not answering", "lost", "asleep", "failed",
}

// String is the condition in one or two words, such as "version mismatch".
func (c Condition) String() string {
	if int(c) < len(conditionNames) {
		return conditionNames[c]
	}
	return "unknown"
}

// State is how NVML or one GPU is doing, and what to do about it.
type State struct {
	Condition Condition
	Code      Code   // what NVML returned; CodeNone where no return of NVML's led to this
	Text      string // one sentence that says what to do; "" while Running and Starting
}

// OK says whether the numbers that come with this state are being renewed.
func (s State) OK() bool { return s.Condition == Running }

var (
	starting = State{Condition: Starting, Code: CodeNone}
	running  = State{Condition: Running, Code: codeSuccess}
)

// driverState is the state that a failed Init, or a call that lost the
// driver, leads to. detail is what the loader said, "" for none.
func driverState(code Code, detail string) State {
	if detail != "" {
		detail = " (" + detail + ")"
	}
	s := State{Code: code}
	switch code {
	case CodeNone:
		s.Condition = Unavailable
		s.Text = "this build of vramscope cannot load the NVIDIA driver's library: build it on Linux with a C compiler and " +
			"CGO_ENABLED=1 to see GPUs"
	case codeLibraryNotFound:
		s.Condition = NoLibrary
		s.Text = fmt.Sprintf("the driver's library libnvidia-ml.so.1 cannot be loaded (%s)%s: install the NVIDIA driver, "+
			"or start the container with its GPUs; looked for again every 5 s", code, detail)
	case codeFunctionNotFound:
		s.Condition = NoLibrary
		s.Text = fmt.Sprintf("the driver's library lacks what every version has (%s)%s: install the NVIDIA driver again",
			code, detail)
	case codeDriverNotLoaded:
		s.Condition = NoDriver
		s.Text = fmt.Sprintf("the NVIDIA kernel driver is not loaded (%s): load it with `modprobe nvidia`, or start the "+
			"container with its GPUs; asked again every 5 s", code)
	case codeVersionMismatch:
		s.Condition = VersionMismatch
		s.Text = fmt.Sprintf("the driver's library and the loaded kernel driver differ in version (%s), as after an "+
			"upgrade: reboot, or reload the nvidia modules and start vramscope again", code)
	case codeNoPermission:
		s.Condition = NotPermitted
		s.Text = fmt.Sprintf("this user may not use the GPUs (%s): see the rights of /dev/nvidia*, often the groups video "+
			"and render; asked again every 5 s", code)
	case codeOperatingSystem:
		s.Condition = NotPermitted
		s.Text = fmt.Sprintf("the operating system or a cgroup blocks the GPUs (%s): allow /dev/nvidia* for this group; "+
			"asked again every 5 s", code)
	case codeGPUNotFound:
		s.Condition = NoDevices
		s.Text = fmt.Sprintf("the driver finds no GPU (%s): see `dmesg` for why it did not attach; asked again every 5 s", code)
	case codeUninitialized:
		s.Condition = Failed
		s.Text = fmt.Sprintf("the driver was unloaded while it was watched (%s): nothing to do, it is asked again every 5 s", code)
	default:
		s.Condition = Failed
		s.Text = fmt.Sprintf("NVML did not start (%s)%s: see `nvidia-smi` and `dmesg`; asked again every 5 s", code, detail)
	}
	return s
}

// gpuState is the state of one GPU that answered with code.
func gpuState(code Code) State {
	s := State{Code: code}
	switch code {
	case codeGPUIsLost:
		s.Condition = Lost
		s.Text = fmt.Sprintf("the GPU has fallen off the bus (%s): see `dmesg`, then reset it or reboot; looked for again "+
			"every 10 s", code)
	case codeResetRequired:
		s.Condition = Lost
		s.Text = fmt.Sprintf("the GPU must be reset before it can be used (%s): end its programs and run "+
			"`nvidia-smi --gpu-reset`, or reboot; looked for again every 10 s", code)
	case codeGPUNotFound:
		s.Condition = Lost
		s.Text = fmt.Sprintf("the GPU is no longer there (%s): it was removed or given to another machine; looked for again "+
			"every 10 s", code)
	case codeNoPermission:
		s.Condition = NotPermitted
		s.Text = fmt.Sprintf("this user may not use this GPU (%s): see the rights of /dev/nvidia*; asked again every 10 s", code)
	case codeOperatingSystem:
		s.Condition = NotPermitted
		s.Text = fmt.Sprintf("the operating system or a cgroup blocks this GPU (%s): allow its /dev/nvidia* for this group; "+
			"asked again every 10 s", code)
	default:
		s.Condition = Failed
		s.Text = fmt.Sprintf("the GPU cannot be asked (%s): see `nvidia-smi` and `dmesg`; asked again every 10 s", code)
	}
	return s
}

var (
	gone = State{Condition: Lost, Code: codeGPUNotFound, Text: "the driver no longer lists this GPU: it was removed, " +
		"reconfigured or given to another machine; looked for again every 10 s"}
	noDevices = State{Condition: NoDevices, Code: codeSuccess, Text: "the driver is loaded and lists no GPU: " +
		"see `dmesg` for why it did not attach, or start the container with its GPUs; asked again every 5 s"}
	asleep = State{Condition: Asleep, Code: CodeNone, Text: "the GPU is asleep (suspended by the kernel to save power) " +
		"and is left so: its numbers come when a program wakes it"}
	hangingGPU = State{Condition: Hanging, Code: CodeNone, Text: "the driver has not answered for this GPU for more than " +
		"1 s: the numbers are its last; see `dmesg` if it lasts"}
	hangingDriver = State{Condition: Hanging, Code: CodeNone, Text: "the driver has not finished starting for more than " +
		"1 s: nothing to do but wait; see `dmesg`, and whether nvidia-persistenced runs, if it lasts"}
)
