package torchsnap

import "vramscope/recorder"

// salvage assembles what a file that ends early left on the machine's stack.
// The top dictionary is filled last, so its keys stand there with finished
// values behind them; behind "device_traces" stand the traces that are
// finished, the one that is open, and its latest events.
func (m *machine) salvage() (*recorder.Dump, error) {
	a := newAssembly(m)
	found := false
	for i := 0; i < len(m.stack); i++ {
		if m.stack[i].kind != kindText || i+1 >= len(m.stack) {
			continue
		}
		switch key := m.strings[m.stack[i].n]; key {
		case "segments":
			a.segments(m.collect(i+1), nil)
			found = true
		case "device_traces":
			a.openTraces(i + 1)
			found = true
		case "allocator_settings", "external_annotations", "host_segments", "host_traces":
			a.key(key, m.stack[i+1])
		}
	}
	if !found {
		// The top dictionary may be whole and the file cut behind it.
		for _, v := range m.stack {
			if a.isSnapshot(v) || v.kind == kindList && len(m.lists[v.n].values) > 0 {
				return a.finish(v)
			}
		}
		return nil, &NotSnapshotError{"the file ends before the first segment"}
	}
	return a.seal(), nil
}

// collect is the list at a place of the stack, with the items that wait
// behind it to be appended.
func (m *machine) collect(at int) value {
	v := m.stack[at]
	if v.kind != kindList {
		return v
	}
	for _, item := range m.stack[at+1:] {
		if item.kind == kindText {
			break
		}
		if item.kind == kindDict || item.kind == kindEvent {
			m.appendTo(int(v.n), item)
		}
	}
	return v
}

// openTraces takes the traces at a place of the stack: those already in the
// list, those that wait for it, and the events that wait for the last one.
func (a *assembly) openTraces(at int) {
	m := a.m
	if m.stack[at].kind != kindList {
		return
	}
	traces := append([]value(nil), m.lists[m.stack[at].n].values...)
	for _, v := range m.stack[at+1:] {
		switch {
		case v.kind == kindText:
			goto collected
		case v.kind == kindList:
			traces = append(traces, v)
		case v.kind == kindEvent && len(traces) > 0 && traces[len(traces)-1].kind == kindList:
			m.appendTo(int(traces[len(traces)-1].n), v)
		}
	}
collected:
	for ordinal, trace := range traces {
		if ordinal == maximumDevices {
			break
		}
		a.trace(a.device(ordinal), trace)
	}
}
