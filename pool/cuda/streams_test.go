//go:build cuda && linux && cgo

package cuda

import (
	"slices"
	"strings"
	"testing"

	"vramscope/pool"
	"vramscope/pool/cuda/cudatest"
)

// ordered picks what a log says of the order of streams.
func ordered(machine *cudatest.Machine) (lines []string) {
	for _, call := range machine.Calls() {
		if strings.HasPrefix(call, "cuEventRecord") || strings.HasPrefix(call, "cuStreamWaitEvent") {
			lines = append(lines, call)
		}
	}
	return lines
}

// The pool's streams are the driver's, made when they are used, and one waits for
// another on the device exactly where a block changes hands.
func TestBlockThatChangesStreamIsWaitedFor(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{Log: true})
	if machine == nil {
		return
	}
	c := open(t, Options{})
	p, err := pool.NewPool(c, pool.PoolOptions{InitialSize: 4 * mebibyte})
	if err != nil {
		t.Fatal(err)
	}
	take := func(stream pool.Stream) pool.Address {
		t.Helper()
		address, err := p.Allocate(4*mebibyte, stream)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Fill(address, 4*mebibyte, 1, stream); err != nil {
			t.Fatal(err)
		}
		if err := p.Free(address, 4*mebibyte, stream); err != nil {
			t.Fatal(err)
		}
		return address
	}
	first := take(5) // the initial block was never used: nothing to wait for
	if lines := ordered(machine); len(lines) > 0 {
		t.Errorf("before any block changed hands: %q", lines)
	}
	take(5)
	if lines := ordered(machine); len(lines) > 0 {
		t.Errorf("within one stream: %q", lines)
	}
	if second := take(6); second != first {
		t.Fatalf("stream 6 got %#x and not the block that stream 5 left", second)
	}
	// The driver's streams are numbered as they were made.
	want := []string{"cuEventRecord on 1 -> 0", "cuStreamWaitEvent on 2 -> 0"}
	if lines := ordered(machine); !slices.Equal(lines, want) {
		t.Errorf("stream 6 after 5: %q", lines)
	}
	if calls := machine.Calls(); !called(machine, "cuMemsetD8Async 4194304 on 2 -> 0") {
		t.Errorf("%q", calls)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !called(machine, "cuStreamDestroy 1 -> 0") || !called(machine, "cuStreamDestroy 2 -> 0") || !called(machine, "cuEventDestroy -> 0") {
		t.Errorf("streams are left behind: %q", machine.Calls())
	}
}

// The null stream has a number too.
func TestNullStreamIsWaitedFor(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{Log: true})
	if machine == nil {
		return
	}
	c := open(t, Options{})
	address, err := c.Allocate(mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Fill(address, 16, 1, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the event is made once
		if err := c.OrderStreams(3, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.OrderStreams(3, 3); err != nil {
		t.Fatal(err)
	}
	want := []string{"cuEventRecord on 0 -> 0", "cuStreamWaitEvent on 1 -> 0", "cuEventRecord on 0 -> 0", "cuStreamWaitEvent on 1 -> 0"}
	if lines := ordered(machine); !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
	if created := strings.Count(strings.Join(machine.Calls(), "\n"), "cuEventCreate"); created != 1 {
		t.Errorf("%d events for one stream", created)
	}
}

// The default pool's four numbers, and how they move.
func TestDefaultPool(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{}) == nil {
		return
	}
	c := open(t, Options{})
	expect := func(when string, want DefaultPool) {
		t.Helper()
		if got, err := c.DefaultPool(); err != nil || got != want {
			t.Errorf("%s: %+v, not %+v (%v)", when, got, want, err)
		}
	}
	before := free(t, c)
	expect("at first", DefaultPool{})
	address, err := c.AllocateAsync(40*mebibyte, 1)
	if err != nil {
		t.Fatal(err)
	}
	expect("with 40 MiB", DefaultPool{Reserved: 64 * mebibyte, ReservedPeak: 64 * mebibyte, Used: 40 * mebibyte, UsedPeak: 40 * mebibyte})
	if taken := before - free(t, c); taken != 64*mebibyte {
		t.Errorf("the pool took %d bytes of the device", taken)
	}
	if err := c.FreeAsync(address, 1); err != nil {
		t.Fatal(err)
	}
	expect("freed", DefaultPool{Reserved: 64 * mebibyte, ReservedPeak: 64 * mebibyte, UsedPeak: 40 * mebibyte})
	if err := c.TrimDefaultPool(0); err != nil { // it waits first, or nothing would come back
		t.Fatal(err)
	}
	if err := c.ResetDefaultPoolPeaks(); err != nil {
		t.Fatal(err)
	}
	expect("trimmed and reset", DefaultPool{})
	if after := free(t, c); after != before {
		t.Errorf("%d of %d bytes are free again", after, before)
	}
	var full *pool.OutOfMemoryError
	if _, err := c.AllocateAsync(1<<40, 0); err == nil || !asOutOfMemory(err, &full) || full.Asked != 1<<40 {
		t.Errorf("a tebibyte: %v", err)
	}
}
