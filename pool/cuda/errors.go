package cuda

import (
	"errors"
	"fmt"
	"strings"

	"vramscope/pool"
)

// ErrNotIncluded is returned by everything in a binary without CUDA.
var ErrNotIncluded = errors.New("this binary was built without CUDA: build it with make build where CUDA's headers can be had")

// ErrClosed is returned by every operation on a Context that was closed. It is
// a pool.ErrClosed too.
var ErrClosed = fmt.Errorf("the context on the GPU is closed: open a new one (%w)", pool.ErrClosed)

// DriverError says that there is no driver that could be used, or that it
// refused a call.
type DriverError struct {
	Call   string // the call of the driver, such as "cuInit", or "dlopen"
	Code   int    // its CUresult; 0 where the call could not be made at all
	Detail string // in words: CUDA's name of the code, or what the loader said
	Advice string // what to do, "" for the general one
}

// Error states the facts and ends with what to do.
func (e *DriverError) Error() string {
	advice := e.Advice
	if advice == "" {
		advice = "check the NVIDIA driver with nvidia-smi"
	}
	if e.Code == 0 {
		return fmt.Sprintf("CUDA: %s: %s; %s", e.Call, e.Detail, advice)
	}
	return fmt.Sprintf("CUDA: %s failed with %d (%s); %s", e.Call, e.Code, e.Detail, advice)
}

// MissingSymbolError says that the driver is older than what is called here.
// No call was made that it lacks.
type MissingSymbolError struct {
	Library string   // the driver's library
	Symbols []string // what it lacks
}

// Error states the facts and ends with what to do.
func (e *MissingSymbolError) Error() string {
	const most = 3
	names := strings.Join(e.Symbols[:min(most, len(e.Symbols))], ", ")
	if more := len(e.Symbols) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("CUDA: %s lacks %s; install a driver for CUDA 11.2 or later", e.Library, names)
}

// LostError says that the device or its context is gone for this process. Every
// later call of the Context fails with it at once, without the driver.
type LostError struct {
	Device Device
	Call   string // the call that found out
	Code   int    // its CUresult
	Detail string // CUDA's name of the code
}

// Error states the facts and ends with what to do.
func (e *LostError) Error() string {
	return fmt.Sprintf("CUDA: GPU %d (%s) is lost: %s failed with %d (%s); start the program anew, and look for an Xid in the kernel's log",
		e.Device.Ordinal, e.Device.UUID, e.Call, e.Code, e.Detail)
}

// managedReserve is left free by managed memory, bytes: the driver pages in larger
// steps than are asked for, and keeps what was freed for a while, that of a killed
// process too. On an H200 that was 64 MiB; this is twice as much.
const managedReserve int64 = 128 << 20

// ManagedLimitError refuses managed memory beyond what the device has free,
// since a GPU that pages may hang. Nothing was allocated.
type ManagedLimitError struct {
	Asked int64 // bytes
	Free  int64 // free bytes of the device by cuMemGetInfo
	Total int64 // bytes
}

// Error states the facts and ends with what to do.
func (e *ManagedLimitError) Error() string {
	return fmt.Sprintf("CUDA: %d bytes of managed memory were asked for and the device has %d free, of which %d are left to the driver; ask for less, or allow it in the options",
		e.Asked, e.Free, managedReserve)
}

// Unwrap is a *pool.OutOfMemoryError: whoever handles that, handles this.
func (e *ManagedLimitError) Unwrap() error {
	return &pool.OutOfMemoryError{
		Asked: e.Asked, Free: e.Free, Total: e.Total, LargestFree: pool.Unknown,
		Where: "CUDA", Reason: "managed memory is not taken beyond what is free",
	}
}
