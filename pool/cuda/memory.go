//go:build cuda && linux && cgo

package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"vramscope/pool"
)

// upstreamName is what the device is called in a pool's stack and errors.
const upstreamName = "CUDA"

// granularity is what the driver takes device memory in, bytes.
const granularity int64 = 2 << 20

// allocation is a live block.
type allocation struct {
	bytes int64
	async bool // from the default pool
}

// free gives the block back to where it came from. A block of the default pool
// too: cuMemFree takes it, without an order to be kept.
func (allocation) free(address pool.Address) error { return cu.MemFree(cu.DevicePtr(address)) }

func (allocation) freeCall() string { return "cuMemFree" }

// Name implements pool.Upstream.
func (c *Context) Name() string { return upstreamName }

// Capabilities implements pool.Upstream, as the device said when it was opened.
func (c *Context) Capabilities() pool.Capabilities { return c.capabilities }

// MemoryInfo implements pool.Upstream, by cuMemGetInfo.
func (c *Context) MemoryInfo() (free, total int64, err error) {
	r := newRequest((*Context).readMemory)
	err = c.call(r)
	free, total = r.bytes, r.total
	r.recycle()
	return free, total, err
}

func (c *Context) readMemory(r *request) (err error) {
	r.bytes, r.total, err = cu.MemInfo()
	return c.check("cuMemGetInfo", err)
}

// Allocate implements pool.Upstream, by cuMemAlloc. The error is an
// *pool.OutOfMemoryError where there is no room.
func (c *Context) Allocate(bytes int64) (pool.Address, error) {
	return c.allocateBy((*Context).allocate, bytes, 0)
}

// allocateBy asks for bytes by one of the ways there are.
func (c *Context) allocateBy(way func(*Context, *request) error, bytes int64, stream pool.Stream) (pool.Address, error) {
	if bytes <= 0 {
		return 0, sizeError(bytes, "ask for more than 0 bytes")
	}
	r := newRequest(way)
	r.bytes, r.stream = bytes, stream
	err := c.call(r)
	address := r.address
	r.recycle()
	return address, err
}

func (c *Context) allocate(r *request) error {
	address, err := cu.MemAlloc(r.bytes)
	if err != nil {
		return c.allocationError("cuMemAlloc", r.bytes, codeOf(err))
	}
	c.keep(r, pool.Address(address), false)
	return nil
}

// keep enters a new block into the books and the answer.
func (c *Context) keep(r *request, address pool.Address, async bool) {
	c.allocations[address] = allocation{bytes: r.bytes, async: async}
	r.address = address
}

// allocationError is what an allocation ends with: an *pool.OutOfMemoryError,
// with the driver's reading of that moment, or whatever else the code means.
func (c *Context) allocationError(call string, asked int64, code int) error {
	err := c.checkCode(call, code)
	if code != int(cu.OutOfMemory) {
		return err
	}
	free, total, infoError := cu.MemInfo()
	if infoError != nil {
		free, total = pool.Unknown, pool.Unknown
	}
	return &pool.OutOfMemoryError{
		Asked:       asked,
		Free:        free,
		Total:       total,
		LargestFree: pool.Unknown,
		Where:       upstreamName,
		Reason:      fmt.Sprintf("%s: %s", call, errorName(code)),
		Cause:       err,
	}
}

// AllocateManaged implements pool.Upstream, by cuMemAllocManaged. Unless the
// options say otherwise it takes no more than the device has free, else it is a
// *ManagedLimitError (128 MiB stay free for the driver itself), and puts the memory on the device at once: only then does
// the driver count it, and the next request meets a true number.
func (c *Context) AllocateManaged(bytes int64) (pool.Address, error) {
	if !c.capabilities.Managed {
		if err := c.unusable(); err != nil {
			return 0, err
		}
		return 0, fmt.Errorf("%s: GPU %d has no managed memory that it can share with the processor: %w",
			upstreamName, c.device.Ordinal, pool.ErrNotSupported)
	}
	return c.allocateBy((*Context).allocateManaged, bytes, 0)
}

func (c *Context) allocateManaged(r *request) error {
	if err := c.refuseBeyondFree(r.bytes); err != nil {
		return err
	}
	address, err := cu.MemAllocManaged(r.bytes, cu.AttachGlobal)
	if err != nil {
		return c.allocationError("cuMemAllocManaged", r.bytes, codeOf(err))
	}
	if err := c.populate(address, r.bytes); err != nil {
		if freeError := cu.MemFree(address); freeError != nil {
			return errors.Join(err, c.check("cuMemFree", freeError))
		}
		return err
	}
	c.keep(r, pool.Address(address), false)
	return nil
}

func (c *Context) refuseBeyondFree(bytes int64) error {
	if c.options.ManagedBeyondFree {
		return nil
	}
	free, total, err := cu.MemInfo()
	if err != nil {
		return c.check("cuMemGetInfo", err)
	}
	if bytes > free-free%granularity-managedReserve {
		return &ManagedLimitError{Asked: bytes, Free: free, Total: total}
	}
	return nil
}

// populate puts new managed memory on the device and waits for it.
func (c *Context) populate(address cu.DevicePtr, bytes int64) error {
	if c.options.ManagedBeyondFree {
		return nil
	}
	if err := address.MemPrefetchAsync(bytes, c.handle, cu.NoStream); err != nil {
		return c.allocationError("cuMemPrefetchAsync", bytes, codeOf(err))
	}
	if err := cu.NoStream.Synchronize(); err != nil {
		return c.allocationError("cuStreamSynchronize", bytes, codeOf(err))
	}
	return nil
}

// Free implements pool.Upstream, by cuMemFree, which may wait for the device. The
// error is an *pool.UnknownBlockError where no block of exactly that address and
// size is live.
func (c *Context) Free(address pool.Address, bytes int64) error {
	r := newRequest((*Context).free)
	r.address, r.bytes = address, bytes
	return c.finish(r)
}

func (c *Context) free(r *request) error {
	held, live := c.allocations[r.address]
	if !live || held.bytes != r.bytes {
		if !live {
			held.bytes = pool.Unknown
		}
		return &pool.UnknownBlockError{Address: r.address, Bytes: r.bytes, Held: held.bytes, Where: upstreamName}
	}
	if err := held.free(r.address); err != nil {
		return c.check(held.freeCall(), err)
	}
	delete(c.allocations, r.address)
	return nil
}

// Fill sets bytes from the address on to a value, in the order of the stream and
// without waiting. That it failed on the device a later call may say.
func (c *Context) Fill(address pool.Address, bytes int64, value byte, stream pool.Stream) error {
	if bytes <= 0 {
		return sizeErrorUnlessZero(bytes)
	}
	r := newRequest((*Context).fill)
	r.address, r.bytes, r.value, r.stream = address, bytes, value, stream
	return c.finish(r)
}

func (c *Context) fill(r *request) error {
	queue, err := c.queue(r.stream)
	if err != nil {
		return err
	}
	return c.check("cuMemsetD8Async", cu.MemsetD8Async(cu.DevicePtr(r.address), r.value, r.bytes, queue.stream))
}

// Copy copies bytes within the device, in the order of the stream and without
// waiting. That it failed on the device a later call may say.
func (c *Context) Copy(to, from pool.Address, bytes int64, stream pool.Stream) error {
	if bytes <= 0 {
		return sizeErrorUnlessZero(bytes)
	}
	r := newRequest((*Context).copy)
	r.address, r.from, r.bytes, r.stream = to, from, bytes, stream
	return c.finish(r)
}

func (c *Context) copy(r *request) error {
	queue, err := c.queue(r.stream)
	if err != nil {
		return err
	}
	return c.check("cuMemcpyDtoDAsync",
		cu.MemcpyDtoDAsync(cu.DevicePtr(r.address), cu.DevicePtr(r.from), r.bytes, queue.stream))
}

// Write copies memory of this process to the device, after all work that is
// queued on any stream, and returns when it is there.
func (c *Context) Write(address pool.Address, from []byte) error {
	return c.transfer((*Context).write, address, from)
}

func (c *Context) write(r *request) error {
	return c.check("cuMemcpyHtoD",
		cu.MemcpyHtoD(cu.DevicePtr(r.address), unsafe.Pointer(unsafe.SliceData(r.memory)), int64(len(r.memory))))
}

// Read copies from the device into memory of this process, after all work that is
// queued on any stream, and returns when it is there.
func (c *Context) Read(address pool.Address, into []byte) error {
	return c.transfer((*Context).read, address, into)
}

func (c *Context) read(r *request) error {
	return c.check("cuMemcpyDtoH",
		cu.MemcpyDtoH(unsafe.Pointer(unsafe.SliceData(r.memory)), cu.DevicePtr(r.address), int64(len(r.memory))))
}

func (c *Context) transfer(way func(*Context, *request) error, address pool.Address, memory []byte) error {
	if len(memory) == 0 {
		return c.unusable()
	}
	r := newRequest(way)
	r.address, r.memory = address, memory
	return c.finish(r)
}

func sizeErrorUnlessZero(bytes int64) error {
	if bytes == 0 {
		return nil
	}
	return sizeError(bytes, "name 0 bytes or more")
}

func sizeError(bytes int64, reason string) error {
	return &pool.SizeError{Bytes: bytes, Where: upstreamName, Reason: reason}
}
