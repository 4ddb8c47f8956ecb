//go:build cgo && linux

package nvml

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// libraryNames are where NVML is looked for: by its name in the loader's
// path, then where WSL and NixOS keep it.
var libraryNames = []string{
	"libnvidia-ml.so.1",
	"/usr/lib/wsl/lib/libnvidia-ml.so.1",
	"/run/opengl-driver/lib/libnvidia-ml.so.1",
}

// libraries has the libraries of this process by their path. NVML's state is
// the process's own, so that a second watcher of one path goes on with it.
var libraries sync.Map

// openLibrary is the real library, not yet loaded; path "" looks for it.
func openLibrary(path string) library {
	names := libraryNames
	if path != "" {
		names = []string{path}
	}
	l, _ := libraries.LoadOrStore(path, &nativeLibrary{names: names})
	return l.(*nativeLibrary)
}

// nativeLibrary is NVML through go-nvml. Every call passes enter and leave,
// which keep three promises: no call whose symbol is missing, no call unless
// Init has succeeded, and no Shutdown under a call.
type nativeLibrary struct {
	names    []string
	api      nvml.Interface // nil until the library is found
	life     sync.Mutex     // held over Init and Shutdown
	symbols  atomic.Pointer[symbolTable]
	inFlight atomic.Int64
	ready    atomic.Bool                   // calls may be made
	closing  atomic.Bool                   // Init has succeeded and nobody needs it any more
	driver   string                        // its version; of the goroutine that opens and lists
	handles  map[nvml.Device]*nativeHandle // the same
}

func (l *nativeLibrary) open() (Code, string) {
	l.life.Lock()
	defer l.life.Unlock()
	if l.api == nil {
		api, why := load(l.names)
		if api == nil {
			return codeLibraryNotFound, why
		}
		if why != "" {
			return codeFunctionNotFound, why
		}
		l.api = api
	}
	l.closing.Store(false)
	if code := Code(l.api.Init()); code != codeSuccess {
		return code, ""
	}
	for _, h := range l.handles { // a handle may now be another GPU's
		h.named = nil
	}
	table := lookUpSymbols(l.api.Extensions().LookupSymbol)
	l.symbols.Store(&table)
	l.ready.Store(true)
	if l.enter(callDriverVersion) == codeSuccess {
		if version, ret := l.api.SystemGetDriverVersion(); Code(ret) == codeSuccess {
			l.driver = clip(version)
		}
		l.inFlight.Add(-1) // not leave: life is held
	}
	return codeSuccess, ""
}

// load finds the library and checks the one symbol that go-nvml calls before
// any can be looked up through it. Its handle is kept open for good: the
// program's calls stay bound to it. why without an api says why there is
// none, with one that it lacks Init.
func load(names []string) (api nvml.Interface, why string) {
	for _, name := range names {
		library := dl.New(name, dl.RTLD_LAZY|dl.RTLD_LOCAL)
		if err := library.Open(); err != nil {
			// What people know is the first; the others are guesses, unless
			// one is there and does not load.
			if why == "" || !strings.Contains(err.Error(), "No such file") {
				why = clip(err.Error())
			}
			continue
		}
		api = nvml.New(nvml.WithLibraryPath(name))
		if library.Lookup("nvmlInit_v2") != nil && library.Lookup("nvmlInit") != nil {
			return api, fmt.Sprintf("%s has no nvmlInit", name)
		}
		return api, ""
	}
	return nil, why
}

func (l *nativeLibrary) close() {
	if !l.ready.Swap(false) {
		return
	}
	l.closing.Store(true)
	if l.inFlight.Load() == 0 {
		l.shutDown()
	}
}

// enter begins a call. Whoever got codeSuccess must leave.
func (l *nativeLibrary) enter(c call) Code {
	l.inFlight.Add(1)
	code := codeSuccess
	if !l.ready.Load() {
		code = codeUninitialized
	} else if !l.symbols.Load()[c] {
		code = codeFunctionNotFound
	}
	if code != codeSuccess {
		l.leave()
	}
	return code
}

func (l *nativeLibrary) leave() {
	if l.inFlight.Add(-1) == 0 && l.closing.Load() {
		l.shutDown()
	}
}

// shutDown gives NVML back, once per close. A failure is nothing to anybody:
// the driver is gone, or the process ends soon.
func (l *nativeLibrary) shutDown() {
	l.life.Lock()
	defer l.life.Unlock()
	if l.inFlight.Load() == 0 && l.closing.Swap(false) && l.symbols.Load()[callShutdown] {
		l.api.Shutdown()
	}
}

func (l *nativeLibrary) devices() ([]slot, Code) {
	count, code := l.count()
	if code != codeSuccess {
		return nil, code
	}
	slots := make([]slot, count)
	for i := range slots {
		device, code := l.deviceAt(i)
		if code.losesDriver() {
			return nil, code
		}
		slots[i].code = code
		if code == codeSuccess {
			slots[i].handle = l.handleOf(device)
		}
	}
	return slots, codeSuccess
}

// handleOf is one handle for one GPU, for as long as the process lives: its
// turn may be held by a call that hangs.
func (l *nativeLibrary) handleOf(device nvml.Device) *nativeHandle {
	h := l.handles[device]
	if h == nil {
		h = &nativeHandle{library: l, device: device, turn: new(sync.Mutex)}
		if l.handles == nil {
			l.handles = make(map[nvml.Device]*nativeHandle)
		}
		l.handles[device] = h
	}
	return h
}

// maxDevices is more GPUs than a machine has: a count above it is garbage.
const maxDevices = 1024

func (l *nativeLibrary) count() (int, Code) {
	if code := l.enter(callCount); code != codeSuccess {
		return 0, code
	}
	defer l.leave()
	count, ret := l.api.DeviceGetCount()
	return min(count, maxDevices), Code(ret)
}

func (l *nativeLibrary) deviceAt(index int) (nvml.Device, Code) {
	if code := l.enter(callHandle); code != codeSuccess {
		return nil, code
	}
	defer l.leave()
	device, ret := l.api.DeviceGetHandleByIndex(index)
	return device, Code(ret)
}

// clip bounds a text of the driver's or the loader's; it may hold any byte.
func clip(text string) string {
	const most = 256
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}
