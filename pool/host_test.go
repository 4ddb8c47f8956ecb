package pool

import (
	"errors"
	"testing"
)

func newTestHost(t *testing.T, options HostOptions) *Host {
	t.Helper()
	host, err := NewHost(options)
	if err != nil {
		t.Fatal(err)
	}
	return host
}

func wantInfo(t *testing.T, host *Host, free, total int64) {
	t.Helper()
	gotFree, gotTotal, err := host.MemoryInfo()
	if err != nil || gotFree != free || gotTotal != total {
		t.Errorf("free %d of %d, %v, want %d of %d", gotFree, gotTotal, err, free, total)
	}
}

func TestHostIsBoundedLikeADevice(t *testing.T) {
	host := newTestHost(t, HostOptions{Capacity: 1 << 20, Foreign: 1000})
	wantInfo(t, host, 1<<20-1000, 1<<20)
	var full *OutOfMemoryError
	_, err := host.Allocate(1<<20 - 999)
	if !errors.As(err, &full) || full.Asked != 1<<20-999 || full.Free != 1<<20-1000 || full.Total != 1<<20 || full.Where != "host memory" {
		t.Fatalf("one byte too many: %v", err)
	}
	address, err := host.Allocate(1<<20 - 1000)
	if err != nil {
		t.Fatal(err)
	}
	wantInfo(t, host, 0, 1<<20)
	if err := host.Free(address, 1<<20-1000); err != nil {
		t.Fatal(err)
	}
	wantInfo(t, host, 1<<20-1000, 1<<20)
}

// The same requests get the same addresses in every run, none of them twice,
// and segments of a multiple of the alignment touch.
func TestHostAddressesAreTheSameInEveryRun(t *testing.T) {
	history := func() (addresses []Address) {
		host := newTestHost(t, HostOptions{Capacity: 1 << 30})
		for _, bytes := range []int64{HostAlignment, 1, HostAlignment + 1, 4096} {
			address, err := host.Allocate(bytes)
			if err != nil {
				t.Fatal(err)
			}
			addresses = append(addresses, address-hostBase)
			if err := host.Free(address, bytes); err != nil {
				t.Fatal(err)
			}
		}
		return addresses
	}
	want := []Address{0, Address(HostAlignment), Address(2 * HostAlignment), Address(4 * HostAlignment)}
	for range 2 {
		for i, address := range history() {
			if address != want[i] {
				t.Errorf("request %d got %#x, want %#x", i, address, want[i])
			}
		}
	}
}

// Bytes leads to real, zeroed memory that nobody else has.
func TestHostBytesIsTheMemoryBehindAnAddress(t *testing.T) {
	host := newTestHost(t, HostOptions{Capacity: 1 << 20})
	a, err := host.Allocate(8192)
	if err != nil {
		t.Fatal(err)
	}
	b, err := host.Allocate(4096)
	if err != nil {
		t.Fatal(err)
	}
	for i := range host.Bytes(a, 8192) {
		host.Bytes(a, 8192)[i] = 7
	}
	if got := host.Bytes(a+100, 8)[7]; got != 7 {
		t.Errorf("read %d inside the block", got)
	}
	if got := host.Bytes(b, 4096)[4095]; got != 0 {
		t.Errorf("the other block holds %d", got)
	}
	for _, outside := range []struct {
		address Address
		n       int64
	}{{a - 1, 1}, {a + 8191, 2}, {a + 8192, 1}, {a, -1}, {a, 1 << 62}, {0, 1}, {b + 4097, 0}} {
		if got := host.Bytes(outside.address, outside.n); got != nil {
			t.Errorf("%d bytes at %#x are not ours to see", outside.n, outside.address)
		}
	}
	if err := host.Free(a, 8192); err != nil {
		t.Fatal(err)
	}
	if host.Bytes(a, 1) != nil || len(host.Bytes(b, 4096)) != 4096 {
		t.Error("only the freed block should be gone")
	}
}

func TestHostRefusesToFreeWhatIsNotLive(t *testing.T) {
	host := newTestHost(t, HostOptions{Capacity: 1 << 20})
	address, err := host.Allocate(4096)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct {
		address Address
		bytes   int64
		held    int64
	}{{address, 4095, 4096}, {address + 1, 4095, Unknown}, {0, 4096, Unknown}} {
		var unknown *UnknownBlockError
		if err := host.Free(wrong.address, wrong.bytes); !errors.As(err, &unknown) || unknown.Held != wrong.held {
			t.Errorf("freeing %d at %#x: %v", wrong.bytes, wrong.address, err)
		}
	}
	if host.Allocated() != 4096 {
		t.Error("a refused free changed something")
	}
}

// Others take memory while a program runs; they cannot take what it holds.
func TestHostForeignMemory(t *testing.T) {
	host := newTestHost(t, HostOptions{Capacity: 10_000})
	address, err := host.Allocate(4000)
	if err != nil {
		t.Fatal(err)
	}
	if err := host.SetForeign(6000); err != nil {
		t.Fatal(err)
	}
	wantInfo(t, host, 0, 10_000)
	var full *OutOfMemoryError
	if err := host.SetForeign(6001); !errors.As(err, &full) || host.Foreign() != 6000 {
		t.Errorf("others took what is allocated: %v", err)
	}
	if _, err := host.Allocate(1); !errors.As(err, &full) {
		t.Errorf("allocated what others hold: %v", err)
	}
	var size *SizeError
	if err := host.SetForeign(-1); !errors.As(err, &size) {
		t.Errorf("others hold -1: %v", err)
	}
	if err := host.SetForeign(0); err != nil {
		t.Fatal(err)
	}
	wantInfo(t, host, 6000, 10_000)
	if err := host.Free(address, 4000); err != nil {
		t.Fatal(err)
	}
}

// Managed memory may exceed the device up to its limit, and gives way to plain
// memory on the device.
func TestHostManagedMemory(t *testing.T) {
	plain := newTestHost(t, HostOptions{Capacity: 10_000})
	if _, err := plain.AllocateManaged(1); !errors.Is(err, ErrNotSupported) {
		t.Errorf("managed memory without the capability: %v", err)
	}
	host := newTestHost(t, HostOptions{Capacity: 10_000, ManagedLimit: 15_000, Capabilities: Capabilities{Managed: true}})
	managed, err := host.AllocateManaged(12_000)
	if err != nil {
		t.Fatal(err)
	}
	wantInfo(t, host, 0, 10_000)
	var full *OutOfMemoryError
	if _, err := host.AllocateManaged(3001); !errors.As(err, &full) {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := host.Allocate(3000); err != nil {
		t.Errorf("managed memory should give way: %v", err)
	}
	if _, err := host.Allocate(1); !errors.As(err, &full) {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := host.Free(managed, 12_000); err != nil {
		t.Fatal(err)
	}
	wantInfo(t, host, 7000, 10_000)
}

func TestHostRefusesOptions(t *testing.T) {
	for _, options := range []HostOptions{
		{}, {Capacity: -1}, {Capacity: 10, Foreign: 11}, {Capacity: 10, Foreign: -1}, {Capacity: 10, ManagedLimit: 9},
	} {
		var size *SizeError
		if _, err := NewHost(options); !errors.As(err, &size) {
			t.Errorf("%+v: %v", options, err)
		}
	}
	if _, err := NewHost(HostOptions{Capacity: 1<<63 - 1}); err != nil {
		t.Errorf("the largest capacity: %v", err)
	}
	host := newTestHost(t, HostOptions{Capacity: 10})
	for _, bytes := range []int64{0, -1} {
		var size *SizeError
		if _, err := host.Allocate(bytes); !errors.As(err, &size) {
			t.Errorf("allocating %d: %v", bytes, err)
		}
	}
}

func TestHostCloses(t *testing.T) {
	host := newTestHost(t, HostOptions{Capacity: 1 << 20})
	address, err := host.Allocate(4096)
	if err != nil {
		t.Fatal(err)
	}
	var live *LiveBlocksError
	if err := host.Close(); !errors.As(err, &live) || live.Count != 1 || live.Bytes != 4096 {
		t.Errorf("closed over a live block: %v", err)
	}
	if err := host.Free(address, 4096); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := host.Allocate(1); !errors.Is(err, ErrClosed) {
		t.Errorf("allocate: %v", err)
	}
	if _, _, err := host.MemoryInfo(); !errors.Is(err, ErrClosed) {
		t.Errorf("memory info: %v", err)
	}
	if err := host.Free(address, 4096); !errors.Is(err, ErrClosed) {
		t.Errorf("free: %v", err)
	}
}
