package dump

import "testing"

// What is left of the older blocks is the sum of those that still live.
func TestOlderAtIsTheSumOfOlderBlocks(t *testing.T) {
	for _, name := range []string{"render-oom", "fragmented", "resnet18-train"} {
		x := New(load(t, name))
		for _, d := range x.Devices {
			for event := BeforeFirst; event < d.Events.Len(); event += 7 {
				var requested, held int64
				for _, block := range d.LiveAt(event) {
					if block.Alloc == BeforeFirst {
						requested += block.Requested
						held += block.Bytes
					}
				}
				gotRequested, gotHeld := d.OlderAt(event)
				if gotRequested != requested || gotHeld != held {
					t.Fatalf("%s after event %d: %d requested and %d held, want %d and %d", name, event, gotRequested, gotHeld, requested, held)
				}
			}
			if requested, _ := d.OlderAt(BeforeFirst); requested != d.Base[Requested] {
				t.Errorf("%s: %d before the first event, the base is %d", name, requested, d.Base[Requested])
			}
		}
	}
}

// A summary says of a device what its report says.
func TestSummaryAgreesWithTheReport(t *testing.T) {
	for _, name := range []string{"render-oom", "fragmented", "expandable"} {
		x := New(load(t, name))
		summary, report := x.Summary(), x.Report()
		if len(summary.Devices) != 1 || summary.Format != report.Format {
			t.Fatalf("%s: %d devices of %q", name, len(summary.Devices), summary.Format)
		}
		row := &summary.Devices[0]
		if row.Events != report.Events || row.PeakRequested.Bytes != report.Peak.Requested || row.PeakAllocated.Bytes != report.PeakAllocated.Bytes ||
			row.OOMs != len(report.OOMs) || row.HistoryCut != report.HistoryCut || row.HistoryReason != report.HistoryReason {
			t.Errorf("%s: the summary %+v is not that of the report", name, row)
		}
		bytes, event, known := row.Headroom(1 << 30)
		wantBytes, wantEvent, wantKnown := x.Devices[0].Headroom(1 << 30)
		if bytes != wantBytes || event != wantEvent || known != wantKnown {
			t.Errorf("%s: headroom %d at %d (%v), want %d at %d (%v)", name, bytes, event, known, wantBytes, wantEvent, wantKnown)
		}
	}
}
