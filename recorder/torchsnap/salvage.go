package torchsnap

import (
	"fmt"
	"slices"

	"vramscope/recorder"
)

// salvage assembles what a file that ends early left on the machine's stack.
// The top dictionary is filled last, so its keys stand there with finished
// values behind them; behind "device_traces" stand the traces that are
// finished, the one that is open, and its latest events.
func (m *machine) salvage() (*recorder.Dump, error) {
	a := m.assemble()
	if !a.openKeys() {
		// The top dictionary may be whole and the file cut behind it, or the
		// top may be an open list of segments.
		for i, v := range m.stack {
			if found, ok := a.locate(v); ok && found.kind == kindDict {
				return a.finish(v)
			}
			if a.isSegment(v) && i > 0 && m.stack[i-1].kind == kindList {
				a.segments(m.stack[i-1], m.stack[i:], false)
				return a.seal(), nil
			}
			if a.isBareList(v) {
				a.segments(v, m.stack[i+1:], false)
				return a.seal(), nil
			}
		}
		return nil, &NotSnapshotError{fmt.Sprintf("the file ends at byte %d, before the first segment or event", m.in.offset)}
	}
	return a.seal(), nil
}

func (a *assembly) isBareList(v value) bool {
	if v.kind != kindList {
		return false
	}
	values := a.m.lists.at(int(v.n)).values
	return len(values) > 0 && a.isSegment(values[0])
}

// openKeys takes the keys of a snapshot from the stack, with what stands
// behind each, and says whether one was there. For a brief look, at a file
// that is still being read, it takes only what will not change any more.
func (a *assembly) openKeys() bool {
	m := a.m
	found := false
	for i, v := range m.stack {
		if v.kind != kindText || i+1 == len(m.stack) || !slices.Contains(topKeys, m.strings[v.n]) {
			continue
		}
		waiting := m.stack[i+2:]
		next := slices.IndexFunc(waiting, func(v value) bool { return v.kind == kindText })
		if next >= 0 {
			waiting = waiting[:next]
		}
		key := m.strings[v.n]
		lists := key == "segments" || key == "host_segments"
		traces := key == "device_traces" || key == "host_traces"
		if a.brief {
			if !traces && (!lists || next < 0) {
				continue
			}
			waiting = slices.DeleteFunc(slices.Clone(waiting), func(v value) bool { return v.kind == kindDict })
		}
		a.key(key, m.stack[i+1], waiting)
		found = found || lists || traces
	}
	return found
}
