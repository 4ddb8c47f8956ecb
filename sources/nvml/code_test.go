package nvml

import (
	"strings"
	"testing"
)

// The retry policy, code by code.
func TestWhatACodeMeans(t *testing.T) {
	const (
		passes = iota
		never
		permission
		driver
		gpu
		other
	)
	tests := map[Code]struct {
		name string
		kind int
	}{
		1: {"UNINITIALIZED", driver}, 9: {"DRIVER_NOT_LOADED", driver}, 18: {"LIB_RM_VERSION_MISMATCH", driver},
		15: {"GPU_IS_LOST", gpu}, 16: {"RESET_REQUIRED", gpu}, 28: {"GPU_NOT_FOUND", gpu},
		10: {"TIMEOUT", passes}, 21: {"NO_DATA", passes}, 27: {"NOT_READY", passes}, 6: {"NOT_FOUND", passes},
		3: {"NOT_SUPPORTED", never}, 13: {"FUNCTION_NOT_FOUND", never},
		25: {"ARGUMENT_VERSION_MISMATCH", never}, 26: {"DEPRECATED", never},
		4: {"NO_PERMISSION", permission}, 17: {"OPERATING_SYSTEM", permission},
		999: {"UNKNOWN", other}, 1234: {"UNNAMED", other},
	}
	for code, want := range tests {
		if code.Name() != want.name {
			t.Errorf("name of %d = %q, want %q", code, code.Name(), want.name)
		}
		if code.passes() != (want.kind == passes) || code.neverAnswers() != (want.kind == never) ||
			code.losesDriver() != (want.kind == driver) || code.losesGPU() != (want.kind == gpu) {
			t.Errorf("%v is taken for another kind of failure", code)
		}
		if !strings.Contains(code.missing(), code.String()) {
			t.Errorf("the reason for %v does not name it: %q", code, code.missing())
		}
	}
	if s := Code(15).String(); s != "NVML 15, GPU_IS_LOST" {
		t.Errorf("String = %q", s)
	}
	if CodeNone.String() != "" || CodeNone.Name() != "" {
		t.Error("no code has a name")
	}
}

// Every state that a failure leads to has the code, its name and what to do.
func TestEveryStateSaysWhatToDo(t *testing.T) {
	tests := []struct {
		state     State
		condition Condition
		says      []string
	}{
		{driverState(12, "libnvidia-ml.so.1: wrong ELF class"), NoLibrary, []string{"NVML 12, LIBRARY_NOT_FOUND", "wrong ELF class", "install"}},
		{driverState(13, "x.so has no nvmlInit"), NoLibrary, []string{"NVML 13, FUNCTION_NOT_FOUND", "install"}},
		{driverState(9, ""), NoDriver, []string{"NVML 9, DRIVER_NOT_LOADED", "modprobe nvidia"}},
		{driverState(18, ""), VersionMismatch, []string{"NVML 18, LIB_RM_VERSION_MISMATCH", "reboot"}},
		{driverState(4, ""), NotPermitted, []string{"NVML 4, NO_PERMISSION", "/dev/nvidia*"}},
		{driverState(17, ""), NotPermitted, []string{"NVML 17, OPERATING_SYSTEM", "cgroup"}},
		{driverState(28, ""), NoDevices, []string{"NVML 28, GPU_NOT_FOUND", "dmesg"}},
		{driverState(1, ""), Failed, []string{"NVML 1, UNINITIALIZED", "every 5 s"}},
		{driverState(999, ""), Failed, []string{"NVML 999, UNKNOWN", "nvidia-smi"}},
		{driverState(CodeNone, ""), Unavailable, []string{"CGO_ENABLED=1"}},
		{gpuState(15), Lost, []string{"NVML 15, GPU_IS_LOST", "reboot", "every 10 s"}},
		{gpuState(16), Lost, []string{"NVML 16, RESET_REQUIRED", "--gpu-reset"}},
		{gpuState(28), Lost, []string{"NVML 28, GPU_NOT_FOUND"}},
		{gpuState(4), NotPermitted, []string{"NVML 4, NO_PERMISSION"}},
		{gpuState(17), NotPermitted, []string{"NVML 17, OPERATING_SYSTEM"}},
		{gpuState(2), Failed, []string{"NVML 2, INVALID_ARGUMENT"}},
		{gone, Lost, []string{"every 10 s"}},
		{noDevices, NoDevices, []string{"dmesg"}},
		{asleep, Asleep, []string{"left so"}},
		{hangingGPU, Hanging, []string{"dmesg"}},
		{hangingDriver, Hanging, []string{"wait"}},
	}
	for _, test := range tests {
		if test.state.Condition != test.condition {
			t.Errorf("%v: condition %v, want %v", test.state.Code, test.state.Condition, test.condition)
		}
		for _, part := range test.says {
			if !strings.Contains(test.state.Text, part) {
				t.Errorf("%q does not say %q", test.state.Text, part)
			}
		}
		if test.state.OK() || strings.Contains(test.state.Text, "\n") {
			t.Errorf("%q: no state of failure, or more than a line", test.state.Text)
		}
	}
	if !running.OK() || starting.OK() {
		t.Error("only running is OK")
	}
}
