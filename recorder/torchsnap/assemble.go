package torchsnap

import (
	"cmp"
	"fmt"
	"slices"

	"vramscope/recorder"
)

// The most of each that a dump may have; no real one comes near.
const (
	maximumDevices  = 1024
	maximumExtras   = 64
	maximumProblems = 64
	maximumBytes    = 1 << 50 // of one block, segment or event
)

// assembly turns what the machine left into a Dump.
type assembly struct {
	m       *machine
	dump    *recorder.Dump
	odd     int64 // sizes that make no sense
	devices map[int]*recorder.DumpDevice
	host    *recorder.DumpDevice
}

func newAssembly(m *machine) *assembly {
	return &assembly{
		m: m, devices: map[int]*recorder.DumpDevice{},
		dump: &recorder.Dump{Frames: m.frames, Stacks: m.stacks, Streams: m.streams},
	}
}

// finish assembles the snapshot that top holds.
func (a *assembly) finish(top value) (*recorder.Dump, error) {
	found, err := a.locate(top)
	if err != nil {
		return nil, err
	}
	if found.kind == kindList {
		a.segments(found, nil)
	} else {
		d := &a.m.dicts[found.n]
		for i := 0; i+1 < len(d.pairs); i += 2 {
			if d.pairs[i].kind == kindText {
				a.key(a.m.strings[d.pairs[i].n], d.pairs[i+1])
			}
		}
	}
	return a.seal(), nil
}

// locate finds the snapshot: the top itself, a bare list of segments, or a
// value of a dictionary or list around it.
func (a *assembly) locate(top value) (value, error) {
	switch top.kind {
	case kindDict:
		d := &a.m.dicts[top.n]
		if a.isSnapshot(top) {
			return top, nil
		}
		for i := 0; i+1 < len(d.pairs); i += 2 {
			if a.isSnapshot(d.pairs[i+1]) {
				a.problem(fmt.Sprintf("the snapshot is the value of the key %q of a dictionary around it", clip(a.m.plain(d.pairs[i]))))
				return d.pairs[i+1], nil
			}
		}
	case kindList:
		l := &a.m.lists[top.n]
		for i, item := range l.values {
			if item.kind != kindDict {
				continue
			}
			if _, ok := a.m.lookup(&a.m.dicts[item.n], "blocks"); ok {
				return top, nil
			}
			if a.isSnapshot(item) {
				a.problem(fmt.Sprintf("the file holds a list of %d; number %d is shown", len(l.values), i))
				return item, nil
			}
		}
		if len(l.values) == 0 && l.count == 0 {
			return top, nil // no segment was there
		}
	}
	return value{}, &NotSnapshotError{"the pickle is well-formed but holds no segments and no device_traces"}
}

func (a *assembly) isSnapshot(v value) bool {
	if v.kind != kindDict {
		return false
	}
	d := &a.m.dicts[v.n]
	for _, key := range []string{"segments", "device_traces"} {
		if list, ok := a.m.lookup(d, key); ok && list.kind == kindList {
			return true
		}
	}
	return false
}

// key takes one entry of the top dictionary.
func (a *assembly) key(name string, v value) {
	switch name {
	case "segments":
		a.segments(v, nil)
	case "device_traces":
		for ordinal, trace := range a.values(v) {
			if ordinal == maximumDevices {
				a.problem(fmt.Sprintf("more than %d devices: the rest was left out", maximumDevices))
				break
			}
			a.trace(a.device(ordinal), trace)
		}
	case "host_segments":
		a.segments(v, a.hostDevice())
	case "host_traces":
		a.trace(a.hostDevice(), v)
	case "allocator_settings":
		a.settings(v)
	case "external_annotations":
		for _, item := range a.values(v) {
			a.annotation(item)
		}
	case "trace_alloc_overflowed":
		a.overflowed(v)
	default:
		if len(a.dump.Extras) < maximumExtras {
			a.dump.Extras = append(a.dump.Extras, name)
		}
	}
}

func (a *assembly) values(v value) []value {
	switch v.kind {
	case kindList:
		return a.m.lists[v.n].values
	case kindTuple:
		return a.m.tuples[v.n]
	}
	return nil
}

func (a *assembly) device(ordinal int) *recorder.DumpDevice {
	if ordinal < 0 || ordinal >= maximumDevices {
		a.problem(fmt.Sprintf("device %d makes no sense: shown as device 0", ordinal))
		ordinal = 0
	}
	d := a.devices[ordinal]
	if d == nil {
		d = &recorder.DumpDevice{Ordinal: ordinal}
		a.devices[ordinal] = d
	}
	return d
}

func (a *assembly) hostDevice() *recorder.DumpDevice {
	if a.host == nil {
		a.host = &recorder.DumpDevice{Ordinal: -1, Host: true}
	}
	return a.host
}

// trace gives a device its events: a part of the columns where they lie side
// by side, a copy where they do not.
func (a *assembly) trace(d *recorder.DumpDevice, v value) {
	if v.kind != kindList {
		return
	}
	l := &a.m.lists[v.n]
	if len(l.values) == 0 {
		a.rows(d, int(l.first), int(l.count))
		return
	}
	var picked []int
	for _, item := range l.values {
		if item.kind == kindEvent {
			picked = append(picked, int(item.n))
		}
	}
	if len(picked) > len(a.m.events.Action) {
		a.problem("the same events stand in a trace again and again: only as many as the file holds were taken")
		picked = picked[:len(a.m.events.Action)]
	}
	a.copyRows(d, picked)
}

func (a *assembly) rows(d *recorder.DumpDevice, first, count int) {
	if count == 0 {
		return
	}
	from, end := &a.m.events, first+count
	d.Events = recorder.DumpEvents{
		Action: from.Action[first:end:end], Address: from.Address[first:end:end], Bytes: from.Bytes[first:end:end],
		Stream: from.Stream[first:end:end], Pool: from.Pool[first:end:end], TimeUs: from.TimeUs[first:end:end],
		Stack: from.Stack[first:end:end],
	}
	d.Events.Free, d.Events.Notes = map[int]int64{}, map[int][]recorder.DumpSetting{}
	for row, free := range from.Free {
		if row >= first && row < end {
			d.Events.Free[row-first] = free
		}
	}
	for row, notes := range from.Notes {
		if row >= first && row < end {
			d.Events.Notes[row-first] = notes
		}
	}
	for _, bytes := range d.Events.Bytes {
		if bytes < 0 || bytes > maximumBytes {
			a.odd++
		}
	}
}

func (a *assembly) copyRows(d *recorder.DumpDevice, picked []int) {
	from, to := &a.m.events, &d.Events
	to.Free, to.Notes = map[int]int64{}, map[int][]recorder.DumpSetting{}
	for i, row := range picked {
		to.Action = append(to.Action, from.Action[row])
		to.Address = append(to.Address, from.Address[row])
		to.Bytes = append(to.Bytes, from.Bytes[row])
		to.Stream = append(to.Stream, from.Stream[row])
		to.Pool = append(to.Pool, from.Pool[row])
		to.TimeUs = append(to.TimeUs, from.TimeUs[row])
		to.Stack = append(to.Stack, from.Stack[row])
		if free, ok := from.Free[row]; ok {
			to.Free[i] = free
		}
		if notes, ok := from.Notes[row]; ok {
			to.Notes[i] = notes
		}
	}
}

// segments gives the devices their segments; all go to one device where that
// is known.
func (a *assembly) segments(v value, known *recorder.DumpDevice) {
	for _, item := range a.values(v) {
		if item.kind != kindDict {
			continue
		}
		device := known
		if device == nil {
			device = a.device(int(a.number(item, "device")))
		}
		a.segment(device, item)
	}
}

func (a *assembly) number(v value, key string) int64 {
	found, ok := a.m.lookup(&a.m.dicts[v.n], key)
	if !ok {
		return 0
	}
	n, _ := found.integer()
	return n
}

// bytes is a number of bytes that makes sense, 0 otherwise.
func (a *assembly) bytes(v value, key string) int64 {
	n := a.number(v, key)
	if n < 0 || n > maximumBytes {
		a.odd++
		return 0
	}
	return n
}

func (a *assembly) addressOf(v value, key string) (uint64, bool) {
	found, ok := a.m.lookup(&a.m.dicts[v.n], key)
	if !ok {
		return 0, false
	}
	return found.address()
}

func (a *assembly) segment(device *recorder.DumpDevice, v value) {
	m := a.m
	d := &m.dicts[v.n]
	s := recorder.DumpSegment{
		Bytes: a.bytes(v, "total_size"), Allocated: a.bytes(v, "allocated_size"),
		Active: a.bytes(v, "active_size"), Requested: a.bytes(v, "requested_size"),
		First: int32(device.Blocks.Len()),
	}
	s.Address, _ = a.addressOf(v, "address")
	if handle, ok := a.addressOf(v, "stream"); ok {
		s.Stream = m.stream(handle)
	}
	if id, ok := m.lookup(d, "segment_pool_id"); ok {
		s.Pool = m.poolOf(id)
	}
	if kind, ok := m.lookup(d, "segment_type"); ok {
		s.Small = m.plain(kind) == "small"
	}
	if expandable, ok := m.lookup(d, "is_expandable"); ok {
		s.Expandable = expandable.kind == kindTrue
	}
	if frames, ok := m.lookup(d, "frames"); ok {
		s.Stack, _ = m.stackOf(frames)
	}
	blocks, _ := m.lookup(d, "blocks")
	next := s.Address
	for _, item := range a.values(blocks) {
		if item.kind == kindDict {
			next = a.block(device, item, next)
			s.Count++
		}
	}
	device.Segments = append(device.Segments, s)
}

// block adds a block and returns where the next one begins.
func (a *assembly) block(device *recorder.DumpDevice, v value, at uint64) uint64 {
	m := a.m
	d := &m.dicts[v.n]
	if address, ok := a.addressOf(v, "address"); ok {
		at = address
	}
	size, requested := a.bytes(v, "size"), a.bytes(v, "requested_size")
	state := recorder.DumpInactive
	if text, ok := m.lookup(d, "state"); ok {
		switch m.plain(text) {
		case "active_allocated":
			state = recorder.DumpActive
		case "active_pending_free", "active_awaiting_free":
			state = recorder.DumpPendingFree
		}
	}
	stack := int32(0)
	if frames, ok := m.lookup(d, "frames"); ok {
		stack, _ = m.stackOf(frames)
	}
	if _, ok := m.lookup(d, "requested_size"); !ok && state != recorder.DumpInactive {
		requested = size
	}
	if history, ok := m.lookup(d, "history"); ok { // torch 1.13 to 2.0
		if entries := a.values(history); len(entries) > 0 && entries[len(entries)-1].kind == kindDict {
			last := entries[len(entries)-1]
			requested = a.bytes(last, "real_size")
			if frames, ok := m.lookup(&m.dicts[last.n], "frames"); ok {
				stack, _ = m.stackOf(frames)
			}
		}
	}
	if state == recorder.DumpInactive {
		requested, stack = 0, 0 // stale there
	}
	b := &device.Blocks
	b.Address = append(b.Address, at)
	b.Bytes = append(b.Bytes, size)
	b.Requested = append(b.Requested, requested)
	b.State = append(b.State, state)
	b.Stack = append(b.Stack, stack)
	return at + uint64(size)
}

func (a *assembly) settings(v value) {
	if v.kind != kindDict {
		return
	}
	d := &a.m.dicts[v.n]
	for i := 0; i+1 < len(d.pairs); i += 2 {
		key := a.m.plain(d.pairs[i])
		if key == "trace_alloc_overflowed" {
			a.overflowed(d.pairs[i+1])
		}
		text := a.m.plain(d.pairs[i+1])
		if text == "" && d.pairs[i+1].kind == kindDict {
			text = fmt.Sprintf("%d entries", len(a.m.dicts[d.pairs[i+1].n].pairs)/2)
		}
		a.dump.Settings = append(a.dump.Settings, recorder.DumpSetting{Key: key, Value: text})
	}
}

func (a *assembly) overflowed(v value) {
	a.dump.Overflowed = a.dump.Overflowed || v.kind == kindTrue ||
		slices.ContainsFunc(a.values(v), func(item value) bool { return item.kind == kindTrue })
}

func (a *assembly) annotation(v value) {
	if v.kind != kindDict {
		return
	}
	d := &a.m.dicts[v.n]
	stage, _ := a.m.lookup(d, "stage")
	name, _ := a.m.lookup(d, "name")
	a.dump.Annotations = append(a.dump.Annotations, recorder.DumpAnnotation{
		Name: a.m.plain(name), Start: a.m.plain(stage) == "START",
		Device: int(a.number(v, "device")), TimeUs: a.number(v, "time_us"),
	})
}

func (a *assembly) problem(text string) {
	if len(a.dump.Problems) < maximumProblems {
		a.dump.Problems = append(a.dump.Problems, text)
	}
}

// seal puts the devices in order and hands the dump over.
func (a *assembly) seal() *recorder.Dump {
	a.dump.Strings, a.dump.Frames, a.dump.Stacks = a.m.strings, a.m.frames, a.m.stacks
	a.dump.Streams, a.dump.MemoryPools = a.m.streams, a.m.memoryPools
	ordinals := make([]int, 0, len(a.devices))
	for ordinal := range a.devices {
		ordinals = append(ordinals, ordinal)
	}
	slices.Sort(ordinals)
	for _, ordinal := range ordinals {
		a.dump.Devices = append(a.dump.Devices, *sorted(a.devices[ordinal]))
	}
	if a.host != nil {
		a.dump.Devices = append(a.dump.Devices, *sorted(a.host))
	}
	if a.odd > 0 {
		a.problem(fmt.Sprintf("%d sizes are negative or beyond 2^50 bytes and count as 0", a.odd))
		a.clampEvents()
	}
	return a.dump
}

func sorted(d *recorder.DumpDevice) *recorder.DumpDevice {
	slices.SortStableFunc(d.Segments, func(x, y recorder.DumpSegment) int { return cmp.Compare(x.Address, y.Address) })
	return d
}

func (a *assembly) clampEvents() {
	for _, d := range a.dump.Devices {
		for i, bytes := range d.Events.Bytes {
			if bytes < 0 || bytes > maximumBytes {
				d.Events.Bytes[i] = 0
			}
		}
	}
}
