package main

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
)

// TestEveryDeviceOfAProgramIsChecked: one that has room on its first GPU may have
// none on its second.
func TestEveryDeviceOfAProgramIsChecked(t *testing.T) {
	const gib = int64(1) << 30
	set := func(id, of, device string, counters map[recorder.Counter]int64) recorder.CounterSet {
		entry := recorder.CounterSet{ID: id, Of: of, Device: device, Name: "H200"}
		for counter, value := range counters {
			entry.Values.Set(counter, value)
		}
		return entry
	}
	view := &model.SourceView{ID: "pid:7-7", Kind: recorder.KindProcess, Name: "train.py", Hello: &recorder.Hello{PID: 7, GPUs: []recorder.GPU{
		{Ordinal: 0, UUID: "GPU-a", Name: "H200"}, {Ordinal: 1, UUID: "GPU-b", Name: "H200"}}}, Sets: []recorder.CounterSet{
		set("torch:0", recorder.OfPool, "GPU-a", map[recorder.Counter]int64{recorder.Reserved: gib, recorder.Allocated: gib}),
		set("torch:1", recorder.OfPool, "GPU-b", map[recorder.Counter]int64{recorder.Reserved: 7 * gib, recorder.Allocated: 7 * gib}),
		set("pinned", recorder.OfPool, model.HostDevice, map[recorder.Counter]int64{recorder.Reserved: gib, recorder.Allocated: gib}),
		set("device:0", recorder.OfDevice, "GPU-a", map[recorder.Counter]int64{recorder.Total: 8 * gib, recorder.Free: 7 * gib}),
		set("device:1", recorder.OfDevice, "GPU-b", map[recorder.Counter]int64{recorder.Total: 8 * gib, recorder.Free: gib / 4}),
	}}
	rows := rowsOf(view, nil, 0, 2*gib)
	if len(rows) != 2 || rows[0].Below || !rows[1].Below || rows[1].Device != "GPU-b" || rows[1].Headroom == nil || *rows[1].Headroom != gib/4 {
		t.Fatalf("%+v", rows)
	}
	for i, want := range []string{"train.py on H200 #0: ", "train.py on H200 #1: "} {
		if text := rows[i].text(); !strings.HasPrefix(text, want) {
			t.Errorf("%q does not begin with %q", text, want)
		}
	}
	jax := set("jax:0", recorder.OfPool, "GPU-a", map[recorder.Counter]int64{recorder.Reserved: 5 * gib, recorder.Allocated: gib})
	jax.Name = "jax"
	view.Sets = append(view.Sets, jax)
	if text := rowsOf(view, nil, 0, 2*gib)[0].text(); !strings.HasSuffix(text, ": enough; 4.0 GiB in pool only through jax") {
		t.Errorf("%q does not say whose the pool is", text)
	}
	view.Sets = view.Sets[:1]
	if rows := rowsOf(view, nil, 0, 2*gib); len(rows) != 1 || rows[0].Headroom != nil || strings.Contains(rows[0].text(), " on ") {
		t.Errorf("on one GPU, of which nobody tells: %+v", rows)
	}
}
