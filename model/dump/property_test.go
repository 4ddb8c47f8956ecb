package dump

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"vramscope/recorder"
)

// TestAnswersEqualAPlainReplay runs random histories through a simulated
// allocator and holds every answer to what it knew at that event: for traces
// from the start, late starts, rings that lost their first events, and traces
// without free_requested.
func TestAnswersEqualAPlainReplay(t *testing.T) {
	for seed := range uint64(25) {
		for _, expandable := range []bool{false, true} {
			for _, kind := range []string{"whole", "late", "cut", "no requests"} {
				t.Run(fmt.Sprintf("%d/%v/%s", seed, expandable, kind), func(t *testing.T) {
					s := newSimulated(seed, expandable)
					first := 0
					switch kind {
					case "late":
						s.recording = false
						s.run(300)
						s.recording = true
					case "no requests":
						s.asks = false
					}
					s.run(600)
					if kind == "cut" {
						first = s.random.IntN(len(s.events.Action))
					}
					dump, truth := s.finish(first)
					compare(t, New(dump), truth)
				})
			}
		}
	}
}

// compare holds the index of a dump to the truth at its events.
func compare(t *testing.T, x *Index, truth []moment) {
	t.Helper()
	d := x.Devices[0]
	if len(x.Problems) > 0 {
		t.Errorf("problems: %q", x.Problems)
	}
	if !d.Exact {
		t.Error("the end state is not reached")
	}
	// Older blocks that the trace frees may be longer than their requested size
	// says: by what a large block does not split off.
	slack := int64(d.Unseen) * smallRequest
	if rulesOf(x.Dump.Settings, false).maximumSplit != unlimitedSplitBytes {
		slack = int64(d.Unseen) * 20 << 20
	}
	for i, m := range truth {
		got := d.At(i)
		if !d.asks() { // nothing tells when a free was asked for
			m.totals[Allocated], m.totals[Pending] = m.totals.Active(), 0
			got[Allocated], got[Pending] = got.Active(), 0
		}
		if missing := m.totals[Allocated] - got[Allocated]; missing >= 0 && missing <= slack {
			got[Allocated] = m.totals[Allocated]
		}
		if missing := m.totals[Pending] - got[Pending]; missing >= 0 && missing <= slack {
			got[Pending] = m.totals[Pending]
		}
		if got != m.totals {
			t.Fatalf("after event %d (%v): %v, want %v", i, d.Events.Action[i], got, m.totals)
		}
		if m.mapped != nil {
			compareBlocks(t, d, i, m, slack)
		}
	}
	compareColumns(t, d)
}

func (d *Device) asks() bool { return slices.Contains(d.Events.Action, recorder.DumpFreeRequested) }

func compareBlocks(t *testing.T, d *Device, event int, m moment, slack int64) {
	t.Helper()
	live := d.LiveAt(event)
	slices.SortFunc(live, func(a, b Block) int { return cmp.Compare(a.Address, b.Address) })
	if len(live) != len(m.blocks) {
		t.Fatalf("after event %d: %d blocks, want %d", event, len(live), len(m.blocks))
	}
	for i, want := range m.blocks {
		got := live[i]
		if slack > 0 && got.Alloc == BeforeFirst {
			got.Bytes = want.Bytes
		}
		if got.Alloc == BeforeFirst && got.Stack == BeforeRecording {
			got.Stack = want.Stack
		}
		got.Alloc, got.Free = want.Alloc, want.Free
		if !d.asks() {
			got.State = want.State
		}
		if got != want {
			t.Fatalf("after event %d: block %+v, want %+v", event, got, want)
		}
	}
	if slack > 0 {
		return
	}
	mapped := d.MapAt(event)
	if len(mapped.Segments) != len(m.mapped.Segments) {
		t.Fatalf("after event %d: %d segments, want %d", event, len(mapped.Segments), len(m.mapped.Segments))
	}
	for i, want := range m.mapped.Segments {
		got := mapped.Segments[i]
		got.Stack, got.Since = want.Stack, want.Since
		if !d.asks() {
			got.Allocated, got.Pending = want.Allocated, want.Pending
		}
		if got != want {
			t.Fatalf("after event %d: segment %+v, want %+v", event, got, want)
		}
	}
	var requested int64
	for _, total := range d.LiveByStack(event) {
		requested += total.Bytes
	}
	if at := d.At(event)[Requested]; requested != at {
		t.Fatalf("after event %d: stacks add up to %d, want %d", event, requested, at)
	}
}

// compareColumns holds columns and peaks to a look at every event.
func compareColumns(t *testing.T, d *Device) {
	t.Helper()
	n := d.Events.Len()
	values := make([]Totals, n)
	for i := range values {
		values[i] = d.At(i)
	}
	for _, r := range [][2]int{{0, n}, {n / 3, n - n/5}, {n / 2, min(n/2+3, n)}, {n / 2, n / 2}} {
		columns := make([]Column, 7)
		d.Columns(columns, r[0], r[1])
		from := r[0]
		for _, c := range columns {
			if c.From != from {
				t.Fatalf("columns of %v leave a gap before %d", r, c.From)
			}
			from = c.To
			want := Column{From: c.From, To: c.To, Last: d.At(c.To - 1)}
			want.Min, want.Max = want.Last, want.Last
			for _, v := range values[c.From:c.To] {
				for s := range v {
					want.Min[s], want.Max[s] = min(want.Min[s], v[s]), max(want.Max[s], v[s])
				}
			}
			if c != want {
				t.Fatalf("column %+v, want %+v", c, want)
			}
		}
		if from != r[1] {
			t.Fatalf("columns of %v end at %d", r, from)
		}
	}
	for s := range seriesCount {
		peak := Peak{Bytes: d.Base[s], Event: BeforeFirst}
		for i, v := range values {
			if v[s] > peak.Bytes {
				peak = Peak{Bytes: v[s], Event: i}
			}
		}
		if d.Peaks[s] != peak {
			t.Fatalf("%v peak %+v, want %+v", s, d.Peaks[s], peak)
		}
	}
}
