package model

import (
	"runtime"
	"testing"

	"vramscope/recorder"
)

// BenchmarkTenMinutes watches one process for ten minutes, 6,000 events, 10
// samples and 4 frames a second, with ten snapshots a second, and says what that
// takes: processor time for each second watched, and memory in the end.
func BenchmarkTenMinutes(b *testing.B) {
	r := busyArena(b, 60_000)
	var events []recorder.ArenaEvent
	for _, record := range r.records {
		if batch, ok := record.(*recorder.ArenaEvents); ok {
			for _, event := range batch.All() {
				events = append(events, *event)
			}
		}
	}
	for range b.N {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		k := newKeeper("x", "x", renderSource, DefaultOptions().Live, nil)
		k.take(r.records[0])
		k.take(r.records[2])
		const tenth, tenths = int64(100_000_000), 6000
		at := 0
		var v *SourceView
		for i := range int64(tenths) {
			now := (i + 1) * tenth
			if i%25 == 0 {
				k.take(&recorder.Frame{Head: recorder.Head{Ns: now}, N: i / 25})
			}
			batch := &recorder.ArenaEvents{Arena: 1}
			for n := range int64(600) {
				event := events[at%len(events)]
				event.Ns = now + n*tenth/600
				batch.Append(&event)
				at++
			}
			k.take(batch)
			k.take(&recorder.Sample{Head: recorder.Head{Ns: now + tenth - 1}, Sets: benchmarkSet()})
			v = k.published()
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
		b.ReportMetric(float64(v.Now-v.KeptFrom())/1e9, "s-kept")
		runtime.KeepAlive(k)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/600, "ms/s-watched")
}
