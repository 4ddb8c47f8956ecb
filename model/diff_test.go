package model

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainDiff joins two trees by the text of their paths.
func plainDiff(before, after *ArenaView) []string {
	type pair struct{ before, after string }
	pairs := map[string]pair{}
	for i, a := range []*ArenaView{before, after} {
		for row := range int32(a.Scopes.Len()) {
			path := scopePath(a.Scopes, row, &a.strings)
			numbers := fmt.Sprint(a.Scopes.Count(row), a.Scopes.TotalBytes(row), a.Scopes.SelfBytes(row), a.Scopes.Peak(row))
			p := pairs[path]
			if i == 0 {
				p.before = numbers
			} else {
				p.after = numbers
			}
			pairs[path] = p
		}
	}
	var lines []string
	for path, p := range pairs {
		lines = append(lines, path+": "+p.before+" / "+p.after)
	}
	slices.Sort(lines)
	return lines
}

// randomScopes opens and closes scopes at random.
func randomScopes(t *rapid.T, a *renderArena, label string) {
	for range rapid.IntRange(0, 25).Draw(t, label) {
		switch rapid.IntRange(0, 4).Draw(t, "do") {
		case 0, 1:
			a.open(rapid.SampledFrom([]string{"render", "trace", "post", "…"}).Draw(t, "name"))
		case 2:
			a.close()
		case 3:
			_, _ = a.Alloc(rapid.Int64Range(0, 20).Draw(t, "bytes"), 1)
		case 4:
			if rapid.IntRange(0, 5).Draw(t, "reset") == 0 {
				a.restart("retry")
			}
		}
	}
}

// Two moments of one arena, or two programs, join by path, and parents stand
// before their children.
func TestDiffJoinsByPath(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRender(t)
		a := r.newArena(1 << 20)
		randomScopes(rt, a, "first")
		r.flush()
		moment := r.ns
		randomScopes(rt, a, "second")
		r.flush()
		view := keep(r.records, Limits{}).published()
		after, before := view.Arenas[0], view.Arenas[0]
		if rapid.Bool().Draw(rt, "one arena") {
			if then := view.At(moment); len(then.Arenas) > 0 {
				before = then.Arenas[0]
			}
		} else {
			other := newRender(t)
			b := other.newArena(1 << 20)
			randomScopes(rt, b, "other")
			other.flush()
			before = keep(other.records, Limits{}).published().Arenas[0]
		}
		diffs := DiffScopes(before, after)
		var got []string
		for i := range diffs {
			d := &diffs[i]
			if d.Parent >= i {
				rt.Fatalf("row %d stands before its parent %d", i, d.Parent)
			}
			sides := [2]string{}
			if d.Before {
				sides[0] = fmt.Sprint(d.CountBefore, d.TotalBefore, d.SelfBefore, d.PeakBefore)
			}
			if d.After {
				sides[1] = fmt.Sprint(d.CountAfter, d.TotalAfter, d.SelfAfter, d.PeakAfter)
			}
			got = append(got, strings.Join(DiffPath(diffs, i), "/")+": "+sides[0]+" / "+sides[1])
		}
		slices.Sort(got)
		if want := plainDiff(before, after); !slices.Equal(got, want) {
			rt.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
