package local

import (
	"fmt"
	"slices"
	"strings"

	"vramscope/pool"
)

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

// memory is the render's device, with its pool and what lives in it.
type memory struct {
	device  Device
	tiered  *pool.Tiered
	outside pool.LiveCounter // everything on the device but the arena
	peaks   *pool.Peaks
	tenants [owners][]*tenant // oldest first
	frame   int64
	key     pool.DeviceKey // of the device whose peaks are watched
	broken  error          // what made the device or the pool unusable: the render ends with it
}

func newMemory(device Device, tier pool.Tier, pools pool.Options) (*memory, error) {
	m := &memory{device: device, peaks: pool.NewPeaks(), key: device.Identity().Key}
	m.peaks.Watch(m.key, &m.outside)
	pools.Upstream, pools.Tier, pools.Collect = device, tier, m.collect
	var err error
	if m.tiered, err = pool.NewTiered(pools); err != nil {
		return nil, err
	}
	_, err = m.tiered.Configure()
	return m, err
}

// breaks notes an error that is not about room. The first one counts: what
// comes after it follows from it.
func (m *memory) breaks(err error) {
	if err == nil || m.broken != nil {
		return
	}
	if class, _ := pool.ClassifyFailure(err); class == pool.FailureOther {
		m.broken = err
	}
}

// allocate takes a block from the pool for an owner.
func (m *memory) allocate(owner owner, bytes int64, stream pool.Stream, until int64) (*tenant, error) {
	address, err := m.tiered.Allocate(bytes, stream)
	if err != nil {
		m.breaks(err)
		return nil, err
	}
	t := &tenant{owner: owner, address: address, bytes: bytes, stream: stream, used: m.frame, until: until}
	m.tenants[owner] = append(m.tenants[owner], t)
	m.outside.Add(bytes)
	m.breaks(m.device.Touch(address, bytes, stream))
	return t, nil
}

// free gives the blocks of an owner back for which drop says yes.
func (m *memory) free(owner owner, drop func(*tenant) bool) (freed int64) {
	m.tenants[owner] = slices.DeleteFunc(m.tenants[owner], func(t *tenant) bool {
		if !drop(t) {
			return false
		}
		m.breaks(m.tiered.Free(t.address, t.bytes, t.stream))
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

// check reads a part of one block of each owner back, of another one each frame.
func (m *memory) check() {
	for owner := range owners {
		if tenants := m.tenants[owner]; len(tenants) > 0 && m.broken == nil {
			t := tenants[m.frame%int64(len(tenants))]
			m.breaks(m.device.Check(t.address, t.bytes, t.stream))
		}
	}
}

// close gives the device back.
func (m *memory) close() error {
	m.empty()
	if err := m.tiered.Close(); err != nil {
		return err
	}
	return m.device.Close()
}
