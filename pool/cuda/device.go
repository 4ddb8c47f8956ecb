package cuda

import "vramscope/pool"

// Device is a GPU as the driver lists it.
type Device struct {
	Ordinal int    // its place in the driver's list, which CUDA_VISIBLE_DEVICES changes
	UUID    string // as NVML says it: "GPU-" and 36 characters
	Name    string // as the driver says it; it may hold any character
	Total   int64  // its memory, bytes
}

// DefaultPool is what the driver says of the device's default memory pool, the
// one that AllocateAsync and many libraries of this process allocate from. All
// are bytes, by cuMemPoolGetAttribute.
type DefaultPool struct {
	Reserved     int64 // taken from the device
	ReservedPeak int64 // the most since ResetDefaultPoolPeaks
	Used         int64 // handed out
	UsedPeak     int64 // the most since ResetDefaultPoolPeaks
}

// Options are the choices of a Context.
type Options struct {
	// ManagedBeyondFree lets AllocateManaged take more than the device has
	// free. The driver then pages, and on some GPUs it hangs.
	ManagedBeyondFree bool
}

// Open is OpenWith without any option.
func Open(ordinal int) (*Context, error) { return OpenWith(ordinal, Options{}) }

// contextMethods is what a Context can do, in binaries with CUDA and in those
// without it.
type contextMethods interface {
	pool.Upstream
	pool.Orderer
	Device() Device
	ContextBytes() int64
	Fill(address pool.Address, bytes int64, value byte, stream pool.Stream) error
	Copy(to, from pool.Address, bytes int64, stream pool.Stream) error
	Write(address pool.Address, from []byte) error
	Read(address pool.Address, into []byte) error
	Synchronize() error
	SynchronizeStream(stream pool.Stream) error
	DefaultPool() (DefaultPool, error)
	TrimDefaultPool(keep int64) error
	ResetDefaultPoolPeaks() error
	AllocateAsync(bytes int64, stream pool.Stream) (pool.Address, error)
	FreeAsync(address pool.Address, stream pool.Stream) error
	Close() error
}

var _ contextMethods = (*Context)(nil)
