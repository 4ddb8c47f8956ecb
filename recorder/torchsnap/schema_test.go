package torchsnap

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vramscope/recorder"
)

func listOf(items ...any) *sequence { return &sequence{items} }

func read(t *testing.T, top any) (*recorder.Dump, plainDump) {
	t.Helper()
	content := pickled(top, 4, false, nil).out
	dump, err := readBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	checkDump(t, dump)
	var text bytes.Buffer
	asJSON(&text, top, " ")
	fromJSON, err := readBytes(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(plain(dump), plain(fromJSON)); diff != "" {
		t.Errorf("JSON differs: %s", diff)
	}
	return dump, plain(dump)
}

// TestHostMemory: torch 2.14 records pinned host memory beside the devices.
func TestHostMemory(t *testing.T) {
	k := keys{}
	event := func(action string) *dictionary {
		return k.dictOf("action", k.of(action), "addr", int64(64), "size", int64(8))
	}
	segment := k.dictOf("device", int64(0), "address", int64(64), "total_size", int64(512), "blocks", listOf(
		k.dictOf("address", int64(64), "size", int64(512), "requested_size", int64(8), "state", k.of("active_allocated"))))
	_, got := read(t, k.dictOf("segments", listOf(), "device_traces", listOf(listOf(), listOf(event("alloc"))),
		"host_segments", listOf(segment), "host_traces", listOf(event("alloc"), event("free_completed"))))
	if len(got.Devices) != 3 || !got.Devices[2].Host || len(got.Devices[2].Events) != 2 || len(got.Devices[2].Segments) != 1 ||
		len(got.Devices[1].Events) != 1 || got.Devices[0].Host {
		t.Errorf("%+v", got.Devices)
	}
}

// TestOverflowedHistory is told under three names.
func TestOverflowedHistory(t *testing.T) {
	k := keys{}
	for name, pairs := range map[string][]any{
		"at the top": {"trace_alloc_overflowed", true}, "for each device": {"trace_alloc_overflowed", listOf(false, true)},
		"in the settings": {"allocator_settings", k.dictOf("trace_alloc_overflowed", true)},
	} {
		if dump, _ := read(t, k.dictOf(append([]any{"segments", listOf()}, pairs...)...)); !dump.Overflowed {
			t.Errorf("%s: not seen", name)
		}
	}
	if dump, _ := read(t, k.dictOf("segments", listOf(), "trace_alloc_overflowed", listOf(false))); dump.Overflowed {
		t.Error("seen where it is not")
	}
}

// TestEventsOfEveryKind: what an event says is kept, known or not.
func TestEventsOfEveryKind(t *testing.T) {
	k := keys{}
	note := func(key, value string) recorder.DumpSetting { return recorder.DumpSetting{Key: key, Value: value} }
	for _, c := range []struct {
		pairs []any
		want  plainEvent
	}{
		{[]any{"action", "oom", "size", int64(512), "device_free", int64(1 << 40)}, plainEvent{Action: "oom", Bytes: 512, Free: 1 << 40}},
		{[]any{"action", "oom", "size", int64(512), "device_free", int64(0)}, plainEvent{Action: "oom", Bytes: 512, Free: 0}},
		{[]any{"action", "annotate", "user_metadata", "a name"}, plainEvent{Action: "annotate", Free: -1, Notes: []recorder.DumpSetting{note("user_metadata", "a name")}}},
		{[]any{"action", "user_defined", "size", int64(0)}, plainEvent{Action: "user_defined", Free: -1}},
		{[]any{"action", "workspace_snapshot"}, plainEvent{Action: "unknown", Free: -1, Notes: []recorder.DumpSetting{note("action", "workspace_snapshot")}}},
		{[]any{"action", "free", "size", int64(9)}, plainEvent{Action: "free", Bytes: 9, Free: -1}},
		{[]any{"action", "alloc", "category", int64(1)}, plainEvent{Action: "alloc", Free: -1, Notes: []recorder.DumpSetting{note("category", "gradient")}}},
		{[]any{"action", "alloc", "category", int64(7)}, plainEvent{Action: "alloc", Free: -1, Notes: []recorder.DumpSetting{note("category", "7")}}},
		{[]any{"action", "alloc", "category", "temporary"}, plainEvent{Action: "alloc", Free: -1, Notes: []recorder.DumpSetting{note("category", "temporary")}}},
		{[]any{"action", "alloc", "compile_context", "N/A", "internal_metadata", "x"}, plainEvent{Action: "alloc", Free: -1, Notes: []recorder.DumpSetting{note("internal_metadata", "x")}}},
		{[]any{"action", "alloc", "segment_pool_id", listOf(int64(1), int64(2))}, plainEvent{Action: "alloc", Free: -1, Pool: [2]int64{1, 2}}},
		{[]any{"action", "alloc", "addr", uint64(1 << 63), "stream", uint64(1<<63 + 5)}, plainEvent{Action: "alloc", Free: -1, Address: 1 << 63, Stream: 1<<63 + 5}},
		{[]any{"action", "alloc", "frames", nil, "time_us", int64(3)}, plainEvent{Action: "alloc", Free: -1, TimeUs: 3}},
	} {
		pairs := slices.Clone(c.pairs)
		for i, v := range pairs {
			if text, ok := v.(string); ok && i%2 == 1 {
				pairs[i] = k.of(text)
			}
		}
		_, got := read(t, k.dictOf("device_traces", listOf(listOf(k.dictOf(pairs...))), "categories", listOf(k.of("parameter"), k.of("gradient"))))
		if diff := difference(c.want, got.Devices[0].Events[0]); diff != "" {
			t.Errorf("%v: %s", c.pairs, diff)
		}
	}
}

// TestSizesThatMakeNoSense count as 0, with a problem that says how many.
func TestSizesThatMakeNoSense(t *testing.T) {
	k := keys{}
	event := func(size any) *dictionary { return k.dictOf("action", k.of("alloc"), "size", size) }
	_, got := read(t, k.dictOf("segments", listOf(k.dictOf("device", int64(-3), "address", int64(64), "total_size", int64(1<<60), "blocks", listOf(
		k.dictOf("address", int64(64), "size", int64(-512), "requested_size", int64(-1), "state", k.of("active_allocated"))))),
		"device_traces", listOf(listOf(event(int64(-1)), event(int64(1<<50+1)), event(int64(1<<50)), event(uint64(1<<63))))))
	bytes := []int64{}
	for _, e := range got.Devices[0].Events {
		bytes = append(bytes, e.Bytes)
	}
	if !slices.Equal(bytes, []int64{0, 0, 1 << 50, 0}) {
		t.Errorf("%v", bytes)
	}
	s := got.Devices[0].Segments[0]
	if s.Bytes != 0 || s.Blocks[0].Bytes != 0 || s.Blocks[0].Requested != 0 {
		t.Errorf("%+v", s)
	}
	all := strings.Join(got.Problems, "; ")
	if !strings.Contains(all, "device -3 makes no sense") || !strings.Contains(all, "sizes are negative or beyond 2^50") {
		t.Errorf("%q", all)
	}
}

// TestUnknownKeysAreKeptAside: what is not known is listed with where it
// stands, and an event's is a note of it.
func TestUnknownKeysAreKeptAside(t *testing.T) {
	k := keys{}
	frame := k.dictOf("name", k.of("f"), "filename", k.of("f.py"), "line", int64(1), "fx_node_op", k.of("call"))
	segment := k.dictOf("address", int64(64), "total_size", int64(512), "mood", k.of("good"), "blocks", listOf(
		k.dictOf("size", int64(512), "state", k.of("inactive"), "colour", k.of("blue"))))
	event := k.dictOf("action", k.of("alloc"), "weight", int64(3), "frames", listOf(frame))
	dump, got := read(t, k.dictOf("segments", listOf(segment), "device_traces", listOf(listOf(event)), "source_code", k.of("x")))
	want := []string{"blocks[].colour", "frames[].fx_node_op", "segments[].mood", "source_code"}
	if slices.Sort(dump.Extras); !slices.Equal(dump.Extras, want) {
		t.Errorf("%q", dump.Extras)
	}
	if notes := got.Devices[0].Events[0].Notes; len(notes) != 1 || notes[0] != (recorder.DumpSetting{Key: "weight", Value: "3"}) {
		t.Errorf("%v", notes)
	}
}

// TestIntegersOfEveryLength reads addresses in each way that they are written.
func TestIntegersOfEveryLength(t *testing.T) {
	for digits, want := range map[string]string{
		"\x8a\x00": "0", "\x8a\x01\xff": "-1", "\x8a\x02\xff\x00": "255", "\x8a\x05\x00\x00\x00\x00\x80": "-549755813888",
		"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f": "9223372036854775807", "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80": "-9223372036854775808",
		"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00": "18446744073709551615", "\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\xff": "-9223372036854775808",
		"\x8a\x09\x01\x00\x00\x00\x00\x00\x00\x00\x00": "1", "\x8b\x02\x00\x00\x00\x00\x01": "256", "\x8b\x02\x00\x00\x00\x00\x80": "-32768",
		"J\xff\xff\xff\xff": "-1", "M\xff\xff": "65535", "K\xff": "255", "\x88": "true", "G\x40\x09\x21\xfb\x54\x44\x2d\x18": "3.141592653589793",
	} {
		content := fmt.Sprintf("\x80\x04}(\x8c\x08segments]\x8c\x12allocator_settings}\x8c\x01x%ssu.", digits)
		dump, err := readBytes([]byte(content))
		if err != nil {
			t.Errorf("% x: %v", digits, err)
		} else if got := dump.Settings[0].Value; got != want {
			t.Errorf("% x: got %s, want %s", digits, got, want)
		}
	}
}

// TestNamesAreHarmless: nothing that a terminal obeys comes out of a dump.
func TestNamesAreHarmless(t *testing.T) {
	k := keys{}
	hostile := "a\x1b[31m\x9b\u202eb\x00\xff\xc3\x28\n\x7fé"
	event := k.dictOf("action", k.of("alloc"), "frames", listOf(k.dictOf("name", &text{hostile}, "filename", &text{hostile}, "line", int64(1))))
	content := pickled(k.dictOf("segments", listOf(), "device_traces", listOf(listOf(event)), hostile, int64(1), "allocator_settings", k.dictOf(hostile, k.of(hostile))), 4, false, nil).out
	dump, err := readBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	checkDump(t, dump)
	want := "a\ufffd[31m\ufffd\ufffdb\ufffd\ufffd\ufffd( \ufffdé"
	if got := dump.Strings[dump.Frames[0].Name]; got != want {
		t.Errorf("%q", got)
	}
}

// TestLongStrings are shortened, with a problem that says so.
func TestLongStrings(t *testing.T) {
	k := keys{}
	long := strings.Repeat("x", 3*pieceBytes)
	for _, value := range []any{&text{long}, &text{long[:keptText+1]}, &text{long[:keptText]}} {
		_, got := read(t, k.dictOf("segments", listOf(), "allocator_settings", k.dictOf("x", value, "y", int64(5))))
		if len(got.Settings[0].Value) != keptText || got.Settings[1].Value != "5" {
			t.Errorf("%d bytes", len(got.Settings[0].Value))
		}
		if shortened := len(value.(*text).string) > keptText; shortened != (len(got.Problems) == 1) {
			t.Errorf("%q", got.Problems)
		}
	}
}
