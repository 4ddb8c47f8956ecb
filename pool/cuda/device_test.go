//go:build cuda && linux && cgo

package cuda

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"vramscope/pool"
	"vramscope/pool/cuda/cudatest"
)

// gpuVariable lets these tests use the GPU of this machine. They take little of it
// and leave nothing behind.
const gpuVariable = "VRAMSCOPE_TEST_GPU"

// holderVariable makes this binary a process that takes memory and waits.
const holderVariable = "VRAMSCOPE_TEST_GPU_HOLDER"

func realGPU(t *testing.T) Device {
	t.Helper()
	if os.Getenv(gpuVariable) == "" {
		t.Skip(gpuVariable + " is not set")
	}
	devices, err := Devices()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("headers %s, devices %+v", Headers(), devices)
	return devices[0]
}

// What the stand-in promises in the other tests, the driver keeps.
func TestGPUKeepsWhatTheStandInPromises(t *testing.T) {
	device := realGPU(t)
	idle := freeByNVML(device.UUID)
	c := open(t, Options{})
	before := free(t, c)
	t.Logf("%d bytes free by NVML without a context; the context took %d; then %d by cuMemGetInfo and %d by NVML",
		idle, c.ContextBytes(), before, freeByNVML(device.UUID))
	if c.ContextBytes() <= 0 {
		t.Errorf("the context took %d bytes", c.ContextBytes())
	}
	for _, bytes := range []int64{1, mebibyte, 64 * mebibyte, 1 << 30} {
		start := time.Now()
		address, err := c.Allocate(bytes)
		if err != nil {
			t.Fatal(err)
		}
		allocated, taken := time.Since(start), before-free(t, c)
		if taken < bytes || taken > bytes+granularity {
			t.Errorf("%d bytes took %d", bytes, taken)
		}
		mark := []byte{1, 2, 3}
		if err := c.Fill(address, bytes, 9, 1); err != nil {
			t.Fatal(err)
		}
		if err := c.Read(address+pool.Address(bytes-1), mark[:1]); err != nil || mark[0] != 9 {
			t.Errorf("filled with 9, read %d, %v", mark[0], err)
		}
		start = time.Now()
		if err := c.Free(address, bytes); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d bytes: allocated in %v, freed in %v", bytes, allocated, time.Since(start))
	}
	_, err := c.Allocate(1 << 48)
	var full *pool.OutOfMemoryError
	if !errors.As(err, &full) || full.Free <= 0 {
		t.Errorf("2^48 bytes: %v", err)
	}
	t.Logf("2^48 bytes: %v", err)
	streamsOnTheGPU(t, c)
	defaultPoolOnTheGPU(t, c)
	if err := c.Synchronize(); err != nil {
		t.Error(err)
	}
	if after := free(t, c); before-after > 16*mebibyte {
		t.Errorf("%d bytes are missing", before-after)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	wait(t, "the context's memory comes back", func() bool { return freeByNVML(device.UUID) >= idle-16*mebibyte })
	t.Logf("%d bytes free by NVML after closing", freeByNVML(device.UUID))
}

// streamsOnTheGPU lets a block go from stream to stream, over and over: each fills
// it after the one before, and the last wins.
func streamsOnTheGPU(t *testing.T, c *Context) {
	const bytes, turns = 64 << 20, 20
	p := must(pool.NewPool(c, pool.PoolOptions{InitialSize: bytes}))
	for turn := range turns {
		stream := pool.Stream(turn%4 + 1)
		address, err := p.Allocate(bytes, stream)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Fill(address, bytes, byte(turn), stream); err != nil {
			t.Fatal(err)
		}
		if turn == turns-1 {
			end := make([]byte, 1)
			if err := c.Read(address+bytes-1, end); err != nil || end[0] != byte(turn) {
				t.Errorf("turn %d left %d, %v", turn, end[0], err)
			}
		}
		if err := p.Free(address, bytes, stream); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func defaultPoolOnTheGPU(t *testing.T, c *Context) {
	address, err := c.AllocateAsync(100*mebibyte, 1)
	if err != nil {
		t.Fatal(err)
	}
	held, err := c.DefaultPool()
	if err != nil || held.Used < 100*mebibyte || held.Reserved < held.Used {
		t.Errorf("%+v, %v", held, err)
	}
	if err := c.FreeAsync(address, 1); err != nil {
		t.Fatal(err)
	}
	if err := c.TrimDefaultPool(0); err != nil {
		t.Fatal(err)
	}
	if err := c.ResetDefaultPoolPeaks(); err != nil {
		t.Fatal(err)
	}
	after, err := c.DefaultPool()
	if err != nil || after != (DefaultPool{}) {
		t.Errorf("trimmed: %+v, %v", after, err)
	}
	t.Logf("default pool with 100 MiB: %+v", held)
}

// A process that is killed at its work leaves nothing on the device.
func TestKilledProcessLeavesNothingOnTheGPU(t *testing.T) {
	killHolder(t, "plain", 16*mebibyte)
}

// Nor does one with managed memory, but for what the driver keeps of it: so this
// and the next test come last.
func TestKilledProcessWithManagedMemoryOnTheGPU(t *testing.T) {
	killHolder(t, "managed", managedReserve)
}

// killHolder kills a process that holds memory and waits until all but so many
// bytes of it are back.
func killHolder(t *testing.T, kind string, left int64) {
	if held := os.Getenv(holderVariable); held != "" {
		holdMemory(t, held)
		return
	}
	device := realGPU(t)
	idle := freeByNVML(device.UUID)
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), holderVariable+"="+kind)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() && !strings.Contains(lines.Text(), "holding") {
	}
	held := idle - freeByNVML(device.UUID)
	if held < 4<<30 {
		t.Errorf("the process holds %d bytes only", held)
	}
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	start := time.Now()
	wait(t, "its memory comes back", func() bool { return freeByNVML(device.UUID) >= idle-left })
	t.Logf("killed while it held %d bytes; %d of %d are free again %v later", held, freeByNVML(device.UUID), idle, time.Since(start))
}

// holdMemory takes memory in every way of a kind and works on it until it is
// killed.
func holdMemory(t *testing.T, kind string) {
	c := open(t, Options{})
	address, err := c.Allocate(4 << 30)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.AllocateAsync(64*mebibyte, 2); err != nil {
		t.Fatal(err)
	}
	if kind == "managed" && c.Capabilities().Managed {
		if address, err = c.AllocateManaged(64 * mebibyte); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Println("holding")
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent is gone, too
		close(gone)
	}()
	for {
		for range 100 {
			if err := c.Fill(address, 64*mebibyte, 1, 1); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-gone:
			return
		default:
			if err := c.Synchronize(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A little managed memory is put on the device at once, and too much is refused.
func TestManagedMemoryOnTheGPU(t *testing.T) {
	realGPU(t)
	c := open(t, Options{})
	if !c.Capabilities().Managed {
		t.Skip("this device has no managed memory that it can share with the processor")
	}
	before := free(t, c)
	address, err := c.AllocateManaged(256 * mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	taken := before - free(t, c) // less where the driver has kept some of before
	if taken < 256*mebibyte-managedReserve || taken > 256*mebibyte+managedReserve {
		t.Errorf("256 MiB of managed memory took %d bytes of the device", taken)
	}
	if err := c.Fill(address, 256*mebibyte, 3, 0); err != nil {
		t.Error(err)
	}
	end := make([]byte, 1)
	if err := c.Read(address+pool.Address(256*mebibyte-1), end); err != nil || end[0] != 3 {
		t.Errorf("filled with 3, read %d, %v", end[0], err)
	}
	if err := c.Free(address, 256*mebibyte); err != nil {
		t.Error(err)
	}
	t.Logf("256 MiB of managed memory took %d bytes of the device; %d stay after the free", taken, before-free(t, c))
	var beyond *ManagedLimitError
	if _, err := c.AllocateManaged(c.Device().Total); !errors.As(err, &beyond) {
		t.Errorf("all of the device in managed memory: %v", err)
	}
}

// The stand-in is held to the tests that the GPU is held to.
func TestStandInKeepsWhatTheGPUDoes(t *testing.T) {
	machine := cudatest.New(t, cudatest.Options{Memory: 16 << 30})
	command := exec.Command(os.Args[0], "-test.run=OnTheGPU$|^TestGPU", "-test.v")
	command.Env = append(append(os.Environ(), machine.Environment()...), gpuVariable+"=1")
	output, err := command.CombinedOutput()
	if err != nil || strings.Count(string(output), "--- PASS") != 4 {
		t.Errorf("%v\n%s", err, output)
	}
}
