// Package cudatest puts a machine with GPUs under a program that has none: a
// libcuda.so.1 and a libnvidia-ml.so.1 that agree with each other, over all
// programs that are started with them. Device memory is the program's own, the
// books are kept by process, and what a killed process held is free again.
//
// The libraries are bound once in a process, so that a test starts one: the
// binary under test, or itself again (Child).
package cudatest

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

//go:embed driver/*.c driver/*.h
var sources embed.FS

// Options describe the machine. The zero value is one GPU of 8 GiB.
type Options struct {
	Devices        int      // GPUs, at most 8; 0 is 1
	Memory         int64    // bytes of each GPU; 0 is 8 GiB
	Context        int64    // bytes that a context takes; 0 is 512 MiB
	InitResult     int      // what cuInit returns
	NoManaged      bool     // the devices have no managed memory
	LostAfter      int      // the call on a context that loses the device, counted by device and process; 0: none
	LostCode       int      // what every later call returns; 0 is 700, CUDA_ERROR_ILLEGAL_ADDRESS
	SlowFree       int      // milliseconds that cuMemFree takes
	SlowSync       int      // milliseconds that a wait for the device takes
	Log            bool     // keep a log for Calls
	WithoutSymbols []string // what the driver lacks, such as "cuMemPrefetchAsync"
}

// Machine is what a program finds that is started with its Environment.
type Machine struct {
	t       testing.TB
	folder  string
	devices int
	options Options
}

// folderVariable is where a program finds the machine, and where a child finds
// its parent's.
const folderVariable = "FAKE_CUDA_FOLDER"

// New builds the machine. The test fails where there is no C compiler.
func New(t testing.TB, options Options) *Machine {
	t.Helper()
	options.Devices = max(1, options.Devices)
	m := &Machine{t: t, folder: t.TempDir(), devices: options.Devices, options: options}
	m.install("libcuda.so.1", "fakecuda.c", options.WithoutSymbols)
	m.install("libnvidia-ml.so.1", "fakenvml.c", nil)
	return m
}

// Environment is what a program's environment needs besides its own: the
// libraries in front of all others, and what the machine is like.
func (m *Machine) Environment() []string {
	o := m.options
	environment := []string{
		"LD_LIBRARY_PATH=" + m.folder + string(os.PathListSeparator) + os.Getenv("LD_LIBRARY_PATH"),
		folderVariable + "=" + m.folder,
	}
	for name, value := range map[string]int64{
		"DEVICES": int64(m.devices), "MEMORY": o.Memory, "CONTEXT": o.Context, "INIT": int64(o.InitResult),
		"LOST_AFTER": int64(o.LostAfter), "LOST_CODE": int64(o.LostCode),
		"SLOW_FREE": int64(o.SlowFree), "SLOW_SYNCHRONIZE": int64(o.SlowSync),
	} {
		if value != 0 {
			environment = append(environment, fmt.Sprintf("FAKE_CUDA_%s=%d", name, value))
		}
	}
	if o.NoManaged {
		environment = append(environment, "FAKE_CUDA_MANAGED=0")
	}
	if o.Log {
		environment = append(environment, "FAKE_CUDA_LOG=1")
	}
	return environment
}

// The switches of a machine.
const (
	HoldFree        = "hold-free"        // cuMemFree does not return while it is on
	HoldSynchronize = "hold-synchronize" // nor does a wait for the device
)

// Lost is the switch that loses a device for good.
func Lost(device int) string { return "lost-" + strconv.Itoa(device) }

// On throws a switch.
func (m *Machine) On(name string) { m.write(name, "") }

// Off turns a switch off.
func (m *Machine) Off(name string) {
	m.t.Helper()
	if err := os.Remove(filepath.Join(m.folder, name)); err != nil {
		m.t.Fatal(err)
	}
}

// Holds says whether a call does not return now, since that switch is on.
func (m *Machine) Holds(name string) bool {
	_, err := os.Stat(filepath.Join(m.folder, name+"-holds"))
	return err == nil
}

// SetForeign lets other programs hold that many bytes of a device.
func (m *Machine) SetForeign(device int, bytes int64) {
	m.write("foreign-"+strconv.Itoa(device), strconv.FormatInt(bytes, 10))
}

// write replaces a file at once: a program may be reading it.
func (m *Machine) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.folder, name)
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		m.t.Fatal(err)
	}
}

// Calls is the log so far: a line for each call, such as "cuMemAlloc 1024 -> 0".
func (m *Machine) Calls() []string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.folder, "calls"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// UUID is a device's UUID as both libraries say it.
func UUID(device int) string { return fmt.Sprintf("GPU-facecafe-0000-4000-8000-%012x", device) }

// childVariable names the test that a process was started for.
const childVariable = "VRAMSCOPE_TEST_CUDA_CHILD"

// Child runs the rest of the calling test in a process of its own, on a machine
// of its own. In the test it starts that process, with the same test only, waits
// for it, fails where it fails, and returns nil: the test has nothing more to do.
// In the process it returns the machine.
func Child(t *testing.T, options Options) *Machine {
	t.Helper()
	if os.Getenv(childVariable) == t.Name() {
		return &Machine{t: t, folder: os.Getenv(folderVariable), devices: max(1, options.Devices), options: options}
	}
	machine := New(t, options)
	var pattern []string
	for _, name := range strings.Split(t.Name(), "/") {
		pattern = append(pattern, "^"+name+"$")
	}
	command := exec.Command(os.Args[0], "-test.run="+strings.Join(pattern, "/"), "-test.v", "-test.timeout=2m")
	// The race detector's pause at the end of each process is not waited for.
	race := "GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0")
	command.Env = append(append(os.Environ(), machine.Environment()...), childVariable+"="+t.Name(), race)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("in the process with the driver: %v\n%s", err, output)
	} else if !bytes.Contains(output, []byte("--- PASS: "+t.Name())) {
		t.Errorf("the process with the driver did not run the test:\n%s", output)
	}
	return nil
}

// install puts a library into the machine's folder.
func (m *Machine) install(library, source string, without []string) {
	m.t.Helper()
	content, err := build(source, without)
	if err != nil {
		m.t.Fatalf("the stand-in for %s: %v", library, err)
	}
	if err := os.WriteFile(filepath.Join(m.folder, library), content, 0o700); err != nil {
		m.t.Fatal(err)
	}
}

// built keeps the libraries that this process has compiled.
var built struct {
	sync.Mutex
	libraries map[string][]byte
}

// build compiles a library, once for each set of symbols that it lacks.
func build(source string, without []string) ([]byte, error) {
	built.Lock()
	defer built.Unlock()
	key := source + " " + strings.Join(without, " ")
	if content := built.libraries[key]; content != nil {
		return content, nil
	}
	folder, err := os.MkdirTemp("", "cudatest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if err := os.CopyFS(folder, sources); err != nil {
		return nil, err
	}
	output := filepath.Join(folder, "library.so")
	arguments := []string{"-shared", "-fPIC", "-O1", "-w", "-o", output, filepath.Join(folder, "driver", source), "-lpthread"}
	if len(without) > 0 {
		hidden := filepath.Join(folder, "symbols")
		script := "{ local: " + strings.Join(without, "; ") + "; };\n"
		if err := os.WriteFile(hidden, []byte(script), 0o600); err != nil {
			return nil, err
		}
		arguments = append(arguments, "-Wl,--version-script="+hidden)
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	if text, err := exec.Command(compiler, arguments...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", compiler, err, text)
	}
	content, err := os.ReadFile(output)
	if err != nil {
		return nil, err
	}
	if built.libraries == nil {
		built.libraries = make(map[string][]byte)
	}
	built.libraries[key] = content
	return content, nil
}
