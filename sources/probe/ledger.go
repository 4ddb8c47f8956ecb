package probe

import (
	"fmt"
	"slices"
	"strings"

	"vramscope/recorder"
)

// Bounds of the ledger. A result is kept for a repeated id; after that the
// bare id is kept, so that an old command still does not run a second time.
const (
	defaultTTL   = 5_000           // milliseconds
	maximumTTL   = 10 * 60 * 1_000 // milliseconds
	maximumID    = 128             // bytes
	keptResults  = 128
	keptIDs      = 8192
	maximumAsked = 16 // readers that wait for one command
)

// ledger knows which commands were given and what became of them. It makes
// sure that one command runs at a time, that none runs twice or too late, and
// that each gets exactly one final answer. It keeps no clock and is owned by
// whoever holds the server's lock.
type ledger struct {
	obeys   map[string]bool
	refuses map[string]string // command -> why it is not obeyed
	waits   map[string]string // command -> what it waits for
	pending *order
	results ring[*recorder.Ack]
	ids     ring[string]
}

// order is a command that was accepted.
type order struct {
	command  *recorder.Command
	deadline int64 // ns
	taken    bool  // it runs
	askers   []int // readers that get the final answer
}

func newLedger(commands []string, refuses, waits map[string]string) *ledger {
	l := &ledger{obeys: make(map[string]bool, len(commands)), refuses: refuses, waits: waits,
		results: newRing[*recorder.Ack](keptResults), ids: newRing[string](keptIDs)}
	for _, name := range commands {
		l.obeys[name] = true
	}
	return l
}

// receive answers a command as it arrives. The order is not nil where the
// answer is AckAccepted for the first time.
func (l *ledger) receive(now int64, reader int, command *recorder.Command) (*recorder.Ack, *order) {
	if len(command.ID) == 0 || len(command.ID) > maximumID {
		id := command.ID[:min(len(command.ID), maximumID)]
		return answer(id, command.Name, recorder.AckRefused, fmt.Sprintf("give the command an id of 1 to %d bytes", maximumID)), nil
	}
	if stored, ok := l.results.get(command.ID); ok {
		return stored, nil
	}
	if p := l.pending; p != nil && p.command.ID == command.ID {
		if !slices.Contains(p.askers, reader) && len(p.askers) < maximumAsked {
			p.askers = append(p.askers, reader)
		}
		return l.accepted(command), nil
	}
	if _, used := l.ids.get(command.ID); used {
		return answer(command.ID, command.Name, recorder.AckRefused,
			"a command with this id was answered long ago and the answer is not kept any more: give it a new id"), nil
	}
	if refusal := l.refusal(command); refusal != nil {
		l.keep(refusal)
		return refusal, nil
	}
	ttl := command.TTL
	if ttl <= 0 {
		ttl = defaultTTL
	}
	l.pending = &order{command: command, deadline: now + min(ttl, maximumTTL)*1e6, askers: []int{reader}}
	id := strings.Clone(command.ID)
	l.ids.put(id, id)
	return l.accepted(command), l.pending
}

func (l *ledger) refusal(command *recorder.Command) *recorder.Ack {
	switch {
	case !l.obeys[command.Name]:
		why := l.refuses[command.Name]
		if why == "" {
			why = fmt.Sprintf("this program knows no command %.40q", command.Name)
		}
		return answer(command.ID, command.Name, recorder.AckUnsupported, why)
	case l.pending != nil:
		return answer(command.ID, command.Name, recorder.AckBusy,
			fmt.Sprintf("%s is under way: ask again when it is done", l.pending.command.Name))
	}
	return nil
}

func (l *ledger) accepted(command *recorder.Command) *recorder.Ack {
	ack := answer(command.ID, command.Name, recorder.AckAccepted, "")
	ack.Where = "frame boundary"
	if waits := l.waits[command.Name]; waits != "" {
		ack.Where = waits
	}
	if l.pending.taken {
		ack.Where = "running"
	}
	return ack
}

// take hands out the command that is to run now, at most once. Where its time
// is over it gives the final answer in place of the command.
func (l *ledger) take(now int64) (run *recorder.Command, expired *recorder.Ack, askers []int) {
	if l.pending == nil || l.pending.taken {
		return nil, nil, nil
	}
	if expired, askers = l.expire(now); expired != nil {
		return nil, expired, askers
	}
	l.pending.taken = true
	return l.pending.command, nil, nil
}

// expire ends the pending command where its time is over and it does not run.
func (l *ledger) expire(now int64) (*recorder.Ack, []int) {
	p := l.pending
	if p == nil || p.taken || now < p.deadline {
		return nil, nil
	}
	return l.finish(answer(p.command.ID, p.command.Name, recorder.AckExpired,
		"the render reached no frame boundary in time, so nothing was done"))
}

// abandon ends the pending command where it does not run.
func (l *ledger) abandon(why string) (*recorder.Ack, []int) {
	if l.pending == nil || l.pending.taken {
		return nil, nil
	}
	return l.finish(answer("", "", recorder.AckFailed, why))
}

// finish ends the pending command with its final answer.
func (l *ledger) finish(ack *recorder.Ack) (*recorder.Ack, []int) {
	askers := l.pending.askers
	ack.ID, ack.Name = l.pending.command.ID, l.pending.command.Name
	l.pending = nil
	l.keep(ack)
	return ack, askers
}

func (l *ledger) keep(ack *recorder.Ack) {
	l.results.put(ack.ID, ack)
	l.ids.put(ack.ID, ack.ID)
}

// answer copies what it keeps of a line that a reader sent.
func answer(id, name, state, why string) *recorder.Ack {
	return &recorder.Ack{ID: strings.Clone(id), Name: strings.Clone(name[:min(len(name), 64)]), State: state, Why: why}
}

// ring is a map that forgets what was put first once it is full.
type ring[V any] struct {
	values map[string]V
	order  []string
	oldest int
}

func newRing[V any](size int) ring[V] {
	return ring[V]{values: make(map[string]V), order: make([]string, 0, size)}
}

func (r *ring[V]) get(key string) (V, bool) {
	value, ok := r.values[key]
	return value, ok
}

func (r *ring[V]) put(key string, value V) {
	if _, known := r.values[key]; !known {
		if len(r.order) < cap(r.order) {
			r.order = append(r.order, key)
		} else {
			delete(r.values, r.order[r.oldest])
			r.order[r.oldest] = key
			r.oldest = (r.oldest + 1) % len(r.order)
		}
	}
	r.values[key] = value
}
