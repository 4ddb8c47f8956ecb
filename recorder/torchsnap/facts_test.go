package torchsnap

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"testing"

	"vramscope/recorder"
)

// dumps are the real dumps in testdata; facts.json has what each must show.
var dumps = []string{"expandable", "fragmented", "render-oom", "resnet18-train", "resnet50-400-steps"}

// smallDumps are those that take no time.
var smallDumps = dumps[:4]

// facts is what facts.json says about a dump, as far as it concerns its
// decoding and a plain replay.
type facts struct {
	Bytes                  int64          `json:"bytes"`
	Segments               int            `json:"segments"`
	Blocks                 int            `json:"blocks"`
	ReservedBytes          int64          `json:"reserved_bytes"`
	AllocatedBytes         int64          `json:"allocated_bytes"`
	ActiveBytes            int64          `json:"active_bytes"`
	RequestedBytes         int64          `json:"requested_bytes"`
	LargestInactiveBlock   int64          `json:"largest_inactive_block"`
	Events                 int            `json:"events"`
	Actions                map[string]int `json:"actions"`
	DistinctStacks         int            `json:"distinct_stacks"`
	DistinctFrames         int            `json:"distinct_frames"`
	NetTracedBytes         int64          `json:"net_traced_bytes"`
	FreesOfUnseenBlocks    int            `json:"frees_of_unseen_blocks"`
	BaselineRequestedBytes int64          `json:"baseline_requested_bytes"`
	PeakRequestedBytes     int64          `json:"peak_requested_bytes"`
	PeakEventIndex         int            `json:"peak_event_index"`
}

// TestFacts holds each dump to every figure that is known about it.
func TestFacts(t *testing.T) {
	text, err := os.ReadFile("testdata/facts.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, name := range dumps {
		t.Run(name, func(t *testing.T) {
			want := facts{Actions: map[string]int{}}
			if err := json.Unmarshal(all[name], &want); err != nil {
				t.Fatal(err)
			}
			file, err := os.Open("testdata/" + name + ".pickle.gz")
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			dump, err := Read(file, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := factsOf(t, dump); !equalFacts(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if dump.Format != "PyTorch memory snapshot, pickle protocol 4" || dump.Truncated || len(dump.Problems) > 0 || len(dump.Extras) > 0 {
				t.Errorf("%q, truncated %v, problems %q, extras %q", dump.Format, dump.Truncated, dump.Problems, dump.Extras)
			}
		})
	}
}

func equalFacts(a, b facts) bool {
	first, _ := json.Marshal(a)
	second, _ := json.Marshal(b)
	return bytes.Equal(first, second)
}

// factsOf counts and replays a dump of one device plainly.
func factsOf(t *testing.T, dump *recorder.Dump) facts {
	t.Helper()
	if len(dump.Devices) != 1 {
		t.Fatalf("%d devices", len(dump.Devices))
	}
	d := &dump.Devices[0]
	got := facts{
		Bytes: dump.Bytes, Segments: len(d.Segments), Blocks: d.Blocks.Len(), Events: d.Events.Len(),
		Actions: map[string]int{},
	}
	for _, s := range d.Segments {
		got.ReservedBytes += s.Bytes
		got.AllocatedBytes += s.Allocated
		got.ActiveBytes += s.Active
		got.RequestedBytes += s.Requested
	}
	for i, state := range d.Blocks.State {
		if state == recorder.DumpInactive {
			got.LargestInactiveBlock = max(got.LargestInactiveBlock, d.Blocks.Bytes[i])
		}
	}
	replayFacts(&got, &d.Events)
	stacks, frames := map[int32]bool{}, map[uint32]bool{}
	for _, stack := range d.Events.Stack {
		if !stacks[stack] {
			stacks[stack] = true
			for _, frame := range dump.Stacks.Stack(stack) {
				frames[frame] = true
			}
		}
	}
	got.DistinctStacks, got.DistinctFrames = len(stacks), len(frames)
	return got
}

// replayFacts follows requested bytes from the baseline.
func replayFacts(got *facts, events *recorder.DumpEvents) {
	live := map[uint64]bool{}
	for i, action := range events.Action {
		got.Actions[action.String()]++
		switch action {
		case recorder.DumpAlloc:
			got.NetTracedBytes += events.Bytes[i]
			live[events.Address[i]] = true
		case recorder.DumpFreeCompleted:
			got.NetTracedBytes -= events.Bytes[i]
			if !live[events.Address[i]] {
				got.FreesOfUnseenBlocks++
			}
			delete(live, events.Address[i])
		}
	}
	got.BaselineRequestedBytes = got.RequestedBytes - got.NetTracedBytes
	running := got.BaselineRequestedBytes
	got.PeakRequestedBytes, got.PeakEventIndex = running, -1
	for i, action := range events.Action {
		switch action {
		case recorder.DumpAlloc:
			running += events.Bytes[i]
		case recorder.DumpFreeCompleted:
			running -= events.Bytes[i]
		}
		if running > got.PeakRequestedBytes {
			got.PeakRequestedBytes, got.PeakEventIndex = running, i
		}
	}
}

// inflate is a dump's pickle.
func inflate(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.Open("testdata/" + name + ".pickle.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
