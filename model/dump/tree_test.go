package dump

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vramscope/recorder"
)

// drawn is a weighted tree as text: one node a line, deeper ones further in.
func drawn(x *Index, w *Weights) string {
	var text strings.Builder
	var walk func(node int32, depth int)
	walk = func(node int32, depth int) {
		fmt.Fprintf(&text, "%s%s %d ×%d\n", strings.Repeat(" ", depth), x.FrameName(w.Tree.Frame[node]), w.Bytes(node), w.Count(node))
		for _, child := range w.Children(node) {
			walk(child, depth+1)
		}
	}
	walk(0, 0)
	return text.String()
}

func TestStacksGrowTogetherFromBothEnds(t *testing.T) {
	x := New(written(recorder.DumpDevice{}))
	totals := []StackTotal{{1, 100, 1}, {2, 300, 2}, {0, 50, 1}, {BeforeRecording, 7, 1}}
	for _, c := range []struct {
		direction Direction
		fold      bool
		want      string
	}{
		{FromAllocator, true, `
all 457 ×5
 train 300 ×2
  main 300 ×2
 load 100 ×1
  main 100 ×1
 no stack recorded 50 ×1
 before recording 7 ×1
`},
		{FromProgram, true, `
all 457 ×5
 main 400 ×3
  train 300 ×2
  load 100 ×1
 no stack recorded 50 ×1
 before recording 7 ×1
`},
		{FromProgram, false, `
all 457 ×5
 main 400 ×3
  PyEval_Vector 400 ×3
   train 300 ×2
   load 100 ×1
 no stack recorded 50 ×1
 before recording 7 ×1
`},
	} {
		tree := x.Tree(c.direction, c.fold)
		if got := drawn(x, tree.Weigh(totals)); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("direction %d, folded %v:\n%s\nwant:%s", c.direction, c.fold, got, c.want)
		}
		if tree != x.Tree(c.direction, c.fold) {
			t.Error("the tree is built twice")
		}
	}
}

// A node of a tree has what the stacks below it have, for random stacks.
func TestTreesAddUp(t *testing.T) {
	dump := manyStacks()
	dump.Stacks.Start = dump.Stacks.Start[:3000]
	x := New(dump)
	totals := x.Devices[0].LiveByStack(5000)
	for _, direction := range []Direction{FromAllocator, FromProgram} {
		tree := x.Tree(direction, false)
		w := tree.Weigh(totals)
		want := make([]int64, tree.Len())
		for _, total := range totals {
			node := tree.Leaf(total.Stack)
			frames := slices.Clone(x.Stack(total.Stack))
			if direction == FromAllocator {
				slices.Reverse(frames)
			}
			for _, frame := range frames {
				if tree.Frame[node] != frame {
					t.Fatalf("stack %d: node %d has frame %d, want %d", total.Stack, node, tree.Frame[node], frame)
				}
				want[node] += total.Bytes
				node = tree.Parent[node]
			}
			if node != 0 {
				t.Fatalf("stack %d does not end at the root", total.Stack)
			}
			want[0] += total.Bytes
		}
		for node := range int32(tree.Len()) {
			if w.Bytes(node) != want[node] {
				t.Fatalf("node %d has %d, want %d", node, w.Bytes(node), want[node])
			}
		}
	}
}

func TestAFlameFillsItsWidth(t *testing.T) {
	x := New(written(recorder.DumpDevice{}))
	w := x.Tree(FromProgram, true).Weigh([]StackTotal{{1, 100, 1}, {2, 300, 2}, {0, 50, 1}, {BeforeRecording, 1, 1}})
	var got []string
	for _, box := range w.Flame(0, 45, 3) {
		got = append(got, fmt.Sprintf("%d %s %d-%d", box.Row, x.FrameName(w.Tree.Frame[box.Node]), box.From, box.To))
	}
	want := []string{"0 all 0-45", "1 main 0-39", "1 no stack recorded 39-44", "2 train 0-29", "2 load 29-39"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if w.Flame(0, 0, 3) != nil || w.Flame(0, 10, 0) != nil {
		t.Error("a flame without room has boxes")
	}
}

func TestFramesAreFoundByNameFileAndLine(t *testing.T) {
	x := New(written(recorder.DumpDevice{}))
	all := []StackTotal{{1, 1, 1}, {2, 1, 1}, {0, 1, 1}, {BeforeRecording, 1, 1}}
	for query, want := range map[string][]int32{
		"LOAD": {1}, "a.py": {1, 2}, "a.py:20": {2}, "a.py:21": nil, "recording": {BeforeRecording}, "no stack": {0}, "": {1, 2, 0, BeforeRecording}, "zebra": nil,
	} {
		var got []int32
		for _, total := range x.Search(query).Filter(all) {
			got = append(got, total.Stack)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", query, got, want)
		}
	}
}

func TestNoiseIsFolded(t *testing.T) {
	dump := written(recorder.DumpDevice{})
	dump.Stacks = recorder.DumpStacks{Start: []uint32{0, 0, 1}, Frames: []uint32{4}}
	x := New(dump)
	if got := x.FoldedStack(1); !slices.Equal(got, []uint32{4}) {
		t.Errorf("a stack of noise alone becomes %v", got)
	}
	if x.FramePlace(2) != "a.py:?" || x.FrameName(FrameBeforeRecording) != "before recording" {
		t.Error(x.FramePlace(2), x.FrameName(FrameBeforeRecording))
	}
}
