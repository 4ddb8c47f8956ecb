package recorder

// Dump is what a foreign dump file holds, in columns: the history of each
// device's allocator, as far as it was kept, and its state at the end. It is
// immutable once its reader has handed it over.
type Dump struct {
	Format      string       // in words, such as "PyTorch memory snapshot, pickle protocol 4"
	Strings     []string     // 0 is ""; hostile text, sanitise before drawing
	Frames      []DumpFrame  // each distinct frame once
	Stacks      DumpStacks   // each distinct stack once
	Streams     []uint64     // stream handles in order of appearance; 0 is the default stream
	MemoryPools [][2]int64   // memory pool IDs in order of appearance; (0,0) is the default pool
	Devices     []DumpDevice // one per device ordinal, idle ones too
	Annotations []DumpAnnotation
	Settings    []DumpSetting // the allocator's settings, as text
	Extras      []string      // keys that were met and mean nothing here
	Overflowed  bool          // the writer said that the history's ring was overwritten
	Truncated   bool          // the file ends early; what was read is here
	Problems    []string      // inconsistencies in words, bounded
	Bytes       int64         // length of the dump itself, after inflation
}

// DumpFrame is one line of a stack.
type DumpFrame struct {
	Name uint32 // string number
	File uint32 // string number
	Line int64  // -1 unknown
}

// DumpStacks holds stacks by number: stack s is Frames[Start[s]:Start[s+1]],
// innermost frame first. Stack 0 is empty.
type DumpStacks struct {
	Start  []uint32
	Frames []uint32 // frame numbers
}

// Len is how many stacks there are, the empty one included.
func (s *DumpStacks) Len() int { return max(len(s.Start)-1, 0) }

// Stack is the frames of stack number n, innermost first.
func (s *DumpStacks) Stack(n int32) []uint32 {
	if n < 0 || int(n)+1 >= len(s.Start) {
		return nil
	}
	return s.Frames[s.Start[n]:s.Start[n+1]]
}

// DumpDevice is one device's history and end state.
type DumpDevice struct {
	Ordinal  int  // -1 for the host
	Host     bool // pinned host memory
	Events   DumpEvents
	Segments []DumpSegment // by address
	Blocks   DumpBlocks    // by segment, then by address
}

// DumpAction is what an event did. The values are those of the columns, not
// of any file.
type DumpAction uint8

// The actions of a PyTorch trace, as documented in torch's
// CUDACachingAllocator TraceEntry, and one for all that are not known.
const (
	DumpUnknown DumpAction = iota
	DumpAlloc
	DumpFreeRequested
	DumpFreeCompleted
	DumpSegmentAlloc
	DumpSegmentFree
	DumpSegmentMap
	DumpSegmentUnmap
	DumpSnapshot
	DumpOOM
	DumpUserDefined
	DumpAnnotate
	DumpFree
)

var dumpActionNames = [...]string{
	"unknown", "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map",
	"segment_unmap", "snapshot", "oom", "user_defined", "annotate", "free",
}

// String is the action's name in a PyTorch trace.
func (a DumpAction) String() string { return dumpActionNames[min(int(a), len(dumpActionNames)-1)] }

// DumpActionByName finds an action by its name in a PyTorch trace; what is
// not known is DumpUnknown.
func DumpActionByName(name string) DumpAction {
	for action, known := range dumpActionNames {
		if known == name {
			return DumpAction(action)
		}
	}
	return DumpUnknown
}

// DumpEvents is a history in columns of equal length, oldest first.
type DumpEvents struct {
	Action  []DumpAction
	Address []uint64
	Bytes   []int64 // as the action means it: requested for alloc and frees, the segment's for segment actions, rounded for oom
	Stream  []uint16
	Pool    []uint16
	TimeUs  []int64 // Unix microseconds; 0 unknown
	Stack   []int32
	Free    map[int]int64         // event -> bytes free on the device, for oom; absent is unknown
	Notes   map[int][]DumpSetting // event -> what else it said
}

// Len is how many events there are.
func (e *DumpEvents) Len() int { return len(e.Action) }

// DumpSegment is one allocation from the driver, or one mapped stretch of an
// expandable one.
type DumpSegment struct {
	Address    uint64
	Bytes      int64 // total
	Allocated  int64
	Active     int64
	Requested  int64
	Stream     uint16
	Pool       uint16
	Small      bool // of the small pool
	Expandable bool
	Stack      int32
	First      int32 // its first block
	Count      int32 // its blocks
}

// DumpBlockState is how a block of the end state stands.
type DumpBlockState uint8

// The states of a block.
const (
	DumpInactive DumpBlockState = iota
	DumpActive
	DumpPendingFree // freed by the program, waiting for another stream
)

// DumpBlocks is blocks in columns of equal length.
type DumpBlocks struct {
	Address   []uint64
	Bytes     []int64 // rounded
	Requested []int64 // as asked; 0 for an inactive block
	State     []DumpBlockState
	Stack     []int32
}

// Len is how many blocks there are.
func (b *DumpBlocks) Len() int { return len(b.Address) }

// DumpAnnotation is one end of a range that the program marked.
type DumpAnnotation struct {
	Name   string
	Start  bool
	Device int
	TimeUs int64
}

// DumpSetting is a key with its value as text.
type DumpSetting struct{ Key, Value string }
