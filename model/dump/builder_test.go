package dump

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"vramscope/recorder"
)

// part is a dump as it is known after so many of its events: the settings,
// which stand last in a file, are missing.
func part(whole *recorder.Dump, count int) *recorder.Dump {
	dump := *whole
	dump.Truncated, dump.Settings = true, nil
	d := whole.Devices[0]
	d.Events = *firstEvents(&d.Events, count)
	d.Events.Free, d.Events.Notes = nil, nil
	dump.Devices = []recorder.DumpDevice{d}
	return &dump
}

// inParts builds an index with so many looks at the growing dump.
func inParts(dump *recorder.Dump, random *rand.Rand, parts int) *Index {
	b := NewBuilder()
	n := dump.Devices[0].Events.Len()
	for at, left := 0, parts; left > 0; left-- {
		at += random.IntN(max((n-at)/left, 1))
		b.Read(part(dump, at))
	}
	return b.Finish(dump)
}

// sameAnswers compares two indexes of one dump.
func sameAnswers(t *testing.T, got, want *Index) {
	t.Helper()
	a, _ := json.Marshal(got.Report())
	b, _ := json.Marshal(want.Report())
	if string(a) != string(b) {
		t.Fatalf("report\n%s\nwant\n%s", a, b)
	}
	g, w := got.Devices[0], want.Devices[0]
	if g.Base != w.Base || g.End != w.End || g.Peaks != w.Peaks || g.Exact != w.Exact {
		t.Fatalf("totals %v %v %v, want %v %v %v", g.Base, g.End, g.Peaks, w.Base, w.End, w.Peaks)
	}
	if !reflect.DeepEqual(g.change, w.change) || !reflect.DeepEqual(g.life, w.life) || !reflect.DeepEqual(g.pyramid, w.pyramid) {
		t.Fatal("columns differ")
	}
	if !reflect.DeepEqual(g.live.blocks, w.live.blocks) || !reflect.DeepEqual(g.live.events, w.live.events) {
		t.Fatal("checkpoints differ")
	}
	n := g.Events.Len()
	for _, event := range []int{BeforeFirst, 0, n / 3, n / 2, n - 1} {
		if !reflect.DeepEqual(g.MapAt(event), w.MapAt(event)) {
			t.Fatalf("maps after event %d differ", event)
		}
		if a, b := g.AllocatedByStack(event, n), w.AllocatedByStack(event, n); !reflect.DeepEqual(a, b) {
			t.Fatalf("allocated after event %d: %v, want %v", event, a, b)
		}
	}
}

func TestAnIndexBuiltInPartsIsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, name := range dumpNames {
		t.Run(name, func(t *testing.T) {
			dump := load(t, name)
			sameAnswers(t, inParts(dump, random, 1), New(dump))
			sameAnswers(t, inParts(dump, random, 9), New(dump))
		})
	}
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newSimulated(seed, seed%2 == 0)
			s.recording = seed%5 != 0
			s.run(100)
			s.recording = true
			s.run(400)
			first := 0
			if seed%7 == 0 {
				first = s.random.IntN(len(s.events.Action))
			}
			dump, _ := s.finish(first)
			sameAnswers(t, inParts(dump, random, 6), New(dump))
		})
	}
	for seed := range uint64(100) {
		dump := garbage(seed, nil)
		sameAnswers(t, inParts(dump, random, 4), New(dump))
	}
}

// A dump that is not the one whose parts were read is read anew.
func TestABuilderStartsAnewOnAnotherDump(t *testing.T) {
	b := NewBuilder()
	b.Read(load(t, "fragmented"))
	sameAnswers(t, b.Finish(load(t, "render-oom")), New(load(t, "render-oom")))
}
