package recorder

import (
	"iter"

	"vramscope/arena"
)

// ReplayFrom says where a replay of pointers begins.
type ReplayFrom struct {
	Forward     int64 // forward pointer, bytes from the arena's start
	Length      int64 // of the arena, bytes; 0 when it is not known
	ReverseUsed int64 // bytes in use on the reverse side
}

// Replayed is what a replay of pointers found, in bytes above where it began.
type Replayed struct {
	Peak        int64 // forward
	End         int64 // forward
	ReversePeak int64
	ReverseEnd  int64
	AllocCount  int64
}

// ReplayPointers runs events over a fresh pair of pointers, to say what they
// would have taken alone or from another place: algan's replay(), which gives a
// scope's own peak. Without the arena's length a reverse allocation is charged
// its bytes and the most padding it can need. Events other than allocations and
// temporary contexts are passed over, and so is a context's end without its
// beginning.
func ReplayPointers(events iter.Seq[*ArenaEvent], from ReplayFrom) Replayed {
	state := newPointerReplay(from)
	for event := range events {
		state.observe(event)
	}
	return state.replayed()
}

// pointerReplay is a pair of pointers under way. reverse counts what is in use
// from the arena's end.
type pointerReplay struct {
	from             ReplayFrom
	forward, reverse int64
	saved            []savedPointers
	result           Replayed
}

func newPointerReplay(from ReplayFrom) pointerReplay {
	return pointerReplay{from: from, forward: from.Forward, reverse: from.ReverseUsed}
}

// replayed is what was found so far.
func (p *pointerReplay) replayed() Replayed {
	p.result.End = p.forward - p.from.Forward
	p.result.ReverseEnd = p.reverse - p.from.ReverseUsed
	return p.result
}

type savedPointers struct {
	forward, reverse int64
	clear            bool
}

func (p *pointerReplay) observe(event *ArenaEvent) {
	item := max(event.ItemSize, 1)
	switch event.Op {
	case arena.OpAlloc:
		p.forward = roundUp(p.forward, item) + event.Bytes
		p.result.Peak = max(p.result.Peak, p.forward-p.from.Forward)
		p.result.AllocCount++
	case arena.OpPersist:
		if p.from.Length > 0 {
			end := p.from.Length - p.reverse
			p.reverse = p.from.Length - (end - mod(end, item) - event.Bytes)
		} else {
			p.reverse += event.Bytes + item - 1
		}
		p.result.ReversePeak = max(p.result.ReversePeak, p.reverse-p.from.ReverseUsed)
		p.result.AllocCount++
	case arena.OpTempPush:
		p.saved = append(p.saved, savedPointers{p.forward, p.reverse, event.Flags&FlagClear != 0})
	case arena.OpTempPop:
		if len(p.saved) == 0 {
			return
		}
		last := p.saved[len(p.saved)-1]
		p.saved = p.saved[:len(p.saved)-1]
		p.forward = last.forward
		if last.clear {
			p.reverse = last.reverse
		}
	}
}

// roundUp is the next multiple of item that is not below value.
func roundUp(value, item int64) int64 {
	if rest := mod(value, item); rest != 0 {
		return value + item - rest
	}
	return value
}

// mod is the rest of a division that is never negative.
func mod(value, item int64) int64 {
	rest := value % item
	if rest < 0 {
		rest += item
	}
	return rest
}
