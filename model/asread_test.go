package model

import (
	"strings"
	"testing"

	"vramscope/recorder"
)

// TestADeviceThatWasReadBefore: without NVML a program reads its device around a
// command, and its allocators go on. What is added up is of the moment of the
// reading, and says how long ago that was.
func TestADeviceThatWasReadBefore(t *testing.T) {
	store := NewStore(Options{})
	store.Add(SourceInfo{ID: "p"})
	ns := int64(1e9)
	fold := func(record recorder.Record) {
		t.Helper()
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	head := func() recorder.Head { return recorder.Head{Src: "p", Ns: ns} }
	fold(&recorder.Hello{Head: head(), Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "train.py", PID: 7})
	read := int64(0) // when the device was read, with 1,000 B free and the pool at 800 B
	sample := func(reserved, allocated int64) *SourceView {
		t.Helper()
		ns += 1e8
		sets := []recorder.CounterSet{counters("torch:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{
			recorder.Reserved: reserved, recorder.Allocated: allocated})}
		if read > 0 {
			sets = append(sets, counters("device:0", recorder.OfDevice, "gpu", "", map[recorder.Counter]int64{
				recorder.Free: 1000, recorder.Total: 2000, recorder.Used: 1000, recorder.Age: ns - read}))
		}
		fold(&recorder.Sample{Head: head(), Sets: sets})
		return store.Snapshot(ns, 0).Find("p")
	}
	for range 10 {
		sample(1500, 1500)
	}
	read = ns + 5e7 // after a command has given back what the sample before has
	for range 3 {
		view := sample(800, 700)
		if h := HeadroomOf(view, nil, "gpu", 0); h.Bytes.Value != 1100 || h.Age != 0 || strings.Contains(h.Formula(), "ago") {
			t.Errorf("nothing has moved, and the headroom is %s", h.Formula())
		}
		if a := AccountsOf(view, nil, "gpu"); a.Age != 0 {
			t.Errorf("nothing has moved, and the accounts are of %d ns ago", a.Age)
		}
	}
	var view *SourceView
	for range 17 {
		view = sample(1900, 1000)
	}
	h := HeadroomOf(view, nil, "gpu", 0)
	if h.Bytes.Value != 1100 || h.PoolFree.Value != 100 || h.Cached.Value != 100 || h.Age != 195e7 || !strings.HasSuffix(h.Formula(), "1.9 s ago") {
		t.Errorf("the headroom is %s, with %d cached: the device's free bytes and the pool's of another moment", h.Formula(), h.Cached.Value)
	}
	if a := AccountsOf(view, nil, "gpu"); a.Age != 195e7 || a.Held.Value != 1900 || a.Free.Value != 1000 {
		t.Errorf("the accounts are %+v", a)
	}
	read = ns
	if h := HeadroomOf(sample(1900, 1000), nil, "gpu", 0); h.Bytes.Value != 1900 || h.Age != 0 {
		t.Errorf("after another reading the headroom is %s", h.Formula())
	}
}

// TestADeviceThatWasReadBeforeAnythingWasHeard: what its pools had then is not known
// here, and what they have now is of another moment.
func TestADeviceThatWasReadBeforeAnythingWasHeard(t *testing.T) {
	store := NewStore(Options{})
	store.Add(SourceInfo{ID: "p"})
	head := func(ns int64) recorder.Head { return recorder.Head{Src: "p", Ns: ns} }
	records := []recorder.Record{&recorder.Hello{Head: head(10e9), Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "train.py", PID: 7}}
	for i := range int64(5) {
		ns := 10e9 + (i+1)*1e8
		records = append(records, &recorder.Sample{Head: head(ns), Sets: []recorder.CounterSet{
			counters("torch:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{recorder.Reserved: 800, recorder.Allocated: 700}),
			counters("device:0", recorder.OfDevice, "gpu", "", map[recorder.Counter]int64{recorder.Free: 1000, recorder.Total: 2000, recorder.Age: ns - 8e9}),
		}})
	}
	for _, record := range records {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	h := HeadroomOf(store.Snapshot(11e9, 0).Find("p"), nil, "gpu", 0)
	if h.Bytes.Known || h.AtLeast.Value != 1000 || h.PoolAtLeast.Known || !strings.Contains(h.Formula(), "read 2.5 s ago") {
		t.Errorf("the headroom is %s", h.Formula())
	}
}
