//go:build cuda && linux && cgo

package cuda

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"vramscope/pool/cuda/cudatest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const mebibyte int64 = 1 << 20

// open opens the first device in a process that has a machine.
func open(t *testing.T, options Options) *Context {
	t.Helper()
	c, err := OpenWith(0, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// free reads the free bytes of the device.
func free(t *testing.T, c *Context) int64 {
	t.Helper()
	free, _, err := c.MemoryInfo()
	if err != nil {
		t.Fatal(err)
	}
	return free
}

// wait waits until something is so.
func wait(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s", what)
		}
	}
}

// called reports whether the log has a line.
func called(machine *cudatest.Machine, line string) bool {
	for _, call := range machine.Calls() {
		if call == line {
			return true
		}
	}
	return false
}
