package arena

import (
	"fmt"
	"math"
	"unsafe"
)

const (
	// bufferAlignment is that of buffers made here, in bytes: a cache line,
	// more than any item size needs.
	bufferAlignment = 64
	// probeBytes is the size from which the host is asked before the Go
	// runtime is, which ends the process when it is refused.
	probeBytes = 16 << 20
)

// HostMemoryError is a buffer that the host refused.
type HostMemoryError struct {
	Asked int64 // bytes
	Err   error // why, where the system said
}

// Error is a sentence that says what to do.
func (e *HostMemoryError) Error() string {
	return fmt.Sprintf("the host refuses %d bytes of memory (%v); ask for less or free some", e.Asked, e.Err)
}

// Unwrap is the system's error.
func (e *HostMemoryError) Unwrap() error { return e.Err }

// newBuffer makes a zeroed host buffer at a multiple of bufferAlignment.
func newBuffer(bytes int64) (buffer []byte, err error) {
	if bytes > math.MaxInt-bufferAlignment {
		return nil, &HostMemoryError{bytes, errAddressSpace}
	}
	if bytes >= probeBytes {
		if err := probeHost(bytes); err != nil {
			return nil, &HostMemoryError{bytes, err}
		}
	}
	defer func() {
		if recover() != nil { // "len out of range" is all that make can say
			buffer, err = nil, &HostMemoryError{bytes, errAddressSpace}
		}
	}()
	whole := make([]byte, bytes+bufferAlignment-1)
	padding := -addressOf(whole) & (bufferAlignment - 1)
	return whole[padding : int64(padding)+bytes : int64(padding)+bytes], nil
}

// addressOf is where a buffer starts. Go does not move what is on its heap.
func addressOf(buffer []byte) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(buffer))))
}
