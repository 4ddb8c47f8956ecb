package local

import (
	"fmt"
	"slices"
	"strings"

	"vramscope/pool"
)

// touchStride is how far apart the bytes are that the render really writes.
// It keeps to this grid in every block, so that a sixteenth of the memory has
// pages at most, however blocks come and go.
const touchStride = 64 << 10

// owner says what a block of the pool is for.
type owner uint8

const (
	ownsTextures owner = iota
	ownsFrameBuffers
	ownsSheets
	ownsHistory
	ownsImports
	owners
)

var ownerNames = [owners]string{"textures", "frame buffers", "sheets", "denoising history", "imported assets"}

// tenant is a block of the pool in use.
type tenant struct {
	owner   owner
	address pool.Address
	bytes   int64 // as asked
	stream  pool.Stream
	used    int64 // frame of the last use
	until   int64 // last frame of its life; ignored for textures
}

// memory is the device that the render plays, with its pool and what lives in
// it.
type memory struct {
	host    *pool.Host
	tiered  *pool.Tiered
	outside pool.LiveCounter // everything on the device but the arena
	peaks   *pool.Peaks
	tenants [owners][]*tenant // oldest first
	frame   int64
	sum     byte // of what was touched, so that it is
}

// peakKey is the device whose peaks are watched.
var peakKey = pool.DeviceKey{Kind: "host"}

func newMemory(options Options, pools pool.Options) (*memory, error) {
	host, err := pool.NewHost(pool.HostOptions{
		Capacity:     options.Memory,
		Capabilities: pool.Capabilities{Pool: true, Managed: true},
		Foreign:      options.Memory / 16,
	})
	if err != nil {
		return nil, err
	}
	m := &memory{host: host, peaks: pool.NewPeaks()}
	m.peaks.Watch(peakKey, &m.outside)
	pools.Upstream, pools.Tier, pools.Collect = host, options.Tier, m.collect
	if m.tiered, err = pool.NewTiered(pools); err != nil {
		return nil, err
	}
	_, err = m.tiered.Configure()
	return m, err
}

// allocate takes a block from the pool for an owner.
func (m *memory) allocate(owner owner, bytes int64, stream pool.Stream, until int64) (*tenant, error) {
	address, err := m.tiered.Allocate(bytes, stream)
	if err != nil {
		return nil, err
	}
	t := &tenant{owner: owner, address: address, bytes: bytes, stream: stream, used: m.frame, until: until}
	m.tenants[owner] = append(m.tenants[owner], t)
	m.outside.Add(bytes)
	m.touch(m.host.Bytes(address, bytes), int64(address))
	return t, nil
}

// free gives the blocks of an owner back for which drop says yes.
func (m *memory) free(owner owner, drop func(*tenant) bool) (freed int64) {
	m.tenants[owner] = slices.DeleteFunc(m.tenants[owner], func(t *tenant) bool {
		if !drop(t) {
			return false
		}
		if err := m.tiered.Free(t.address, t.bytes, t.stream); err != nil {
			panic(fmt.Sprintf("the demo's pool does not know a block of its own: %v", err))
		}
		m.outside.Add(-t.bytes)
		freed += t.bytes
		return true
	})
	return freed
}

// expire gives back what has lived its time.
func (m *memory) expire() {
	for owner := range owners {
		if owner != ownsTextures {
			m.free(owner, func(t *tenant) bool { return t.until < m.frame })
		}
	}
}

// empty gives everything back, as at the end of a job.
func (m *memory) empty() {
	for owner := range owners {
		m.free(owner, func(*tenant) bool { return true })
	}
}

// collect is the pool's collection hook: textures that the last frames did not
// use can be loaded again.
func (m *memory) collect() int64 {
	return m.free(ownsTextures, func(t *tenant) bool { return t.used < m.frame-2 })
}

// whose says who holds live blocks, for a refusal to pull them away.
func (m *memory) whose() string {
	var parts []string
	for owner := range owners {
		var bytes int64
		for _, t := range m.tenants[owner] {
			bytes += t.bytes
		}
		if n := len(m.tenants[owner]); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d (%.1f MiB)", ownerNames[owner], n, float64(bytes)/(1<<20)))
		}
	}
	if len(parts) == 0 {
		return "nobody"
	}
	return strings.Join(parts, ", ")
}

// touch writes to a block that starts at an offset of its buffer.
func (m *memory) touch(block []byte, offset int64) {
	for at := (touchStride - offset%touchStride) % touchStride; at < int64(len(block)); at += touchStride {
		block[at]++
		m.sum += block[at]
	}
}

// close gives the device back.
func (m *memory) close() error {
	m.empty()
	if err := m.tiered.Close(); err != nil {
		return err
	}
	return m.host.Close()
}
