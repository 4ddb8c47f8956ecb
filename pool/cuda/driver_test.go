//go:build cuda && linux && cgo

package cuda

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"vramscope/pool/cuda/cudatest"
)

// Both libraries name the same devices, and listing them takes no memory.
func TestDevicesAreListedWithoutAContext(t *testing.T) {
	machine := cudatest.Child(t, cudatest.Options{Devices: 3, Memory: 5 << 30, Log: true})
	if machine == nil {
		return
	}
	if calls := machine.Calls(); len(calls) > 0 {
		t.Errorf("before anything was asked for, %q was called", calls)
	}
	devices, err := Devices()
	if err != nil {
		t.Fatal(err)
	}
	if len(devices) != 3 {
		t.Fatalf("%d devices", len(devices))
	}
	for ordinal, device := range devices {
		if device.Ordinal != ordinal || device.UUID != cudatest.UUID(ordinal) || device.Total != 5<<30 || device.Name == "" {
			t.Errorf("device %d: %+v", ordinal, device)
		}
		if free := freeByNVML(device.UUID); free != 5<<30 {
			t.Errorf("device %d: %d bytes free after listing", ordinal, free)
		}
	}
	if _, err := Open(3); err == nil {
		t.Error("a fourth device was opened")
	}
}

// Where there is no driver the first call says so, and says what to do.
func TestNoDriver(t *testing.T) {
	if _, err := os.Stat("/proc/driver/nvidia"); err == nil {
		t.Skip("this machine has a driver")
	}
	_, err := Devices()
	var refused *DriverError
	if !errors.As(err, &refused) || refused.Call != "dlopen" || !strings.Contains(err.Error(), "libcuda.so.1") ||
		!strings.Contains(err.Error(), "install the NVIDIA driver") {
		t.Errorf("without a driver: %v", err)
	}
	if _, err := Open(0); !errors.As(err, &refused) {
		t.Errorf("opened without a driver: %v", err)
	}
}

// A driver without a device, and one that does not fit its kernel module.
func TestDriverThatRefuses(t *testing.T) {
	for code, text := range map[int]string{100: "CUDA_ERROR_NO_DEVICE", 803: "a code"} {
		t.Run(text, func(t *testing.T) {
			if cudatest.Child(t, cudatest.Options{InitResult: code}) == nil {
				return
			}
			_, err := Devices()
			var refused *DriverError
			if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(err.Error(), text) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A driver that is too old is refused by name before anything is called: the
// call itself would end the process.
func TestOldDriver(t *testing.T) {
	lacks := []string{"cuMemPrefetchAsync", "cuDevicePrimaryCtxRelease_v2"}
	machine := cudatest.Child(t, cudatest.Options{WithoutSymbols: lacks, Log: true})
	if machine == nil {
		return
	}
	for range 2 {
		_, err := Devices()
		var old *MissingSymbolError
		if !errors.As(err, &old) {
			t.Fatalf("%v", err)
		}
		slices.Sort(old.Symbols)
		if !slices.Equal(old.Symbols, []string{"cuDevicePrimaryCtxRelease_v2", "cuMemPrefetchAsync"}) {
			t.Errorf("it lacks %q", old.Symbols)
		}
		if !strings.Contains(err.Error(), "cuMemPrefetchAsync") || !strings.Contains(err.Error(), "install") {
			t.Errorf("%v", err)
		}
	}
	if calls := machine.Calls(); len(calls) > 0 {
		t.Errorf("%q was called", calls)
	}
}

// Memory pools came later than the rest: without them everything else works.
func TestDriverWithoutPools(t *testing.T) {
	lacks := []string{
		"cuDeviceGetDefaultMemPool", "cuMemPoolGetAttribute", "cuMemPoolSetAttribute", "cuMemPoolTrimTo",
		"cuMemAllocAsync", "cuMemFreeAsync",
	}
	if cudatest.Child(t, cudatest.Options{WithoutSymbols: lacks}) == nil {
		return
	}
	c := open(t, Options{})
	var missing *MissingSymbolError
	if _, err := c.DefaultPool(); !errors.As(err, &missing) {
		t.Errorf("reading the default pool: %v", err)
	}
	if err := c.TrimDefaultPool(0); !errors.As(err, &missing) {
		t.Errorf("trimming it: %v", err)
	}
	if err := c.ResetDefaultPoolPeaks(); !errors.As(err, &missing) {
		t.Errorf("resetting its peaks: %v", err)
	}
	if _, err := c.AllocateAsync(mebibyte, 0); !errors.As(err, &missing) {
		t.Errorf("allocating from it: %v", err)
	}
	address, err := c.Allocate(mebibyte)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Free(address, mebibyte); err != nil {
		t.Error(err)
	}
}

// The version is that of a header, not of nothing.
func TestHeadersHaveAVersion(t *testing.T) {
	if major, minor, found := strings.Cut(Headers(), "."); !found || len(major) != 2 || len(minor) != 1 {
		t.Errorf("headers %q", Headers())
	}
}
