//go:build cgo && linux

package nvml

import "github.com/NVIDIA/go-nvml/pkg/nvml"

// nativeFaults is an NVML event set.
type nativeFaults struct {
	library *nativeLibrary
	set     nvml.EventSet
	gpus    []*nativeHandle
	uuids   []string
}

func (l *nativeLibrary) faults(gpus []handle) (faultSet, Code) {
	// A set that could not be waited for, or not be freed, is not begun.
	table := l.symbols.Load()
	if table == nil || !table[callEventWait] || !table[callEventFree] {
		return nil, codeFunctionNotFound
	}
	if code := l.enter(callEventSet); code != codeSuccess {
		return nil, code
	}
	set, ret := l.api.EventSetCreate()
	l.leave()
	if code := Code(ret); code != codeSuccess {
		return nil, code
	}
	f := &nativeFaults{library: l, set: set}
	code := codeNotSupported
	for _, h := range gpus {
		native, ok := h.(*nativeHandle)
		if !ok {
			continue
		}
		if registered := f.register(native); registered == codeSuccess || code == codeNotSupported {
			code = registered
		}
	}
	if len(f.gpus) == 0 {
		f.free()
		return nil, code
	}
	return f, codeSuccess
}

// register adds a GPU's Xids. The driver refuses a whole mask for one
// unsupported bit, so that the GPU is asked first.
func (f *nativeFaults) register(h *nativeHandle) Code {
	types, code := ask(h, callEventTypes, h.device.GetSupportedEventTypes)
	if code != codeSuccess {
		return code
	}
	if types&nvml.EventTypeXidCriticalError == 0 {
		return codeNotSupported
	}
	uuid, code := ask(h, callUUID, h.device.GetUUID)
	if code != codeSuccess {
		return code
	}
	_, code = ask(h, callEventRegister, func() (struct{}, nvml.Return) {
		return struct{}{}, h.device.RegisterEvents(nvml.EventTypeXidCriticalError, f.set)
	})
	if code == codeSuccess {
		f.gpus = append(f.gpus, h)
		f.uuids = append(f.uuids, clip(uuid))
	}
	return code
}

func (f *nativeFaults) wait(milliseconds uint32) (faultRecord, Code) {
	if code := f.library.enter(callEventWait); code != codeSuccess {
		return faultRecord{}, code
	}
	data, ret := f.set.Wait(milliseconds)
	f.library.leave()
	record := faultRecord{xid: data.EventData, instance: data.GpuInstanceId, compute: data.ComputeInstanceId}
	for i, h := range f.gpus {
		if data.Device == h.device {
			record.uuid = f.uuids[i]
		}
	}
	return record, Code(ret)
}

func (f *nativeFaults) free() {
	if f.library.enter(callEventFree) == codeSuccess {
		f.set.Free()
		f.library.leave()
	}
}
