package pool

import (
	"os"
	"runtime/debug"
)

// HostEffects is how a release reads and relieves the host. Any of the
// functions may be nil.
type HostEffects struct {
	Memory       func() HostMemory // nil reads this machine's
	TrimHost     func() bool       // nil gives the Go heap's free memory back to the system, as malloc_trim does for C
	ResetRuntime func() bool       // nil is no runtime to reset
}

// ReleaseEffects is what a ReleasePolicy acts on: this memory, and the host's.
func (t *Tiered) ReleaseEffects(host HostEffects) ReleaseEffects {
	if host.Memory == nil {
		root := os.DirFS("/")
		host.Memory = func() HostMemory { return ReadHostMemory(root) }
	}
	if host.TrimHost == nil {
		host.TrimHost = func() bool {
			debug.FreeOSMemory()
			return true
		}
	}
	if host.ResetRuntime == nil {
		host.ResetRuntime = func() bool { return false }
	}
	return &tieredEffects{tiered: t, host: host}
}

// tieredEffects are the effects of a release on a Tiered. It needs no lock of
// its own: each method takes the Tiered's.
type tieredEffects struct {
	tiered *Tiered
	host   HostEffects
}

// Device is a caching device also for tier C, which has nothing to empty and
// says so.
func (e *tieredEffects) Device() DeviceKind { return CachingDevice }

func (e *tieredEffects) HostPressure() bool    { return e.host.Memory().Pressured() }
func (e *tieredEffects) HostAvailable() int64  { return e.host.Memory().Available }
func (e *tieredEffects) ProgramHeadroom() bool { return false }
func (e *tieredEffects) TrimHost() bool        { return e.host.TrimHost() }
func (e *tieredEffects) ResetRuntime() bool    { return e.host.ResetRuntime() }

func (e *tieredEffects) GPUPressure() bool {
	e.tiered.mutex.Lock()
	defer e.tiered.mutex.Unlock()
	return GPUPressure(e.tiered.options.Upstream.MemoryInfo)
}

func (e *tieredEffects) DriverFree() int64 {
	e.tiered.mutex.Lock()
	defer e.tiered.mutex.Unlock()
	return e.tiered.driverFree()
}

func (e *tieredEffects) Reclaimable() int64 {
	e.tiered.mutex.Lock()
	defer e.tiered.mutex.Unlock()
	if e.tiered.carved == nil {
		return 0
	}
	return e.tiered.carved.Usage().Free
}

// Collect runs the owner's hook, without the lock: it frees blocks.
func (e *tieredEffects) Collect() ReleaseOutcome {
	e.tiered.mutex.Lock()
	hook := e.tiered.options.Collect
	e.tiered.mutex.Unlock()
	if hook == nil {
		return ReleaseOutcome{Freed: Unknown, Why: "no collection hook is registered"}
	}
	return ReleaseOutcome{Freed: hook()}
}

func (e *tieredEffects) EmptyCaches() ReleaseOutcome {
	e.tiered.mutex.Lock()
	defer e.tiered.mutex.Unlock()
	if e.tiered.carved == nil {
		return ReleaseOutcome{Why: "this tier keeps no free blocks"}
	}
	release, err := e.tiered.releaseFreeSegments()
	if err != nil {
		return ReleaseOutcome{Freed: release.Bytes, Why: err.Error()}
	}
	return ReleaseOutcome{Freed: release.Bytes, Why: whyKept(release)}
}

func (e *tieredEffects) ClearImports() ReleaseOutcome { return ReleaseOutcome{} }
