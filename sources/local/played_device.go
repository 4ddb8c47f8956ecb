package local

import (
	"vramscope/pool"
	"vramscope/recorder"
)

// touchStride is how far apart the bytes are that the render really writes.
// It keeps to this grid in every block, so that a sixteenth of the memory has
// pages at most, however blocks come and go.
const touchStride = 64 << 10

// playedDevice is host memory that plays a device, as the demo has it.
type playedDevice struct {
	*pool.Host
	identity Identity
	sum      byte // of what was touched, so that it is
}

var (
	_ Device    = (*playedDevice)(nil)
	_ neighbour = (*playedDevice)(nil)
)

func newPlayedDevice(bytes int64) (*playedDevice, error) {
	host, err := pool.NewHost(pool.HostOptions{
		Capacity:     bytes,
		Capabilities: pool.Capabilities{Pool: true, Managed: true},
		Foreign:      bytes / 16,
	})
	if err != nil {
		return nil, err
	}
	return &playedDevice{Host: host, identity: Identity{
		Program: "demo render", Called: "the demo",
		ID: "host", Name: "host memory as a device", Key: pool.DeviceKey{Kind: "host"},
		Budget: bytes, Reserve: int64(float64(bytes) * reserve), Seeded: true,
		MemoryCall: "pool.Host.MemoryInfo", HeldCall: "pool.Host.Allocated",
		Missing: map[string]string{"driver_reserved": "host memory has no driver that reserves some"},
	}}, nil
}

func (d *playedDevice) Identity() Identity { return d.identity }

func (d *playedDevice) Room() (bytes int64, err error) {
	free, _, err := d.MemoryInfo()
	return free, err
}

func (d *playedDevice) Held() int64 { return d.Allocated() }

func (d *playedDevice) Refusal() string { return "" }

func (d *playedDevice) View(address pool.Address, bytes int64) []byte { return d.Bytes(address, bytes) }

// Touch writes to the bytes of the grid.
func (d *playedDevice) Touch(address pool.Address, bytes int64, _ pool.Stream) error {
	block, offset := d.Bytes(address, bytes), int64(address)
	for at := (touchStride - offset%touchStride) % touchStride; at < int64(len(block)); at += touchStride {
		block[at]++
		d.sum += block[at]
	}
	return nil
}

// Check finds nothing: the memory is this process's own.
func (d *playedDevice) Check(pool.Address, int64, pool.Stream) error { return nil }

// Settle has nothing to wait for.
func (d *playedDevice) Settle() error { return nil }

func (d *playedDevice) Beside(string) []recorder.CounterSet { return nil }
