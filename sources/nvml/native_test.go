//go:build cgo && linux

package nvml

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Symbols are bound once per process, so that each test with a library in the
// driver's place runs in a process of its own: this test binary again, told
// by these variables that it is the child, where the library is, and which
// folder its switches are in.
const (
	childVariable   = "VRAMSCOPE_TEST_NVML"
	libraryVariable = "VRAMSCOPE_TEST_NVML_LIBRARY"
	switchVariable  = "FAKE_NVML"
)

// fakeDriver is the library that a child has in the driver's place.
type fakeDriver struct {
	t    *testing.T
	path string
	dir  string
}

// on throws a switch, such as "hang-0".
func (d fakeDriver) on(name string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), nil, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d fakeDriver) off(name string) {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.dir, name)); err != nil {
		d.t.Fatal(err)
	}
}

// watch runs a Watcher over the library, with the test's clock.
func (d fakeDriver) watch(interest ...func(*Watcher)) *watch {
	d.t.Helper()
	w := New(Config{LibraryPath: d.path})
	for _, set := range interest {
		set(w)
	}
	w.around.pci.root = d.t.TempDir()
	return startWatch(d.t, w)
}

// inOwnProcess compiles testdata/fake_nvml.c with the flags and runs body with
// it in a child.
func inOwnProcess(t *testing.T, body func(*testing.T, fakeDriver), flags ...string) {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		d := fakeDriver{t: t, path: os.Getenv(libraryVariable), dir: os.Getenv(switchVariable)}
		body(t, d)
		for _, never := range []string{"early", "overlap"} {
			if _, err := os.Stat(filepath.Join(d.dir, never)); err == nil {
				t.Errorf("the library complains: %s", never)
			}
		}
		return
	}
	t.Parallel()
	library := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	compile(t, library, flags)
	runChild(t, library)
}

func compile(t *testing.T, library string, flags []string) {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Fatal("this test compiles a library in the NVIDIA driver's place and needs cc: install a C compiler " +
			"(Debian and Ubuntu: the package gcc; Fedora: gcc; Alpine: build-base)")
	}
	arguments := append([]string{"-shared", "-fPIC", "-O1", "-o", library, "testdata/fake_nvml.c"}, flags...)
	if out, err := exec.Command(compiler, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", arguments, err, out)
	}
}

func runChild(t *testing.T, library string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=60s")
	child.Env = append(os.Environ(), childVariable+"="+t.Name(), libraryVariable+"="+library, switchVariable+"="+t.TempDir())
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("the child ended with %v:\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("the child did not run the test:\n%s", out)
	}
}

func TestNativeOneGPU(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		w := d.watch(showAll)
		devices := await(w.listener, func([]Device) bool { return true })
		if got := devices[0]; got.UUID != "GPU-fake-0" || got.Name != "NVIDIA H200" || got.PCI != "0000:3b:00.0" || got.Driver != "580.159.04" || got.Unified || got.MIG {
			t.Errorf("device = %+v", got)
		}
		r := awaitReading(w.listener, "GPU-fake-0", Running)
		want := Reading{
			UUID: "GPU-fake-0", At: w.clock.now(), State: running,
			Memory: Memory{
				Total: known(150754820096, SourceV2), Used: known(gibibyte, SourceV2),
				Free: known(150754820096-644939776-gibibyte, SourceV2), Reserved: known(644939776, SourceV2),
			},
			Utilization: known(37, SourceNVML), MemoryActivity: known(12, SourceNVML), Temperature: known(54, SourceNVML),
			Power: known(310000, SourceNVML), PowerLimit: known(700000, SourceNVML), Clock: known(1980, SourceNVML),
			PCIeReceive: known(2000*1024, SourceNVML), PCIeTransmit: known(1000*1024, SourceNVML),
		}
		if !sameReading(r, want) {
			t.Errorf("reading = %+v\nwant %+v", r, want)
		}
		list := r.Processes.List
		if len(list) != 3 || list[2].PID != os.Getpid() || list[2].Memory.Value != gibibyte || list[2].Kind != KindCompute || list[2].Instance != NoInstance {
			t.Fatalf("processes = %+v, want three, this one last", r.Processes)
		}
		if u := list[2].Utilization; u.Known || !strings.Contains(u.Missing, "lacks the call") {
			t.Errorf("load per process, whose call this library lacks: %+v", u)
		}
		if list[0].Doubt == "" {
			t.Error("a process that does not exist is not doubted")
		}
	})
}

func TestNativeTwoGPUsOfWhichOneHangs(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		w := d.watch()
		awaitReading(w.listener, "GPU-fake-0", Running)
		d.on("hang-0")
		for range 5 {
			w.clock.advance(step)
			awaitReading(w.listener, "GPU-fake-1", Running)
		}
		w.clock.advance(step)
		r := awaitReading(w.listener, "GPU-fake-0", Hanging)
		if !r.Memory.Total.Known {
			t.Errorf("memory = %+v, want the last", r.Memory)
		}
		for range 20 {
			w.clock.advance(step)
			awaitReading(w.listener, "GPU-fake-1", Running)
		}
		d.off("hang-0")
		awaitReading(w.listener, "GPU-fake-0", Running)
		d.on("hang-0")
		advanceUntil(w, isReading("GPU-fake-0", Hanging))
		w.end() // while the call hangs
		d.off("hang-0")
	}, "-DGPUS=2")
}

func TestNativeGPULostWhileWatched(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		w := d.watch()
		first := awaitReading(w.listener, "GPU-fake-0", Running)
		d.on("lost-0")
		w.clock.advance(step)
		r := awaitReading(w.listener, "GPU-fake-0", Lost)
		if r.State.Code != codeGPUIsLost || r.Memory != first.Memory {
			t.Errorf("reading = %+v, want the last numbers, lost", r)
		}
		advanceUntil(w, isReading("GPU-fake-1", Running))
		d.off("lost-0")
		advanceUntil(w, isReading("GPU-fake-0", Running))
	}, "-DGPUS=2")
}

func TestNativeMissingLibrary(t *testing.T) {
	if os.Getenv(childVariable) != t.Name() {
		t.Parallel()
		runChild(t, filepath.Join(t.TempDir(), "libnvidia-ml.so.1"))
		return
	}
	path := os.Getenv(libraryVariable)
	w := New(Config{LibraryPath: path})
	w.around.pci.root = t.TempDir()
	run := startWatch(t, w)
	s := awaitDriver(run.listener, NoLibrary)
	if s.Code != codeLibraryNotFound || !strings.Contains(s.Text, "libnvidia-ml.so.1") || !strings.Contains(s.Text, "No such file") {
		t.Errorf("state = %+v", s)
	}
	// What kills other programs: calls after the failed Init.
	l := w.library.(*nativeLibrary)
	if _, code := l.devices(); code != codeUninitialized {
		t.Errorf("devices = %v, want UNINITIALIZED without a call", code)
	}
	if _, code := l.faults(nil); code != codeFunctionNotFound {
		t.Errorf("faults = %v", code)
	}
	for range 30 {
		run.clock.advance(step)
	}
}

func TestNativeLibraryThatIsNotNVML(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		s := awaitDriver(d.watch().listener, NoLibrary)
		if s.Code != codeFunctionNotFound || !strings.Contains(s.Text, "no nvmlInit") {
			t.Errorf("state = %+v", s)
		}
	}, "-DNO_INIT")
}

func TestNativeOldDriverWithoutSymbols(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		w := d.watch(showAll)
		r := awaitReading(w.listener, "GPU-fake-0", Running)
		if r.Memory.Used != known(644939776, SourceV1) || r.Memory.Reserved.Known {
			t.Errorf("memory = %+v, want v1's", r.Memory)
		}
		if r.Power.Known || !strings.Contains(r.Power.Missing, "NVML 13, FUNCTION_NOT_FOUND") {
			t.Errorf("power = %+v, want unknown with the reason", r.Power)
		}
		if !r.Processes.Known || len(r.Processes.List) != 1 || r.Processes.List[0].Instance != NoInstance {
			t.Errorf("processes by the call of old = %+v", r.Processes)
		}
	}, "-DOLD")
}

func TestNativeV2FailsAndV1Answers(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		r := awaitReading(d.watch().listener, "GPU-fake-0", Running)
		if r.Memory.Used != known(644939776, SourceV1) || r.Memory.Free != known(150109880320, SourceV1) {
			t.Errorf("memory = %+v, want v1's", r.Memory)
		}
	}, "-DV2_RESULT=999")
}

func TestNativeUnifiedMemory(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		r := awaitReading(d.watch().listener, "GPU-fake-0", Running)
		text, err := os.ReadFile("/proc/meminfo")
		if err != nil {
			t.Fatal(err)
		}
		total, _, _ := parseMeminfo(text)
		if r.Memory.Total != known(total, SourceMeminfo) || !r.Memory.Shared || r.Memory.Used.Value >= total {
			t.Errorf("memory = %+v, want the machine's %d bytes", r.Memory, total)
		}
	}, "-DV2_RESULT=3", "-DV1_RESULT=3", `-DNAME="NVIDIA GB10"`)
}

func TestNativeNotSupportedOnAGPUWithItsOwnMemory(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		r := awaitReading(d.watch().listener, "GPU-fake-0", Running)
		if r.Memory.Total.Known || !strings.Contains(r.Memory.Total.Missing, "NVML 3, NOT_SUPPORTED") {
			t.Errorf("memory = %+v, want unknown", r.Memory)
		}
		if !r.Utilization.Known {
			t.Error("the load is unknown too")
		}
	}, "-DV2_RESULT=3", "-DV1_RESULT=3")
}

func TestNativeInitThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		flag      string
		condition Condition
	}{
		"VersionMismatch": {"-DINIT_RESULT=18", VersionMismatch},
		"NoDriver":        {"-DINIT_RESULT=9", NoDriver},
		"NotPermitted":    {"-DINIT_RESULT=4", NotPermitted},
	} {
		if child := os.Getenv(childVariable); child != "" && child != t.Name()+"/"+name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			inOwnProcess(t, func(t *testing.T, d fakeDriver) {
				w := d.watch()
				awaitDriver(w.listener, test.condition)
				for range 45 { // Init is tried again, and nothing else is called
					w.clock.advance(step)
				}
			}, test.flag)
		})
	}
}

func TestNativeProcessRecordsOfAnotherSize(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		w := d.watch(showProcesses)
		r := awaitReading(w.listener, "GPU-fake-0", Running)
		if r.Processes.Known || !strings.Contains(r.Processes.Missing, "driver reports garbage") {
			t.Errorf("processes = %+v, want garbage", r.Processes)
		}
	}, "-DWIDE_RECORDS")
}

func TestNativeMIG(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		w := d.watch(showProcesses)
		devices := await(w.listener, func([]Device) bool { return true })
		if len(devices) != 2 || devices[1].UUID != "MIG-part-0" || devices[1].Parent != "GPU-fake-0" || devices[1].Instance != 9 || devices[1].Compute != 0 {
			t.Fatalf("devices = %+v", devices)
		}
		r := awaitReading(w.listener, "MIG-part-0", Running)
		if r.Memory.Total != known(18*gibibyte, SourceV2) {
			t.Errorf("memory = %+v", r.Memory)
		}
		if r.Utilization.Known {
			t.Errorf("load of a MIG device = %+v, want unknown", r.Utilization)
		}
		if p := r.Processes.List; len(p) != 1 || p[0].Instance != 9 || p[0].PID != os.Getpid() {
			t.Errorf("processes = %+v", r.Processes)
		}
	}, "-DMIG")
}

func TestNativeXid(t *testing.T) {
	inOwnProcess(t, func(t *testing.T, d fakeDriver) {
		w := d.watch()
		awaitReading(w.listener, "GPU-fake-1", Running)
		d.on("xid-1")
		f := await(w.listener, func(Fault) bool { return true })
		if f.UUID != "GPU-fake-1" || f.Xid != 31 || !f.Program || f.Instance != NoInstance {
			t.Errorf("fault = %+v", f)
		}
	}, "-DGPUS=2")
}
