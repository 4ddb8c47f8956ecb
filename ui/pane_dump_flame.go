package ui

import (
	"vramscope/model/dump"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/widget"
)

// dumpFlame is the stack tree as a flame graph: boxes are as wide as the bytes of
// their stacks, the largest leftmost. Its boxes are walked as those of scopes
// are.
type dumpFlame struct {
	scopeFlame // its rows are nodes

	weights *dump.Weights
	names   *dumpNames
	depth   int // rows of boxes that were laid out
}

// columnUnit is the width of a column in the unit of the boxes. Half of it is
// added to every edge, so that no rounding moves one.
const columnUnit = 1 << 16

// take lays out the boxes of what is below a node in a window.
func (f *dumpFlame) take(weights *dump.Weights, root int32, width, height int, names *dumpNames) {
	depth := f.flame.Top + height + 1
	if f.weights == weights && f.root == root && f.width == width && f.names == names && f.depth >= depth {
		return
	}
	if f.weights != weights || f.root != root {
		f.flame.Top, depth = 0, height+1
	}
	f.weights, f.root, f.width, f.names, f.depth = weights, root, width, names, depth
	f.flame.Cells, f.rows, f.flame.Total = f.flame.Cells[:0], f.rows[:0], int64(width)*columnUnit
	for _, box := range weights.Flame(root, width, depth) {
		frame := weights.Tree.Frame[box.Node]
		name := names.frame(frame)
		style := grid.Series(int(frame % 8))
		if name.place == "" {
			style = grid.Of(themes.Arena)
		}
		f.flame.Cells = append(f.flame.Cells, widget.FlameCell{
			Depth: box.Row, From: edge(box.From), To: edge(box.To), Name: name.name, Style: style,
		})
		f.rows = append(f.rows, box.Node)
	}
}

func edge(column int) int64 {
	if column == 0 {
		return 0
	}
	return int64(column)*columnUnit + columnUnit/2
}

// choose selects the box of a node, or the innermost one around it.
func (f *dumpFlame) choose(node int32) {
	for {
		f.find(node)
		if f.flame.Selected >= 0 || node <= 0 || node == f.root {
			return
		}
		node = f.weights.Tree.Parent[node]
	}
}

// draw draws the boxes, and what the selected one is below them.
func (f *dumpFlame) draw(r grid.Region, number int) {
	height := r.Height()
	if height >= 3 {
		height--
		f.drawSelected(r.Row(height), number)
	}
	f.page = height
	if at := f.flame.Selected; at >= 0 {
		depth := f.flame.Cells[at].Depth
		f.flame.Top = min(max(f.flame.Top, depth-height+1), depth)
	}
	f.flame.Draw(r.Sub(0, 0, r.Width(), height))
}

func (f *dumpFlame) drawSelected(r grid.Region, number int) {
	dim := grid.Of(themes.Dim)
	if f.flame.Selected < 0 {
		r.Text(0, 0, dim, "boxes are as wide as the bytes of their stacks")
		return
	}
	cell, node := &f.flame.Cells[f.flame.Selected], f.rows[f.flame.Selected]
	name := f.names.frame(f.weights.Tree.Frame[node])
	pen := r.Pen(0, 0)
	pen.Text(cell.Style, name.name)
	pen.Skip(1)
	pen.Text(dim, name.short)
	if name.short != "" {
		pen.Skip(1)
	}
	pen.Skip(1)
	pen.Text(dim, numberNames[number])
	pen.Skip(1)
	pen.Bytes(grid.Of(stackRoles[number]), f.weights.Bytes(node), 0)
	pen.Text(dim, " in ")
	pen.Count(dim, f.weights.Count(node), 0)
	pen.Text(dim, ", ")
	pen.Percent(dim, f.weights.Bytes(node), f.weights.Bytes(f.root), 0)
}
