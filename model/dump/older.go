package dump

import (
	"cmp"
	"slices"
	"sort"
)

// olderSum is what is left of the blocks from before the trace once an event
// has happened.
type olderSum struct {
	event           int32
	requested, held int64 // bytes; held includes the rounding
}

// OlderAt is what the blocks that are older than the trace still hold after an
// event, in bytes as asked for and rounded up. It never grows, and is a part of
// At(event).
func (d *Device) OlderAt(event int) (requested, held int64) {
	sums := d.olderSums()
	at := sort.Search(len(sums), func(i int) bool { return int(sums[i].event) > event }) - 1
	return sums[at].requested, sums[at].held
}

// sumOlder adds the blocks up by the events that end them. Its first entry is
// the state before the first event.
func (d *Device) sumOlder() []olderSum {
	sums := []olderSum{{event: BeforeFirst}}
	var ends []olderSum
	for n := range d.before {
		b := &d.before[n]
		if b.dropped {
			continue
		}
		sums[0].requested += b.requested
		sums[0].held += b.bytes
		if b.ends != never {
			ends = append(ends, olderSum{b.ends, b.requested, b.bytes})
		}
	}
	slices.SortFunc(ends, func(a, b olderSum) int { return cmp.Compare(a.event, b.event) })
	for _, end := range ends {
		last := sums[len(sums)-1]
		sums = append(sums, olderSum{end.event, last.requested - end.requested, last.held - end.held})
	}
	return sums
}
