package torchsnap

import (
	"cmp"
	"fmt"
	"slices"

	"vramscope/recorder"
)

// deviceState is a device's state at the end, assembled.
type deviceState struct {
	ordinal  int
	segments []recorder.DumpSegment
	blocks   recorder.DumpBlocks
}

// segmentRows is a segment with the rows of its blocks.
type segmentRows struct {
	recorder.DumpSegment
	ordinal int
	blocks  []value
}

// segments gives the devices their segments and blocks. A list is assembled
// once; the parts of a dump that is still being read share it.
func (a *assembly) segments(v value, waiting []value, host bool) {
	if v.kind != kindList && v.kind != kindTuple {
		return
	}
	if a.m.states == nil {
		a.m.states = map[uint64][]deviceState{}
	}
	states, known := a.m.states[v.n]
	if !known {
		states = a.readSegments(a.items(v, waiting))
		a.m.states[v.n] = states
	}
	for i := range states {
		d := a.device(states[i].ordinal, host)
		d.Segments, d.Blocks = states[i].segments, states[i].blocks
	}
}

func (a *assembly) readSegments(items []value) []deviceState {
	var all []segmentRows
	twice := 0
	for _, item := range items {
		if !a.isSegment(item) {
			continue
		}
		d := a.m.dicts.at(int(item.n))
		if d.taken {
			twice++
			continue
		}
		d.taken = true
		all = appended(a.m.account, all, a.segment(d))
	}
	if twice > 0 {
		a.problem(fmt.Sprintf("%d segments are in the list more than once and count once", twice))
	}
	slices.SortStableFunc(all, func(x, y segmentRows) int {
		return cmp.Or(cmp.Compare(x.ordinal, y.ordinal), cmp.Compare(x.Address, y.Address))
	})
	var states []deviceState
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].ordinal == all[0].ordinal {
			n++
		}
		states = append(states, a.lay(all[:n]))
		all = all[n:]
	}
	return states
}

func (a *assembly) segment(d *dict) segmentRows {
	m := a.m
	var s segmentRows
	for i := 0; i+1 < len(d.pairs); i += 2 {
		key, v := d.pairs[i], d.pairs[i+1]
		if key.kind != kindText {
			continue
		}
		switch m.meanings[key.n].field {
		case fieldDevice:
			n, _ := v.integer()
			if n < 0 || n >= maximumDevices {
				a.problem(fmt.Sprintf("device %d makes no sense: shown as device 0", n))
				n = 0
			}
			s.ordinal = int(n)
		case fieldAddress:
			s.Address, _ = v.address()
		case fieldTotal:
			s.Bytes = m.saneValue(v)
		case fieldAllocated:
			s.Allocated = m.saneValue(v)
		case fieldActive:
			s.Active = m.saneValue(v)
		case fieldRequested:
			s.Requested = m.saneValue(v)
		case fieldStream:
			handle, _ := v.address()
			s.Stream = m.stream(handle)
		case fieldPool:
			s.Pool = m.memoryPool(m.poolOf(v))
		case fieldSegmentType:
			s.Small = m.plain(v) == "small"
		case fieldExpandable:
			s.Expandable = v.kind == kindTrue
		case fieldFrames:
			s.Stack, _ = m.stackOf(v)
		case fieldBlocks:
			s.blocks = a.rows(kindBlock, a.items(v, nil))
		case fieldUnknown:
			m.aside("segments", key)
		}
	}
	return s
}

// saneValue is a number of bytes that makes sense, 0 for any other.
func (m *machine) saneValue(v value) int64 {
	n, ok := v.integer()
	if !ok {
		m.odd++
	}
	return m.sane(n)
}

// rows is the rows of one kind among some items.
func (a *assembly) rows(k kind, items []value) []value {
	var found []value
	for _, item := range items {
		item = a.m.settled(item)
		if item.kind != k {
			continue
		}
		if last := len(found) - 1; last >= 0 {
			if joined, ok := found[last].joined(item); ok {
				found[last] = joined
				continue
			}
		}
		found = appended(a.m.account, found, item)
	}
	return found
}
