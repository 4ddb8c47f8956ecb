package torchsnap

import (
	"slices"

	"vramscope/recorder"
)

// maximumBytes is the largest block, segment or event that makes sense.
const maximumBytes = 1 << 50

// eventBytes is what one row of the events takes.
const eventBytes = 1 + 8 + 8 + 2 + 2 + 8 + 4

// row is an event or a block before it is added to its columns.
type row struct {
	action    recorder.DumpAction
	state     recorder.DumpBlockState
	stack     int32
	stream    uint64   // the handle
	pool      [2]int64 // the memory pool's ID
	address   uint64
	bytes     int64
	requested int64
	timeUs    int64
}

// columns collects the events and blocks of a snapshot, in the order of the
// file. The slices are as long as they have room.
type columns struct {
	*account
	events     recorder.DumpEvents
	eventCount int
	blocks     recorder.DumpBlocks
	blockCount int
	odd        int // sizes that made no sense and count as 0

	free  []eventFree // in the order of events
	notes []eventNotes
	// byNote finds notes of a single setting that were kept before.
	byNote map[recorder.DumpSetting][]recorder.DumpSetting

	streams     []uint64
	byStream    map[uint64]uint16
	lastStream  uint64
	lastNumber  uint16
	memoryPools [][2]int64
	byPool      map[[2]int64]uint16

	// whole guesses how long the file is, in inflated bytes; 0 is unknown.
	// It is a hint for the room of columns.
	whole       func() int64
	eventsBegin int64 // where in the file the first event stood
}

type eventFree struct {
	event int32
	bytes int64
}

type eventNotes struct {
	event int32
	notes []recorder.DumpSetting
}

func newColumns(a *account, whole func() int64) columns {
	return columns{
		account: a, whole: whole,
		streams: []uint64{0}, byStream: map[uint64]uint16{0: 0},
		memoryPools: [][2]int64{{0, 0}}, byPool: map[[2]int64]uint16{{0, 0}: 0},
		byNote: map[recorder.DumpSetting][]recorder.DumpSetting{},
	}
}

// addEvent appends an event and returns its row.
func (c *columns) addEvent(r *row) int {
	n := c.eventCount
	events := &c.events
	if n >= len(events.Action) {
		c.growEvents()
	}
	events.Action[n] = r.action
	events.Address[n] = r.address
	events.Bytes[n] = c.sane(r.bytes)
	events.Stream[n] = c.stream(r.stream)
	events.Pool[n] = c.memoryPool(r.pool)
	events.TimeUs[n] = r.timeUs
	events.Stack[n] = r.stack
	c.eventCount++
	return n
}

// addBlock appends a block and returns its row.
func (c *columns) addBlock(r *row) int {
	n := c.blockCount
	blocks := &c.blocks
	if n == len(blocks.Address) {
		room := max(64, n+n/2)
		blocks.Address = lengthened(c.account, blocks.Address, room)
		blocks.Bytes = lengthened(c.account, blocks.Bytes, room)
		blocks.Requested = lengthened(c.account, blocks.Requested, room)
		blocks.State = lengthened(c.account, blocks.State, room)
		blocks.Stack = lengthened(c.account, blocks.Stack, room)
	}
	blocks.Address[n] = r.address
	blocks.Bytes[n] = c.sane(r.bytes)
	blocks.State[n] = r.state
	blocks.Requested[n], blocks.Stack[n] = 0, 0
	if r.state&^stateUnplaced != recorder.DumpInactive { // else what stands there is stale
		blocks.Requested[n], blocks.Stack[n] = c.sane(r.requested), r.stack
	}
	c.blockCount++
	return n
}

// sane is a number of bytes that makes sense, 0 for any other.
func (c *columns) sane(bytes int64) int64 {
	if uint64(bytes) > maximumBytes {
		c.odd++
		return 0
	}
	return bytes
}

// growEvents makes room for more events, all columns together: for the whole
// file once enough of it was read to know how dense it is, else as much again.
func (c *columns) growEvents() {
	n := c.eventCount
	if n == 0 {
		c.eventsBegin = *c.read
	}
	room := c.roomFor(n, *c.read-c.eventsBegin, eventBytes)
	events := &c.events
	events.Action = lengthened(c.account, events.Action, room)
	events.Address = lengthened(c.account, events.Address, room)
	events.Bytes = lengthened(c.account, events.Bytes, room)
	events.Stream = lengthened(c.account, events.Stream, room)
	events.Pool = lengthened(c.account, events.Pool, room)
	events.TimeUs = lengthened(c.account, events.TimeUs, room)
	events.Stack = lengthened(c.account, events.Stack, room)
}

// roomFor is how many items of so many bytes to have room for, when n of them
// came from a stretch of the file.
func (c *columns) roomFor(n int, stretch int64, itemBytes int) int {
	const certain = 1 << 15 // items, before which the density is a guess
	if n < certain {
		return max(1024, 4*n)
	}
	room := n + n/4
	if rest := c.whole() - *c.read; rest > 0 && stretch > 0 {
		expected := float64(n)*float64(rest)/float64(stretch)*1.02 + 1024
		allowed := float64(c.spare())/float64(itemBytes)*3/4 - float64(n)
		room = max(room, n+int(min(expected, allowed)))
	}
	return room
}

func lengthened[T any](a *account, column []T, room int) []T {
	return withRoom(a, column, room)[:room]
}

// stream gives a stream handle its number. There are at most 65,536; those
// that come later share the last.
func (c *columns) stream(handle uint64) uint16 {
	if handle == c.lastStream {
		return c.lastNumber
	}
	number, known := c.byStream[handle]
	if !known {
		number = uint16(min(len(c.streams), 0xffff))
		if len(c.streams) <= 0xffff {
			c.take(64)
			c.streams, c.byStream[handle] = append(c.streams, handle), number
		}
	}
	c.lastStream, c.lastNumber = handle, number
	return number
}

// memoryPool gives a memory pool its number. There are at most 65,536; those
// that come later share the last.
func (c *columns) memoryPool(id [2]int64) uint16 {
	if id == [2]int64{} {
		return 0
	}
	number, known := c.byPool[id]
	if !known {
		number = uint16(min(len(c.memoryPools), 0xffff))
		if len(c.memoryPools) <= 0xffff {
			c.take(96)
			c.memoryPools, c.byPool[id] = append(c.memoryPools, id), number
		}
	}
	return number
}

// note keeps what else the event of a row said. Events that say the same one
// thing share it, as neighbours that say the same do.
func (c *columns) note(event int, notes []recorder.DumpSetting) {
	c.take(80) // its entry in the map of the finished device
	c.notes = appended(c.account, c.notes, eventNotes{int32(event), c.sharedNotes(notes)})
}

func (c *columns) sharedNotes(notes []recorder.DumpSetting) []recorder.DumpSetting {
	if last := len(c.notes) - 1; last >= 0 && slices.Equal(c.notes[last].notes, notes) {
		return c.notes[last].notes
	}
	if shared, known := c.byNote[notes[0]]; known && len(notes) == 1 {
		return shared
	}
	kept := appended(c.account, []recorder.DumpSetting(nil), notes...)[:len(notes):len(notes)]
	const most = 1 << 12 // that are looked for: texts of every event's own are not worth it
	if len(notes) == 1 && len(c.byNote) < most {
		c.byNote[notes[0]] = kept
	}
	return kept
}
