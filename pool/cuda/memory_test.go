//go:build cuda && linux && cgo

package cuda

import (
	"bytes"
	"errors"
	"testing"

	"vramscope/pool"
	"vramscope/pool/cuda/cudatest"
)

// What is allocated is missing from the driver's free memory, and comes back. The
// context takes its share and says so.
func TestMemoryComesAndGoes(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{Memory: 4 << 30, Context: 600 * mebibyte}) == nil {
		return
	}
	uuid := cudatest.UUID(0)
	c := open(t, Options{})
	if c.ContextBytes() != 600*mebibyte {
		t.Errorf("the context took %d bytes", c.ContextBytes())
	}
	if c.Device().UUID != uuid || c.Name() != "CUDA" || c.Capabilities() != (pool.Capabilities{Pool: true, Managed: true}) {
		t.Errorf("%+v %q %+v", c.Device(), c.Name(), c.Capabilities())
	}
	before := free(t, c)
	if before != 4<<30-600*mebibyte {
		t.Errorf("%d bytes free", before)
	}
	address, err := c.Allocate(64 * mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	if taken := before - free(t, c); taken != 64*mebibyte {
		t.Errorf("64 MiB took %d bytes", taken)
	}
	if err := c.Free(address, 64*mebibyte); err != nil {
		t.Fatal(err)
	}
	if after := free(t, c); after != before {
		t.Errorf("%d of %d bytes are free again", after, before)
	}
	again, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	if again.ContextBytes() != 0 {
		t.Errorf("the same context once more took %d bytes", again.ContextBytes())
	}
	if _, err := again.Allocate(10 * mebibyte); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil { // its block goes with it, the context stays
		t.Fatal(err)
	}
	if after := free(t, c); after != before {
		t.Errorf("%d of %d bytes are free after the second was closed", after, before)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if free := freeByNVML(uuid); free != 4<<30 {
		t.Errorf("%d bytes free after all were closed", free)
	}
}

// The driver's out of memory is the pool's, with the facts of that moment.
func TestOutOfMemory(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{Memory: 2 << 30})
	if machine == nil {
		return
	}
	c := open(t, Options{})
	for _, bytes := range []int64{2 << 30, 1 << 48} {
		_, err := c.Allocate(bytes)
		var full *pool.OutOfMemoryError
		if !errors.As(err, &full) {
			t.Fatalf("%v", err)
		}
		if full.Asked != bytes || full.Free != 2<<30-512*mebibyte || full.Total != 2<<30 || full.LargestFree != pool.Unknown {
			t.Errorf("%+v", full)
		}
		var refused *DriverError
		if !errors.As(err, &refused) || refused.Code != 2 || refused.Detail != "CUDA_ERROR_OUT_OF_MEMORY" {
			t.Errorf("the driver's own words are lost in %v", err)
		}
		if rule, ok := pool.Classify(err); !ok || rule != pool.RuleType {
			t.Errorf("classified by %q: %v", rule, ok)
		}
	}
	machine.SetForeign(0, 1<<30)
	if _, err := c.Allocate(600 * mebibyte); err == nil {
		t.Error("another program's memory was given out")
	}
	machine.SetForeign(0, 0)
	if _, err := c.Allocate(600 * mebibyte); err != nil {
		t.Errorf("after the other program ended: %v", err)
	}
}

// A block is freed once, with the size it was asked with, and no size is taken
// that can have no meaning.
func TestRefusals(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{}) == nil {
		return
	}
	c := open(t, Options{})
	address, err := c.Allocate(mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	var unknown *pool.UnknownBlockError
	if err := c.Free(address, mebibyte+1); !errors.As(err, &unknown) || unknown.Held != mebibyte {
		t.Errorf("with another size: %v", err)
	}
	if err := c.FreeAsync(address, 0); !errors.As(err, &unknown) {
		t.Errorf("into the default pool: %v", err)
	}
	if err := c.Free(address, mebibyte); err != nil {
		t.Errorf("with its own size: %v", err)
	}
	if err := c.Free(address, mebibyte); !errors.As(err, &unknown) || unknown.Held != pool.Unknown {
		t.Errorf("a second time: %v", err)
	}
	var size *pool.SizeError
	for _, bytes := range []int64{0, -1} {
		if _, err := c.Allocate(bytes); !errors.As(err, &size) {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
	if err := c.Fill(address, -1, 0, 0); !errors.As(err, &size) {
		t.Errorf("filling less than nothing: %v", err)
	}
	if err := c.TrimDefaultPool(-1); !errors.As(err, &size) {
		t.Errorf("keeping less than nothing: %v", err)
	}
	var refused *DriverError // the driver finds this one at once, and lives
	if err := c.Write(address, make([]byte, 16)); !errors.As(err, &refused) || refused.Code != 1 {
		t.Errorf("writing where nothing is: %v", err)
	}
	if _, err := c.Allocate(mebibyte); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Managed memory is bounded by what the device has free, at each request, unless
// the options say otherwise; and where there is none it is not supported.
func TestManagedMemoryKeepsWithinTheDevice(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{Memory: 1 << 30, Context: 100 * mebibyte}) == nil {
		return
	}
	c := open(t, Options{})
	before := free(t, c)
	address, err := c.AllocateManaged(600 * mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	if taken := before - free(t, c); taken != 600*mebibyte {
		t.Errorf("600 MiB of managed memory took %d bytes of the device", taken)
	}
	_, err = c.AllocateManaged(197 * mebibyte)
	var beyond *ManagedLimitError
	if !errors.As(err, &beyond) || beyond.Asked != 197*mebibyte || beyond.Free != 324*mebibyte {
		t.Errorf("beyond what is free: %v", err)
	}
	if _, ok := pool.Classify(err); !ok {
		t.Errorf("%v is no out of memory to a pool", err)
	}
	if _, err := c.AllocateManaged(196 * mebibyte); err != nil {
		t.Errorf("exactly what may be taken: %v", err)
	}
	if err := c.Free(address, 600*mebibyte); err != nil {
		t.Fatal(err)
	}
	told := open(t, Options{ManagedBeyondFree: true})
	if _, err := told.AllocateManaged(2 << 30); err != nil {
		t.Errorf("told to go beyond: %v", err)
	}
}

func TestNoManagedMemory(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{NoManaged: true}) == nil {
		return
	}
	c := open(t, Options{})
	if c.Capabilities().Managed {
		t.Error("it says that it has managed memory")
	}
	if _, err := c.AllocateManaged(mebibyte); !errors.Is(err, pool.ErrNotSupported) {
		t.Errorf("%v", err)
	}
}

// What is written is read, filled and copied, in the order of a stream.
func TestMemoryHoldsWhatIsPutThere(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{}) == nil {
		return
	}
	c := open(t, Options{})
	address, err := c.Allocate(3 * mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	read := func(at pool.Address) []byte {
		into := make([]byte, 4)
		if err := c.Read(at, into); err != nil {
			t.Fatal(err)
		}
		return into
	}
	if err := c.Write(address, []byte{1, 2, 3, 4, 5}); err != nil {
		t.Fatal(err)
	}
	if got := read(address + 1); !bytes.Equal(got, []byte{2, 3, 4, 5}) {
		t.Errorf("written 2 3 4 5, read % x", got)
	}
	if err := c.Fill(address, 2*mebibyte, 0xab, 1); err != nil {
		t.Fatal(err)
	}
	if err := c.Copy(address+pool.Address(2*mebibyte), address, mebibyte, 1); err != nil {
		t.Fatal(err)
	}
	if err := c.SynchronizeStream(1); err != nil {
		t.Fatal(err)
	}
	if got := read(address + pool.Address(3*mebibyte) - 4); !bytes.Equal(got, []byte{0xab, 0xab, 0xab, 0xab}) {
		t.Errorf("filled and copied ab, read % x", got)
	}
	for name, nothing := range map[string]error{
		"fill": c.Fill(address, 0, 1, 0), "copy": c.Copy(address, address, 0, 0), "write": c.Write(address, nil),
		"read": c.Read(address, nil), "stream": c.SynchronizeStream(9), "all": c.Synchronize(),
	} {
		if nothing != nil {
			t.Errorf("%s of nothing: %v", name, nothing)
		}
	}
}
