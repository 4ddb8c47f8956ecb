package torchsnap

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/nlpodyssey/gopickle/pickle"
	"github.com/nlpodyssey/gopickle/types"

	"vramscope/recorder"
)

// TestAgainstAnotherReader compares the small real dumps, event by event and
// block by block, with what another reader of pickles makes of them.
func TestAgainstAnotherReader(t *testing.T) {
	for _, name := range smallDumps {
		content := inflate(t, name)
		dump, err := readBytes(content)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := pickle.Loads(string(content))
		if err != nil {
			t.Fatal(err)
		}
		top := loaded.(*types.Dict)
		got := plain(dump).Devices[0]
		want := plainDevice{Events: loadedEvents(top), Segments: loadedSegments(top)}
		if diff := difference(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func loadedEvents(top *types.Dict) []plainEvent {
	var events []plainEvent
	for _, v := range *loadedList(loadedList(top.MustGet("device_traces")).Get(0)) {
		d := v.(*types.Dict)
		event := plainEvent{
			Action: d.MustGet("action").(string), Address: uint64(loadedInt(d, "addr")), Bytes: loadedInt(d, "size"),
			Stream: uint64(loadedInt(d, "stream")), TimeUs: loadedInt(d, "time_us"), Stack: loadedStack(d), Free: -1,
		}
		if _, ok := d.Get("device_free"); ok {
			event.Free = loadedInt(d, "device_free")
		}
		events = append(events, event)
	}
	return events
}

func loadedSegments(top *types.Dict) []plainSegment {
	var segments []plainSegment
	for _, v := range *loadedList(top.MustGet("segments")) {
		d := v.(*types.Dict)
		pool := d.MustGet("segment_pool_id").(*types.Tuple)
		segment := plainSegment{
			Address: uint64(loadedInt(d, "address")), Bytes: loadedInt(d, "total_size"), Allocated: loadedInt(d, "allocated_size"),
			Active: loadedInt(d, "active_size"), Requested: loadedInt(d, "requested_size"), Stream: uint64(loadedInt(d, "stream")),
			Pool:  [2]int64{int64(pool.Get(0).(int)), int64(pool.Get(1).(int))},
			Small: d.MustGet("segment_type") == "small", Expandable: d.MustGet("is_expandable").(bool), Stack: loadedStack(d),
		}
		for _, v := range *loadedList(d.MustGet("blocks")) {
			b := v.(*types.Dict)
			block := plainBlock{Address: uint64(loadedInt(b, "address")), Bytes: loadedInt(b, "size"), State: stateNames[b.MustGet("state").(string)]}
			if block.State != recorder.DumpInactive {
				block.Requested, block.Stack = loadedInt(b, "requested_size"), loadedStack(b)
			}
			segment.Blocks = append(segment.Blocks, block)
		}
		segments = append(segments, segment)
	}
	return segments
}

func loadedList(v any) *types.List { return v.(*types.List) }

// loadedInt is a number, 0 where there is none.
func loadedInt(d *types.Dict, key string) int64 {
	v, _ := d.Get(key)
	switch v := v.(type) {
	case int:
		return int64(v)
	case *big.Int:
		return v.Int64()
	}
	return 0
}

func loadedStack(d *types.Dict) string {
	frames, ok := d.Get("frames")
	if !ok {
		return ""
	}
	var lines []string
	for _, v := range *loadedList(frames) {
		f := v.(*types.Dict)
		line := "-1"
		if n, ok := f.MustGet("line").(int); ok {
			line = fmt.Sprint(n)
		}
		lines = append(lines, fmt.Sprintf("%s %s:%s", f.MustGet("name"), f.MustGet("filename"), line))
	}
	return strings.Join(lines, " < ")
}
