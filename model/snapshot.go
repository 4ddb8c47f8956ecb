package model

import (
	"strconv"

	"vramscope/model/costs"
	"vramscope/model/dump"
	"vramscope/recorder"
)

// Snapshot is everything there is to see, at one moment. It is immutable: the
// store publishes a new one at most every 100 ms and shares what has not
// changed.
type Snapshot struct {
	Version uint64        // grows with every snapshot that differs
	Now     int64         // monotonic ns at which it was made
	Wall    int64         // the same moment in Unix ns
	Sources []*SourceView // processes first, then devices, the host, files; each group in order of appearance
	Log     []Entry       // what happened, in the order in which it was heard; bounded, Entry.Seq never repeats
	Self    SelfCost
}

// SelfCost is what this program itself takes.
type SelfCost struct {
	CPUPercent  float64 // of one core, over the last seconds; negative while unknown
	Resident    int64   // bytes
	DeviceBytes int64   // device memory held by this process as the driver says; -1 while unknown
	Dropped     int64   // records that did not reach the store
}

// Status is how a source is doing.
type Status uint8

// The states of a source.
const (
	StatusConnecting Status = iota
	StatusLive              // records come
	StatusLoading           // a file is being read
	StatusFollowing         // a file was read to its end and is watched for growth
	StatusComplete          // a file was read to its end and ends with bye, or will not grow
	StatusCut               // a file ends in the middle of a record
	StatusStale             // nothing came for longer than the source said it would
	StatusEnded             // the source said goodbye
	StatusFailed            // the source broke off; StatusWhy says how
	StatusLost              // the device is gone or the driver is not there; StatusWhy says what to do
)

// SourceView is one source at one moment: the newest for a live source, any
// for what At answers. It is immutable.
type SourceView struct {
	ID        string          // of the view, unique in a Snapshot
	Source    string          // ID of the Source that brings it; a recording brings several views
	Src       string          // what its records call it
	Kind      string          // recorder.Kind…; "" before the hello
	Name      string          // for the screen, sanitised by whoever draws it
	Hello     *recorder.Hello // nil before it came
	File      string          // path, for a file
	Own       bool            // a program that was started to be watched here
	Dump      *dump.Index     // of a memory dump, which has nothing else; nil for other sources and while it was let go
	Summary   *dump.Summary   // of a memory dump, as far as it was read at any time
	Costs     *costs.Index    // of a calibration file, which has nothing else; nil for other sources
	Status    Status
	StatusWhy string // a sentence, "" when there is nothing to say
	Done      int64  // bytes read, for a file
	Size      int64  // bytes in all, for a file; 0 unknown
	DoneCount int64  // events read, for a memory dump
	LeftNs    int64  // until all is read, ns, as far as it can be told; 0 unknown

	First     int64 // monotonic ns of the first record that is still kept
	Now       int64 // monotonic ns of the newest record, or the moment that At was asked for
	Frame     int64 // frame under way, -1 unknown
	Past      bool  // made by At: not the newest
	Recording bool  // arenas made now are recorded

	Sets     []recorder.CounterSet // newest values, one per set ID, in order of appearance
	Arenas   []*ArenaView          // in order of appearance; the newest last
	Gone     []*ArenaView          // arenas of a recording that no state names any more, as they were last; not in views of the past
	Pools    []*PoolView
	NonArena []NonArenaTotal // by name
	Strings  recorder.StringTable

	OOMs    []*recorder.OOM // oldest first, bounded
	Actions []Action        // commands and their results, oldest first, bounded
	Moments []Moment        // marks for the time axis, by time

	Trouble  string            // why the source has no numbers, as its newest sample says; "" mostly
	Goodbye  *recorder.Bye     // nil until the source ended
	Lost     int64             // records or events that the source said it dropped
	Dropped  int64             // recorded arenas and transients that the source's registry pushed out
	BadLines int64             // lines that could not be read
	Unread   recorder.Problems // what could not be read of a file, line by line
	Problems []string          // each an inconsistency in words, bounded

	history  *history       // series and frames
	tape     *tapeView      // kept records, for At
	pointers []*pointerView // of arenas
	newest   *SourceView    // of which At made this one; nil for the newest itself
}

// ArenaView is one arena.
type ArenaView struct {
	ID        int64
	State     recorder.ArenaState // pointers and facts; Tree, Abandoned and Open are empty here
	Scopes    *recorder.ScopeSnapshot
	Innermost string // path of the innermost open scope, "" when none is known
	Partial   bool   // joined in the middle: the length is 0 and the tree has what came since
	Unheard   bool   // not all of its allocations were told: what Scopes counts are lower bounds
	Failed    int64  // allocations that did not fit, since events are seen
	Events    int64  // seen
	Since     int64  // monotonic ns of the first event that was seen, 0 before there is one

	Temporaries      []OpenTemporary // contexts that have not ended, outermost first, as far as events told
	TemporariesKnown bool            // these are all of them

	strings recorder.StringTable
	callers *rollupView
	dtypes  *rollupView
}

// Rollup is bytes and allocations by one name, as Callers and DTypes answer.
type Rollup struct {
	Name  string
	Bytes int64
	Count int64
}

// PoolView is one pool.
type PoolView struct {
	ID    int64
	State recorder.PoolState // Segments and Blocks are empty here
	// Segments are in address order, each with its blocks in address order
	// (Segment.Blocks).
	// nil while the source has not told (no events were asked for).
	Segments []*Segment
	Complete bool // Segments are all that the pool has
}

// NonArenaTotal is the transients of one name made outside the arena.
type NonArenaTotal struct {
	Name       string
	Count      int64
	InputBytes int64 // of the sample with the largest peak
	PeakBytes  int64 // the largest
	LastInput  int64
	LastPeak   int64
	LastNs     int64
}

// Moment is a mark on the time axis.
type Moment struct {
	Ns    int64
	Frame int64 // -1 unknown
	Kind  MomentKind
	Text  string
}

// MomentKind is what happened at a Moment.
type MomentKind uint8

// The kinds of moments.
const (
	MomentOOM        MomentKind = iota // an allocation failed for good
	MomentRescued                      // an allocation failed and the callback rescued it
	MomentRebuild                      // a pool began a new generation
	MomentArenaNew                     // an arena was made
	MomentArenaReset                   // an arena was reset with scopes open: they are abandoned
	MomentAction                       // a command ran
	MomentLost                         // records were dropped
	MomentPeakReset                    // the peak floor was reset
)

// Action is a command and what became of it.
type Action struct {
	Command  recorder.Command
	Sent     int64 // monotonic ns
	Accepted *recorder.Ack
	Final    *recorder.Ack // nil while it runs
}

// Entry is one line of the log.
type Entry struct {
	Seq    uint64
	Ns     int64  // monotonic
	Wall   int64  // the same moment in Unix ns by the recording that it stands in; 0 where it is of this machine's clock
	Source string // ID
	Name   string // of the source
	PID    int    // of the program, 0 where the source is none
	Rank   *int   // of the program in its job, nil where it has none
	Level  Level
	Kind   EntryKind
	Text   string   // one line
	Detail []string // more lines: a command's results, an OOM's ladder

	Command string // ID of the command that an EntryAction is about
}

// Title is what to call the source of an entry: several may have one name.
func (e *Entry) Title() string { return programTitle(e.Name, e.PID, e.Rank) }

// ProgramTitle is a source's name with what tells it from others of that name:
// its number and its place in a job. Hello may be nil.
func ProgramTitle(name string, hello *recorder.Hello) string {
	if hello == nil {
		return name
	}
	return programTitle(name, hello.PID, hello.Rank)
}

func programTitle(name string, pid int, rank *int) string {
	if pid > 0 {
		name += " " + strconv.Itoa(pid)
	}
	if rank != nil {
		name += " rank " + strconv.Itoa(*rank)
	}
	return name
}

// Level is how much an Entry matters.
type Level uint8

// The levels.
const (
	LevelInfo Level = iota
	LevelWarning
	LevelError
)

// EntryKind groups entries.
type EntryKind uint8

// The kinds of entries.
const (
	EntryNote   EntryKind = iota
	EntrySource           // a source came, went, or changed its status
	EntryOOM
	EntryAction
	EntryLost
	EntryArena
	EntryPool
)
