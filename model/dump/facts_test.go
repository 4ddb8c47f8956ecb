package dump

import (
	"encoding/json"
	"os"
	"sync"
	"testing"

	"vramscope/recorder"
	"vramscope/recorder/torchsnap"
)

const dumps = "../../recorder/torchsnap/testdata/"

var dumpNames = []string{"expandable", "fragmented", "render-oom", "resnet18-train", "resnet50-400-steps"}

// loaded keeps dumps that several tests read; they are immutable.
var loaded sync.Map

// load reads one of the real dumps.
func load(t testing.TB, name string) *recorder.Dump {
	t.Helper()
	if dump, done := loaded.Load(name); done {
		return dump.(*recorder.Dump)
	}
	file, err := os.Open(dumps + name + ".pickle.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dump, err := torchsnap.Read(file, torchsnap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	loaded.Store(name, dump)
	return dump
}

// facts are what is known of a real dump.
type facts struct {
	Reserved      int64            `json:"reserved_bytes"`
	Allocated     int64            `json:"allocated_bytes"`
	Active        int64            `json:"active_bytes"`
	Requested     int64            `json:"requested_bytes"`
	Segments      int              `json:"segments"`
	Blocks        int              `json:"blocks"`
	Largest       int64            `json:"largest_inactive_block"`
	Events        int              `json:"events"`
	Stacks        int              `json:"distinct_stacks"`
	Frames        int              `json:"distinct_frames"`
	Net           int64            `json:"net_traced_bytes"`
	UnseenFrees   int              `json:"frees_of_unseen_blocks"`
	Baseline      int64            `json:"baseline_requested_bytes"`
	PeakRequested int64            `json:"peak_requested_bytes"`
	PeakEvent     int              `json:"peak_event_index"`
	Torch         map[string]int64 `json:"torch_memory_stats"`
}

func factsOf(t testing.TB, name string) facts {
	t.Helper()
	text, err := os.ReadFile(dumps + "facts.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]facts
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all[name]
}

func TestReplayGivesTheFactsOfRealDumps(t *testing.T) {
	for _, name := range dumpNames {
		t.Run(name, func(t *testing.T) {
			want, x := factsOf(t, name), New(load(t, name))
			if len(x.Problems) != 0 {
				t.Errorf("problems: %q", x.Problems)
			}
			d := x.Devices[x.Main()]
			equal := func(what string, got, want int64) {
				t.Helper()
				if got != want {
					t.Errorf("%s is %d, want %d", what, got, want)
				}
			}
			end := d.At(d.Events.Len() - 1)
			equal("events", int64(d.Events.Len()), int64(want.Events))
			equal("distinct stacks", int64(d.UsedStacks), int64(want.Stacks))
			equal("reserved", end[Reserved], want.Reserved)
			equal("allocated", end[Allocated], want.Allocated)
			equal("active", end.Active(), want.Active)
			equal("requested", end[Requested], want.Requested)
			equal("reserved in the end state", d.End[Reserved], want.Reserved)
			equal("allocated in the end state", d.End[Allocated], want.Allocated)
			equal("baseline", d.Base[Requested], want.Baseline)
			equal("frees of unseen blocks", int64(d.Unseen), int64(want.UnseenFrees))
			equal("requested peak", d.Peaks[Requested].Bytes, want.PeakRequested)
			equal("event of the requested peak", int64(d.Peaks[Requested].Event), int64(want.PeakEvent))
			var net int64
			for _, total := range d.UnfreedByStack() {
				net += total.Bytes
			}
			equal("traced and not freed", net, want.Net)
			if !d.Exact {
				t.Error("the replayed blocks are not those of the end state")
			}
			if want.Torch != nil {
				equal("allocated peak", d.Peaks[Allocated].Bytes, want.Torch["allocated_bytes.all.peak"])
				equal("reserved peak", d.Peaks[Reserved].Bytes, want.Torch["reserved_bytes.all.peak"])
			}
			t.Log(d.Peaks, d.Base)
		})
	}
}
