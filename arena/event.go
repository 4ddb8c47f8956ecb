package arena

// Op says what an Event of an arena is. The values are the op codes of the
// record format (recorder/FORMAT.md) and never change meaning.
type Op uint8

// The op codes of arena events.
const (
	OpNone       Op = 0
	OpNew        Op = 1  // the arena exists; Bytes is its length
	OpAlloc      Op = 2  // forward (temporary) allocation
	OpPersist    Op = 3  // reverse (persistent) allocation
	OpTempPush   Op = 4  // a temporary context opens; Clear says whether it will clear the persistent side
	OpTempPop    Op = 5  // a temporary context closes; the pointers are those after the restore
	OpScopeOpen  Op = 6  // a scope opens; Name and Params describe it
	OpScopeClose Op = 7  // the scope Scope closes, and every scope opened after it
	OpParams     Op = 8  // parameters merged into the innermost open scope
	OpMark       Op = 9  // the forward pointer was saved
	OpRestore    Op = 10 // the forward pointer was restored to the last mark
	OpSet        Op = 11 // both pointers were set from outside
	OpReset      Op = 12 // the arena was reset; open scopes become abandoned. Reason says why, where known
	OpRelease    Op = 13 // the buffer was given back; the arena takes no more allocations
	OpFail       Op = 14 // an allocation did not fit; nothing moved. Bytes was asked, Persist says on which side

	// OpUnseen says that the pointers may have been elsewhere since the event
	// before, in an arena whose pointers are looked at between events alone.
	// Bytes is the most that can have been in use then, both sides together. An
	// Arena never sends it: it sees every move.
	OpUnseen Op = 15
)

// Event is one thing that happened to an arena, as its Observer sees it. It
// is passed by value and holds no pointer into the arena.
//
// It mirrors the events of algan's AllocationRecorder (kind, caller, dtype,
// persist, numel, itemsize) and adds what those lack: the pointers after the
// event, from which the address follows, and the operations that algan does
// not record (marks, set, reset, fail).
type Event struct {
	Op       Op
	Persist  bool   // OpFail: the side that was asked
	Clear    bool   // OpTempPush
	Scope    uint64 // OpScopeOpen, OpScopeClose: number of the scope in this arena, from 1, in open order
	Bytes    int64  // OpNew: length; OpAlloc, OpPersist, OpFail: numel*itemsize, bytes, padding apart
	ItemSize int64  // bytes per item, the alignment; 0 where there is none
	Forward  int64  // forward pointer after the event, bytes from the arena's start
	Reverse  int64  // reverse pointer after the event, bytes from the arena's start
	DType    string // name of the item type, such as "float32"; "" when unknown
	Caller   string // who allocated, as "package.Function"; "<unknown>" when unknown
	Name     string // OpNew: the arena's name; OpScopeOpen: the scope's name
	Reason   string // OpReset, OpRelease, OpFail: why, in words; "" when unknown
	Params   []Param
}

// Observer is told of everything that happens to an arena, on the goroutine
// that owns the arena, before the call that caused it returns. It must not
// keep Params beyond the call unless it copies them, and must not call back
// into the arena.
type Observer interface {
	ObserveArena(event Event)
}
