package local

import (
	"maps"
	"slices"
	"sync"

	"vramscope/pool"
	"vramscope/pool/cuda"
)

// card is a GPU in host memory: its blocks are real bytes, its work is done
// when somebody waits for it, as a GPU's is, and it fails as it is told to. It
// satisfies Card.
type card struct {
	*pool.Host
	device  cuda.Device
	context int64 // bytes

	mutex   sync.Mutex
	calls   int
	loseAt  int // the call from which on the device is lost; 0 is never
	lost    *cuda.LostError
	streams map[pool.Stream]*cardStream
	chaos   bool             // the order of streams is not kept
	settled int              // times that the device was waited for
	largest int              // of what was in flight at a time
	shift   int64            // bytes by which fills miss their address
	shared  cuda.DefaultPool // the default pool's figures
	blocks  map[pool.Address]int64
	closed  bool
}

const cardContext = 16 << 20

// cardStream is the work of one stream, of which the first pieces are done.
type cardStream struct {
	work []func()
	done int
}

func newCard(total int64) *card {
	host, err := pool.NewHost(pool.HostOptions{
		Capacity: total, ManagedLimit: total, Capabilities: pool.Capabilities{Pool: true, Managed: true}, Foreign: cardContext,
	})
	if err != nil {
		panic(err)
	}
	return &card{Host: host, context: cardContext, blocks: map[pool.Address]int64{}, streams: map[pool.Stream]*cardStream{},
		device: cuda.Device{Ordinal: 1, UUID: "GPU-11111111-2222-3333-4444-555555555555", Name: "Card of a test", Total: total}}
}

// call counts a call, and loses the device when its time has come.
func (c *card) call(name string) error {
	c.calls++
	if c.lost == nil && c.loseAt > 0 && c.calls >= c.loseAt {
		c.lost = &cuda.LostError{Device: c.device, Call: name, Code: 700, Detail: "CUDA_ERROR_ILLEGAL_ADDRESS"}
	}
	if c.lost != nil {
		return c.lost
	}
	return nil
}

func (c *card) Name() string        { return "CUDA" }
func (c *card) Device() cuda.Device { return c.device }
func (c *card) ContextBytes() int64 { return c.context }

func (c *card) MemoryInfo() (free, total int64, err error) {
	if err := c.call("cuMemGetInfo"); err != nil {
		return 0, 0, err
	}
	return c.Host.MemoryInfo()
}

func (c *card) Allocate(bytes int64) (pool.Address, error) {
	if err := c.call("cuMemAlloc"); err != nil {
		return 0, err
	}
	return c.Host.Allocate(bytes)
}

func (c *card) AllocateManaged(bytes int64) (pool.Address, error) {
	if err := c.call("cuMemAllocManaged"); err != nil {
		return 0, err
	}
	free, total, err := c.Host.MemoryInfo()
	if err == nil && bytes > free {
		return 0, &cuda.ManagedLimitError{Asked: bytes, Free: free, Total: total}
	}
	return c.Host.AllocateManaged(bytes)
}

// Free waits for the work in flight, as cuMemFree does.
func (c *card) Free(address pool.Address, bytes int64) error {
	if err := c.call("cuMemFree"); err != nil {
		return err
	}
	c.drain()
	return c.Host.Free(address, bytes)
}

// drain does all work that is in flight, the last stream's first.
func (c *card) drain() {
	for _, stream := range slices.Backward(slices.Sorted(maps.Keys(c.streams))) {
		c.advance(stream, len(c.streams[stream].work))
	}
	c.streams = map[pool.Stream]*cardStream{}
}

// advance does the first pieces of a stream's work.
func (c *card) advance(stream pool.Stream, pieces int) {
	if s := c.streams[stream]; s != nil {
		for s.done < pieces {
			s.done++
			s.work[s.done-1]()
		}
	}
}

func (c *card) enqueue(name string, stream pool.Stream, work func()) error {
	if err := c.call(name); err != nil {
		return err
	}
	if c.streams[stream] == nil {
		c.streams[stream] = &cardStream{}
	}
	c.streams[stream].work = append(c.streams[stream].work, work)
	waiting := 0
	for _, s := range c.streams {
		waiting += len(s.work) - s.done
	}
	c.largest = max(c.largest, waiting)
	return nil
}

func (c *card) OrderStreams(stream, after pool.Stream) error {
	pieces := 0
	if s := c.streams[after]; s != nil && !c.chaos {
		pieces = len(s.work)
	}
	return c.enqueue("cuStreamWaitEvent", stream, func() { c.advance(after, pieces) })
}

func (c *card) Fill(address pool.Address, bytes int64, value byte, stream pool.Stream) error {
	return c.enqueue("cuMemsetD8Async", stream, func() {
		memory := c.Host.Bytes(address+pool.Address(c.shift), bytes-c.shift)
		for i := 0; i < len(memory); i++ {
			if i == 4096 { // the rest by doubling
				for done := i; done < len(memory); done *= 2 {
					copy(memory[done:], memory[:done])
				}
				break
			}
			memory[i] = value
		}
	})
}

func (c *card) Copy(to, from pool.Address, bytes int64, stream pool.Stream) error {
	return c.enqueue("cuMemcpyDtoDAsync", stream, func() { copy(c.Host.Bytes(to, bytes), c.Host.Bytes(from, bytes)) })
}

func (c *card) Read(address pool.Address, into []byte) error {
	if err := c.call("cuMemcpyDtoH"); err != nil {
		return err
	}
	c.drain()
	copy(into, c.Host.Bytes(address, int64(len(into))))
	return nil
}

func (c *card) Synchronize() error {
	if err := c.call("cuCtxSynchronize"); err != nil {
		return err
	}
	c.settled++
	c.drain()
	return nil
}

func (c *card) SynchronizeStream(stream pool.Stream) error {
	if err := c.call("cuStreamSynchronize"); err != nil {
		return err
	}
	if s := c.streams[stream]; s != nil {
		c.advance(stream, len(s.work))
	}
	return nil
}

func (c *card) DefaultPool() (cuda.DefaultPool, error) {
	if err := c.call("cuMemPoolGetAttribute"); err != nil {
		return cuda.DefaultPool{}, err
	}
	return c.shared, nil
}

// AllocateAsync takes whole blocks from the device; they stay the default pool's
// until it is trimmed.
func (c *card) AllocateAsync(bytes int64, _ pool.Stream) (pool.Address, error) {
	address, err := c.Allocate(bytes)
	if err != nil {
		return 0, err
	}
	c.blocks[address] = bytes
	c.shared.Reserved += bytes
	c.shared.Used += bytes
	c.shared.ReservedPeak, c.shared.UsedPeak = max(c.shared.ReservedPeak, c.shared.Reserved), max(c.shared.UsedPeak, c.shared.Used)
	return address, nil
}

func (c *card) FreeAsync(address pool.Address, _ pool.Stream) error {
	if err := c.call("cuMemFreeAsync"); err != nil {
		return err
	}
	c.shared.Used -= c.blocks[address]
	c.blocks[address] = -c.blocks[address] // unused, and kept
	return nil
}

func (c *card) TrimDefaultPool(int64) error {
	if err := c.Synchronize(); err != nil {
		return err
	}
	for address, bytes := range c.blocks {
		if bytes < 0 {
			if err := c.Host.Free(address, -bytes); err != nil {
				return err
			}
			delete(c.blocks, address)
			c.shared.Reserved += bytes
		}
	}
	return nil
}

func (c *card) ResetDefaultPoolPeaks() error {
	c.shared.ReservedPeak, c.shared.UsedPeak = c.shared.Reserved, c.shared.Used
	return nil
}

// Close drops the work in flight and what the default pool keeps, as the end of
// a context does.
func (c *card) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	c.streams = nil
	for address, bytes := range c.blocks {
		if bytes < 0 {
			bytes = -bytes
		}
		_ = c.Host.Free(address, bytes)
	}
	return c.Host.Close()
}
