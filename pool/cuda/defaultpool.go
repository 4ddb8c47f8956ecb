//go:build cuda && linux && cgo

package cuda

/*
#include "driver.h"
*/
import "C"

import (
	"unsafe"

	"vramscope/pool"
)

// The attributes of a memory pool, as cuda.h numbers them since 11.3.
const (
	attributeReserved     = 5
	attributeReservedPeak = 6
	attributeUsed         = 7
	attributeUsedPeak     = 8
)

// DefaultPool reads the device's default memory pool: what it holds for this
// process, whoever allocated there. A driver without memory pools is a
// *MissingSymbolError.
func (c *Context) DefaultPool() (DefaultPool, error) {
	r := newRequest((*Context).readDefaultPool)
	err := c.call(r)
	figures := r.figures
	r.recycle()
	return figures, err
}

func (c *Context) readDefaultPool(r *request) error {
	handle, err := c.defaultPool()
	if err != nil {
		return err
	}
	for _, figure := range []struct {
		attribute C.int
		bytes     *int64
	}{
		{attributeReserved, &r.figures.Reserved},
		{attributeReservedPeak, &r.figures.ReservedPeak},
		{attributeUsed, &r.figures.Used},
		{attributeUsedPeak, &r.figures.UsedPeak},
	} {
		var bytes C.ulonglong
		code := C.vramscope_cuda_pool_read(handle, figure.attribute, &bytes)
		if err := c.poolError("cuMemPoolGetAttribute", code); err != nil {
			return err
		}
		*figure.bytes = int64(bytes)
	}
	return nil
}

func (c *Context) defaultPool() (unsafe.Pointer, error) {
	var handle unsafe.Pointer
	code := C.vramscope_cuda_default_pool(C.CUdevice(c.handle), &handle)
	return handle, c.poolError("cuDeviceGetDefaultMemPool", code)
}

func (c *Context) poolError(call string, code C.int) error {
	if code == C.VRAMSCOPE_CUDA_MISSING_SYMBOLS {
		return &MissingSymbolError{Library: library(), Symbols: []string{call}}
	}
	return c.checkCode(call, int(code))
}

// TrimDefaultPool gives what the default pool holds unused back to the device,
// down to keep bytes (0 or more). It waits for all work first: what was freed in
// a stream's order goes back only when the driver has seen the stream come by.
func (c *Context) TrimDefaultPool(keep int64) error {
	if keep < 0 {
		return sizeError(keep, "keep 0 bytes or more")
	}
	r := newRequest((*Context).trimDefaultPool)
	r.bytes = keep
	return c.finish(r)
}

func (c *Context) trimDefaultPool(r *request) error {
	handle, err := c.defaultPool()
	if err != nil {
		return err
	}
	if err := c.synchronize(r); err != nil {
		return err
	}
	return c.poolError("cuMemPoolTrimTo", C.vramscope_cuda_pool_trim(handle, C.size_t(r.bytes)))
}

// ResetDefaultPoolPeaks lets both peaks start over from what is held now.
func (c *Context) ResetDefaultPoolPeaks() error {
	return c.finish(newRequest((*Context).resetDefaultPoolPeaks))
}

func (c *Context) resetDefaultPoolPeaks(*request) error {
	handle, err := c.defaultPool()
	if err != nil {
		return err
	}
	for _, attribute := range []C.int{attributeReservedPeak, attributeUsedPeak} {
		if err := c.poolError("cuMemPoolSetAttribute", C.vramscope_cuda_pool_zero(handle, attribute)); err != nil {
			return err
		}
	}
	return nil
}

// AllocateAsync takes bytes (> 0) from the default pool in the order of the
// stream. The error is an *pool.OutOfMemoryError where there is no room.
func (c *Context) AllocateAsync(bytes int64, stream pool.Stream) (pool.Address, error) {
	return c.allocateBy((*Context).allocateAsync, bytes, stream)
}

func (c *Context) allocateAsync(r *request) error {
	const call = "cuMemAllocAsync"
	q, err := c.queue(r.stream)
	if err != nil {
		return err
	}
	var address C.ulonglong
	code := C.vramscope_cuda_allocate_async(&address, C.size_t(r.bytes), C.CUstream(unsafe.Pointer(q.stream.C())))
	switch code {
	case 0:
		c.keep(r, pool.Address(address), true)
		return nil
	case C.VRAMSCOPE_CUDA_MISSING_SYMBOLS:
		return c.poolError(call, code)
	default:
		return c.allocationError(call, r.bytes, int(code))
	}
}

// FreeAsync gives a block of AllocateAsync back in the order of the stream. The
// error is an *pool.UnknownBlockError where none is live at the address.
func (c *Context) FreeAsync(address pool.Address, stream pool.Stream) error {
	r := newRequest((*Context).freeAsync)
	r.address, r.stream = address, stream
	return c.finish(r)
}

func (c *Context) freeAsync(r *request) error {
	if held, live := c.allocations[r.address]; !live || !held.async {
		return &pool.UnknownBlockError{Address: r.address, Held: pool.Unknown, Where: upstreamName}
	}
	q, err := c.queue(r.stream)
	if err != nil {
		return err
	}
	code := C.vramscope_cuda_free_async(C.ulonglong(r.address), C.CUstream(unsafe.Pointer(q.stream.C())))
	if err := c.poolError("cuMemFreeAsync", code); err != nil {
		return err
	}
	delete(c.allocations, r.address)
	return nil
}
