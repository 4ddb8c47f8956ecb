package model

import (
	"slices"
	"testing"

	"vramscope/recorder"
)

// orderedTree is a tree of four scopes under the root, of which one is open.
func orderedTree(t *testing.T) *ArenaView {
	var table recorder.StringTable
	if err := table.Add(&recorder.Strings{First: 1, Strings: []string{"upload", "trace", "gather", "post"}}); err != nil {
		t.Fatal(err)
	}
	state := &recorder.ArenaState{ID: 1, Length: 1000, Forward: 100, Reverse: 1000}
	state.Tree = recorder.TreeColumns{
		Parent: []int32{-1, -1, -1, -1}, Name: []uint32{1, 2, 3, 4}, Count: []int64{7, 1, 9, 2}, Open: []int32{0, 1, 0, 0},
		Peak: []int64{5, 80, 80, 6},
	}
	state.Open = []recorder.OpenScope{{Number: 1, Node: 1, EntryForward: 40, EntryReverse: 1000}}
	tree, err := recorder.LoadScopeTree(state, recorder.TreeLimits{})
	if err != nil {
		t.Fatal(err)
	}
	return &ArenaView{ID: 1, State: *state, Scopes: tree.Snapshot(), strings: table}
}

func TestTreeOrders(t *testing.T) {
	var view TreeView
	view.Show(orderedTree(t))
	for _, c := range []struct {
		key      TreeKey
		reversed bool
		want     []string
	}{
		{TreeByCount, false, []string{"gather", "upload", "post", "trace"}},
		{TreeByCount, true, []string{"trace", "post", "upload", "gather"}},
		{TreeByPeak, false, []string{"trace", "gather", "post", "upload"}},
		{TreeByPeak, true, []string{"upload", "post", "trace", "gather"}},
		{TreeByName, true, []string{"upload", "trace", "post", "gather"}},
		{TreeByOrder, true, []string{"post", "gather", "trace", "upload"}},
		// Rows without a live scope stay last.
		{TreeByLive, false, []string{"trace", "upload", "gather", "post"}},
		{TreeByLive, true, []string{"trace", "upload", "gather", "post"}},
	} {
		view.SortBy(c.key)
		view.SetReversed(c.reversed)
		var got []string
		for _, row := range view.Rows() {
			got = append(got, view.Name(row))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("by %s, reversed %v: %v, want %v", c.key, c.reversed, got, c.want)
		}
	}
	if bytes, ok := view.Live(view.Rows()[0]); !ok || bytes != 60 {
		t.Errorf("live is %d, %v", bytes, ok)
	}
}
