package recorder

import "vramscope/arena"

// RootScopeName is what the scope around all others is called on a screen, as
// in algan. Its string number is 0.
const RootScopeName = "<root>"

// ScopeState says how a scope ended.
type ScopeState uint8

// The states of a scope.
const (
	ScopeOpen      ScopeState = iota
	ScopeClosed               // closed by itself; its exit pointers are known
	ScopeUnclosed             // ended by the end of an outer scope: its exit pointers equal its entry
	ScopeAbandoned            // open when the arena was reset: the same
)

// ScopeRecord is one scope of an AllocationRecorder. It has the fields of
// algan's ScopeRecord (name, params, entry and exit pointers, alloc_count and
// the two peaks; events and children are AllocationRecorder.Events and
// Children) and what that lacks. Pointers are bytes from the arena's start.
type ScopeRecord struct {
	Parent int32  // -1 for the root and for an outermost abandoned scope
	Depth  int32  // 0 for the root
	Name   uint32 // string number, 0 for the root
	Params []arena.Param

	EntryForward, EntryReverse int64
	ExitForward, ExitReverse   int64 // equal the entry until closed, and stay so in ScopeUnclosed and ScopeAbandoned

	AllocCount int64 // allocations in the scope and, while it was open, in the scopes inside
	SelfBytes  int64 // asked for in the scope itself, padding apart; algan's total_bytes()
	TotalBytes int64 // scopes inside included

	PeakForward int64 // largest forward - entry after an allocation, scopes inside and padding included
	PeakReverse int64 // largest entry - reverse; always 0 for the root, as in algan
	Peak        int64 // largest sum of the two at one moment; for the root above the empty arena
	PeakNs      int64 // when Peak was reached
	PeakFrame   int64 // in which frame, -1 unknown

	Opened int64 // monotonic ns
	Closed int64 // monotonic ns, 0 while open
	Frame  int64 // in which it was opened, -1 unknown
	State  ScopeState
}
