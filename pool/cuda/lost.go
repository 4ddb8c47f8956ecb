//go:build cuda && linux && cgo

package cuda

import "slices"

// lastingFaults are the codes after which a context answers everything with the
// same code, or the device is gone: nothing but a new process helps.
var lastingFaults = []int{
	4,   // CUDA_ERROR_DEINITIALIZED
	46,  // CUDA_ERROR_DEVICE_UNAVAILABLE
	201, // CUDA_ERROR_INVALID_CONTEXT: somebody reset the primary context
	214, // CUDA_ERROR_ECC_UNCORRECTABLE
	220, // CUDA_ERROR_NVLINK_UNCORRECTABLE
	226, // CUDA_ERROR_CONTAINED
	700, // CUDA_ERROR_ILLEGAL_ADDRESS
	702, // CUDA_ERROR_LAUNCH_TIMEOUT
	709, // CUDA_ERROR_CONTEXT_IS_DESTROYED
	710, // CUDA_ERROR_ASSERT
	714, // CUDA_ERROR_HARDWARE_STACK_ERROR
	715, // CUDA_ERROR_ILLEGAL_INSTRUCTION
	716, // CUDA_ERROR_MISALIGNED_ADDRESS
	717, // CUDA_ERROR_INVALID_ADDRESS_SPACE
	718, // CUDA_ERROR_INVALID_PC
	719, // CUDA_ERROR_LAUNCH_FAILED
	810, // CUDA_ERROR_MPS_CLIENT_TERMINATED
}

// check is the error that a call of the worker ends with, nil for nil. A lasting
// fault loses the device.
func (c *Context) check(call string, err error) error {
	if err == nil {
		return nil
	}
	return c.checkCode(call, codeOf(err))
}

func (c *Context) checkCode(call string, code int) error {
	if code == 0 {
		return nil
	}
	if !slices.Contains(lastingFaults, code) {
		return &DriverError{Call: call, Code: code, Detail: errorName(code)}
	}
	c.lost.CompareAndSwap(nil, &LostError{Device: c.device, Call: call, Code: code, Detail: errorName(code)})
	return c.lost.Load()
}
