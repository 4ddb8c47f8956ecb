//go:build cuda && linux && cgo

package cuda

/*
#cgo LDFLAGS: -ldl -Wl,--export-dynamic -Wl,--unresolved-symbols=ignore-in-object-files
#include <stdlib.h>
#include "driver.h"
*/
import "C"

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"gorgonia.org/cu"

	"vramscope/pool"
)

// Included says whether CUDA is in this binary.
const Included = true

// Headers is the version of the CUDA headers that the binary was built with,
// such as "12.9", "" without CUDA.
func Headers() string { return fmt.Sprintf("%d.%d", C.CUDA_VERSION/1000, C.CUDA_VERSION%1000/10) }

var driver struct {
	sync.Mutex
	loaded bool
}

// load loads the driver unless that was done. What failed is tried again by the
// next call: a driver may be installed, and a device come back.
func load() error {
	driver.Lock()
	defer driver.Unlock()
	if driver.loaded {
		return nil
	}
	const room = 1024
	why := (*C.char)(C.malloc(room))
	defer C.free(unsafe.Pointer(why))
	switch code := C.vramscope_cuda_load(why, room); code {
	case 0:
		driver.loaded = true
		return nil
	case C.VRAMSCOPE_CUDA_NO_LIBRARY:
		return &DriverError{Call: "dlopen", Detail: clip(C.GoString(why)), Advice: "install the NVIDIA driver"}
	case C.VRAMSCOPE_CUDA_MISSING_SYMBOLS:
		return &MissingSymbolError{Library: library(), Symbols: strings.Fields(C.GoString(why))}
	default:
		return &DriverError{Call: "cuInit", Code: int(code), Detail: errorName(int(code))}
	}
}

func library() string { return C.GoString(C.vramscope_cuda_library()) }

// errorName is CUDA's own name of a code, such as CUDA_ERROR_OUT_OF_MEMORY.
func errorName(code int) string {
	if name := C.vramscope_cuda_error_name(C.int(code)); name != nil {
		return clip(C.GoString(name))
	}
	return "a code that the driver has no name for"
}

// clip bounds a text of the driver's or the loader's; it may hold any byte.
func clip(text string) string {
	const most = 256
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// codeOf is the CUresult of an error of the binding, whose type has no name
// outside of it.
func codeOf(err error) int {
	if value := reflect.ValueOf(err); value.Kind() == reflect.Int {
		return int(value.Int())
	}
	return int(cu.Unknown)
}

// driverError is what a call failed with, nil for nil.
func driverError(call string, err error) error {
	if err == nil {
		return nil
	}
	code := codeOf(err)
	return &DriverError{Call: call, Code: code, Detail: errorName(code)}
}

// Devices lists the GPUs of the driver, which it loads if need be, without a
// context on any. The error is a *DriverError where there is no driver or none
// that works, or a *MissingSymbolError where it is too old.
func Devices() ([]Device, error) {
	if err := load(); err != nil {
		return nil, err
	}
	count, err := cu.NumDevices()
	if err != nil {
		return nil, driverError("cuDeviceGetCount", err)
	}
	devices := make([]Device, 0, count)
	for ordinal := range count {
		device, _, err := findDevice(ordinal)
		if err != nil {
			return nil, err
		}
		devices = append(devices, device)
	}
	return devices, nil
}

// findDevice describes one device. The driver must be loaded.
func findDevice(ordinal int) (device Device, handle cu.Device, err error) {
	handle, err = cu.GetDevice(ordinal)
	if err != nil {
		return Device{}, 0, driverError("cuDeviceGet", err)
	}
	name, err := handle.Name()
	if err != nil {
		return Device{}, 0, driverError("cuDeviceGetName", err)
	}
	uuid, err := handle.UUID()
	if err != nil {
		return Device{}, 0, driverError("cuDeviceGetUuid", err)
	}
	total, err := handle.TotalMem()
	if err != nil {
		return Device{}, 0, driverError("cuDeviceTotalMem", err)
	}
	return Device{Ordinal: ordinal, UUID: "GPU-" + uuid.String(), Name: clip(name), Total: total}, handle, nil
}

// freeByNVML reads the free bytes of a device without a context on it;
// pool.Unknown where NVML does not say.
func freeByNVML(uuid string) int64 {
	name := C.CString(uuid)
	defer C.free(unsafe.Pointer(name))
	var bytes C.ulonglong
	if C.vramscope_cuda_nvml_free(name, &bytes) != 0 {
		return pool.Unknown
	}
	return int64(bytes)
}
