//go:build cgo && linux

package nvml

import (
	"fmt"
	"strings"
	"sync"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// nativeHandle is one GPU or MIG device through go-nvml.
type nativeHandle struct {
	library *nativeLibrary
	device  nvml.Device
	part    bool        // a MIG device
	turn    *sync.Mutex // held over a call; a GPU's, and its MIG devices share it
	named   *identity   // once it is known; of the goroutine that lists
}

// ask makes one call that answers one value. It waits for its turn: a worker,
// a new listing and the wait for faults can meet at one GPU, and where a call
// hangs another would too.
func ask[T any](h *nativeHandle, c call, question func() (T, nvml.Return)) (T, Code) {
	h.turn.Lock()
	defer h.turn.Unlock()
	return askNow(h, c, question)
}

// askNow is ask for who holds the turn already.
func askNow[T any](h *nativeHandle, c call, question func() (T, nvml.Return)) (T, Code) {
	if code := h.library.enter(c); code != codeSuccess {
		var none T
		return none, code
	}
	defer h.library.leave()
	value, ret := question()
	return value, Code(ret)
}

// identity asks once: what it tells does not change until NVML starts anew. It
// does not wait for a turn, since one that is taken is taken by a call that
// hangs: a GPU is asked for its identity before it has a worker.
func (h *nativeHandle) identity() (identity, Code) {
	if h.named != nil {
		return *h.named, codeSuccess
	}
	if !h.turn.TryLock() {
		return identity{}, codeTimeout
	}
	defer h.turn.Unlock()
	uuid, code := askNow(h, callUUID, h.device.GetUUID)
	if code != codeSuccess {
		return identity{}, code
	}
	id := identity{uuid: clip(uuid), driver: h.library.driver, instance: NoInstance, compute: NoInstance}
	// The rest is nice to have: a failure leaves it unknown.
	if name, code := askNow(h, callName, h.device.GetName); code == codeSuccess {
		id.name = clip(name)
	}
	if h.part {
		if n, code := askNow(h, callInstance, h.device.GetGpuInstanceId); code == codeSuccess {
			id.instance = n
		}
		if n, code := askNow(h, callCompute, h.device.GetComputeInstanceId); code == codeSuccess {
			id.compute = n
		}
	} else {
		if pci, code := askNow(h, callPCI, h.device.GetPciInfo); code == codeSuccess {
			id.pci = fmt.Sprintf("%04x:%02x:%02x.0", pci.Domain, pci.Bus, pci.Device)
		}
		id.unified = h.unified(id.name)
		id.mig = h.inParts()
	}
	h.named = &id
	return id, codeSuccess
}

// unifiedNames are in the names of GPUs that have no memory of their own.
var unifiedNames = []string{"GB10", "N1X", "Thor", "Orin", "Xavier", "Tegra", "nvgpu"}

// unified, for who holds the turn, says whether the GPU shares the system's memory: by its bus, by its
// way of addressing, or by its name, since no one call tells for all.
func (h *nativeHandle) unified(name string) bool {
	for _, part := range unifiedNames {
		if strings.Contains(name, part) {
			return true
		}
	}
	if bus, code := askNow(h, callBusType, h.device.GetBusType); code == codeSuccess && bus == nvml.BUS_TYPE_FPCI {
		return true
	}
	mode, code := askNow(h, callAddressing, h.device.GetAddressingMode)
	return code == codeSuccess && mode.Value == uint32(nvml.DEVICE_ADDRESSING_MODE_ATS)
}

// inParts, for who holds the turn, says whether MIG mode is on.
func (h *nativeHandle) inParts() bool {
	current, code := askNow(h, callMIGMode, func() (int, nvml.Return) {
		current, _, ret := h.device.GetMigMode()
		return current, ret
	})
	return code == codeSuccess && current == nvml.DEVICE_MIG_ENABLE
}

// maxInstances is more MIG devices than a GPU can have.
const maxInstances = 64

func (h *nativeHandle) instances() ([]handle, Code) {
	count, code := ask(h, callMIGCount, h.device.GetMaxMigDeviceCount)
	if code != codeSuccess {
		return nil, code
	}
	var list []handle
	for i := range min(count, maxInstances) {
		part, code := ask(h, callMIGHandle, func() (nvml.Device, nvml.Return) {
			return h.device.GetMigDeviceHandleByIndex(i)
		})
		if code.losesGPU() || code.losesDriver() {
			return nil, code
		}
		if code == codeSuccess { // NOT_FOUND is a place without a device
			list = append(list, &nativeHandle{library: h.library, device: part, part: true, turn: h.turn})
		}
	}
	return list, codeSuccess
}

func (h *nativeHandle) memoryV2() (memoryNumbers, Code) {
	m, code := ask(h, callMemoryV2, h.device.GetMemoryInfo_v2)
	return memoryNumbers{total: m.Total, reserved: m.Reserved, used: m.Used, free: m.Free}, code
}

func (h *nativeHandle) memoryV1() (memoryNumbers, Code) {
	m, code := ask(h, callMemoryV1, h.device.GetMemoryInfo)
	return memoryNumbers{total: m.Total, used: m.Used, free: m.Free}, code
}

func (h *nativeHandle) utilization() (gpu, memory uint32, code Code) {
	u, code := ask(h, callUtilization, h.device.GetUtilizationRates)
	return u.Gpu, u.Memory, code
}

func (h *nativeHandle) temperature() (uint32, Code) {
	return ask(h, callTemperature, func() (uint32, nvml.Return) { return h.device.GetTemperature(nvml.TEMPERATURE_GPU) })
}

func (h *nativeHandle) power() (uint32, Code) { return ask(h, callPower, h.device.GetPowerUsage) }

func (h *nativeHandle) powerLimit() (uint32, Code) {
	return ask(h, callPowerLimit, h.device.GetEnforcedPowerLimit)
}

func (h *nativeHandle) clock() (uint32, Code) {
	return ask(h, callClock, func() (uint32, nvml.Return) { return h.device.GetClockInfo(nvml.CLOCK_SM) })
}

// computeProcesses costs at least two of the driver's calls when there is more
// than one process: go-nvml begins with room for one record and doubles.
func (h *nativeHandle) computeProcesses() ([]processRecord, Code) {
	list, code := ask(h, callComputeProcesses, h.device.GetComputeRunningProcesses)
	return processRecords(list), code
}

func (h *nativeHandle) graphicsProcesses() ([]processRecord, Code) {
	list, code := ask(h, callGraphicsProcesses, h.device.GetGraphicsRunningProcesses)
	return processRecords(list), code
}

func processRecords(list []nvml.ProcessInfo) []processRecord {
	records := make([]processRecord, len(list))
	for i, p := range list {
		records[i] = processRecord{pid: p.Pid, memory: p.UsedGpuMemory, instance: p.GpuInstanceId, compute: p.ComputeInstanceId}
	}
	return records
}

func (h *nativeHandle) processUtilization(since uint64) ([]utilizationSample, Code) {
	list, code := ask(h, callProcessUtilization, func() ([]nvml.ProcessUtilizationSample, nvml.Return) {
		return h.device.GetProcessUtilization(since)
	})
	if code == codeInsufficientSize && len(list) == 0 { // go-nvml's way of saying that there are none
		code = codeSuccess
	}
	samples := make([]utilizationSample, len(list))
	for i, s := range list {
		samples[i] = utilizationSample{pid: s.Pid, stamp: s.TimeStamp, sm: s.SmUtil}
	}
	return samples, code
}

func (h *nativeHandle) pcieReceive() (uint32, Code) { return h.pcie(nvml.PCIE_UTIL_RX_BYTES) }

func (h *nativeHandle) pcieTransmit() (uint32, Code) { return h.pcie(nvml.PCIE_UTIL_TX_BYTES) }

func (h *nativeHandle) pcie(counter nvml.PcieUtilCounter) (uint32, Code) {
	return ask(h, callPCIe, func() (uint32, nvml.Return) { return h.device.GetPcieThroughput(counter) })
}
