package dump

import (
	"fmt"
	"slices"
	"testing"

	"vramscope/recorder"
)

func TestMarksPairUpLikeAStack(t *testing.T) {
	d := recorder.DumpDevice{Events: events("alloc 1 1 1\nalloc 2 1 1\nalloc 3 1 1\nalloc 4 1 1")}
	dump := written(d)
	mark := func(name string, start bool, second int64) {
		dump.Annotations = append(dump.Annotations, recorder.DumpAnnotation{Name: name, Start: start, TimeUs: second * 1_000_000})
	}
	mark("early", false, 1001)
	mark("step", true, 1000)
	mark("forward", true, 1001)
	mark("forward", false, 1002)
	mark("step", false, 1003)
	mark("open", true, 1003)
	dump.Annotations = append(dump.Annotations, recorder.DumpAnnotation{Name: "elsewhere", Start: true, Device: 3})
	var got []string
	for _, s := range New(dump).Devices[0].Spans() {
		got = append(got, fmt.Sprintf("%s [%d,%d) lane %d %v %v", s.Name, s.From, s.To, s.Lane, s.NoStart, s.NoEnd))
	}
	want := []string{
		"step [0,3) lane 0 false false", "early [0,1) lane 1 true false", "forward [1,2) lane 1 false false", "open [3,4) lane 0 false true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMarksOfTorch24StandInFrames(t *testing.T) {
	d := recorder.DumpDevice{Events: events("user_defined 0 0 1\nalloc 2 1 0\nuser_defined 0 0 2\nalloc 4 1 0")}
	dump := written(d)
	dump.Strings = append(dump.Strings, "START", "END", "warm-up")
	dump.Frames = []recorder.DumpFrame{{Name: 8, File: 10}, {Name: 9, File: 10}}
	dump.Stacks = recorder.DumpStacks{Start: []uint32{0, 0, 1, 2}, Frames: []uint32{0, 1}}
	spans := New(dump).Devices[0].Spans()
	if len(spans) != 1 || spans[0].Name != "warm-up" || spans[0].From != 0 || spans[0].To != 2 || spans[0].NoEnd {
		t.Errorf("%+v", spans)
	}
}

func TestTimesThatGoBackFollowTheLatest(t *testing.T) {
	d := recorder.DumpDevice{Events: events("alloc 1 1 1\nalloc 2 1 1\nalloc 3 1 1\nalloc 4 1 1")}
	d.Events.TimeUs = []int64{100, 300, 200, 400}
	x := New(written(d))
	problem(t, x, "times go back")
	got := x.Devices[0]
	if got.LastUntil(250) != 0 || got.LastUntil(300) != 2 || got.FirstFrom(301) != 3 || got.TimeAt(2) != 300 {
		t.Error(got.LastUntil(250), got.LastUntil(300), got.FirstFrom(301), got.TimeAt(2))
	}
	columns := make([]Column, 4)
	got.ColumnsByTime(columns, 0, 500)
	for i, want := range [][2]int{{0, 1}, {1, 1}, {1, 3}, {3, 4}} {
		if c := columns[i]; c.From != want[0] || c.To != want[1] {
			t.Errorf("column %d has events [%d, %d), want %v", i, c.From, c.To, want)
		}
	}
	if c := columns[1]; c.Min != c.Max || c.Min[Requested] != 1 {
		t.Errorf("a column without events has %+v", c)
	}
}
