package recorder

import (
	"vramscope/arena"
	"vramscope/pool"
)

// Protocol is the version of the record format that this program writes, and
// MinimumProtocol the oldest one that a reader must understand to read it. A
// change of meaning bumps Protocol; an added key does not.
const (
	Protocol        = 1
	MinimumProtocol = 1
)

// MaxLine is the longest line of the format, in bytes without its line feed.
// A longer one is skipped and counted.
const MaxLine = 1 << 20

// Record is one line of a stream or a recording. The types that satisfy it
// are listed in FORMAT.md; a reader skips types that it does not know.
type Record interface {
	// Type is the value of the record's "t" key.
	Type() string
	// Source is the value of its "src" key: which source speaks.
	Source() string
	// Time is its moment in monotonic nanoseconds, 0 when it has none.
	Time() int64
}

// Head is what every record has.
type Head struct {
	Src string `json:"src,omitempty"`
	Ns  int64  `json:"ns,omitempty"` // monotonic nanoseconds (CLOCK_MONOTONIC of the writing host)
}

// Source is the source that speaks.
func (h Head) Source() string { return h.Src }

// Time is the record's moment in monotonic nanoseconds.
func (h Head) Time() int64 { return h.Ns }

// Kinds of sources, as Hello.Kind says them.
const (
	KindProcess     = "process"     // a program with a probe, an arena or a pool
	KindDevice      = "device"      // a GPU seen through NVML
	KindHost        = "host"        // the machine's own memory
	KindCalibration = "calibration" // every arena recorded since recording was armed
)

// Hello introduces a source. It is the first record of a stream, and stands
// before the first record of each source in a recording.
type Hello struct {
	Head
	Proto    int               `json:"proto"`
	Min      int               `json:"min"`
	Kind     string            `json:"kind,omitempty"`
	Name     string            `json:"name,omitempty"`    // what to call it on the screen
	Version  string            `json:"ver,omitempty"`     // of the writer, such as "vramscope 0.1.0"
	PID      int               `json:"pid,omitempty"`     // as the process sees itself
	NSPIDs   []int             `json:"nspid,omitempty"`   // from outermost to innermost namespace
	Start    uint64            `json:"start,omitempty"`   // start time in clock ticks after boot (field 22 of /proc/PID/stat)
	Wall     int64             `json:"wall,omitempty"`    // Unix nanoseconds at the moment Ns
	Argv     []string          `json:"argv,omitempty"`    // may be left out
	Job      string            `json:"job,omitempty"`     // name of the job that several ranks share
	Rank     *int              `json:"rank,omitempty"`    // rank in the job
	GPUs     []GPU             `json:"gpus,omitempty"`    // the devices it can see
	Have     []string          `json:"have,omitempty"`    // allocators found: "arena", "pool", "torch", ...
	Commands []string          `json:"cmds,omitempty"`    // commands it obeys
	Refuses  map[string]string `json:"nocmds,omitempty"`  // command -> why not
	Safe     string            `json:"safe,omitempty"`    // where commands run: "poll" at a frame boundary, "pending" between bytecodes
	Hz       float64           `json:"hz,omitempty"`      // samples per second
	Reserve  int64             `json:"reserve,omitempty"` // bytes that headroom holds back, 0 = the reader's setting
	Python   string            `json:"py,omitempty"`
	Seed     *int64            `json:"seed,omitempty"` // of a demo
	Want     []string          `json:"want,omitempty"` // a reader's hello: "ev" asks for events
}

// GPU names a device by its UUID.
type GPU struct {
	Ordinal int    `json:"ord"`
	UUID    string `json:"uuid"`
	Name    string `json:"name,omitempty"`
}

// Strings interns names, callers, item types and parameter names: the first
// string has the number First, the next one more, and 0 is no string.
type Strings struct {
	Head
	First   uint32   `json:"first"`
	Strings []string `json:"s"`
}

// State is everything that a late reader needs. It follows every Hello, Lost
// and file rotation, any change of structure (a pool configured or rebuilt,
// an arena made or released), and comes every 10 s. One moment's state may be
// cut into several records: all but the last have More, all but the first
// have Continued; entries of one ID are joined column by column.
type State struct {
	Head
	Frame     *int64       `json:"frame,omitempty"` // number of the frame under way
	Continued bool         `json:"cont,omitempty"`
	More      bool         `json:"more,omitempty"`
	Recording bool         `json:"rec,omitempty"` // arenas made now are recorded
	Arenas    []ArenaState `json:"arenas,omitempty"`
	Pools     []PoolState  `json:"pools,omitempty"`
	NonArena  []NonArena   `json:"nonarena,omitempty"` // one entry per name
	Dropped   int          `json:"dropped,omitempty"`  // recorded arenas that the registry's bounds pushed out
	// DroppedPeaks is how many non-arena peaks the registry's bounds pushed out.
	DroppedPeaks int `json:"pdropped,omitempty"`
}

// ArenaState is one arena with the scope tree so far.
type ArenaState struct {
	ID               int64       `json:"id"`
	Name             string      `json:"name"`
	Job              string      `json:"job,omitempty"`
	From             string      `json:"from,omitempty"` // the program it came from, in a calibration dump
	Device           string      `json:"dev,omitempty"`  // GPU UUID, or "host"
	Base             string      `json:"base,omitempty"` // address of the buffer, hex
	Length           int64       `json:"len"`
	Forward          int64       `json:"f"`
	Reverse          int64       `json:"r"`
	HighWater        int64       `json:"hw"`
	Managed          bool        `json:"managed"`
	HasBuffer        bool        `json:"buf"`
	Recorded         bool        `json:"recorded,omitempty"` // in the registry
	HalfBuilt        bool        `json:"half,omitempty"`     // registered, and never got its buffer
	CutEvents        int64       `json:"cut,omitempty"`      // events that were not kept because the registry was full
	LastLaunchFrames *int64      `json:"llf,omitempty"`
	Marks            []int64     `json:"marks,omitempty"` // saved forward pointers, oldest first
	Created          int64       `json:"made,omitempty"`  // monotonic ns
	Released         int64       `json:"gone,omitempty"`  // monotonic ns, 0 while the buffer lives
	Root             RootTotals  `json:"root,omitzero"`
	Open             []OpenScope `json:"open,omitempty"`   // outermost first
	Tree             TreeColumns `json:"tree"`             // siblings of one name merged
	Abandoned        TreeColumns `json:"abandoned"`        // the same for abandoned scopes, apart
	Folded           int64       `json:"folded,omitempty"` // scopes counted in rows named FoldedName because the tree's bounds were reached
}

// RootTotals is what an arena counted over its life, in scopes and outside of
// them. A reset takes nothing away from it.
type RootTotals struct {
	AllocCount  int64 `json:"allocs,omitempty"` // in scopes too, abandoned ones included
	SelfBytes   int64 `json:"self,omitempty"`   // outside every scope
	Peak        int64 `json:"p,omitempty"`      // simultaneous: forward + (length-reverse)
	PeakForward int64 `json:"pf,omitempty"`
	PeakNs      int64 `json:"at,omitempty"` // when Peak was set
	PeakFrame   int64 `json:"fr,omitempty"` // in which frame, -1 unknown
	PeakBound   int64 `json:"pm,omitempty"` // see TreeColumns
}

// OpenScope is a scope that has been opened and not closed.
type OpenScope struct {
	Number       uint64 `json:"n"`    // Event.Scope
	Node         int32  `json:"node"` // row of Tree that it counts into
	EntryForward int64  `json:"f"`
	EntryReverse int64  `json:"r"`
	PeakForward  int64  `json:"pf,omitempty"`
	PeakReverse  int64  `json:"pr,omitempty"`
	Peak         int64  `json:"p,omitempty"`  // simultaneous, above entry
	PeakBound    int64  `json:"pm,omitempty"` // see TreeColumns
	Opened       int64  `json:"ns,omitempty"`
}

// TreeColumns is a scope tree in columns, parents before children. Bytes are
// as asked for (numel*itemsize, padding apart); peaks are above the scope's
// entry, padding included. Siblings of one name are one row: counts and bytes
// add up, peaks are maxima.
type TreeColumns struct {
	Parent      []int32    `json:"up,omitempty"`   // -1 for the rows under the root
	Name        []uint32   `json:"name,omitempty"` // string numbers
	Count       []int64    `json:"n,omitempty"`    // scopes merged into the row
	Open        []int32    `json:"open,omitempty"` // of these, still open
	Unclosed    []int64    `json:"un,omitempty"`   // of these, unwound implicitly: their exit is not known
	AllocCount  []int64    `json:"allocs,omitempty"`
	SelfBytes   []int64    `json:"self,omitempty"`
	Peak        []int64    `json:"p,omitempty"`  // simultaneous: (forward-entry)+(entry-reverse)
	PeakForward []int64    `json:"pf,omitempty"` // as algan counts it
	PeakReverse []int64    `json:"pr,omitempty"` // as algan counts it
	PeakNs      []int64    `json:"at,omitempty"` // when Peak was set
	PeakFrame   []int64    `json:"fr,omitempty"` // in which frame, -1 unknown
	PeakBound   []int64    `json:"pm,omitempty"` // the most that Peak can have been, where moves were not seen; 0 where all were
	Params      []ParamSet `json:"params,omitempty"`
}

// ParamSet is the parameters last seen on a row of a tree: of each name the
// last value.
type ParamSet struct {
	Row    int32         `json:"row"`
	Params []arena.Param `json:"p"`
}

// PoolState is one pool with its segments and blocks.
type PoolState struct {
	ID          int64            `json:"id"`
	Name        string           `json:"name"`
	Device      string           `json:"dev,omitempty"` // GPU UUID, or "host"
	Tier        string           `json:"tier"`          // "A", "B", "C", "fallback", "none"
	Why         string           `json:"why,omitempty"` // the reason for the tier
	Stack       []string         `json:"stack,omitempty"`
	Generation  int              `json:"gen"`
	Limit       int64            `json:"limit,omitempty"` // bytes, 0 = none
	Segments    SegmentColumns   `json:"seg"`
	Blocks      BlockColumns     `json:"blk"`
	Generations []PoolGeneration `json:"gens,omitempty"` // those that ended, oldest first
	Ladder      *Ladder          `json:"ladder,omitempty"`
}

// SegmentColumns lists what a pool has taken from its upstream, by address.
type SegmentColumns struct {
	Address []string `json:"a,omitempty"` // hex
	Bytes   []int64  `json:"n,omitempty"`
}

// BlockColumns lists a pool's blocks, by address; they tile the segments.
type BlockColumns struct {
	Address   []string `json:"a,omitempty"` // hex
	Bytes     []int64  `json:"n,omitempty"`
	Requested []int64  `json:"q,omitempty"` // as asked; 0 for a free block
	Stream    []uint32 `json:"st,omitempty"`
	Live      []uint8  `json:"l,omitempty"` // 1 handed out, 0 free
}

// PoolGeneration is what a pool had counted when it was rebuilt.
type PoolGeneration struct {
	Generation    int   `json:"gen"`
	Ended         int64 `json:"ns"`
	PeakBytes     int64 `json:"peak"`
	LifetimeBytes int64 `json:"bytes"`
	LifetimeCount int64 `json:"count"`
	PoolBytes     int64 `json:"size"` // at its end
}

// Ladder is where the failure callback stands. Counts that are nil are not known:
// another library's callback does not keep them.
type Ladder struct {
	Used         int    `json:"used"`           // retries spent of this cooldown, 0..5
	CooldownNs   int64  `json:"cool,omitempty"` // until they are granted again
	Exhausted    *int64 `json:"exhausted,omitempty"`
	LastAsked    int64  `json:"asked,omitempty"` // bytes of the last allocation that failed
	LastAction   string `json:"action,omitempty"`
	Collections  *int64 `json:"collections,omitempty"`
	Rebuilds     *int64 `json:"rebuilds,omitempty"`
	SegmentFrees *int64 `json:"segfrees,omitempty"` // releases of free segments in place of a rebuild
}

// NonArena is a transient made outside the arena.
type NonArena struct {
	Name       string `json:"name"`
	InputBytes int64  `json:"in"`
	PeakBytes  int64  `json:"peak"`
	Count      int64  `json:"n,omitempty"` // samples behind this entry, 0 = one; the largest is shown
}

// Sample is a set of counters per allocator and device at one moment.
type Sample struct {
	Head
	Seq     int64        `json:"seq,omitempty"`
	Dropped int64        `json:"drop,omitempty"` // samples that this reader did not get
	Sets    []CounterSet `json:"sets"`
	Error   string       `json:"err,omitempty"` // what went wrong while sampling
}

// CounterSet is the counters of one allocator, device, arena or process.
type CounterSet struct {
	ID     string            `json:"id"`             // "device", "pool:1", "arena:3", "host", "process:812", "torch:0"
	Of     string            `json:"of"`             // see the Of constants
	Name   string            `json:"name,omitempty"` // label
	Device string            `json:"dev,omitempty"`  // GPU UUID, or "host"
	Call   string            `json:"call,omitempty"` // the call that the numbers came from
	In     string            `json:"in,omitempty"`   // ID of the set that this one lies inside; only roots are summed
	Values Counters          `json:"c"`
	Why    map[string]string `json:"why,omitempty"` // counter -> why it is missing
}

// What a CounterSet is a set of.
const (
	OfDevice  = "device"  // driver's view of a device
	OfProcess = "process" // driver's view of one process on a device
	OfHost    = "host"    // the machine's memory, and this process's share
	OfPool    = "pool"
	OfArena   = "arena"
	OfPeaks   = "peaks"   // a peak region stack
	OfContext = "context" // what a process's context itself takes on a device
)

// Frame says which frame begins.
type Frame struct {
	Head
	N int64 `json:"n"`
}

// ArenaEvents is a batch of one arena's events in columns of equal length.
type ArenaEvents struct {
	Head           // Ns is the first event's time
	Arena    int64 // which arena
	Frame    int64 // frame under way at the first event, -1 unknown
	Ns       []int64
	Op       []arena.Op
	Flags    []uint8 // bit 0: OpFail on the persistent side; bit 1: OpTempPush clears the persistent side
	Bytes    []int64
	ItemSize []int64
	Forward  []int64
	Reverse  []int64
	Scope    []uint64
	Text     []uint32 // string number: the name (OpNew, OpScopeOpen), the caller (allocations), the reason (OpReset, OpRelease, OpFail)
	DType    []uint32 // string number
	Params   []EventParams
}

// EventParams is the parameters of the event at Index of a batch.
type EventParams struct {
	Index  int32
	Params []arena.Param
}

// PoolEvents is a batch of one pool's events in columns of equal length.
type PoolEvents struct {
	Head       // Ns is the first event's time
	Pool       int64
	Frame      int64 // frame under way at the first event, -1 unknown
	Generation int
	Ns         []int64
	Op         []pool.Op
	Address    []uint64
	Bytes      []int64
	Requested  []int64
	Stream     []uint32
}

// Peak is a transient made outside the arena.
type Peak struct {
	Head
	NonArena
}

// OOM is an allocation failure and what was done about it.
type OOM struct {
	Head
	ID          string       `json:"id"` // which allocator: "pool:1", "arena:3", "torch:0"
	Asked       int64        `json:"asked"`
	Free        *int64       `json:"free,omitempty"`    // on the device, bytes
	PoolFree    *int64       `json:"pfree,omitempty"`   // in the pool, bytes
	LargestFree *int64       `json:"largest,omitempty"` // largest free block
	Rule        string       `json:"rule,omitempty"`    // how it was classified
	Scope       string       `json:"scope,omitempty"`   // path of the innermost scope
	Frame       *int64       `json:"frame,omitempty"`
	Steps       []LadderStep `json:"steps,omitempty"`
	Rescued     bool         `json:"rescued"`
	Outcome     string       `json:"outcome,omitempty"` // what the program did then, in words
}

// LadderStep is one retry of the failure callback.
type LadderStep struct {
	Attempt int    `json:"n"`
	Action  string `json:"do"` // "collect", "rebuild", "release free segments"
	Freed   *int64 `json:"freed,omitempty"`
	Ns      int64  `json:"took"`
	Why     string `json:"why,omitempty"`
}

// The commands.
const (
	CommandReclaim      = "reclaim"
	CommandForceReclaim = "force-reclaim"
	CommandRebuild      = "rebuild"
	CommandResetPeak    = "reset-peak"
	CommandHeadroom     = "headroom"
	CommandSnapshot     = "snapshot"
	CommandRecordOn     = "record-on"
	CommandRecordOff    = "record-off"
	CommandCalibration  = "calibration" // write every recorded arena to the file in Args.Path
)

// Command asks a source to do something.
type Command struct {
	Head
	ID   string      `json:"id"` // unique; a repeated one is answered with the stored result
	Name string      `json:"cmd"`
	Args CommandArgs `json:"args,omitzero"`
	TTL  int64       `json:"ttl_ms,omitempty"` // milliseconds after which it must not run any more
}

// CommandArgs are the arguments of a command.
type CommandArgs struct {
	Device   string  `json:"dev,omitempty"`
	Fraction float64 `json:"fraction,omitempty"` // headroom
	Path     string  `json:"path,omitempty"`     // snapshot, calibration, record-on
}

// States of an acknowledgement. A command gets either one of refused,
// unsupported and busy, or accepted and then exactly one of done, failed and
// expired.
const (
	AckAccepted    = "accepted"
	AckDone        = "done"
	AckFailed      = "failed"
	AckExpired     = "expired"
	AckRefused     = "refused"
	AckUnsupported = "unsupported"
	AckBusy        = "busy"
)

// Ack answers a command.
type Ack struct {
	Head
	ID     string       `json:"id"`
	Name   string       `json:"cmd,omitempty"`
	State  string       `json:"st"`
	Where  string       `json:"where,omitempty"` // accepted: what is waited for
	Why    string       `json:"why,omitempty"`
	Took   int64        `json:"took,omitempty"` // ns
	Acted  *bool        `json:"acted,omitempty"`
	Result []ResultLine `json:"result,omitempty"`
	Before []CounterSet `json:"before,omitempty"`
	After  []CounterSet `json:"after,omitempty"`
	Path   string       `json:"path,omitempty"` // a file that was written
}

// ResultLine is one thing that a command did.
type ResultLine struct {
	What   string `json:"what"`             // what was done and, after its last colon, what Before and After count: "driver free"
	Before *int64 `json:"before,omitempty"` // bytes
	After  *int64 `json:"after,omitempty"`  // bytes
	Freed  *int64 `json:"freed,omitempty"`  // bytes that went back to the driver
	Why    string `json:"why,omitempty"`    // why less came back than asked
	Took   int64  `json:"took,omitempty"`   // ns
}

// Note is a remark.
type Note struct {
	Head
	Level string `json:"level,omitempty"` // "info", "warning", "error"
	Text  string `json:"text"`
}

// Lost says that N records or events did not fit.
type Lost struct {
	Head
	N    int64  `json:"n"`
	What string `json:"what,omitempty"` // "s", "ev"
}

// Bye is the end of a source.
type Bye struct {
	Head
	Why string `json:"why,omitempty"`
}

// Want changes what a connected reader asks for. Only readers send it.
type Want struct {
	Head
	Events bool `json:"ev"`
}

// Type is "hello".
func (*Hello) Type() string { return "hello" }

// Type is "str".
func (*Strings) Type() string { return "str" }

// Type is "state".
func (*State) Type() string { return "state" }

// Type is "s".
func (*Sample) Type() string { return "s" }

// Type is "frame".
func (*Frame) Type() string { return "frame" }

// Type is "ev".
func (*ArenaEvents) Type() string { return "ev" }

// Type is "ev".
func (*PoolEvents) Type() string { return "ev" }

// Type is "peak".
func (*Peak) Type() string { return "peak" }

// Type is "oom".
func (*OOM) Type() string { return "oom" }

// Type is "cmd".
func (*Command) Type() string { return "cmd" }

// Type is "ack".
func (*Ack) Type() string { return "ack" }

// Type is "note".
func (*Note) Type() string { return "note" }

// Type is "lost".
func (*Lost) Type() string { return "lost" }

// Type is "bye".
func (*Bye) Type() string { return "bye" }

// Type is "want".
func (*Want) Type() string { return "want" }
