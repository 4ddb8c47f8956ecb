package torchsnap

import "vramscope/recorder"

// kind says what a value of the machine is.
type kind uint8

const (
	kindNone kind = iota
	kindFalse
	kindTrue
	kindText  // n is a string number
	kindDict  // n indexes machine.dicts
	kindList  // n indexes machine.lists
	kindTuple // n indexes machine.lists
	kindPair  // n is a pair number: a tuple of two integers, as memory pools are named
	kindEvent // a run of events: the first row in the lower half of n, how many in the upper
	kindBlock // a run of blocks, the same
	kindStack // n is a stack number: a finished list of frames
	kindFrame // n is a frame number
	kindOther // only in the memo: n indexes machine.others

	// What follows does not fit a memo entry and is remembered as kindOther.

	kindInt   // n is an int64
	kindUint  // n is 2^63 or more
	kindFloat // n is the bits of a float64
	kindMark
)

// value is what stands on the machine's stack.
type value struct {
	kind kind
	n    uint64
}

func intValue(n int64) value { return value{kindInt, uint64(n)} }

// rows is a value for count rows of the columns, from first on.
func rows(k kind, first, count int) value { return value{k, uint64(first) | uint64(count)<<32} }

// run is the rows that a value stands for.
func (v value) run() (first, count int) { return int(uint32(v.n)), int(v.n >> 32) }

// isRows says whether the value stands for rows of the columns.
func (v value) isRows() bool { return v.kind == kindEvent || v.kind == kindBlock }

// joined is v and next as one run, where next's rows follow v's.
func (v value) joined(next value) (value, bool) {
	if !v.isRows() || v.kind != next.kind {
		return value{}, false
	}
	first, count := v.run()
	then, more := next.run()
	return rows(v.kind, first, count+more), first+count == then
}

// integer is the value as an int64; ok is false when it is none.
func (v value) integer() (n int64, ok bool) {
	switch v.kind {
	case kindInt:
		return int64(v.n), true
	case kindTrue:
		return 1, true
	case kindFalse:
		return 0, true
	}
	return 0, false
}

// address is the value as an address; ok is false when it is none.
func (v value) address() (uint64, bool) {
	if v.kind == kindUint || v.kind == kindInt {
		return v.n, true
	}
	return 0, false
}

// remembered is a memo entry: the kind in its top four bits, 28 bits of n.
// Snapshots memoise one value for every event and more, so it is kept small.
type remembered uint32

const (
	rememberedBits = 28
	rememberedMask = 1<<rememberedBits - 1
	nothing        = remembered(kindOther)<<rememberedBits | rememberedMask
)

// dict is a dictionary that no fast path took: pairs of key and value, and
// what it turned out to be.
type dict struct {
	pairs []value
	is    kind // kindEvent, kindBlock or kindFrame once recognised; it may not change any more then
	taken bool // it is part of the dump already
	n     int32
}

// list is a list or a tuple.
type list struct {
	values []value
	stack  int32 // stack number plus one, once it was asked for as a list of frames
	sealed bool  // it may not change any more
}

// field is what a key of one of the schema's dictionaries means.
type field uint8

const (
	fieldUnknown field = iota
	fieldAction
	fieldAddr // of an event
	fieldSize
	fieldStream
	fieldTime
	fieldFrames
	fieldPool
	fieldDeviceFree
	fieldNote // text, kept when it says something
	fieldIgnored
	fieldDevice
	fieldAddress // of a segment or block
	fieldTotal
	fieldAllocated
	fieldActive
	fieldRequested
	fieldSegmentType
	fieldExpandable
	fieldBlocks
	fieldState
	fieldHistory
	fieldRealSize
	fieldName
	fieldFile
	fieldLine
	fieldStage
)

var fieldNames = map[string]field{
	"action": fieldAction, "addr": fieldAddr, "size": fieldSize, "stream": fieldStream, "time_us": fieldTime,
	"frames": fieldFrames, "pool_id": fieldPool, "segment_pool_id": fieldPool, "device_free": fieldDeviceFree,
	"compile_context": fieldNote, "user_metadata": fieldNote, "internal_metadata": fieldNote, "category": fieldNote,
	"forward_frames": fieldIgnored, "device": fieldDevice, "address": fieldAddress, "total_size": fieldTotal,
	"allocated_size": fieldAllocated, "active_size": fieldActive, "requested_size": fieldRequested,
	"segment_type": fieldSegmentType, "is_expandable": fieldExpandable, "blocks": fieldBlocks, "state": fieldState,
	"history": fieldHistory, "real_size": fieldRealSize, "name": fieldName, "filename": fieldFile, "line": fieldLine,
	"stage": fieldStage,
}

var stateNames = map[string]recorder.DumpBlockState{
	"inactive": recorder.DumpInactive, "active_allocated": recorder.DumpActive,
	"active_pending_free": recorder.DumpPendingFree, "active_awaiting_free": recorder.DumpPendingFree,
}

// meaning is what an interned string can stand for, looked up once.
type meaning struct {
	field  field
	action recorder.DumpAction
	state  recorder.DumpBlockState
	aside  bool // kept already as a key that means nothing
}

func meaningOf(text string) meaning {
	return meaning{fieldNames[text], recorder.DumpActionByName(text), stateNames[text], false}
}
