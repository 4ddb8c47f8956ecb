package nvml

import "fmt"

// Code is what an NVML call returned (nvmlReturn_t in NVIDIA's nvml.h), or
// CodeNone where no call did.
type Code int32

// The codes that decide something here. CodeNone is ours, the rest are
// NVML's.
const (
	CodeNone                    Code = -1
	codeSuccess                 Code = 0
	codeUninitialized           Code = 1
	codeNotSupported            Code = 3
	codeNoPermission            Code = 4
	codeNotFound                Code = 6
	codeInsufficientSize        Code = 7
	codeDriverNotLoaded         Code = 9
	codeTimeout                 Code = 10
	codeLibraryNotFound         Code = 12
	codeFunctionNotFound        Code = 13
	codeGPUIsLost               Code = 15
	codeResetRequired           Code = 16
	codeOperatingSystem         Code = 17
	codeVersionMismatch         Code = 18
	codeNoData                  Code = 21
	codeArgumentVersionMismatch Code = 25
	codeDeprecated              Code = 26
	codeNotReady                Code = 27
	codeGPUNotFound             Code = 28
)

// codeNames has NVML's names without their common NVML_ERROR_. They stand
// here because nvmlErrorString is one more symbol that a driver may lack, and
// go-nvml's own names go through it while a library is loaded.
var codeNames = map[Code]string{
	0: "SUCCESS", 1: "UNINITIALIZED", 2: "INVALID_ARGUMENT", 3: "NOT_SUPPORTED", 4: "NO_PERMISSION",
	5: "ALREADY_INITIALIZED", 6: "NOT_FOUND", 7: "INSUFFICIENT_SIZE", 8: "INSUFFICIENT_POWER",
	9: "DRIVER_NOT_LOADED", 10: "TIMEOUT", 11: "IRQ_ISSUE", 12: "LIBRARY_NOT_FOUND", 13: "FUNCTION_NOT_FOUND",
	14: "CORRUPTED_INFOROM", 15: "GPU_IS_LOST", 16: "RESET_REQUIRED", 17: "OPERATING_SYSTEM",
	18: "LIB_RM_VERSION_MISMATCH", 19: "IN_USE", 20: "MEMORY", 21: "NO_DATA", 22: "VGPU_ECC_NOT_SUPPORTED",
	23: "INSUFFICIENT_RESOURCES", 24: "FREQ_NOT_SUPPORTED", 25: "ARGUMENT_VERSION_MISMATCH", 26: "DEPRECATED",
	27: "NOT_READY", 28: "GPU_NOT_FOUND", 29: "INVALID_STATE", 30: "RESET_TYPE_NOT_SUPPORTED", 999: "UNKNOWN",
}

// Name is NVML's name of the code without NVML_ERROR_, such as "GPU_IS_LOST",
// and "" for CodeNone.
func (c Code) Name() string {
	if c == CodeNone {
		return ""
	}
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "UNNAMED"
}

// String is number and name, such as "NVML 15, GPU_IS_LOST", and "" for
// CodeNone.
func (c Code) String() string {
	if c == CodeNone {
		return ""
	}
	return fmt.Sprintf("NVML %d, %s", int32(c), c.Name())
}

// neverAnswers says that asking again is no use: this GPU or this driver will
// not know the number as long as it runs.
func (c Code) neverAnswers() bool {
	switch c {
	case codeNotSupported, codeFunctionNotFound, codeArgumentVersionMismatch, codeDeprecated:
		return true
	}
	return false
}

// passes says that the next call may well succeed, so that nobody needs to be
// told.
func (c Code) passes() bool {
	switch c {
	case codeTimeout, codeNoData, codeNotReady, codeNotFound:
		return true
	}
	return false
}

// losesGPU says that this GPU is out of reach, and only this one.
func (c Code) losesGPU() bool {
	switch c {
	case codeGPUIsLost, codeResetRequired, codeGPUNotFound:
		return true
	}
	return false
}

// losesDriver says that no GPU can be asked any more until Init succeeds
// again.
func (c Code) losesDriver() bool {
	switch c {
	case codeUninitialized, codeDriverNotLoaded, codeVersionMismatch:
		return true
	}
	return false
}

// missing says why a number is not there, for a code that is about that
// number alone.
func (c Code) missing() string {
	switch {
	case c == codeNotSupported:
		return "this GPU or its driver does not measure it (" + c.String() + ")"
	case c == codeFunctionNotFound:
		return "the installed driver's library lacks the call (" + c.String() + "): a newer driver has it"
	case c == codeArgumentVersionMismatch, c == codeDeprecated:
		return "the installed driver takes another version of the call (" + c.String() + ")"
	case c == codeNoPermission:
		return "this user may not ask for it (" + c.String() + "): ask root, or see the rights of /dev/nvidia*"
	case c == codeOperatingSystem:
		return "the operating system or a cgroup blocks the device (" + c.String() + "): allow /dev/nvidia* for this group"
	case c.passes():
		return "no sample yet (" + c.String() + "): asked again"
	}
	return "the call failed (" + c.String() + "): asked again"
}
