package pool

import (
	"fmt"
	"os"
	"testing"
)

// residentBytes is what this process holds in memory now.
func residentBytes(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}

// A segment costs what is touched of it, and goes back to the operating system
// when freed, not when a collector runs.
func TestHostMemoryGoesBackToTheOperatingSystem(t *testing.T) {
	const bytes, slack = 128 << 20, 48 << 20
	host := newTestHost(t, HostOptions{Capacity: 1 << 40})
	before := residentBytes(t)
	address, err := host.Allocate(bytes)
	if err != nil {
		t.Fatal(err)
	}
	if grown := residentBytes(t) - before; grown > slack {
		t.Errorf("untouched memory costs %d bytes", grown)
	}
	memory := host.Bytes(address, bytes)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	if grown := residentBytes(t) - before; grown < bytes-slack {
		t.Errorf("touched memory costs only %d bytes: is it real?", grown)
	}
	if err := host.Free(address, bytes); err != nil {
		t.Fatal(err)
	}
	if left := residentBytes(t) - before; left > slack {
		t.Errorf("%d bytes stay after the free", left)
	}
}
