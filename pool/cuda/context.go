//go:build cuda && linux && cgo

package cuda

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gorgonia.org/cu"

	"vramscope/pool"
)

// Context is the primary context of a device: device memory as a pool's
// upstream, and the work that touches it. All methods may be called from any
// goroutine.
//
// Every method fails with ErrClosed after Close, with a *LostError once the
// device is lost, and with a *DriverError for whatever else the driver refuses.
type Context struct {
	device       Device
	options      Options
	capabilities pool.Capabilities
	share        int64 // see ContextBytes

	work      chan *request // taken by the worker alone; never closed
	closing   chan struct{} // closed by the first Close
	closeOnce sync.Once
	ended     chan struct{} // closed by the worker when it is through
	lost      atomic.Pointer[LostError]

	// What follows belongs to the worker.
	handle      cu.Device
	allocations map[pool.Address]allocation
	queues      map[pool.Stream]*queue
	closeError  error // read after ended
}

// OpenWith opens the primary context of a device, loading the driver if need be.
// The error is a *DriverError or a *MissingSymbolError. The context takes several
// hundred MiB of the device, which ContextBytes says.
func OpenWith(ordinal int, options Options) (*Context, error) {
	if err := load(); err != nil {
		return nil, err
	}
	device, handle, err := findDevice(ordinal)
	if err != nil {
		return nil, err
	}
	c := &Context{
		device:      device,
		options:     options,
		handle:      handle,
		work:        make(chan *request),
		closing:     make(chan struct{}),
		ended:       make(chan struct{}),
		allocations: make(map[pool.Address]allocation),
		queues:      make(map[pool.Stream]*queue),
	}
	ready := make(chan error)
	go c.run(ready)
	if err := <-ready; err != nil {
		return nil, err
	}
	return c, nil
}

// begin makes the context current on the worker's thread.
func (c *Context) begin() error {
	managed, err := c.canManage()
	if err != nil {
		return err
	}
	c.capabilities = pool.Capabilities{Pool: true, Managed: managed}
	before := freeByNVML(c.device.UUID)
	context, err := c.handle.RetainPrimaryCtx()
	if err != nil {
		return c.noContext(err)
	}
	if err := cu.SetCurrentContext(context); err != nil {
		_ = c.handle.ReleasePrimaryCtx()
		return driverError("cuCtxSetCurrent", err)
	}
	c.share = pool.Unknown
	if after := freeByNVML(c.device.UUID); before != pool.Unknown && after != pool.Unknown {
		c.share = max(0, before-after)
	}
	return nil
}

// noContext is what is told where the context could not be had.
func (c *Context) noContext(err error) error {
	refused := &DriverError{Call: "cuDevicePrimaryCtxRetain", Code: codeOf(err), Detail: errorName(codeOf(err))}
	if err == error(cu.OutOfMemory) {
		refused.Advice = fmt.Sprintf("make room on GPU %d: a context takes several hundred MiB", c.device.Ordinal)
	}
	return refused
}

// canManage asks whether the device has managed memory that the processor may
// touch while the device works. Without the latter the driver keeps the memory on
// the host and cannot be asked to put it on the device.
func (c *Context) canManage() (bool, error) {
	for _, attribute := range []cu.DeviceAttribute{cu.ManagedMemory, cu.ConcurrentManagedAccess} {
		value, err := c.handle.Attribute(attribute)
		if err != nil {
			return false, driverError("cuDeviceGetAttribute", err)
		}
		if value == 0 {
			return false, nil
		}
	}
	return true, nil
}

// Device is what the driver says of the device.
func (c *Context) Device() Device { return c.device }

// ContextBytes is what the context itself took of the device: its free memory by
// NVML before and after, so that what other programs did in that moment is in it.
// It is 0 where this process had the context already, and pool.Unknown where
// NVML does not say.
func (c *Context) ContextBytes() int64 { return c.share }

// Synchronize waits until the device has done all work of the context.
func (c *Context) Synchronize() error {
	return c.finish(newRequest((*Context).synchronize))
}

func (c *Context) synchronize(*request) error {
	return c.check("cuCtxSynchronize", cu.Synchronize())
}

// Close waits for the call that is being made and for the device, gives back
// everything that was allocated here, and releases the context. Calls that wait
// for their turn fail with ErrClosed. It may be called from any goroutine and any
// number of times: each waits for the end and returns the same error, that of the
// first call that the driver refused.
func (c *Context) Close() error {
	c.closeOnce.Do(func() { close(c.closing) })
	<-c.ended
	return c.closeError
}

// end gives everything back. It goes on over failures; on a lost device they are
// all one.
func (c *Context) end() error {
	var first error
	note := func(call string, err error) {
		if err = c.check(call, err); err != nil && first == nil {
			first = err
		}
	}
	note("cuCtxSynchronize", cu.Synchronize())
	for address, allocation := range c.allocations {
		note(allocation.freeCall(), allocation.free(address))
	}
	for _, queue := range c.queues {
		queue.destroy(note)
	}
	note("cuCtxSetCurrent", cu.SetCurrentContext(cu.CUContext{}))
	note("cuDevicePrimaryCtxRelease", c.handle.ReleasePrimaryCtx())
	return first
}
