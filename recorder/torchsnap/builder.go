package torchsnap

import (
	"strings"
	"unsafe"

	"vramscope/recorder"
)

// The memory that may be taken: a multiple of the bytes read, and a constant.
const (
	memoryPerByte = 4
	memoryApart   = 64 << 20
)

// builder collects what a snapshot means in columns.
type builder struct {
	strings  []string
	meanings []meaning // by string number
	byText   map[string]uint32

	frames  []recorder.DumpFrame
	byFrame map[recorder.DumpFrame]int32
	stacks  recorder.DumpStacks
	byStack map[uint64][]int32 // hash of the frames -> stacks
	scratch []uint32           // the frames of the list at hand

	events      recorder.DumpEvents
	streams     []uint64
	lastStream  uint64
	lastNumber  uint16
	memoryPools [][2]int64
	textBytes   int64 // held by strings

	limit func(offset int64) int64
	read  func() int64 // bytes read so far
	size  int64        // of the file as far as known, 0 unknown
}

func (b *builder) init(limit func(offset int64) int64, read func() int64, size int64) {
	b.byText = map[string]uint32{"": 0}
	b.strings, b.meanings = []string{""}, []meaning{{}}
	b.byFrame = map[recorder.DumpFrame]int32{}
	b.byStack = map[uint64][]int32{}
	b.stacks.Start = []uint32{0, 0} // stack 0 is empty
	b.streams = []uint64{0}
	b.memoryPools = [][2]int64{{0, 0}}
	b.events.Free = map[int]int64{}
	b.events.Notes = map[int][]recorder.DumpSetting{}
	b.limit, b.read, b.size = limit, read, size
}

// intern gives a string its number.
func (b *builder) intern(bytes []byte) uint32 {
	if number, known := b.byText[string(bytes)]; known {
		return number
	}
	text := strings.ToValidUTF8(string(bytes), "\uFFFD")
	number := uint32(len(b.strings))
	b.strings = append(b.strings, text)
	b.meanings = append(b.meanings, meaning{fieldNames[text], recorder.DumpActionByName(text)})
	b.byText[string(bytes)] = number
	b.textBytes += int64(len(bytes)) + 96 // the string twice at worst is rare; headers and the map's entry are not
	return number
}

// frame gives a line of a stack its number.
func (b *builder) frame(f recorder.DumpFrame) int32 {
	number, known := b.byFrame[f]
	if !known {
		number = int32(len(b.frames))
		b.frames = append(b.frames, f)
		b.byFrame[f] = number
	}
	return number
}

// internStack gives the frames in scratch their stack number.
func (b *builder) internStack() int32 {
	if len(b.scratch) == 0 {
		return 0
	}
	hash := uint64(14695981039346656037)
	for _, frame := range b.scratch {
		hash = (hash ^ uint64(frame)) * 1099511628211
		hash ^= hash >> 29
	}
candidates:
	for _, stack := range b.byStack[hash] {
		frames := b.stacks.Stack(stack)
		if len(frames) != len(b.scratch) {
			continue
		}
		for i, frame := range frames {
			if frame != b.scratch[i] {
				continue candidates
			}
		}
		return stack
	}
	b.stacks.Frames = append(b.stacks.Frames, b.scratch...)
	b.stacks.Start = append(b.stacks.Start, uint32(len(b.stacks.Frames)))
	stack := int32(len(b.stacks.Start) - 2)
	b.byStack[hash] = append(b.byStack[hash], stack)
	return stack
}

// stream gives a stream handle its number; there are at most 65,536.
func (b *builder) stream(handle uint64) uint16 {
	if handle == b.lastStream {
		return b.lastNumber
	}
	number := -1
	for i, known := range b.streams {
		if known == handle {
			number = i
			break
		}
	}
	if number < 0 {
		number = len(b.streams)
		if number > 0xffff {
			return 0xffff
		}
		b.streams = append(b.streams, handle)
	}
	b.lastStream, b.lastNumber = handle, uint16(number)
	return uint16(number)
}

// memoryPool gives a memory pool its number.
func (b *builder) memoryPool(id [2]int64) uint16 {
	for number, known := range b.memoryPools {
		if known == id {
			return uint16(number)
		}
	}
	if len(b.memoryPools) > 0xffff {
		return 0xffff
	}
	b.memoryPools = append(b.memoryPools, id)
	return uint16(len(b.memoryPools) - 1)
}

// event is one row before it is added.
type event struct {
	action  recorder.DumpAction
	stream  uint16
	pool    uint16
	stack   int32
	address uint64
	bytes   int64
	time    int64
}

// add appends a row to the events' columns.
func (b *builder) add(e *event) int32 {
	events := &b.events
	row := len(events.Action)
	if row == cap(events.Action) {
		b.grow()
	}
	events.Action = append(events.Action, e.action)
	events.Address = append(events.Address, e.address)
	events.Bytes = append(events.Bytes, e.bytes)
	events.Stream = append(events.Stream, e.stream)
	events.Pool = append(events.Pool, e.pool)
	events.TimeUs = append(events.TimeUs, e.time)
	events.Stack = append(events.Stack, e.stack)
	return int32(row)
}

// grow makes room for more events, all columns together: for the whole file
// where its size is known and what was read so far tells how dense it is,
// else a quarter more.
func (b *builder) grow() {
	events := &b.events
	rows := len(events.Action)
	room := max(1024, rows*5/4)
	if read := b.read(); rows >= 1024 && b.size > read {
		expected := int64(float64(rows)*float64(b.size)/float64(read)*1.02) + 1024
		if expected > int64(room) && expected*eventBytes < b.limit(b.size)/2 {
			room = int(expected)
		}
	}
	events.Action = resized(events.Action, room)
	events.Address = resized(events.Address, room)
	events.Bytes = resized(events.Bytes, room)
	events.Stream = resized(events.Stream, room)
	events.Pool = resized(events.Pool, room)
	events.TimeUs = resized(events.TimeUs, room)
	events.Stack = resized(events.Stack, room)
}

func resized[T any](column []T, room int) []T {
	grown := make([]T, len(column), room)
	copy(grown, column)
	return grown
}

// eventBytes is what one row of the events takes.
const eventBytes = 1 + 8 + 8 + 2 + 2 + 8 + 4

// memory is what the machine holds, in bytes; columns count with room to be
// copied once.
func (m *machine) memory() int64 {
	valueBytes := int64(unsafe.Sizeof(value{}))
	held := int64(cap(m.stack))*valueBytes*2 + int64(cap(m.memo))*4*2 +
		int64(cap(m.dicts))*int64(unsafe.Sizeof(dict{}))*2 + int64(cap(m.lists))*int64(unsafe.Sizeof(list{}))*2 +
		int64(cap(m.tuples))*int64(unsafe.Sizeof([]value{}))*2 + int64(cap(m.others))*valueBytes*2 +
		m.textBytes + int64(cap(m.events.Action))*eventBytes + int64(len(m.events.Action))*eventBytes/4 +
		int64(len(m.frames))*64 + int64(cap(m.stacks.Frames))*4*2 + int64(cap(m.stacks.Start))*(4*2+48) +
		int64(len(m.events.Notes))*128 + int64(len(m.events.Free))*48
	for i := range m.dicts {
		held += int64(cap(m.dicts[i].pairs)) * valueBytes
	}
	for i := range m.lists {
		held += int64(cap(m.lists[i].values)) * valueBytes
	}
	for i := range m.tuples {
		held += int64(cap(m.tuples[i])) * valueBytes
	}
	return held
}

// checkMemory refuses a file that was made to exhaust memory.
func (m *machine) checkMemory() error {
	if m.progress != nil && !m.progress(m.in.offset, int64(len(m.events.Action))) {
		return ErrCancelled
	}
	if needed, limit := m.memory(), m.limit(max(m.in.offset, 0)); needed > limit {
		return &TooDenseError{Offset: m.in.offset, Needed: needed, Limit: limit}
	}
	return nil
}
