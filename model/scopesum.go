package model

import (
	"cmp"
	"slices"

	"vramscope/recorder"
)

// ScopeSum is every scope of one name added up, over all arenas of a calibration
// dump. Bytes and counts are sums; the peak is the largest of one scope, for
// peaks are never summed.
type ScopeSum struct {
	Name       string
	Arenas     int   // in which it occurs
	Count      int64 // scopes
	AllocCount int64 // scopes inside included
	SelfBytes  int64
	TotalBytes int64 // scopes inside included, each byte once
	Peak       int64 // simultaneous, above entry: the largest
	PeakArena  int64 // ID of the arena that has it
	// Where moves of an arena's pointers were not seen: Peak, and the counts and
	// bytes, are lower bounds.
	PeakIsLeast, CountIsLeast bool

	bound int64 // the most that Peak can have been
}

// SumScopes adds the scopes of arenas up by name, abandoned ones apart. Both lists
// go from the largest peak to the smallest.
func SumScopes(arenas []*ArenaView) (whole, abandoned []ScopeSum) {
	return sumScopes(arenas, func(a *ArenaView) *recorder.ScopeSnapshot { return a.Scopes }),
		sumScopes(arenas, func(a *ArenaView) *recorder.ScopeSnapshot { return a.Scopes.Abandoned() })
}

func sumScopes(arenas []*ArenaView, tree func(*ArenaView) *recorder.ScopeSnapshot) []ScopeSum {
	places := map[string]int{}
	var sums []ScopeSum
	for _, a := range arenas {
		if a.Scopes == nil {
			continue
		}
		scopes := tree(a)
		occurs := map[int]bool{}
		for row := range int32(scopes.Len()) {
			name := a.strings.String(scopes.Name(row))
			place, ok := places[name]
			if !ok {
				place = len(sums)
				places[name] = place
				sums = append(sums, ScopeSum{Name: name})
			}
			sum := &sums[place]
			if !occurs[place] {
				occurs[place] = true
				sum.Arenas++
			}
			sum.add(a.ID, scopes.Row(row), inOwnName(scopes, row))
		}
	}
	slices.SortStableFunc(sums, func(a, b ScopeSum) int {
		return cmp.Or(cmp.Compare(b.Peak, a.Peak), cmp.Compare(a.Name, b.Name))
	})
	return sums
}

// add takes a row in. One that lies in a scope of its own name is in that one's
// total already.
func (s *ScopeSum) add(arena int64, row recorder.ScopeRow, inside bool) {
	s.Count += row.Count
	s.SelfBytes += row.SelfBytes
	if !inside {
		s.AllocCount += row.AllocCount
		s.TotalBytes += row.TotalBytes
	}
	if row.Peak > s.Peak || s.PeakArena == 0 {
		s.Peak, s.PeakArena = max(s.Peak, row.Peak), arena
	}
	s.bound = max(s.bound, row.PeakBound)
	s.PeakIsLeast, s.CountIsLeast = s.bound > s.Peak, s.bound > 0
}

// inOwnName says whether a row lies below a row of its own name.
func inOwnName(scopes *recorder.ScopeSnapshot, row int32) bool {
	name := scopes.Name(row)
	for above := scopes.Parent(row); above >= 0; above = scopes.Parent(above) {
		if scopes.Name(above) == name {
			return true
		}
	}
	return false
}
