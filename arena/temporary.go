package arena

// NoFloor is what a persist floor returns for: keep nothing more.
const NoFloor = -1

// Temporary is an open temporary context. It may be copied; the zero value is
// one that ended.
type Temporary struct {
	arena  *Arena
	number uint64
}

// openTemporary is what a context restores.
type openTemporary struct {
	number       uint64
	forward      int64
	reverse      int64
	clearPersist bool
	floor        func() int64
}

// Temporary opens a context whose End restores the forward pointer and, with
// clearPersist, the reverse pointer too. It mirrors algan's TempMemoryContext
// with its persist_floor.
//
// A floor, which may be nil, is asked at End for an offset that the reverse
// pointer must not be above, so that persistent memory down to there stays;
// NoFloor keeps nothing more. A floor below the forward pointer counts as the
// forward pointer.
func (a *Arena) Temporary(clearPersist bool, floor func() int64) Temporary {
	a.temporaryNumber++
	a.temporaries = append(a.temporaries, openTemporary{
		number:       a.temporaryNumber,
		forward:      a.forward,
		reverse:      a.reverse,
		clearPersist: clearPersist,
		floor:        floor,
	})
	if a.observer != nil {
		a.observe(Event{Op: OpTempPush, Clear: clearPersist})
	}
	return Temporary{arena: a, number: a.temporaryNumber}
}

// End closes the context; deferred, it does so when the function panics too.
// Contexts opened later and still open end first, as if each had been ended in
// its turn. Ending twice, or after the arena was reset, does nothing.
func (t Temporary) End() {
	if t.arena == nil {
		return
	}
	position := t.arena.findTemporary(t.number)
	if position < 0 {
		return
	}
	for len(t.arena.temporaries) > position {
		t.arena.endTemporary()
	}
}

// findTemporary is the position of an open context, or -1. Numbers grow along
// the stack, and the last one is nearly always the one.
func (a *Arena) findTemporary(number uint64) int {
	for i := len(a.temporaries) - 1; i >= 0 && a.temporaries[i].number >= number; i-- {
		if a.temporaries[i].number == number {
			return i
		}
	}
	return -1
}

// endTemporary closes the innermost context.
func (a *Arena) endTemporary() {
	last := len(a.temporaries) - 1
	t := a.temporaries[last]
	a.temporaries[last].floor = nil
	a.temporaries = a.temporaries[:last]
	if t.clearPersist {
		a.reverse = t.reverse
	}
	// The reverse side can lie below the saved pointer only after SetPointers
	// has moved forward further down than the context began.
	a.forward = min(t.forward, a.reverse)
	if t.floor != nil {
		a.endAtFloor(t.floor)
		return
	}
	if a.observer != nil {
		a.observe(Event{Op: OpTempPop})
	}
}

// endAtFloor finishes a context with a floor. Its end is observed even when
// the floor panics: the context is closed by then.
func (a *Arena) endAtFloor(floor func() int64) {
	defer func() {
		if a.observer != nil {
			a.observe(Event{Op: OpTempPop})
		}
	}()
	if offset := floor(); offset >= 0 {
		a.reverse = max(min(a.reverse, offset), a.forward)
	}
}
