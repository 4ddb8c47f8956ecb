package torchsnap

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"vramscope/recorder"
)

// drawn is a random snapshot: what is pickled, and what reading it must give.
type drawn struct {
	*rand.Rand
	keys   keys
	top    *dictionary
	want   plainDump
	stacks []drawnStack
	events []*dictionary // in the order of the file
	unlike bool          // events differ in their keys and values' kinds
}

// drawnStack is a list of frames that events share.
type drawnStack struct {
	list *sequence
	text string
}

// drawSnapshot draws a snapshot of some size. An unlike one has everything
// that the fast path has to leave to the machine.
func drawSnapshot(random *rand.Rand, events int, unlike bool) *drawn {
	d := &drawn{Rand: random, keys: keys{}, unlike: unlike}
	var frames []*dictionary
	var lines []string
	for i := range 1 + d.IntN(12) {
		line := any(int64(d.IntN(3000)))
		shown := fmt.Sprint(line)
		if d.IntN(6) == 0 {
			line, shown = ^uint64(0), "-1" // as torch writes an unknown one
		}
		name, file := fmt.Sprintf("function%d", i/2), fmt.Sprintf("/src/file%d.py", i/3)
		frames = append(frames, d.keys.dictOf("name", &text{name}, "filename", &text{file}, "line", line))
		lines = append(lines, fmt.Sprintf("%s %s:%s", name, file, shown))
	}
	for range 1 + d.IntN(8) {
		list, shown := &sequence{}, []string{}
		for range d.IntN(6) {
			i := d.IntN(len(frames))
			list.items, shown = append(list.items, frames[i]), append(shown, lines[i])
		}
		d.stacks = append(d.stacks, drawnStack{list, strings.Join(shown, " < ")})
	}
	devices := 1 + d.IntN(3)
	segments := d.drawSegments(devices)
	traces := &sequence{}
	for ordinal := range devices {
		trace := &sequence{}
		count := events / devices
		if devices > 1 && d.IntN(4) == 0 {
			count = 0
		}
		for range count {
			dict, event := d.drawEvent()
			trace.items = append(trace.items, dict)
			d.events = append(d.events, dict)
			d.want.Devices[ordinal].Events = append(d.want.Devices[ordinal].Events, event)
		}
		traces.items = append(traces.items, trace)
	}
	settings := d.keys.dictOf("max_split_size", int64(-1), "expandable_segments", true, "garbage_collection_threshold", 0.5,
		"roundup_power2_divisions", d.keys.dictOf("1", int64(0), "2", int64(4)))
	d.want.Settings = []recorder.DumpSetting{
		{Key: "max_split_size", Value: "-1"}, {Key: "expandable_segments", Value: "true"},
		{Key: "garbage_collection_threshold", Value: "0.5"}, {Key: "roundup_power2_divisions", Value: "1: 0, 2: 4"},
	}
	annotations := &sequence{}
	for i := range d.IntN(4) {
		annotations.items = append(annotations.items, d.keys.dictOf("stage", d.keys.of("START"), "name", &text{"step"}, "device", int64(0), "time_us", int64(100+i)))
		d.want.Annotations = append(d.want.Annotations, recorder.DumpAnnotation{Name: "step", Start: true, TimeUs: int64(100 + i)})
	}
	d.top = d.keys.dictOf("segments", segments, "device_traces", traces, "allocator_settings", settings,
		"external_annotations", annotations, "source_code", &text{"print()"})
	d.want.Extras = []string{"source_code"}
	return d
}

// frames is a list of frames: one that others share, or one of its own.
func (d *drawn) frames() (*sequence, string) {
	stack := d.stacks[d.IntN(len(d.stacks))]
	if d.IntN(2) == 0 {
		return stack.list, stack.text
	}
	return &sequence{slices.Clone(stack.list.items)}, stack.text
}

func (d *drawn) drawAddress() (any, uint64) {
	address := 0x7f0000000000 + uint64(d.IntN(1<<20))*512
	if d.IntN(20) == 0 {
		address |= 1 << 63
		return address, address
	}
	return int64(address), address
}

var drawnActions = []string{"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "oom", "snapshot"}

func (d *drawn) drawEvent() (*dictionary, plainEvent) {
	list, stack := d.frames()
	address, wantAddress := d.drawAddress()
	event := plainEvent{
		Action: drawnActions[d.IntN(len(drawnActions))], Address: wantAddress, Bytes: int64(d.IntN(1 << d.IntN(40))),
		TimeUs: 1_700_000_000_000_000 + int64(d.IntN(1_000_000)), Stack: stack, Free: -1,
	}
	pairs := []any{"action", d.keys.of(event.Action), "addr", address, "size", event.Bytes}
	if d.IntN(3) == 0 {
		event.Stream = 0x55500000000 + uint64(d.IntN(4))
	}
	pairs = append(pairs, "stream", int64(event.Stream), "time_us", event.TimeUs)
	context := &text{"N/A"}
	if d.IntN(8) == 0 {
		context = &text{fmt.Sprintf("%d/0", d.IntN(3))}
		event.Notes = append(event.Notes, recorder.DumpSetting{Key: "compile_context", Value: context.string})
	}
	pairs = append(pairs, "compile_context", context, "user_metadata", d.keys.of(""), "frames", list)
	if d.IntN(2) == 0 {
		event.Pool = [2]int64{int64(d.IntN(3)), int64(d.IntN(300))}
		pairs = append(pairs, "pool_id", &tuple{[]any{event.Pool[0], event.Pool[1]}})
	}
	if d.unlike {
		pairs = d.disturb(pairs, &event)
	}
	return d.keys.dictOf(pairs...), event
}

// disturb gives an event what few have.
func (d *drawn) disturb(pairs []any, event *plainEvent) []any {
	note := func(key, value string) {
		event.Notes = append(event.Notes, recorder.DumpSetting{Key: key, Value: value})
	}
	switch d.IntN(10) {
	case 0:
		event.Free = int64(d.IntN(1 << 30))
		pairs = append(pairs, "device_free", event.Free)
	case 1:
		pairs = append(pairs, "category", int64(3))
		note("category", "3")
	case 2:
		pairs = append(pairs, "category", &text{"activation"})
		note("category", "activation")
	case 3:
		pairs = append(pairs, "of_the_future", d.keys.dictOf("depth", int64(7), "why", &text{"so"}))
		note("of_the_future", "depth: 7, why: so")
	case 4: // the size is there twice: the last one counts
		event.Bytes = 77
		pairs = append(pairs, "size", event.Bytes)
	case 5:
		pairs[1] = &text{"workspace_snapshot"}
		event.Action = "unknown"
		event.Notes = append([]recorder.DumpSetting{{Key: "action", Value: "workspace_snapshot"}}, event.Notes...)
	case 6: // a size that makes no sense, but for the problem that it is
		pairs[5], event.Bytes = int64(-5), 0
	case 7: // another order
		pairs = append(pairs[2:], pairs[:2]...)
	case 8:
		pairs = append(pairs, "device", int64(1), "forward_frames", &sequence{[]any{&text{"f"}}})
	case 9:
		pairs[3], event.Address = nil, 0
	}
	return pairs
}

func (d *drawn) drawSegments(devices int) *sequence {
	list := &sequence{}
	d.want.Devices = make([]plainDevice, devices)
	address := uint64(0x7f0000000000)
	for range d.IntN(10) {
		ordinal := d.IntN(devices)
		frames, stack := d.frames()
		s := plainSegment{Address: address, Stack: stack, Pool: [2]int64{0, int64(d.IntN(2))}, Small: d.IntN(2) == 0, Expandable: d.IntN(2) == 0}
		blocks := &sequence{}
		for range d.IntN(6) {
			dict, block := d.drawBlock(address)
			blocks.items = append(blocks.items, dict)
			s.Blocks = append(s.Blocks, block)
			s.Bytes += block.Bytes
			address += uint64(block.Bytes)
		}
		address += 512 // no two begin at one place
		kind := "large"
		if s.Small {
			kind = "small"
		}
		list.items = append(list.items, d.keys.dictOf("device", int64(ordinal), "address", int64(s.Address), "total_size", s.Bytes,
			"allocated_size", s.Allocated, "active_size", s.Active, "requested_size", s.Requested, "stream", int64(0),
			"segment_type", d.keys.of(kind), "segment_pool_id", &tuple{[]any{s.Pool[0], s.Pool[1]}},
			"is_expandable", s.Expandable, "frames", frames, "blocks", blocks))
		d.want.Devices[ordinal].Segments = append(d.want.Devices[ordinal].Segments, s)
	}
	if d.IntN(2) == 0 { // the reader sorts them
		d.Shuffle(len(list.items), func(i, j int) { list.items[i], list.items[j] = list.items[j], list.items[i] })
	}
	for i := range d.want.Devices {
		d.want.Devices[i].Ordinal = i
		slices.SortStableFunc(d.want.Devices[i].Segments, func(x, y plainSegment) int { return cmp.Compare(x.Address, y.Address) })
	}
	return list
}

func (d *drawn) drawBlock(address uint64) (*dictionary, plainBlock) {
	frames, stack := d.frames()
	block := plainBlock{Address: address, Bytes: int64(1+d.IntN(100)) * 512}
	asked := block.Bytes - int64(d.IntN(512))
	state := []string{"inactive", "active_allocated", "active_pending_free", "active_awaiting_free"}[d.IntN(4)]
	if block.State = stateNames[state]; block.State != recorder.DumpInactive {
		block.Requested, block.Stack = asked, stack
	}
	pairs := []any{"address", int64(address), "size", block.Bytes, "requested_size", asked, "state", d.keys.of(state), "frames", frames}
	if d.unlike {
		switch d.IntN(4) {
		case 0: // torch before 2.1: no address
			pairs = pairs[2:]
		case 1: // torch 1.13 to 2.0
			old := d.keys.dictOf("addr", int64(address), "real_size", int64(1), "frames", &sequence{})
			last := d.keys.dictOf("addr", int64(address), "real_size", asked, "frames", frames)
			pairs = []any{"size", block.Bytes, "state", d.keys.of(state), "history", &sequence{[]any{old, last}}}
		}
	}
	return d.keys.dictOf(pairs...), block
}
