package model

import (
	"cmp"
	"fmt"
	"slices"

	"vramscope/recorder"
)

// keeper keeps one source: what its records amount to, its history and its
// tape. It belongs to the store.
type keeper struct {
	id, source, src string
	fold            *fold
	history         *historyKeeper
	tape            *tape
	tracks          map[int64]*pointerTrack // of arenas
	order           []*pointerTrack         // the same, by appearance
	gone            []*ArenaView            // that no state names any more; of a recording
	limits          Limits
	sampled         int64 // ns of the newest sample, 0 before there is one
	silences        silences
	view            *SourceView // nil when it is out of date
}

func newKeeper(id, source, src string, limits Limits, say func(Entry)) *keeper {
	k := &keeper{id: id, source: source, src: src, limits: limits, fold: newFold(say)}
	k.history = newHistoryKeeper(limits.History)
	k.tape = newTape(limits.TapeBytes, k.fold)
	k.tracks = map[int64]*pointerTrack{}
	return k
}

// take folds and keeps one record.
func (k *keeper) take(record recorder.Record) {
	k.view = nil
	switch r := record.(type) {
	case *recorder.ArenaEvents:
		k.takeArena(r)
	case *recorder.Sample:
		k.takeSample(r)
	case *recorder.Hello:
		k.tape.endEra(k.fold)
		k.fold.apply(r)
		k.tape.begin(k.fold)
	case *recorder.State:
		before := k.fold.arenas
		k.fold.apply(r)
		if k.fold.parts == nil {
			k.keepGone(before)
			k.tape.begin(k.fold)
		}
	case *recorder.Strings, *recorder.Note, *recorder.Want:
		k.fold.apply(r)
	default:
		k.note(record)
		k.fold.apply(record)
		k.tape.add(record)
	}
	if k.tape.full() && k.fold.parts == nil {
		k.tape.begin(k.fold)
	}
}

// keptGone bounds the arenas that are kept although no state names them any more.
const keptGone = 4096

// keepGone keeps the arenas of a recording that a state forgets: a program makes
// one for each job, and its report is about all of them.
func (k *keeper) keepGone(before []*arenaFold) {
	if k.limits.TapeBytes > 0 || len(before) == 0 {
		return
	}
	named := make(map[int64]bool, len(k.fold.arenas))
	for _, a := range k.fold.arenas {
		named[a.id] = true
	}
	for _, a := range before {
		if !named[a.id] {
			k.gone = bound(append(k.gone, a.published(&k.fold.strings)), keptGone)
		}
	}
}

// note keeps in the history what it has to know of a record.
func (k *keeper) note(record recorder.Record) {
	switch r := record.(type) {
	case *recorder.Frame:
		k.history.addFrame(r.Ns, r.N)
	case *recorder.Lost:
		if r.What == "s" {
			k.history.addGap(r.Ns)
		}
	}
}

// takeSample keeps a sample's numbers in the history. The tape gets what it said
// besides, when it did.
func (k *keeper) takeSample(sample *recorder.Sample) {
	if sample.Error != "" || k.fold.trouble != "" {
		remark := &recorder.Sample{Head: sample.Head, Error: sample.Error}
		if len(sample.Sets) > 0 {
			remark.Sets = someSets
		}
		k.tape.add(remark)
	}
	k.fold.apply(sample)
	k.sampled = max(k.sampled, sample.Ns)
	k.silences.hear(sample.Sets, sample.Ns, k.history.hasTold, func(text string) {
		k.fold.log(sample.Ns, LevelWarning, EntryNote, text)
	})
	k.history.addSample(sample.Ns, sample.Sets)
	if k.history.dropped {
		k.fold.problems.add("samples", fmt.Sprintf("more than %d counter sets; the rest is left out", maximumSeries))
		k.history.dropped = false
	}
}

// someSets stand for the sets of a sample whose numbers are in the history.
var someSets = make([]recorder.CounterSet, 1)

// takeArena folds a batch of an arena's events and keeps them.
func (k *keeper) takeArena(batch *recorder.ArenaEvents) {
	n := batch.Len()
	if n == 0 {
		return
	}
	k.fold.touch(batch.Ns[0])
	a := k.fold.ownArena(batch.Arena)
	if a == nil {
		return
	}
	track, kept := k.track(batch.Arena), 0
	for i, event := range batch.All() {
		if i > kept && k.tape.full() && k.fold.parts == nil {
			k.tape.endBatch(batch.Arena, i-kept)
			k.tape.begin(k.fold)
			a, kept = k.fold.ownArena(batch.Arena), i
		}
		k.fold.touch(event.Ns)
		k.fold.applyArena(a, event)
		track.add(event, a.state.Length)
		k.tape.addEvent(batch.Arena, event)
	}
	k.tape.endBatch(batch.Arena, n-kept)
}

func (k *keeper) track(arena int64) *pointerTrack {
	track := k.tracks[arena]
	if track == nil {
		track = &pointerTrack{id: arena, base: k.tape.counts[arena]}
		k.tracks[arena] = track
		k.order = append(k.order, track)
	}
	return track
}

// published is the source as it is now, for readers. What only the store knows
// is filled in by it.
func (k *keeper) published() *SourceView {
	if k.view != nil {
		return k.view
	}
	k.trim()
	v := k.fold.view()
	v.ID, v.Source, v.Src = k.id, k.source, k.src
	v.Gone = k.gone
	v.history, v.tape = k.history.publish(), k.tape.publish()
	v.pointers = make([]*pointerView, len(k.order))
	for i, track := range k.order {
		v.pointers[i] = track.publish()
	}
	// What a source said last holds until it speaks again, however late something
	// else is told of it: a command that is sent to one that has stopped, its end.
	v.Sets = v.setsAt(cmp.Or(k.sampled, v.Now))
	k.view = v
	return v
}

// trim gives up of the tracks what is no longer on the tape.
func (k *keeper) trim() {
	if !k.tape.trimmed {
		return
	}
	k.tape.trimmed = false
	k.order = slices.DeleteFunc(slices.Clone(k.order), func(track *pointerTrack) bool {
		first, any := k.tape.firstEvent(track.id)
		if !any {
			delete(k.tracks, track.id)
			return true
		}
		track.drop(first)
		return false
	})
}
