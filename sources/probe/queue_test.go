package probe

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"vramscope/recorder"
)

func lineOf(k kind, size int, id byte) line {
	l := line{kind: k, bytes: bytes.Repeat([]byte{id}, size), weight: 1}
	if k == kindSample {
		l.sample = &recorder.Sample{}
	}
	return l
}

func drain(q *queue) string {
	var ids []byte
	for {
		l, ok := q.pop()
		if !ok {
			return string(ids)
		}
		ids = append(ids, l.bytes[0])
	}
}

func TestQueueKeepsTheNewestSample(t *testing.T) {
	q := newQueue()
	q.push(lineOf(kindSample, 1, '1'))
	q.push(lineOf(kindLine, 1, 'f'))
	q.push(lineOf(kindSample, 1, '2'))
	q.push(lineOf(kindSample, 1, '3'))
	if got := drain(q); got != "f3" || q.dropped != 2 {
		t.Errorf("the reader gets %q and misses %d samples, want f3 and 2", got, q.dropped)
	}
	q.push(lineOf(kindSample, 1, '4'))
	if got := drain(q); got != "4" || q.dropped != 2 || q.bytes != 0 {
		t.Errorf("then %q, %d missed, %d bytes waiting; want 4, 2 and 0", got, q.dropped, q.bytes)
	}
}

func TestQueueHoldsEventsBackUntilAState(t *testing.T) {
	q := newQueue()
	q.wantsEvents = true
	q.push(lineOf(kindEvents, 1, 'e'))
	q.push(lineOf(kindState, 1, 's'))
	q.push(lineOf(kindLine, 1, 'f'))
	q.pushState(nil, []line{lineOf(kindState, 1, 'S')})
	q.push(lineOf(kindEvents, 1, 'E'))
	if got := drain(q); got != "fSE" {
		t.Errorf("the reader gets %q, want fSE", got)
	}
	if q.lostEvents != 0 {
		t.Error("events from before the first state count as lost, and the state holds them")
	}
}

func TestQueueOverflowLosesEverythingButAnswers(t *testing.T) {
	q := newQueue()
	q.wantsEvents = true
	q.pushState(nil, nil)
	q.push(lineOf(kindAck, 10, 'a'))
	q.push(lineOf(kindEvents, maximumBytes-20, 'e'))
	q.push(lineOf(kindSample, 10, 's'))
	q.push(lineOf(kindEvents, 11, 'E')) // one byte too many
	if !q.needState || q.lostEvents != 2 {
		t.Errorf("needs a state: %v, lost %d events; want true and 2", q.needState, q.lostEvents)
	}
	q.push(lineOf(kindEvents, 1, 'x')) // lost, too, until the state
	if got := drain(q); got[0] != 'a' || got[len(got)-1] != 's' || len(got) != 2 {
		t.Errorf("what is left is %q, want the answer and the sample", got)
	}
	if q.lostEvents != 3 {
		t.Errorf("%d events lost, want 3", q.lostEvents)
	}
	q.pushState([]line{lineOf(kindLine, 1, 'L')}, []line{lineOf(kindState, maximumBytes, 'S')})
	q.push(lineOf(kindEvents, 1, 'e'))
	if got := drain(q); got != "LSe" {
		t.Errorf("then %q, want the loss, the state and the events after it", got)
	}
}

func TestQueueCloseOnTooManyAnswers(t *testing.T) {
	q := newQueue()
	for i := range maximumAcks {
		if !q.push(lineOf(kindAck, 1, 'a')) {
			t.Fatalf("answer %d does not fit", i)
		}
	}
	if q.push(lineOf(kindAck, 1, 'a')) {
		t.Error("answer 65 fits")
	}
}

// Against a plain list: answers all come, in order; at most one sample waits;
// bytes are counted right, however long the history is.
func TestQueueAgainstAPlainList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue()
		q.wantsEvents = true
		q.pushState(nil, nil)
		var plain []line
		next := byte(0)
		push := func(k kind) {
			next++
			l := lineOf(k, 3, next)
			q.push(l)
			if k == kindSample {
				for i := range plain {
					if plain[i].kind == kindSample {
						plain = append(plain[:i], plain[i+1:]...)
						break
					}
				}
			}
			plain = append(plain, l)
		}
		t.Repeat(map[string]func(*rapid.T){
			"sample": func(*rapid.T) { push(kindSample) },
			"line":   func(*rapid.T) { push(kindLine) },
			"events": func(*rapid.T) { push(kindEvents) },
			"ack": func(*rapid.T) {
				if q.acks < maximumAcks {
					push(kindAck)
				}
			},
			"pop": func(t *rapid.T) {
				l, ok := q.pop()
				if ok != (len(plain) > 0) {
					t.Fatalf("pop = %v with %d lines waiting", ok, len(plain))
				}
				if ok {
					if l.bytes[0] != plain[0].bytes[0] {
						t.Fatalf("pop gave line %d, want %d", l.bytes[0], plain[0].bytes[0])
					}
					plain = plain[1:]
				}
			},
			"": func(t *rapid.T) {
				size := 0
				for _, l := range plain {
					if l.kind != kindAck {
						size += len(l.bytes)
					}
				}
				if q.bytes != size || q.empty() != (len(plain) == 0) {
					t.Fatalf("%d bytes counted of %d, empty %v with %d lines", q.bytes, size, q.empty(), len(plain))
				}
			},
		})
	})
}
