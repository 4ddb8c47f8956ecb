package torchsnap

import "vramscope/recorder"

// kind says what a value of the machine is.
type kind uint8

const (
	kindNone kind = iota
	kindFalse
	kindTrue
	kindInt   // n is an int64
	kindUint  // n is 2^63 or more
	kindFloat // n is the bits
	kindText  // n is a string number
	kindMark
	kindDict  // n indexes machine.dicts
	kindList  // n indexes machine.lists
	kindTuple // n indexes machine.tuples
	kindEvent // n is a row of machine.events
	kindStack // n is a stack number: a finished list of frames
	kindOther // n indexes machine.others: memoised values that do not fit the memo's 28 bits
)

// value is what stands on the machine's stack.
type value struct {
	kind kind
	n    uint64
}

func intValue(n int64) value { return value{kindInt, uint64(n)} }

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

// dict is a dictionary that the fast path did not take: pairs of key and
// value, and what it turned out to be.
type dict struct {
	pairs []value
	frame int32 // frame number plus one
	event int32 // event row plus one
}

// list is a list: a run of events, or any values.
type list struct {
	values []value
	first  int32 // rows first..first+count of events, while values is empty
	count  int32
	stack  int32 // stack number plus one, once it was asked for as a list of frames
}

// field is what a key of an event, segment, block or frame means.
type field uint8

const (
	fieldNone field = iota
	fieldAction
	fieldAddress
	fieldSize
	fieldStream
	fieldTime
	fieldFrames
	fieldPool
	fieldDeviceFree
	fieldText // kept as a note when it says something
	fieldIgnored
)

var fieldNames = map[string]field{
	"action": fieldAction, "addr": fieldAddress, "size": fieldSize, "stream": fieldStream, "time_us": fieldTime,
	"frames": fieldFrames, "pool_id": fieldPool, "segment_pool_id": fieldPool, "device_free": fieldDeviceFree,
	"compile_context": fieldText, "user_metadata": fieldText, "internal_metadata": fieldText, "category": fieldText,
	"device": fieldIgnored, "forward_frames": fieldIgnored,
}

// textFields are what an interned string can mean, looked up once.
type meaning struct {
	field  field
	action recorder.DumpAction
}
