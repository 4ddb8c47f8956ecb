package torchsnap

import (
	"fmt"
	"slices"

	"vramscope/recorder"
)

// The most of each that a dump may have; no real one comes near.
const (
	maximumDevices  = 1024
	maximumExtras   = 64
	maximumProblems = 64
	maximumSettings = 256
)

// assembly turns what the machine has into a Dump. The machine may go on
// afterwards: what a Dump holds is not written again.
type assembly struct {
	m       *machine
	dump    *recorder.Dump
	devices map[int]*recorder.DumpDevice
	host    *recorder.DumpDevice
	events  int  // given to devices so far
	brief   bool // the file is still being read: notes are left for later
}

func (m *machine) assemble() *assembly {
	return &assembly{m: m, devices: map[int]*recorder.DumpDevice{}, dump: &recorder.Dump{Bytes: m.in.offset}}
}

// finish assembles the snapshot that top holds.
func (a *assembly) finish(top value) (*recorder.Dump, error) {
	found, ok := a.locate(top)
	switch {
	case !ok:
		return nil, &NotSnapshotError{"the file is well-formed but holds no segments and no device_traces"}
	case found.kind == kindList:
		a.segments(found, nil, false)
	default:
		a.top(a.m.dicts.at(int(found.n)))
	}
	return a.seal(), nil
}

// locate finds the snapshot: the top itself, a bare list of segments, or a
// value of a dictionary or list around it.
func (a *assembly) locate(top value) (value, bool) {
	switch top.kind {
	case kindDict:
		if a.isSnapshot(top) {
			return top, true
		}
		pairs := a.m.dicts.at(int(top.n)).pairs
		for i := 0; i+1 < len(pairs); i += 2 {
			if a.isSnapshot(pairs[i+1]) {
				a.problem(fmt.Sprintf("the snapshot is the value of the key %q of a dictionary around it", clip(a.m.plain(pairs[i]))))
				return pairs[i+1], true
			}
		}
	case kindList, kindTuple:
		values := a.m.lists.at(int(top.n)).values
		for i, item := range values {
			if a.isSegment(item) {
				return value{kindList, top.n}, true
			}
			if a.isSnapshot(item) {
				if len(values) > 1 {
					a.problem(fmt.Sprintf("the file holds a list of %d snapshots; number %d is shown", len(values), i))
				}
				return item, true
			}
		}
		if len(values) == 0 {
			return value{kindList, top.n}, true // no segment was there
		}
	}
	return value{}, false
}

func (a *assembly) isSnapshot(v value) bool {
	if v.kind != kindDict {
		return false
	}
	d := a.m.dicts.at(int(v.n))
	for _, key := range []string{"segments", "device_traces"} {
		if list, ok := a.m.lookup(d, key); ok && (list.kind == kindList || list.kind == kindTuple) {
			return true
		}
	}
	return false
}

func (a *assembly) isSegment(v value) bool {
	if v.kind != kindDict {
		return false
	}
	d := a.m.dicts.at(int(v.n))
	_, hasBlocks := a.m.lookup(d, "blocks")
	_, hasTotal := a.m.lookup(d, "total_size")
	return hasBlocks && hasTotal
}

// lookup finds a key among the pairs of a dictionary; the last one counts.
func (m *machine) lookup(d *dict, key string) (value, bool) {
	for i := len(d.pairs) - 2; i >= 0; i -= 2 {
		if d.pairs[i].kind == kindText && m.strings[d.pairs[i].n] == key {
			return d.pairs[i+1], true
		}
	}
	return value{}, false
}

// topKeys are the keys of a snapshot, in the order in which they are taken.
var topKeys = []string{
	"segments", "device_traces", "host_segments", "host_traces", "allocator_settings", "external_annotations",
	"trace_alloc_overflowed", "categories",
}

// top takes the top dictionary.
func (a *assembly) top(d *dict) {
	for _, key := range topKeys {
		if v, ok := a.m.lookup(d, key); ok {
			a.key(key, v, nil)
		}
	}
	for i := 0; i+1 < len(d.pairs); i += 2 {
		if key := a.m.plain(d.pairs[i]); !slices.Contains(topKeys, key) {
			a.m.extra(key)
		}
	}
}

// key takes one entry of the top dictionary. waiting are items that are about
// to be appended to its list, where the file ends early.
func (a *assembly) key(name string, v value, waiting []value) {
	switch name {
	case "segments":
		a.segments(v, waiting, false)
	case "device_traces":
		a.traces(v, waiting)
	case "host_segments":
		a.segments(v, waiting, true)
	case "host_traces":
		a.trace(a.device(-1, true), a.items(v, waiting))
	case "allocator_settings":
		a.settings(v)
	case "external_annotations":
		for _, item := range a.items(v, waiting) {
			a.annotation(item)
		}
	case "trace_alloc_overflowed":
		a.overflowed(v)
	case "categories":
		a.nameCategories(a.items(v, nil))
	}
}

// items is what a list holds, and what is about to be appended to it.
func (a *assembly) items(v value, waiting []value) []value {
	var items []value
	if v.kind == kindList || v.kind == kindTuple {
		items = a.m.lists.at(int(v.n)).values
	}
	if len(waiting) == 0 {
		return items
	}
	return append(items[:len(items):len(items)], waiting...)
}

// device is the device of an ordinal, or the host's pinned memory.
func (a *assembly) device(ordinal int, host bool) *recorder.DumpDevice {
	if host {
		if a.host == nil {
			a.host = &recorder.DumpDevice{Ordinal: -1, Host: true}
		}
		return a.host
	}
	if ordinal < 0 || ordinal >= maximumDevices {
		a.problem(fmt.Sprintf("device %d makes no sense: shown as device 0", ordinal))
		ordinal = 0
	}
	if a.devices[ordinal] == nil {
		a.devices[ordinal] = &recorder.DumpDevice{Ordinal: ordinal}
	}
	return a.devices[ordinal]
}

func (a *assembly) settings(v value) {
	if v.kind != kindDict {
		return
	}
	pairs := a.m.dicts.at(int(v.n)).pairs
	for i := 0; i+1 < len(pairs) && len(a.dump.Settings) < maximumSettings; i += 2 {
		key := a.m.plain(pairs[i])
		if key == "trace_alloc_overflowed" {
			a.overflowed(pairs[i+1])
		}
		a.dump.Settings = append(a.dump.Settings, recorder.DumpSetting{Key: key, Value: a.m.described(pairs[i+1])})
	}
}

func (a *assembly) overflowed(v value) {
	a.dump.Overflowed = a.dump.Overflowed || v.kind == kindTrue ||
		slices.ContainsFunc(a.items(v, nil), func(item value) bool { return item.kind == kindTrue })
}

func (a *assembly) annotation(v value) {
	if v.kind != kindDict {
		return
	}
	d := a.m.dicts.at(int(v.n))
	if d.taken {
		return
	}
	d.taken = true
	made := recorder.DumpAnnotation{}
	for i := 0; i+1 < len(d.pairs); i += 2 {
		if d.pairs[i].kind != kindText {
			continue
		}
		of := d.pairs[i+1]
		switch a.m.meanings[d.pairs[i].n].field {
		case fieldStage:
			made.Start = a.m.plain(of) == "START"
		case fieldName:
			made.Name = a.m.plain(of)
		case fieldDevice:
			n, _ := of.integer()
			made.Device = int(n)
		case fieldTime:
			made.TimeUs, _ = of.integer()
		}
	}
	a.dump.Annotations = appended(a.m.account, a.dump.Annotations, made)
}

func (a *assembly) problem(text string) {
	if len(a.dump.Problems) < maximumProblems && !slices.Contains(a.dump.Problems, text) {
		a.dump.Problems = append(a.dump.Problems, text)
	}
}

// seal puts the devices in order and hands the dump over.
func (a *assembly) seal() *recorder.Dump {
	m, dump := a.m, a.dump
	dump.Strings = m.strings[:len(m.strings):len(m.strings)]
	dump.Frames = m.frames[:len(m.frames):len(m.frames)]
	dump.Stacks.Start = m.stacks.Start[:len(m.stacks.Start):len(m.stacks.Start)]
	dump.Stacks.Frames = m.stacks.Frames[:len(m.stacks.Frames):len(m.stacks.Frames)]
	dump.Streams = m.streams[:len(m.streams):len(m.streams)]
	dump.MemoryPools = m.memoryPools[:len(m.memoryPools):len(m.memoryPools)]
	dump.Extras = slices.Clone(m.extras)
	ordinals := make([]int, 0, len(a.devices))
	for ordinal := range a.devices {
		ordinals = append(ordinals, ordinal)
	}
	slices.Sort(ordinals)
	for _, ordinal := range ordinals {
		dump.Devices = append(dump.Devices, *a.devices[ordinal])
	}
	if a.host != nil {
		dump.Devices = append(dump.Devices, *a.host)
	}
	if m.odd > 0 {
		a.problem(fmt.Sprintf("%d sizes are negative or beyond 2^50 bytes and count as 0", m.odd))
	}
	if m.shortened > 0 {
		a.problem(fmt.Sprintf("%d strings are longer than %d bytes and were shortened", m.shortened, keptText))
	}
	if len(m.streams) > 0xffff || len(m.memoryPools) > 0xffff {
		a.problem("more than 65,535 streams or memory pools: the later ones share a number")
	}
	return dump
}
