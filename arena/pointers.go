package arena

// Pointers are the forward and the reverse pointer, bytes from the arena's
// start. It mirrors algan's get_pointers.
func (a *Arena) Pointers() (forward, reverse int64) { return a.forward, a.reverse }

// SetPointers moves both pointers, usually back to a pair from Pointers. It
// returns a *PointerError unless 0 <= forward <= reverse <= length. As in
// algan's set_pointers the high-water does not follow: only allocations raise
// it. Unlike there, observers see it.
func (a *Arena) SetPointers(forward, reverse int64) error {
	if forward < 0 || forward > reverse || reverse > a.length {
		return &PointerError{Arena: a.name, Forward: forward, Reverse: reverse, Length: a.length}
	}
	a.forward, a.reverse = forward, reverse
	if a.observer != nil {
		a.observe(Event{Op: OpSet})
	}
	return nil
}

// Mark saves the forward pointer on a stack. It mirrors algan's save_pointer.
func (a *Arena) Mark() {
	a.marks = append(a.marks, a.forward)
	if a.observer != nil {
		a.observe(Event{Op: OpMark})
	}
}

// Restore sets the forward pointer to the last mark and takes the mark off the
// stack, which frees all temporary memory since. It mirrors algan's
// reset_pointer. It returns ErrNoMark without a mark, and a *PointerError,
// keeping the mark, where the reverse side has grown below it meanwhile.
func (a *Arena) Restore() error {
	last := len(a.marks) - 1
	if last < 0 {
		return ErrNoMark
	}
	mark := a.marks[last]
	if mark > a.reverse {
		return &PointerError{Arena: a.name, Forward: mark, Reverse: a.reverse, Length: a.length}
	}
	a.marks = a.marks[:last]
	a.forward = mark
	if a.observer != nil {
		a.observe(Event{Op: OpRestore})
	}
	return nil
}

// Used is the bytes of both sides, padding included.
func (a *Arena) Used() int64 { return a.forward + (a.length - a.reverse) }

// Remaining is the bytes between the pointers. It mirrors algan's
// get_num_bytes_remaining.
func (a *Arena) Remaining() int64 { return a.reverse - a.forward }

// PercentUsed is the used part as a fraction from 0 to 1, and 0 for an empty
// arena. The name is that of algan's get_percent_used, which is a fraction too.
func (a *Arena) PercentUsed() float64 {
	if a.length == 0 {
		return 0
	}
	return float64(a.Used()) / float64(a.length)
}

// HighWater is the most bytes of both sides at one moment, sampled at
// allocations, padding included. It mirrors algan's max_pointer.
func (a *Arena) HighWater() int64 { return a.highWater }

// RestartHighWater sets the high-water to what is used now and returns it, so
// that the growth of one chunk of work can be measured. It mirrors what
// algan's render loop does to max_pointer before every chunk.
func (a *Arena) RestartHighWater() int64 {
	a.highWater = a.Used()
	return a.highWater
}
