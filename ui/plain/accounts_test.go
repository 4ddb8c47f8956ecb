package plain

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
)

// TestWhatAProcessHolds: the driver's figure is taken apart, and a headroom that
// is not known whole is a lower bound with its reason.
func TestWhatAProcessHolds(t *testing.T) {
	const gib = int64(1) << 30
	set := func(id, of string, values map[recorder.Counter]int64) recorder.CounterSet {
		made := recorder.CounterSet{ID: id, Of: of, Device: "GPU-1"}
		for counter, value := range values {
			made.Values.Set(counter, value)
		}
		return made
	}
	jax := set("jax:0", recorder.OfPool, nil)
	jax.Why = map[string]string{"free": "JAX keeps no counters", "reserved": "JAX keeps no counters"}
	process := &model.SourceView{ID: "pid:812-1", Kind: recorder.KindProcess, Name: "train.py", Frame: -1,
		Hello: &recorder.Hello{PID: 812, NSPIDs: []int{40812, 812}, GPUs: []recorder.GPU{{UUID: "GPU-1"}}},
		Sets:  []recorder.CounterSet{set("torch:0", recorder.OfPool, map[recorder.Counter]int64{recorder.Reserved: 40 * gib, recorder.Allocated: 30 * gib}), jax}}
	device := &model.SourceView{ID: "gpu:GPU-1", Kind: recorder.KindDevice, Name: "H200 #0", Frame: -1, Sets: []recorder.CounterSet{
		set("device", recorder.OfDevice, map[recorder.Counter]int64{recorder.Total: 140 * gib, recorder.Used: 60 * gib, recorder.Free: 80 * gib}),
		set("process:40812", recorder.OfProcess, map[recorder.Counter]int64{recorder.Used: 43 * gib})}}
	text := Overview(&model.Snapshot{Sources: []*model.SourceView{process, device}}, gib)
	for _, line := range []string{
		"headroom: at least 89.0 GiB: JAX keeps no counters",
		"on H200 #0: 43.0 GiB by the driver = 40.0 GiB in allocators + 3.0 GiB context and other libraries",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the page lacks %q:\n%s", line, text)
		}
	}
}
