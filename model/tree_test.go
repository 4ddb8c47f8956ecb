package model

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vramscope/recorder"
)

// arenaViewOf is an arena with a scope tree of random rows.
func arenaViewOf(rows int, names int, parent func(row int) int32) *ArenaView {
	var table recorder.StringTable
	texts := make([]string, names)
	for i := range texts {
		texts[i] = fmt.Sprintf("scope %d", (i*7919)%names)
	}
	_ = table.Add(&recorder.Strings{First: 1, Strings: texts})
	state := &recorder.ArenaState{ID: 1, Length: 1 << 40}
	tree := &state.Tree
	used := map[[2]int32]bool{}
	for row := range rows {
		up := parent(row)
		name := uint32((row*104729)%names + 1)
		for used[[2]int32{up, int32(name)}] {
			name = name%uint32(names) + 1
		}
		used[[2]int32{up, int32(name)}] = true
		tree.Parent = append(tree.Parent, up)
		tree.Name = append(tree.Name, name)
		tree.Count = append(tree.Count, 1)
		tree.AllocCount = append(tree.AllocCount, int64(row*31%97))
		tree.SelfBytes = append(tree.SelfBytes, int64(row)*7919%100_003)
		tree.Peak = append(tree.Peak, int64(row)*104729%1_000_003)
	}
	scopes, err := recorder.LoadScopeTree(state, recorder.TreeLimits{})
	if err != nil {
		panic(err)
	}
	return &ArenaView{ID: 1, State: *state, Scopes: scopes.Snapshot(), strings: table, callers: &rollupView{}, dtypes: &rollupView{}}
}

// plainRows is what a tree view means: recursion over sorted children.
func plainRows(a *ArenaView, key TreeKey, open func(path string, depth int) bool, filter string) (lines []string) {
	name := func(row int32) string { return a.strings.String(a.Scopes.Name(row)) }
	text, invert := strings.CutPrefix(filter, "!")
	passes := func(row int32) bool { return filter == "" || regexp.MustCompile(text).MatchString(name(row)) != invert }
	var below func(row int32) bool
	below = func(row int32) bool {
		for child := range a.Scopes.Children(row) {
			if passes(child) || below(child) {
				return true
			}
		}
		return false
	}
	var walk func(above int32, path string, depth int, inside bool)
	walk = func(above int32, path string, depth int, inside bool) {
		var children []int32
		for child := range a.Scopes.Children(above) {
			children = append(children, child)
		}
		slices.SortStableFunc(children, func(x, y int32) int {
			switch key {
			case TreeByPeak:
				return cmp.Compare(a.Scopes.Peak(y), a.Scopes.Peak(x))
			case TreeByTotal:
				return cmp.Compare(a.Scopes.TotalBytes(y), a.Scopes.TotalBytes(x))
			case TreeBySelf:
				return cmp.Compare(a.Scopes.SelfBytes(y), a.Scopes.SelfBytes(x))
			case TreeByAllocs:
				return cmp.Compare(a.Scopes.AllocCount(y), a.Scopes.AllocCount(x))
			case TreeByName:
				return cmp.Compare(name(x), name(y))
			}
			return cmp.Compare(x, y)
		})
		for _, child := range children {
			if !passes(child) && !below(child) && !inside {
				continue
			}
			at := path + "/" + name(child)
			lines = append(lines, at)
			hasBelow := filter != "" && below(child)
			if open(at, depth) || hasBelow {
				walk(child, at, depth+1, inside || filter != "" && !invert && passes(child))
			}
		}
	}
	walk(-1, "", 0, false)
	return lines
}

func TestATreeViewIsSortedOpenedAndFiltered(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.IntRange(0, 300).Draw(rt, "rows")
		a := arenaViewOf(rows, 60, func(row int) int32 {
			return int32(rapid.IntRange(max(-1, row/3-3), row/2-1).Draw(rt, "parent"))
		})
		var view TreeView
		view.Show(a)
		toggled := map[string]bool{}
		for range rapid.IntRange(1, 12).Draw(rt, "keys") {
			switch rapid.IntRange(0, 3).Draw(rt, "key") {
			case 0:
				view.SortBy(TreeKey(rapid.IntRange(0, int(treeKeys)-1).Draw(rt, "sort")))
			case 1:
				pattern := rapid.SampledFrom([]string{"", "1", "!1", "scope [2-4]", "5$", "!scope"}).Draw(rt, "filter")
				if err := view.Filter(pattern); err != nil {
					rt.Fatal(err)
				}
			default:
				if shown := view.Rows(); len(shown) > 0 {
					row := shown[rapid.IntRange(0, len(shown)-1).Draw(rt, "row")]
					if row.Opens {
						view.Toggle(row)
						toggled["/"+strings.Join(view.Path(row), "/")] = !row.Open
					}
				}
			}
			var got []string
			for _, row := range view.Rows() {
				got = append(got, "/"+strings.Join(view.Path(row), "/"))
			}
			want := plainRows(a, view.Key(), func(path string, depth int) bool {
				if open, said := toggled[path]; said {
					return open
				}
				return depth < defaultDepth
			}, view.FilterPattern())
			if !slices.Equal(got, want) {
				rt.Fatalf("sorted by %v, filter %q: %s", view.Key(), view.FilterPattern(), firstDifference(got, want))
			}
		}
	})
}

func TestARowKeepsItsStateFromSnapshotToSnapshot(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1 << 20)
	a.open("render")
	a.open("trace")
	r.flush()
	k := keep(r.records, Limits{})
	var view TreeView
	view.OpenTo(0)
	view.Show(k.published().Arenas[0])
	view.SetOpen(view.Rows()[0], true)
	chosen := view.ID(view.Rows()[1])
	a.close()
	a.open("resolve") // larger, and so in front of trace
	_, _ = a.Alloc(1000, 1)
	r.records = r.records[:0]
	r.flush()
	for _, record := range r.records {
		k.take(record)
	}
	view.Show(k.published().Arenas[0])
	if got := len(view.Rows()); got != 3 {
		t.Fatalf("%d rows", got)
	}
	if at, ok := view.Find(chosen); !ok || at != 2 || view.Name(view.Rows()[at]) != "trace" {
		t.Errorf("trace is at %d, %v", at, ok)
	}
	if live, ok := view.Live(view.Rows()[1]); !ok || live != 1000 {
		t.Errorf("live now in resolve: %d, %v", live, ok)
	}
	if _, ok := view.Live(view.Rows()[2]); ok {
		t.Error("trace is closed and has something live")
	}
}

func TestAbandonedScopesStandApart(t *testing.T) {
	r := newRender(t)
	a := r.newArena(1 << 20)
	a.open("wavefront")
	_, _ = a.Alloc(700, 1)
	a.restart("window split")
	a.open("retry")
	_, _ = a.Alloc(8, 1)
	a.close()
	r.flush()
	var view TreeView
	view.Show(keep(r.records, Limits{}).published().Arenas[0])
	rows := view.Rows()
	if len(rows) != 3 || view.Name(rows[0]) != "retry" || rows[1].Row >= 0 || !rows[1].Abandoned || view.Name(rows[2]) != "wavefront" {
		t.Fatalf("%+v", rows)
	}
	if n := view.Numbers(rows[1]); n.Count != 1 || n.AllocCount != 1 || n.Peak != 0 {
		t.Errorf("the head says %+v", n)
	}
	view.Toggle(rows[1])
	if len(view.Rows()) != 2 {
		t.Errorf("closed: %+v", view.Rows())
	}
	if at, ok, err := view.Search("wave", 0, true); err != nil || !ok || at != 2 {
		t.Errorf("search opens what hides a match: %d, %v, %v", at, ok, err)
	}
}

func TestSearchGoesRound(t *testing.T) {
	a := arenaViewOf(40, 40, func(row int) int32 { return int32(row/4) - 1 })
	var view TreeView
	view.Show(a)
	view.SortBy(TreeByOrder)
	view.OpenTo(0)
	seen := map[string]int{}
	at := 0
	for range 8 {
		var ok bool
		var err error
		if at, ok, err = view.Search("scope [12]$", at, true); err != nil || !ok {
			t.Fatal(at, ok, err)
		}
		seen[view.Name(view.Rows()[at])]++
	}
	if len(seen) != 2 || seen["scope 1"] != 4 || seen["scope 2"] != 4 {
		t.Errorf("%v", seen)
	}
	forward, _, _ := view.Search("scope [12]$", at, true)
	if back, ok, _ := view.Search("scope [12]$", forward, false); !ok || back != at {
		t.Errorf("back to %d, want %d", back, at)
	}
	if _, ok, err := view.Search("nothing like it", at, true); ok || err != nil {
		t.Error("found what is not there", err)
	}
	if _, _, err := view.Search("(", at, true); err == nil {
		t.Error("a broken expression is searched for")
	}
}

// TestSummedByName adds up over arenas and never sums a peak.
func TestSummedByName(t *testing.T) {
	r := newRender(t)
	for i := range 3 {
		a := r.newArena(1024)
		workedTree(t, a)
		if i == 2 {
			a.open("trace")
			_, _ = a.Alloc(500, 1)
			a.restart("retry")
		}
	}
	r.flush()
	whole, abandoned := SumScopes(keep(r.records, Limits{}).published().Arenas)
	want := []ScopeSum{
		{Name: "render", Arenas: 3, Count: 3, AllocCount: 15, SelfBytes: 9, TotalBytes: 921, Peak: 268, PeakArena: 1},
		{Name: "trace", Arenas: 3, Count: 3, AllocCount: 9, SelfBytes: 792, TotalBytes: 792, Peak: 265, PeakArena: 1},
		{Name: "post", Arenas: 3, Count: 3, AllocCount: 3, SelfBytes: 120, TotalBytes: 120, Peak: 44, PeakArena: 1},
	}
	if !slices.Equal(whole, want) {
		t.Errorf("got %+v\nwant %+v", whole, want)
	}
	if len(abandoned) != 1 || abandoned[0].Name != "trace" || abandoned[0].SelfBytes != 500 || abandoned[0].PeakArena != 3 {
		t.Errorf("abandoned %+v", abandoned)
	}
}

func TestTwoTreesSideBySide(t *testing.T) {
	before, after := newRender(t), newRender(t)
	a, b := before.newArena(4096), after.newArena(4096)
	a.open("render")
	_, _ = a.Alloc(100, 1)
	a.open("gone")
	_, _ = a.Alloc(7, 1)
	a.close()
	a.close()
	b.open("extra")
	b.close()
	b.open("render")
	_, _ = b.Alloc(300, 1)
	b.open("new")
	b.close()
	b.close()
	before.flush()
	after.flush()
	diffs := DiffScopes(keep(before.records, Limits{}).published().Arenas[0], keep(after.records, Limits{}).published().Arenas[0])
	var got []string
	for i := range diffs {
		d := &diffs[i]
		got = append(got, fmt.Sprintf("%s %v %d→%d peak %d→%d", strings.Join(DiffPath(diffs, i), "/"), d.Change(), d.TotalBefore, d.TotalAfter, d.PeakBefore, d.PeakAfter))
	}
	want := []string{
		"render grown 107→300 peak 107→300",
		"render/gone gone 7→0 peak 7→0",
		"render/new new 0→0 peak 0→0",
		"extra new 0→0 peak 0→0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// BenchmarkTree is every key on a tree of a hundred thousand rows, all open.
func BenchmarkTree(b *testing.B) {
	a := arenaViewOf(100_000, 3000, func(row int) int32 { return int32(row/40) - 1 })
	other := arenaViewOf(100_000, 3000, func(row int) int32 { return int32(row/40) - 1 })
	var view TreeView
	view.Show(a)
	view.OpenTo(100)
	if n := len(view.Rows()); n != 100_000 {
		b.Fatal(n)
	}
	run := func(name string, key func(i int)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				key(i)
				view.Rows()
			}
		})
	}
	run("sort", func(i int) { view.SortBy(TreeKey(i % int(treeKeys))) })
	view.SortBy(TreeByPeak)
	run("open and close", func(i int) { view.Toggle(view.Rows()[0]) })
	run("filter", func(i int) { _ = view.Filter([]string{"7$", "!7$"}[i%2]) })
	_ = view.Filter("")
	run("search", func(i int) { _, _, _ = view.Search("scope 77", i%1000, true) })
	run("next snapshot", func(i int) { view.Show([]*ArenaView{a, other}[i%2]) })
	run("move", func(i int) { view.Find(view.ID(view.Rows()[99_999])) })
}
