package nvml

import (
	"os"
	"path/filepath"
	"strings"
)

// pciDevices reads what sysfs says about the machine's GPUs without asking
// their driver: NVML wakes a suspended GPU with any call, Init included.
type pciDevices struct {
	root string // "/sys/bus/pci/devices", or a test's
}

// suspended says whether the kernel has put the device to sleep. pci is its
// name in sysfs; a device that cannot be looked at is taken to be awake.
func (d pciDevices) suspended(pci string) bool {
	if pci == "" {
		return false
	}
	switch d.word(pci, "power/runtime_status") {
	case "suspended", "suspending":
		return true
	}
	return false
}

// allSuspended says whether there are NVIDIA GPUs and every one is asleep, so
// that starting NVML would wake them. With one awake NVML is started.
func (d pciDevices) allSuspended() bool {
	entries, err := os.ReadDir(d.root)
	if err != nil {
		return false
	}
	gpus := 0
	for _, entry := range entries {
		pci := entry.Name()
		// Class 03 is display controllers: 0300 VGA, 0302 3D.
		if d.word(pci, "vendor") != "0x10de" || !strings.HasPrefix(d.word(pci, "class"), "0x03") {
			continue
		}
		gpus++
		if !d.suspended(pci) {
			return false
		}
	}
	return gpus > 0
}

func (d pciDevices) word(pci, file string) string {
	text, err := readUpTo(filepath.Join(d.root, pci, file), 64)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
