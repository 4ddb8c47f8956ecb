package recorder

import "iter"

// arenaBatch is a batch of events that is being filled, within the bounds of a
// line.
type arenaBatch struct {
	ArenaEvents
	paramBytes int
}

// takes says whether the event can still go into the batch.
func (b *arenaBatch) takes(event *ArenaEvent) bool {
	n := len(b.Op)
	return n == 0 || n < MaxBatch && b.Frame == event.Frame && (len(event.Params) == 0 || b.paramBytes < MaxBatchParams)
}

// add puts the event behind the others.
func (b *arenaBatch) add(event *ArenaEvent) {
	if len(event.Params) > 0 {
		b.paramBytes += paramsWireBound(event.Params)
	}
	b.Append(event)
}

// empty forgets the events and keeps the memory.
func (b *arenaBatch) empty() {
	b.Reset()
	b.paramBytes = 0
}

// Batches yields the events of the log as batches of the arena of that number,
// each of which fits a line. The batch it yields is used again.
func (l *EventLog) Batches(source string, id int64) iter.Seq[*ArenaEvents] {
	return func(yield func(*ArenaEvents) bool) {
		batch := arenaBatch{ArenaEvents: ArenaEvents{Head: Head{Src: source}, Arena: id}}
		for event := range l.All() {
			if !batch.takes(event) {
				if !yield(&batch.ArenaEvents) {
					return
				}
				batch.empty()
			}
			batch.add(event)
		}
		if batch.Len() > 0 {
			yield(&batch.ArenaEvents)
		}
	}
}
