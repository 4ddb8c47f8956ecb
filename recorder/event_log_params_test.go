package recorder

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vramscope/arena"
)

func TestEventsWithoutParams(t *testing.T) {
	var log EventLog
	want := []ArenaEvent{}
	for i := range int64(50) {
		event := ArenaEvent{Ns: 1000 * i, Frame: i / 10, Op: arena.OpScopeOpen, Scope: uint64(i + 1), Text: uint32(i % 3), Forward: i, Reverse: 900 - i}
		want = append(want, event)
		if i%2 == 0 {
			event.Params = []arena.Param{arena.Int("frames", -i), arena.Float("share", 0.5), arena.Text("scene", "harbour"), arena.Bool("", true)}
		}
		log.Append(&event)
	}
	got := []ArenaEvent{}
	for event := range log.WithoutParams() {
		got = append(got, *event)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	number := int64(0)
	for event := range log.WithParams(10, 13) {
		if has := len(event.Params) > 0; has != (number == 10 || number == 12) {
			t.Errorf("event %d has parameters %v", number, event.Params)
		}
		number++
	}
	if number != log.Len() {
		t.Errorf("%d events of %d", number, log.Len())
	}
	walk := func() {
		for event := range log.WithoutParams() {
			_ = event.Forward
		}
	}
	if allocs := testing.AllocsPerRun(10, walk); allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}
