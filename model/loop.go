package model

import (
	"context"
	"time"

	"vramscope/recorder"
)

// Envelope carries something to the goroutine that owns the store.
type Envelope struct {
	Source string          // ID of the source that speaks
	Record recorder.Record // to be folded; nil for none
	// Do changes the store, such as a source's status: it runs on the store's
	// goroutine, after Record was folded. nil for none.
	Do func(*Store)
}

// drainAtMost is how many envelopes are taken in a row before the loop looks
// whether a snapshot is due.
const drainAtMost = 256

// Loop folds what comes in and publishes a snapshot when something has changed,
// at most as often as Options.PublishEvery says: at once after a quiet time,
// with the next tick otherwise. Ticks should come about that often. It returns
// when ctx ends or in is closed; everything that came is then in a last
// snapshot. It runs in the caller's goroutine, which owns the store meanwhile.
// Options.Clock must be set.
func (s *Store) Loop(ctx context.Context, in <-chan Envelope, tick <-chan time.Time, publish func(*Snapshot)) {
	published := int64(minNs)
	give := func(force bool) {
		now, wall := s.options.Clock()
		if !force && now-s.options.PublishEvery < published {
			return
		}
		before := s.last
		if snapshot := s.Snapshot(now, wall); snapshot != before {
			published = now
			publish(snapshot)
		}
	}
	for {
		select {
		case <-ctx.Done():
			give(true)
			return
		case <-tick:
			give(false)
		case envelope, ok := <-in:
			for n := 0; ok; n++ {
				s.receive(envelope)
				if n >= drainAtMost {
					break
				}
				select {
				case envelope, ok = <-in:
					continue
				default:
				}
				break
			}
			if !ok {
				give(true)
				return
			}
			if s.Changed() {
				give(false)
			}
		}
	}
}

// receive takes one envelope in.
func (s *Store) receive(envelope Envelope) {
	if envelope.Record != nil {
		// A version that is not understood is shown as the source's status.
		_ = s.Fold(envelope.Source, envelope.Record)
	}
	if envelope.Do != nil {
		envelope.Do(s)
	}
}
