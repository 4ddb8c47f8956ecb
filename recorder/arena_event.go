package recorder

import (
	"iter"

	"vramscope/arena"
)

// Flags of an arena's event, as ArenaEvents.Flags holds them.
const (
	FlagPersist uint8 = 1 << 0 // arena.OpFail: the persistent side was asked
	FlagClear   uint8 = 1 << 1 // arena.OpTempPush: closing it will clear the persistent side
)

// ArenaEvent is one row of an ArenaEvents: an arena.Event with its time and
// frame, in which strings are numbers.
type ArenaEvent struct {
	Ns       int64 // monotonic ns
	Frame    int64 // frame under way, -1 unknown
	Op       arena.Op
	Flags    uint8
	Bytes    int64
	ItemSize int64  // bytes
	Forward  int64  // pointer after the event, bytes from the arena's start
	Reverse  int64  // pointer after the event, bytes from the arena's start
	Scope    uint64 // number of the scope, from 1 in open order
	Text     uint32 // string number of the name, the caller or the reason
	DType    uint32 // string number
	Params   []arena.Param
}

// IsAllocation says whether the event moved a pointer for somebody's bytes.
func (e *ArenaEvent) IsAllocation() bool { return e.Op == arena.OpAlloc || e.Op == arena.OpPersist }

// Len is how many events the batch holds.
func (b *ArenaEvents) Len() int { return len(b.Op) }

// All yields the events of the batch in order. The event it yields is
// overwritten by the next one; its Params belong to the batch.
func (b *ArenaEvents) All() iter.Seq2[int, *ArenaEvent] {
	return func(yield func(int, *ArenaEvent) bool) {
		var event ArenaEvent
		event.Frame = b.Frame
		params := b.Params
		for i := range b.Op {
			event.Ns = b.Ns[i]
			event.Op = b.Op[i]
			event.Flags = b.Flags[i]
			event.Bytes = b.Bytes[i]
			event.ItemSize = b.ItemSize[i]
			event.Forward = b.Forward[i]
			event.Reverse = b.Reverse[i]
			event.Scope = b.Scope[i]
			event.Text = b.Text[i]
			event.DType = b.DType[i]
			event.Params = nil
			if len(params) > 0 && int(params[0].Index) == i {
				event.Params = params[0].Params
				params = params[1:]
			}
			if !yield(i, &event) {
				return
			}
		}
	}
}

// Append adds an event. Its parameters are copied; its frame is not kept, since
// a batch belongs to one frame.
func (b *ArenaEvents) Append(event *ArenaEvent) {
	if len(b.Op) == 0 {
		b.Head.Ns, b.Frame = event.Ns, event.Frame
	}
	if len(event.Params) > 0 {
		b.appendParams(event.Params)
	}
	b.Ns = append(b.Ns, event.Ns)
	b.Op = append(b.Op, event.Op)
	b.Flags = append(b.Flags, event.Flags)
	b.Bytes = append(b.Bytes, event.Bytes)
	b.ItemSize = append(b.ItemSize, event.ItemSize)
	b.Forward = append(b.Forward, event.Forward)
	b.Reverse = append(b.Reverse, event.Reverse)
	b.Scope = append(b.Scope, event.Scope)
	b.Text = append(b.Text, event.Text)
	b.DType = append(b.DType, event.DType)
}

// appendParams copies params for the event that comes next, into the memory
// that an earlier batch left where there is some.
func (b *ArenaEvents) appendParams(params []arena.Param) {
	n := len(b.Params)
	if n < cap(b.Params) {
		b.Params = b.Params[:n+1]
	} else {
		b.Params = append(b.Params, EventParams{})
	}
	entry := &b.Params[n]
	entry.Index = int32(len(b.Op))
	entry.Params = append(entry.Params[:0], params...)
}

// Reset empties the batch and keeps its memory.
func (b *ArenaEvents) Reset() {
	b.Ns, b.Op, b.Flags = b.Ns[:0], b.Op[:0], b.Flags[:0]
	b.Bytes, b.ItemSize = b.Bytes[:0], b.ItemSize[:0]
	b.Forward, b.Reverse = b.Forward[:0], b.Reverse[:0]
	b.Scope, b.Text, b.DType = b.Scope[:0], b.Text[:0], b.DType[:0]
	b.Params = b.Params[:0]
}
