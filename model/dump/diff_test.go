package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"vramscope/recorder"
)

func TestMomentsAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]string{"": "end", "end": "end", "peak": "peak", "12345": "12345", "12.5s": "12.5s", "0s": "0s"} {
		if m, err := ParseMoment(text); err != nil || m.String() != want {
			t.Errorf("%q is %v, %v", text, m, err)
		}
	}
	for _, text := range []string{"peka", "-1", "1.5", "s", "-1s", "NaNs", "1e99s", "\x1b[0m"} {
		_, err := ParseMoment(text)
		var moment *MomentError
		if !errors.As(err, &moment) || strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%q: %v", text, err)
		}
	}
	for argument, want := range map[string][2]string{
		"a.pickle@peak": {"a.pickle", "peak"}, "a.pickle": {"a.pickle", "end"}, "rank@host.pickle": {"rank@host.pickle", "end"},
		"rank@host.pickle@7": {"rank@host.pickle", "7"}, "@peak": {"@peak", "end"},
	} {
		if file, m := SplitMoment(argument); file != want[0] || m.String() != want[1] {
			t.Errorf("%s is %s at %v", argument, file, m)
		}
	}
}

func TestMomentsAreFoundInATrace(t *testing.T) {
	x := New(written(recorder.DumpDevice{Events: events("alloc 1 100 1\nalloc 2 900 2\nfree_completed 2 900 2\nalloc 2 50 3")}))
	d := x.Devices[0]
	for text, want := range map[string]int{"peak": 1, "end": 3, "2": 2, "0s": 0, "1.5s": 1, "99s": 3} {
		m, _ := ParseMoment(text)
		if event, err := d.Event(m); err != nil || event != want {
			t.Errorf("%s is after event %d, want %d; %v", text, event, want, err)
		}
	}
	if _, err := d.Event(AtEvent(4)); err == nil || !strings.Contains(err.Error(), "has 4 events") {
		t.Errorf("event 4: %v", err)
	}
}

func TestDiffNamesWhatChanged(t *testing.T) {
	a := New(written(recorder.DumpDevice{Events: events("alloc 1 100 1\nalloc 2 300 2\nalloc 3 7 0")}))
	// The other dump numbers the same stacks differently.
	other := written(recorder.DumpDevice{Events: events("alloc 1 100 3\nalloc 2 150 3\nalloc 3 900 1\nalloc 4 7 0")})
	other.Stacks.Frames = []uint32{2, 4, 3, 1, 4, 3, 0, 4, 3}
	b := New(other)
	diff, err := NewDiff(Side{Index: a, Device: -1, Name: "a"}, Side{Index: b, Device: 0, Name: "b", Moment: AtPeak})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range diff.Rows {
		name := "none"
		if len(row.Frames) > 0 {
			name = row.Frames[0].Name
		}
		got = append(got, name+" "+string(row.Change))
	}
	if want := []string{"loss new", "train gone", "load grown", "none same"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if row := diff.Rows[2]; row.ABytes != 100 || row.BBytes != 250 || row.ACount != 1 || row.BCount != 2 || row.Delta() != 150 {
		t.Errorf("%+v", row)
	}
	if diff.A.Bytes != 407 || diff.B.Count != 4 || diff.B.EventIndex != 3 {
		t.Errorf("%+v, %+v", diff.A, diff.B)
	}
	text, _ := json.Marshal(diff)
	for _, part := range []string{`"a":{"name":"a"`, `"b":{"name":"b"`, `"rows":[{"frames":[{"name":"loss"`, `"a_bytes":0`, `"b_count":1`} {
		if !bytes.Contains(text, []byte(part)) {
			t.Errorf("%s is missing in %s", part, text)
		}
	}
	if _, err := NewDiff(Side{Index: a, Device: -1}, Side{Index: b, Device: -1, Moment: AtEvent(99)}); err == nil {
		t.Error("a moment beyond the trace is compared")
	}
}

// The sides of a diff add up to what is live there, and a dump does not differ
// from itself.
func TestDiffsOfRealDumpsAddUp(t *testing.T) {
	x := New(load(t, "resnet18-train"))
	diff, err := NewDiff(Side{Index: x, Device: -1, Moment: AtPeak}, Side{Index: x, Device: -1})
	if err != nil {
		t.Fatal(err)
	}
	var a, b int64
	for _, row := range diff.Rows {
		a += row.ABytes
		b += row.BBytes
	}
	if a != 441837096 || b != 213385348 {
		t.Errorf("the sides add up to %d and %d", a, b)
	}
	same, err := NewDiff(Side{Index: x, Device: -1}, Side{Index: New(load(t, "resnet18-train")), Device: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range same.Rows {
		if row.Change != ChangeSame {
			t.Errorf("%+v", row)
		}
	}
}
