//go:build !(cuda && linux && cgo)

package cuda

import "vramscope/pool"

// Included says whether CUDA is in this binary.
const Included = false

// Headers is the version of the CUDA headers that the binary was built with,
// such as "12.9", "" without CUDA.
func Headers() string { return "" }

// Devices lists the GPUs of the driver. Here it is ErrNotIncluded.
func Devices() ([]Device, error) { return nil, ErrNotIncluded }

// OpenWith opens the primary context of a device. Here it is ErrNotIncluded.
func OpenWith(int, Options) (*Context, error) { return nil, ErrNotIncluded }

// Context is the primary context of a device. In a binary without CUDA there is
// none, and all its methods fail with ErrNotIncluded.
type Context struct{}

// Name implements pool.Upstream.
func (*Context) Name() string { return "CUDA (not included)" }

// Capabilities implements pool.Upstream: none.
func (*Context) Capabilities() pool.Capabilities { return pool.Capabilities{} }

// MemoryInfo implements pool.Upstream.
func (*Context) MemoryInfo() (free, total int64, err error) { return 0, 0, ErrNotIncluded }

// Allocate implements pool.Upstream.
func (*Context) Allocate(int64) (pool.Address, error) { return 0, ErrNotIncluded }

// AllocateManaged implements pool.Upstream.
func (*Context) AllocateManaged(int64) (pool.Address, error) { return 0, ErrNotIncluded }

// Free implements pool.Upstream.
func (*Context) Free(pool.Address, int64) error { return ErrNotIncluded }

// Device is the zero Device.
func (*Context) Device() Device { return Device{} }

// ContextBytes is pool.Unknown.
func (*Context) ContextBytes() int64 { return pool.Unknown }

// Fill is ErrNotIncluded.
func (*Context) Fill(pool.Address, int64, byte, pool.Stream) error { return ErrNotIncluded }

// Copy is ErrNotIncluded.
func (*Context) Copy(_, _ pool.Address, _ int64, _ pool.Stream) error { return ErrNotIncluded }

// Write is ErrNotIncluded.
func (*Context) Write(pool.Address, []byte) error { return ErrNotIncluded }

// Read is ErrNotIncluded.
func (*Context) Read(pool.Address, []byte) error { return ErrNotIncluded }

// Synchronize is ErrNotIncluded.
func (*Context) Synchronize() error { return ErrNotIncluded }

// SynchronizeStream is ErrNotIncluded.
func (*Context) SynchronizeStream(pool.Stream) error { return ErrNotIncluded }

// OrderStreams implements pool.Orderer.
func (*Context) OrderStreams(_, _ pool.Stream) error { return ErrNotIncluded }

// DefaultPool is ErrNotIncluded.
func (*Context) DefaultPool() (DefaultPool, error) { return DefaultPool{}, ErrNotIncluded }

// TrimDefaultPool is ErrNotIncluded.
func (*Context) TrimDefaultPool(int64) error { return ErrNotIncluded }

// ResetDefaultPoolPeaks is ErrNotIncluded.
func (*Context) ResetDefaultPoolPeaks() error { return ErrNotIncluded }

// AllocateAsync is ErrNotIncluded.
func (*Context) AllocateAsync(int64, pool.Stream) (pool.Address, error) { return 0, ErrNotIncluded }

// FreeAsync is ErrNotIncluded.
func (*Context) FreeAsync(pool.Address, pool.Stream) error { return ErrNotIncluded }

// Close does nothing.
func (*Context) Close() error { return nil }
