package nvml

import (
	"os"
	"path/filepath"
	"testing"
)

// sysfs makes a folder like /sys/bus/pci/devices.
type sysfs struct {
	t    *testing.T
	root string
}

func newSysfs(t *testing.T) sysfs { return sysfs{t, t.TempDir()} }

func (s sysfs) device(pci, vendor, class, status string) {
	s.t.Helper()
	folder := filepath.Join(s.root, pci)
	if err := os.MkdirAll(filepath.Join(folder, "power"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	for file, text := range map[string]string{"vendor": vendor, "class": class, "power/runtime_status": status} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text+"\n"), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

func TestNVMLIsLeftAloneWhileEveryGPUSleeps(t *testing.T) {
	s := newSysfs(t)
	d := pciDevices{root: s.root}
	if d.allSuspended() {
		t.Error("a machine without GPUs is not one whose GPUs sleep")
	}
	s.device("0000:00:02.0", "0x8086", "0x030000", "active")
	s.device("0000:01:00.1", "0x10de", "0x040300", "suspended") // the GPU's sound
	if d.allSuspended() {
		t.Error("another maker's GPU and a sound device are not NVIDIA's GPUs")
	}
	s.device("0000:01:00.0", "0x10de", "0x030000", "suspended")
	s.device("0000:02:00.0", "0x10de", "0x030200", "suspending")
	if !d.allSuspended() {
		t.Error("both GPUs sleep, and this is not seen")
	}
	s.device("0000:02:00.0", "0x10de", "0x030200", "active")
	if d.allSuspended() {
		t.Error("one GPU is awake, and this is not seen")
	}
	if !d.suspended("0000:01:00.0") || d.suspended("0000:02:00.0") || d.suspended("0000:09:00.0") || d.suspended("") {
		t.Error("which GPU sleeps is wrong")
	}
}
