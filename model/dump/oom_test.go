package dump

import (
	"strings"
	"testing"

	"vramscope/recorder"
)

func TestTheRendersOOMWasALimit(t *testing.T) {
	x := New(load(t, "render-oom"))
	d := x.Devices[0]
	if len(d.OOMEvents) != 1 {
		t.Fatalf("%d OOMs", len(d.OOMEvents))
	}
	o := d.OOM(int(d.OOMEvents[0]))
	if o.Event != 1851 || o.Asked != 277_711_872 || o.Driver != 146_527_092_736 || o.Needed != 278_921_216 || o.Reason != ReasonLimit {
		t.Errorf("%+v", o)
	}
	// The state at the failure, not that of the dump, which is after unwinding.
	if o.Totals[Reserved] != 2_778_726_400 || o.ReservedFree() >= o.Asked || o.Usable.Largest >= o.Asked {
		t.Errorf("reserved %d, free of it %d, largest %d", o.Totals[Reserved], o.ReservedFree(), o.Usable.Largest)
	}
	if o.Highest != d.Peaks[Reserved].Bytes || o.Short != o.Totals[Reserved]+o.Needed-o.Highest {
		t.Errorf("highest %d, short %d", o.Highest, o.Short)
	}
	text := strings.Join(x.Explain(&o), "\n")
	for _, part := range []string{"264.8 MiB were asked for", "136.5 GiB were free on the device", "had set itself a limit, at least 2.79 GiB and less than 2.85 GiB", "would have had to go"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
	if bytes, event, known := d.Headroom(gib); !known || event != 1851 || bytes != o.Driver+o.ReservedFree()-gib {
		t.Errorf("headroom %d at %d, known %v", bytes, event, known)
	}
	if _, _, known := New(load(t, "fragmented")).Devices[0].Headroom(gib); known {
		t.Error("headroom is known without an OOM")
	}
}

func TestReasonsOfOOMs(t *testing.T) {
	// 40 MiB in two segments; blocks of 12 and 6 MiB leave 8 and 14 MiB free.
	trace := `
		segment_alloc 100 20971520 1
		alloc 100 12582912 1
		segment_alloc 200 20971520 1
		alloc 200 6291456 2
		oom 0 ASKED 3`
	for _, c := range []struct {
		name, asked  string
		driver       int64 // -1 not recorded
		reason       Reason
		short        int64
		toGo         int // stacks
		explanations []string
	}{
		{"full", "33554432", mib, ReasonFull, 31 * mib, 2, []string{"The device was full", "31.0 MiB were missing"}},
		{"in pieces", "20971520", mib, ReasonPieces, 19 * mib, 2, []string{"no piece was", "12.0 MiB of load (a.py:10)"}},
		{"limit", "20971520", gib, ReasonLimit, 20 * mib, 2, []string{"had set itself a limit"}},
		{"not known", "20971520", -1, ReasonUnknown, 0, 0, []string{"not recorded", "Why is not known"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := recorder.DumpDevice{Events: events(strings.Replace(trace, "ASKED", c.asked, 1))}
			if c.driver >= 0 {
				d.Events.Free[4] = c.driver
			}
			endSegment(&d, 100, endBlock{12 * mib, 12 * mib, 1}, endBlock{8 * mib, 0, 0})
			endSegment(&d, 200, endBlock{6 * mib, 6 * mib, 2}, endBlock{14 * mib, 0, 0})
			x := New(written(d))
			o := x.Devices[0].OOM(4)
			if o.Reason != c.reason || o.Short != c.short || len(o.Go) != c.toGo {
				t.Errorf("reason %q, short %d, to go %v", o.Reason, o.Short, o.Go)
			}
			if o.Usable.Free != 22*mib || o.Usable.Largest != 14*mib || o.Largest != 14*mib {
				t.Errorf("usable %+v", o.Usable)
			}
			text := strings.Join(x.Explain(&o), "\n")
			for _, part := range c.explanations {
				if !strings.Contains(text, part) {
					t.Errorf("%q is missing in:\n%s", part, text)
				}
			}
		})
	}
}

func TestOnlyTheFirstOfVeryManyOOMsAreExplained(t *testing.T) {
	d := recorder.DumpDevice{Events: events(strings.Repeat("oom 0 1024 1\n", 5000))}
	r := New(written(d)).Report()
	if len(r.OOMs) != 5000 || len(r.OOMs[99].Explanation) == 0 || len(r.OOMs[100].Explanation) != 0 || r.OOMs[100].UsableFree != nil {
		t.Errorf("%d OOMs, %+v", len(r.OOMs), r.OOMs[100])
	}
}
