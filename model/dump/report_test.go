package dump

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"vramscope/recorder"
)

func TestReportGivesTheFactsOfRealDumps(t *testing.T) {
	for _, name := range dumpNames {
		t.Run(name, func(t *testing.T) {
			want, x := factsOf(t, name), New(load(t, name))
			text, err := json.Marshal(x.Report())
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			figure := func(path string) float64 {
				t.Helper()
				var at any = got
				for key := range strings.SplitSeq(path, ".") {
					at = at.(map[string]any)[key]
				}
				number, ok := at.(float64)
				if !ok {
					t.Fatalf("%s is %v", path, at)
				}
				return number
			}
			for path, want := range map[string]int64{
				"events": int64(want.Events), "segments": int64(want.Segments), "blocks": int64(want.Blocks),
				"distinct_stacks": int64(want.Stacks), "distinct_frames": int64(want.Frames),
				"bytes.reserved": want.Reserved, "bytes.allocated": want.Allocated, "bytes.active": want.Active, "bytes.requested": want.Requested,
				"baseline_requested_bytes": want.Baseline, "peak.requested_bytes": want.PeakRequested, "peak.event_index": int64(want.PeakEvent),
				"largest_free_block": want.Largest,
			} {
				if figure(path) != float64(want) {
					t.Errorf("%s is %.0f, want %d", path, figure(path), want)
				}
			}
			if split, known := want.Torch["inactive_split_bytes.all.current"]; known {
				if space := x.Devices[0].EndMap().Space(); space.Split != split {
					t.Errorf("%d bytes are free in split segments, torch says %d", space.Split, split)
				}
			}
			if peak, known := want.Torch["allocated_bytes.all.peak"]; known && figure("peak_allocated.bytes") != float64(peak) {
				t.Errorf("allocated peak %.0f, torch says %d", figure("peak_allocated.bytes"), peak)
			}
			fragmentation := 1 - float64(want.Largest)/float64(want.Reserved-want.Active)
			if figure("fragmentation") != fragmentation {
				t.Errorf("fragmentation %f, want %f", figure("fragmentation"), fragmentation)
			}
			var sum int64
			for _, row := range x.Report().Peak.Top {
				sum += row.Bytes
			}
			if sum != want.PeakRequested {
				t.Errorf("the stacks at the peak add up to %d, want %d", sum, want.PeakRequested)
			}
			if got["history_cut"] != false || len(got["problems"].([]any)) != 0 || len(got["devices"].([]any)) != 1 {
				t.Errorf("cut %v, problems %v", got["history_cut"], got["problems"])
			}
			if name == "render-oom" {
				oom := got["ooms"].([]any)[0].(map[string]any)
				if oom["event_index"] != 1851.0 || oom["asked_bytes"] != 277711872.0 || oom["device_free_bytes"] != 146527092736.0 || oom["reason"] != "process limit" {
					t.Errorf("OOM %v", oom)
				}
			}
		})
	}
}

func TestWhatIsNotKnownIsNull(t *testing.T) {
	d := recorder.DumpDevice{Events: events("alloc 1 512 1\noom 0 1024 1")}
	d.Events.TimeUs = []int64{0, 0}
	text, err := json.Marshal(New(written(d)).Report())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"reserved":null`, `"time_us":null`, `"device_free_bytes":null`, `"peak_reserved":null`, `"reason":"unknown"`} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("%s is missing in %s", part, text)
		}
	}
	var empty bytes.Buffer
	if err := New(&recorder.Dump{}).Report().WriteText(&empty); err != nil || !strings.Contains(empty.String(), "no device") {
		t.Errorf("an empty dump gives %q, %v", empty.String(), err)
	}
}

func TestAListOfStacksAddsUpHoweverLongItIs(t *testing.T) {
	x := New(manyStacks())
	d := x.Devices[0]
	rows := x.stackReports(d.LiveByStack(d.Events.Len() - 1))
	var sum int64
	for _, row := range rows {
		sum += row.Bytes
	}
	if len(rows) != mostStacks+1 || sum != d.At(d.Events.Len() - 1)[Requested] {
		t.Errorf("%d rows add up to %d", len(rows), sum)
	}
	if name := rows[mostStacks].Frames[0].Name; name != "99000 smaller stacks" {
		t.Errorf("the last row is %q", name)
	}
}

func TestHostileNamesComeOutAsText(t *testing.T) {
	for in, want := range map[string]string{
		"train.py":           "train.py",
		"\x1b[31mred":        "\uFFFD[31mred",
		"a\nb\u009bc":        "a\uFFFDb\uFFFDc",
		"evil\u202egnp.py":   "evil\uFFFDgnp.py",
		"no \xff UTF-8":      "no \uFFFD UTF-8",
		"名前 – kept as it is": "名前 – kept as it is",
	} {
		if got := CleanText(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
