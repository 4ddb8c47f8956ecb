package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// TestCountersAloneSayNothingOfBlocks: of a program whose scopes lie in no arena, and
// whose library tells counters, it is not known that no block is handed out.
func TestCountersAloneSayNothingOfBlocks(t *testing.T) {
	store := model.NewStore(model.Options{})
	store.Add(model.SourceInfo{ID: "p"})
	torch := recorder.CounterSet{ID: "torch:0", Of: recorder.OfPool, Name: "torch", Device: fixtureGPU, Call: "torch._C._cuda_memoryStats"}
	torch.Values.Set(recorder.Reserved, 990*mib)
	torch.Values.Set(recorder.Allocated, 533*mib)
	head := recorder.Head{Src: "p", Ns: 1}
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: head, Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "render.py"},
		&recorder.Strings{Head: head, First: 1, Strings: []string{"matmul"}},
		&recorder.State{Head: head, Arenas: []recorder.ArenaState{{ID: 1, Name: "scopes of MainThread",
			Tree: recorder.TreeColumns{Parent: []int32{-1}, Name: []uint32{1}, Count: []int64{41}, AllocCount: []int64{0}, SelfBytes: []int64{0}, Peak: []int64{0}}}}},
		&recorder.Sample{Head: recorder.Head{Src: "p", Ns: 2}, Sets: []recorder.CounterSet{torch}},
	} {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	text := paneText(t, newScreen(t, store.Snapshot(3, 0), layout.Timeline, 120, 32), layout.LiveThenPane)
	if strings.Contains(text, "no block is handed out") || !strings.Contains(text, "No scope is open at this moment. Its allocators tell counters alone") {
		t.Errorf("beside 533 MiB allocated stands\n%s", text)
	}
}
