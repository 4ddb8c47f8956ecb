package pool

import (
	"fmt"
	"math"
	"sort"
	"sync"
)

const (
	// HostAlignment is the granularity of the addresses that a Host gives, in
	// bytes: that of cudaMalloc for large blocks.
	HostAlignment int64 = 2 << 20
	// hostBase is the first of them. It looks like a device address and lies
	// where neither a Go pointer nor a small integer does.
	hostBase Address = 0x7_0000_0000_0000
)

// HostOptions describe the device that a Host plays.
type HostOptions struct {
	// Capacity is the device's total memory in bytes, above 0.
	Capacity int64
	// ManagedLimit is up to where plain, managed and foreign memory may grow
	// together, in bytes, at least Capacity: device memory plus what the host
	// would page out. 0 is twice the capacity.
	ManagedLimit int64
	// Capabilities is what it says it can do.
	Capabilities Capabilities
	// Foreign is what other programs hold from the start, in bytes.
	Foreign int64
}

// Host is an Upstream over the memory of this machine, bounded like a device.
// What it gives is real memory, mapped from the operating system and handed
// back when freed. The addresses that it names are made up, ascending and never
// reused, so that the same requests get the same addresses in every run; Bytes
// leads from them to the memory. Its methods may be called by several
// goroutines at once.
type Host struct {
	capacity     int64
	managedLimit int64
	capabilities Capabilities

	mutex    sync.Mutex
	closed   bool
	next     Address
	plain    int64 // bytes given out by Allocate
	managed  int64 // bytes given out by AllocateManaged
	foreign  int64
	mappings []hostMapping // by address, ascending
}

type hostMapping struct {
	address Address
	memory  []byte
	managed bool
}

var _ Upstream = (*Host)(nil)

// NewHost makes a device out of host memory. The error is a *SizeError.
func NewHost(options HostOptions) (*Host, error) {
	refuse := func(bytes int64, reason string) error {
		return &SizeError{Bytes: bytes, Where: hostName, Reason: reason}
	}
	if options.Capacity <= 0 {
		return nil, refuse(options.Capacity, "give the device a capacity above 0")
	}
	if options.Foreign < 0 || options.Foreign > options.Capacity {
		return nil, refuse(options.Foreign, "let others hold between 0 bytes and the capacity")
	}
	if options.ManagedLimit == 0 {
		options.ManagedLimit = options.Capacity + min(options.Capacity, math.MaxInt64-options.Capacity)
	}
	if options.ManagedLimit < options.Capacity {
		return nil, refuse(options.ManagedLimit, "let the managed limit be at least the capacity")
	}
	return &Host{
		capacity:     options.Capacity,
		managedLimit: options.ManagedLimit,
		capabilities: options.Capabilities,
		next:         hostBase,
		foreign:      options.Foreign,
	}, nil
}

const hostName = "host memory"

// Name implements Upstream.
func (h *Host) Name() string { return hostName }

// Capabilities implements Upstream.
func (h *Host) Capabilities() Capabilities { return h.capabilities }

// MemoryInfo implements Upstream. Free is what plain, managed and foreign
// memory leave of the capacity, never below 0. After Close it is ErrClosed.
func (h *Host) MemoryInfo() (free, total int64, err error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.closed {
		return 0, 0, ErrClosed
	}
	return h.free(), h.capacity, nil
}

func (h *Host) free() int64 {
	return max(0, h.capacity-h.plain-h.managed-h.foreign)
}

// Allocate implements Upstream. Managed memory gives way to it, as a driver
// pages it out, and foreign memory does not.
func (h *Host) Allocate(bytes int64) (Address, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if bytes > h.capacity-h.plain-h.foreign || bytes > h.managedLimit-h.plain-h.managed-h.foreign {
		return 0, h.full(bytes, "the capacity is taken", nil)
	}
	address, err := h.mapMemory(bytes, false)
	if err == nil {
		h.plain += bytes
	}
	return address, err
}

// AllocateManaged implements Upstream. Managed memory may exceed the capacity,
// up to the managed limit.
func (h *Host) AllocateManaged(bytes int64) (Address, error) {
	if !h.capabilities.Managed {
		return 0, fmt.Errorf("%s: managed memory: %w", hostName, ErrNotSupported)
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if bytes > h.managedLimit-h.plain-h.managed-h.foreign {
		return 0, h.full(bytes, "the managed limit is reached", nil)
	}
	address, err := h.mapMemory(bytes, true)
	if err == nil {
		h.managed += bytes
	}
	return address, err
}

// mapMemory gets memory from the operating system and an address for it.
func (h *Host) mapMemory(bytes int64, managed bool) (Address, error) {
	if h.closed {
		return 0, ErrClosed
	}
	if bytes <= 0 {
		return 0, &SizeError{Bytes: bytes, Where: hostName, Reason: "ask for more than 0 bytes"}
	}
	memory, err := mapAnonymous(bytes)
	if err != nil {
		return 0, h.full(bytes, "the operating system gave none", err)
	}
	address := h.next
	rounded, _ := roundUp(bytes, HostAlignment)
	h.next += Address(rounded)
	h.mappings = append(h.mappings, hostMapping{address: address, memory: memory, managed: managed})
	return address, nil
}

func (h *Host) full(asked int64, reason string, cause error) error {
	return &OutOfMemoryError{
		Asked:       asked,
		Free:        h.free(),
		Total:       h.capacity,
		LargestFree: Unknown,
		Where:       hostName,
		Reason:      reason,
		Cause:       cause,
	}
}

// Free implements Upstream. The error is an *UnknownBlockError where no block
// of exactly that address and size is live.
func (h *Host) Free(address Address, bytes int64) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.closed {
		return ErrClosed
	}
	at := h.find(address)
	if at < 0 || h.mappings[at].address != address {
		return &UnknownBlockError{Address: address, Bytes: bytes, Held: Unknown, Where: hostName}
	}
	mapping := h.mappings[at]
	if held := int64(len(mapping.memory)); held != bytes {
		return &UnknownBlockError{Address: address, Bytes: bytes, Held: held, Where: hostName}
	}
	if err := unmapAnonymous(mapping.memory); err != nil {
		return fmt.Errorf("%s: the operating system kept %d bytes at %#x; restart if this repeats: %w",
			hostName, bytes, uint64(address), err)
	}
	h.mappings = append(h.mappings[:at], h.mappings[at+1:]...)
	if mapping.managed {
		h.managed -= bytes
	} else {
		h.plain -= bytes
	}
	return nil
}

// find returns the place of the mapping that begins at or below the address, or
// -1.
func (h *Host) find(address Address) int {
	return sort.Search(len(h.mappings), func(i int) bool { return h.mappings[i].address > address }) - 1
}

// Bytes is the memory behind n bytes from the address on, to be touched by
// whoever holds the block. It is nil where these bytes do not lie in one live
// allocation. After that allocation is freed the slice must not be touched: the
// memory is gone, and the access ends the program.
func (h *Host) Bytes(address Address, n int64) []byte {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	at := h.find(address)
	if at < 0 || n < 0 {
		return nil
	}
	mapping := h.mappings[at]
	offset := int64(address - mapping.address)
	if offset > int64(len(mapping.memory)) || n > int64(len(mapping.memory))-offset {
		return nil
	}
	return mapping.memory[offset : offset+n : offset+n]
}

// SetForeign lets other programs hold that many bytes of the device from now
// on: 0 or more, and no more than the capacity minus what is allocated here.
// Beyond that the error is an *OutOfMemoryError and nothing changes. No memory
// is mapped for it.
func (h *Host) SetForeign(bytes int64) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if bytes < 0 {
		return &SizeError{Bytes: bytes, Where: hostName, Reason: "let others hold 0 bytes or more"}
	}
	if bytes > h.capacity-h.plain || bytes > h.managedLimit-h.plain-h.managed {
		return h.full(bytes, "others cannot take what is allocated here", nil)
	}
	h.foreign = bytes
	return nil
}

// Foreign is what other programs hold, in bytes.
func (h *Host) Foreign() int64 {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.foreign
}

// Allocated is what Allocate and AllocateManaged gave out and nobody freed yet,
// in bytes.
func (h *Host) Allocated() int64 {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.plain + h.managed
}

// Close gives all memory back to the operating system. Over live allocations it
// changes nothing and returns a *LiveBlocksError: their bytes may be in use.
// Closing twice is fine.
func (h *Host) Close() error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if len(h.mappings) > 0 {
		return &LiveBlocksError{Count: len(h.mappings), Bytes: h.plain + h.managed, Where: hostName}
	}
	h.closed = true
	return nil
}
