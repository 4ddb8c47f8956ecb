//go:build cgo && linux

package nvml

import (
	"errors"
	"strings"
	"testing"

	"github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/dgxh200"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/gpus"
	"github.com/NVIDIA/go-nvml/pkg/nvml/mock/server"
)

// mockedServer is go-nvml's mock of a machine with H200s. A function that a
// mock leaves nil panics when it is called, so that whatever is not filled in
// here must be missing by lookUp: the guard is tested by what does not panic.
func mockedServer(count int, missing ...string) *server.Server {
	s := dgxh200.NewWithGPUs(gpus.Multiple(count, gpus.H200_SXM5_141GB)...)
	s.LookupSymbolFunc = func(name string) error {
		for _, prefix := range missing {
			if strings.HasPrefix(name, prefix) {
				return errors.New("undefined symbol: " + name)
			}
		}
		return nil
	}
	for _, device := range s.Devices {
		d := device.(*server.Device)
		d.GetMemoryInfo_v2Func = func() (nvml.Memory_v2, nvml.Return) {
			return nvml.Memory_v2{Total: 150754820096, Reserved: 644939776, Free: 150109880320 - gibibyte, Used: gibibyte}, nvml.SUCCESS
		}
		d.GetBusTypeFunc = func() (nvml.BusType, nvml.Return) { return nvml.BUS_TYPE_PCIE, nvml.SUCCESS }
		d.GetAddressingModeFunc = func() (nvml.DeviceAddressingMode, nvml.Return) {
			return nvml.DeviceAddressingMode{}, nvml.ERROR_NOT_SUPPORTED
		}
		d.GetUtilizationRatesFunc = func() (nvml.Utilization, nvml.Return) {
			return nvml.Utilization{Gpu: 98, Memory: 41}, nvml.SUCCESS
		}
		d.GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) { return 66, nvml.SUCCESS }
		d.GetPowerUsageFunc = func() (uint32, nvml.Return) { return 643210, nvml.SUCCESS }
		d.GetEnforcedPowerLimitFunc = func() (uint32, nvml.Return) { return 700000, nvml.SUCCESS }
		d.GetClockInfoFunc = func(kind nvml.ClockType) (uint32, nvml.Return) {
			return map[nvml.ClockType]uint32{nvml.CLOCK_SM: 1755}[kind], nvml.SUCCESS
		}
	}
	return s
}

func watchMock(t *testing.T, s *server.Server, interest ...func(*Watcher)) *watch {
	t.Helper()
	return watchLibrary(t, &nativeLibrary{api: s}, interest...)
}

var withoutEvents = []string{"nvmlEvent"}

func TestMockedMachineOfEight(t *testing.T) {
	s := mockedServer(8, withoutEvents...)
	w := watchMock(t, s)
	devices := await(w.listener, func([]Device) bool { return true })
	if len(devices) != 8 {
		t.Fatalf("%d devices, want 8", len(devices))
	}
	seen := make(map[string]bool)
	for len(seen) < 8 {
		r := await(w.listener, func(r Reading) bool { return !seen[r.UUID] })
		seen[r.UUID] = true
		if r.Memory.Used != known(gibibyte, SourceV2) || r.Utilization != known(98, SourceNVML) ||
			r.Clock != known(1755, SourceNVML) || r.Power != known(643210, SourceNVML) {
			t.Errorf("reading = %+v", r)
		}
	}
	for _, d := range devices {
		if !seen[d.UUID] || !strings.HasPrefix(d.UUID, "GPU-") || d.Driver != "550.54.15" || !strings.Contains(d.Name, "H200") || d.Unified {
			t.Errorf("device = %+v", d)
		}
	}
}

// Without its symbol a function is not called: the mock's are nil and would
// panic.
func TestMockedMachineWithNothingButMemory(t *testing.T) {
	s := mockedServer(1, "nvmlEvent", "nvmlDeviceGetBusType", "nvmlDeviceGetAddressingMode", "nvmlDeviceGetMigMode", "nvmlDeviceGetPciInfo",
		"nvmlDeviceGetName", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetUtilizationRates", "nvmlDeviceGetTemperature",
		"nvmlDeviceGetPower", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetClockInfo", "nvmlDeviceGetComputeRunning",
		"nvmlDeviceGetGraphicsRunning", "nvmlDeviceGetProcessUtilization", "nvmlDeviceGetPcieThroughput", "nvmlSystem", "nvmlShutdown")
	d := s.Devices[0].(*server.Device)
	d.Device = mock.Device{GetUUIDFunc: d.GetUUIDFunc, GetMemoryInfoFunc: func() (nvml.Memory, nvml.Return) {
		return nvml.Memory{Total: 100, Used: 40, Free: 60}, nvml.SUCCESS
	}}
	s.SystemGetDriverVersionFunc, s.ShutdownFunc = nil, nil
	w := watchMock(t, s, showAll)
	r := awaitReading(w.listener, d.UUID, Running)
	if r.Memory.Used != known(40, SourceV1) {
		t.Errorf("memory = %+v, want v1's", r.Memory)
	}
	for name, n := range map[string]Number{
		"load": r.Utilization, "temperature": r.Temperature, "power": r.Power, "limit": r.PowerLimit, "clock": r.Clock,
		"PCIe": r.PCIeReceive, "reserve": r.Memory.Reserved,
	} {
		if n.Known || n.Value != 0 || n.Missing == "" {
			t.Errorf("%s = %+v, want unknown with a reason", name, n)
		}
	}
	if r.Processes.Known || !strings.Contains(r.Processes.Missing, "FUNCTION_NOT_FOUND") {
		t.Errorf("processes = %+v", r.Processes)
	}
	w.end()
}

// go-nvml's mocks and its real functions end an empty list in different ways.
func TestMockedLoadOfProcesses(t *testing.T) {
	for name, ret := range map[string]nvml.Return{
		"none, too small": nvml.ERROR_INSUFFICIENT_SIZE, "none, success": nvml.SUCCESS, "none since then": nvml.ERROR_NOT_FOUND,
	} {
		s := mockedServer(1, withoutEvents...)
		d := s.Devices[0].(*server.Device)
		d.GetComputeRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) {
			return []nvml.ProcessInfo{{Pid: 812, UsedGpuMemory: gibibyte, GpuInstanceId: noInstance, ComputeInstanceId: noInstance}}, nvml.SUCCESS
		}
		d.GetGraphicsRunningProcessesFunc = func() ([]nvml.ProcessInfo, nvml.Return) { return nil, nvml.SUCCESS }
		d.GetProcessUtilizationFunc = func(uint64) ([]nvml.ProcessUtilizationSample, nvml.Return) { return nil, ret }
		d.GetPcieThroughputFunc = func(nvml.PcieUtilCounter) (uint32, nvml.Return) { return 5, nvml.SUCCESS }
		w := watchMock(t, s, showAll)
		r := awaitReading(w.listener, d.UUID, Running)
		if len(r.Processes.List) != 1 || r.Processes.List[0].Utilization.Missing != "the driver has no new sample of it" {
			t.Errorf("%s: %+v", name, r.Processes)
		}
		w.end()
	}
}

// A mask with one unsupported bit registers nothing, so that only the Xids are
// asked for, and only of GPUs that have them.
func TestMockedFaultsAreMaskedByWhatTheGPUHas(t *testing.T) {
	s := mockedServer(2)
	var registered []uint64
	for i, device := range s.Devices {
		d := device.(*server.Device)
		d.GetSupportedEventTypesFunc = func() (uint64, nvml.Return) {
			return []uint64{nvml.EventTypeXidCriticalError | nvml.EventTypeClock, nvml.EventTypeClock}[i], nvml.SUCCESS
		}
		d.RegisterEventsFunc = func(types uint64, _ nvml.EventSet) nvml.Return {
			registered = append(registered, types)
			return nvml.SUCCESS
		}
	}
	freed := 0
	set := &mock.EventSet{
		WaitFunc: func(uint32) (nvml.EventData, nvml.Return) {
			return nvml.EventData{Device: s.Devices[0], EventData: 13, GpuInstanceId: noInstance, ComputeInstanceId: noInstance}, nvml.SUCCESS
		},
		FreeFunc: func() nvml.Return { freed++; return nvml.SUCCESS },
	}
	s.EventSetCreateFunc = func() (nvml.EventSet, nvml.Return) { return set, nvml.SUCCESS }
	l := &nativeLibrary{api: s}
	if code, _ := l.open(); code != codeSuccess {
		t.Fatal(code)
	}
	slots, _ := l.devices()
	faults, code := l.faults([]handle{slots[0].handle, slots[1].handle})
	if code != codeSuccess {
		t.Fatal(code)
	}
	if len(registered) != 1 || registered[0] != nvml.EventTypeXidCriticalError {
		t.Errorf("registered %v, want the Xids of the first GPU", registered)
	}
	record, code := faults.wait(1000)
	want := faultRecord{uuid: s.Devices[0].(*server.Device).UUID, xid: 13, instance: noInstance, compute: noInstance}
	if code != codeSuccess || record != want {
		t.Errorf("fault = %+v, %v; want %+v", record, code, want)
	}
	faults.free()
	if _, code := l.faults([]handle{slots[1].handle}); code != codeNotSupported || freed != 2 {
		t.Errorf("no GPU has Xids: %v, %d sets freed; want NOT_SUPPORTED and 2", code, freed)
	}
}

// Shutdown waits for the last call, and comes once.
func TestMockedShutdownComesWithTheLastCall(t *testing.T) {
	s := mockedServer(1, withoutEvents...)
	shutdowns := 0
	s.ShutdownFunc = func() nvml.Return { shutdowns++; return nvml.SUCCESS }
	l := &nativeLibrary{api: s}
	if code, _ := l.open(); code != codeSuccess {
		t.Fatal(code)
	}
	slots, _ := l.devices()
	inside, release, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s.Devices[0].(*server.Device).GetTemperatureFunc = func(nvml.TemperatureSensors) (uint32, nvml.Return) {
		close(inside)
		<-release
		return 1, nvml.SUCCESS
	}
	go func() {
		defer close(done)
		slots[0].handle.temperature()
	}()
	<-inside
	l.close()
	if shutdowns != 0 {
		t.Error("NVML was shut down under a call")
	}
	if _, code := l.devices(); code != codeUninitialized {
		t.Errorf("a call after close = %v, want UNINITIALIZED", code)
	}
	close(release)
	<-done
	l.close()
	if shutdowns != 1 {
		t.Errorf("%d shutdowns, want 1", shutdowns)
	}
	if code, _ := l.open(); code != codeSuccess {
		t.Errorf("open again = %v", code)
	}
	if _, code := l.devices(); code != codeSuccess {
		t.Errorf("devices after open again = %v", code)
	}
}
