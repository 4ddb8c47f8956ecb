//go:build cuda && linux && cgo

package cuda

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"vramscope/pool"
	"vramscope/pool/cuda/cudatest"
)

// everyCall is each method that reaches the driver, with its error.
func everyCall(c *Context, address pool.Address) map[string]error {
	_, _, information := c.MemoryInfo()
	_, allocate := c.Allocate(mebibyte)
	_, managed := c.AllocateManaged(mebibyte)
	_, async := c.AllocateAsync(mebibyte, 1)
	_, figures := c.DefaultPool()
	return map[string]error{
		"MemoryInfo": information, "Allocate": allocate, "AllocateManaged": managed, "AllocateAsync": async,
		"DefaultPool": figures, "Free": c.Free(address, mebibyte), "FreeAsync": c.FreeAsync(address, 0),
		"Fill": c.Fill(address, 16, 1, 0), "Copy": c.Copy(address, address, 16, 0),
		"Write": c.Write(address, make([]byte, 16)), "Read": c.Read(address, make([]byte, 16)),
		"Synchronize": c.Synchronize(), "SynchronizeStream": c.SynchronizeStream(1),
		"OrderStreams": c.OrderStreams(1, 0), "TrimDefaultPool": c.TrimDefaultPool(0),
		"ResetDefaultPoolPeaks": c.ResetDefaultPoolPeaks(),
	}
}

// After the first call that the device answers with a lasting fault, everything
// fails with it at once, and the driver is not asked again.
func TestLostDevice(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{Log: true})
	if machine == nil {
		return
	}
	c := open(t, Options{})
	address, err := c.Allocate(mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	machine.On(cudatest.Lost(0))
	err = c.Fill(address, mebibyte, 1, 0)
	var lost *LostError
	if !errors.As(err, &lost) || lost.Code != 700 || lost.Call != "cuMemsetD8Async" || lost.Device.UUID != cudatest.UUID(0) {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), "CUDA_ERROR_ILLEGAL_ADDRESS") {
		t.Errorf("%v", err)
	}
	before := len(machine.Calls())
	for name, err := range everyCall(c, address) {
		if !errors.Is(err, lost) {
			t.Errorf("%s afterwards: %v", name, err)
		}
	}
	if after := len(machine.Calls()); after != before {
		t.Errorf("the driver was asked again: %q", machine.Calls()[before:])
	}
	if err := c.Close(); !errors.Is(err, lost) {
		t.Errorf("closing: %v", err)
	}
}

// A device may be lost at any call; whichever it is, it says so.
func TestDeviceLostAtAnyCall(t *testing.T) {
	if testing.Short() {
		t.Skip("a process for each call")
	}
	for name, options := range map[string]cudatest.Options{
		"first": {LostAfter: 1, LostCode: 214}, "third": {LostAfter: 3, LostCode: 719}, "tenth": {LostAfter: 10, LostCode: 46},
	} {
		t.Run(name, func(t *testing.T) {
			if cudatest.Child(t, options) == nil {
				return
			}
			c := open(t, Options{})
			for range 20 {
				address, err := c.Allocate(mebibyte)
				if err == nil {
					err = c.Fill(address, mebibyte, 1, 0)
				}
				var lost *LostError
				if errors.As(err, &lost) {
					if lost.Code != options.LostCode {
						t.Errorf("lost with %d: %v", lost.Code, err)
					}
					return
				}
				if err != nil {
					t.Fatalf("not lost: %v", err)
				}
			}
			t.Error("never lost")
		})
	}
}

// Closing waits for the call that is being made, lets no other begin, and is the
// same to everybody who closes.
func TestCloseWithWorkInFlight(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{Log: true})
	if machine == nil {
		return
	}
	c := open(t, Options{})
	address, err := c.Allocate(mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Allocate(mebibyte); err != nil {
		t.Fatal(err)
	}
	machine.On(cudatest.HoldFree)
	freed, waiting := make(chan error, 1), make(chan error, 8)
	go func() { freed <- c.Free(address, mebibyte) }()
	wait(t, "the driver has the free", func() bool { return machine.Holds(cudatest.HoldFree) })
	for range cap(waiting) {
		go func() {
			_, err := c.Allocate(mebibyte)
			waiting <- err
		}()
	}
	var closers sync.WaitGroup
	results := make([]error, 4)
	for i := range results {
		closers.Go(func() { results[i] = c.Close() })
	}
	for range cap(waiting) { // they do not wait for the call that hangs
		if err := <-waiting; !errors.Is(err, ErrClosed) || !errors.Is(err, pool.ErrClosed) {
			t.Errorf("a call that waited: %v", err)
		}
	}
	select {
	case <-c.ended:
		t.Error("it closed under the call that was being made")
	default:
	}
	machine.Off(cudatest.HoldFree)
	if err := <-freed; err != nil {
		t.Errorf("the call that was being made: %v", err)
	}
	closers.Wait()
	for _, err := range results {
		if err != nil {
			t.Errorf("closing: %v", err)
		}
	}
	for name, err := range everyCall(c, address) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
	if free := freeByNVML(cudatest.UUID(0)); free != 8<<30 {
		t.Errorf("%d bytes are free after the end", free)
	}
}

// A GPU without room for a context says so, and can be opened when there is room.
func TestNoRoomForAContext(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{Memory: 1 << 30})
	if machine == nil {
		return
	}
	machine.SetForeign(0, 600*mebibyte)
	_, err := Open(0)
	var refused *DriverError
	if !errors.As(err, &refused) || refused.Code != 2 || !strings.Contains(err.Error(), "make room on GPU 0") {
		t.Errorf("%v", err)
	}
	machine.SetForeign(0, 0)
	open(t, Options{})
}

// Any number of goroutines may use one context, and every block comes back.
func TestManyGoroutines(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{SlowFree: 1}) == nil {
		return
	}
	c := open(t, Options{})
	before := free(t, c)
	var group sync.WaitGroup
	for number := range 8 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(number), 1))
			stream := pool.Stream(number % 3)
			for range 20 {
				bytes := 1 + random.Int64N(4*mebibyte)
				address, err := c.Allocate(bytes)
				if err != nil {
					t.Error(err)
					return
				}
				want := []byte{byte(number)}
				if err := c.Fill(address, bytes, want[0], stream); err != nil {
					t.Error(err)
				}
				got := []byte{0xff}
				if err := c.Read(address+pool.Address(bytes-1), got); err != nil || got[0] != want[0] {
					t.Errorf("read %x, %v", got, err)
				}
				if err := c.Free(address, bytes); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if after := free(t, c); after != before {
		t.Errorf("%d of %d bytes are free again", after, before)
	}
}

// Two devices are two contexts that know nothing of each other.
func TestTwoDevices(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{Devices: 2, Memory: 2 << 30})
	if machine == nil {
		return
	}
	first := open(t, Options{})
	second, err := Open(1)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if second.Device().UUID != cudatest.UUID(1) {
		t.Errorf("%+v", second.Device())
	}
	if _, err := first.Allocate(1 << 30); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Allocate(1 << 30); err != nil {
		t.Errorf("the second is full of the first one's memory: %v", err)
	}
	machine.On(cudatest.Lost(1))
	var lost *LostError
	if err := second.Synchronize(); !errors.As(err, &lost) || lost.Device.Ordinal != 1 {
		t.Errorf("%v", err)
	}
	if err := first.Synchronize(); err != nil {
		t.Errorf("the first went with the second: %v", err)
	}
}

// A call makes no garbage of its own: what is left is the binding's variable.
func TestCallsMakeNoGarbage(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{}) == nil {
		return
	}
	c := open(t, Options{})
	address, err := c.Allocate(mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"Fill":         func() error { return c.Fill(address, 16, 1, 1) },
		"Copy":         func() error { return c.Copy(address+16, address, 16, 1) },
		"OrderStreams": func() error { return c.OrderStreams(2, 1) },
	} {
		if err := call(); err != nil { // streams are made by the first
			t.Fatal(err)
		}
		if made := testing.AllocsPerRun(200, func() { _ = call() }); made >= 1 && !raceEnabled {
			t.Errorf("%s makes %v objects", name, made)
		}
	}
}
