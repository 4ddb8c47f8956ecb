package model

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"vramscope/recorder"
)

// maximumRollup is how many names a rollup keeps apart; the rest is added up
// under the name "…".
const maximumRollup = 4096

// rollupFold adds bytes up by the number of a string.
type rollupFold struct {
	entries []rollupEntry
	places  map[uint32]int32 // by string number
	last    int32            // place of the number counted last: events come in runs
	shared  bool             // a reader has the entries
	frozen  bool             // another fold has the entries and the places
}

type rollupEntry struct {
	text  uint32
	bytes int64
	count int64
}

// add counts an allocation under a string number.
func (r *rollupFold) add(text uint32, bytes int64) {
	if r.shared || r.frozen {
		r.unshare()
	}
	place := r.last
	if int(place) >= len(r.entries) || r.entries[place].text != text {
		place = r.place(text)
		r.last = place
	}
	r.entries[place].bytes += bytes
	r.entries[place].count++
}

func (r *rollupFold) place(text uint32) int32 {
	if place, ok := r.places[text]; ok {
		return place
	}
	if len(r.entries) >= maximumRollup && text != recorder.FoldedName {
		return r.place(recorder.FoldedName)
	}
	if r.places == nil {
		r.places = map[uint32]int32{}
	}
	place := int32(len(r.entries))
	r.entries = append(r.entries, rollupEntry{text: text})
	r.places[text] = place
	return place
}

// unshare gives the fold entries of its own, and places when another fold has
// those.
func (r *rollupFold) unshare() {
	r.entries = slices.Clone(r.entries)
	if r.frozen {
		r.places = maps.Clone(r.places)
	}
	r.shared, r.frozen = false, false
}

// rollupView is a rollup for readers: the names are looked up and the entries
// sorted when somebody asks.
type rollupView struct {
	once    sync.Once
	entries []rollupEntry
	sorted  []Rollup
}

// publish is the rollup as it is now.
func (r *rollupFold) publish() *rollupView {
	r.shared = true
	return &rollupView{entries: r.entries}
}

// rollups are the entries, most bytes first.
func (v *rollupView) rollups(strings *recorder.StringTable) []Rollup {
	v.once.Do(func() {
		v.sorted = make([]Rollup, len(v.entries))
		for i, entry := range v.entries {
			v.sorted[i] = Rollup{Name: strings.String(entry.text), Bytes: entry.bytes, Count: entry.count}
		}
		slices.SortFunc(v.sorted, func(a, b Rollup) int {
			return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
		})
	})
	return v.sorted
}
