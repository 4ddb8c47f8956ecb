package arena

import "slices"

// State is a copy of an arena's figures at one moment. It shares nothing with
// the arena, so it may go to another goroutine.
type State struct {
	Name      string
	Base      uint64 // address of the arena's start; 0 when there is none
	Length    int64  // bytes
	Forward   int64  // forward pointer, bytes from the start
	Reverse   int64  // reverse pointer, bytes from the start
	HighWater int64  // simultaneous maximum of both sides, bytes
	Managed   bool   // allocations come from the buffer
	HasBuffer bool   // managed and not released
	Released  bool

	Marks       []int64 // saved forward pointers, oldest first; nil when none
	Temporaries int     // open temporary contexts
	Scopes      int     // open scopes that the current observer saw opening

	LastLaunchFrames         int // NoLaunchFrames when unknown
	LastChunkCapacityLimited bool
}

// State copies the arena's figures. Only the owner may call it; it allocates
// only while marks are set.
func (a *Arena) State() State {
	state := State{
		Name:                     a.name,
		Base:                     a.base,
		Length:                   a.length,
		Forward:                  a.forward,
		Reverse:                  a.reverse,
		HighWater:                a.highWater,
		Managed:                  a.managed,
		HasBuffer:                a.managed && !a.released,
		Released:                 a.released,
		Temporaries:              len(a.temporaries),
		Scopes:                   a.openScopes(),
		LastLaunchFrames:         a.lastLaunchFrames,
		LastChunkCapacityLimited: a.lastChunkCapacityLimited,
	}
	if len(a.marks) > 0 {
		state.Marks = slices.Clone(a.marks)
	}
	return state
}
