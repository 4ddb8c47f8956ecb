package model

// WhyLeast is why what an arena counts are lower bounds, and what would make them
// more; "" where they are not.
func (a *ArenaView) WhyLeast() string {
	switch {
	case !a.Unheard && a.Scopes.Root().PeakBound == 0:
		return ""
	case a.HasNoBytes():
		return "these scopes lie in no arena, so no bytes are counted to them; those of a thread that registers one with arena() lie in it"
	case !a.Unheard && a.Events == 0 && !a.State.Recorded:
		return "samples alone told of its pointers; of an arena that is made while its program is recorded (record-on), every allocation is known"
	case !a.Unheard:
		return "the arena's pointers were read where scopes begin and end; the handle's alloc() tells of each"
	case a.State.Released == 0 && a.State.Recorded:
		return "its scopes are told now and then, and what was allocated since is not in them yet"
	}
	return "not all of its allocations were told; record from before it is made until it is gone"
}

// HasNoBytes says that an arena manages no memory and that nothing was ever taken
// from it: a thread's scopes that lie in no arena are told so, and have their order
// and their number alone.
func (a *ArenaView) HasNoBytes() bool {
	return !a.Partial && !a.State.Managed && a.HighestEver() == 0 && a.Scopes.Root().AllocCount == 0
}

// Crossed says of an arena whose pointers cannot be where its program tells them
// what to check; "" where they can.
func (a *ArenaView) Crossed() string {
	state := &a.State
	if a.Partial || !state.Managed || state.Length <= 0 {
		return ""
	}
	if state.Forward <= state.Reverse && state.Reverse <= state.Length && max(state.HighWater, a.Scopes.Root().Peak) <= state.Length {
		return ""
	}
	return "its pointers cannot be: check that pointers() gives (forward, reverse), reverse from the length down"
}

// WasReset says that an arena was reset after the most was in use of it, and that
// its high-water began again at nothing.
func (a *ArenaView) WasReset() bool {
	return !a.Partial && a.State.HighWater == 0 && a.Scopes.Root().Peak > 0
}

// HighestEver is the most that was known to be in use of an arena over its life,
// resets or not, in bytes.
func (a *ArenaView) HighestEver() int64 { return max(a.State.HighWater, a.Scopes.Root().Peak) }
