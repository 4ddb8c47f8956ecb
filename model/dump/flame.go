package dump

import "math/bits"

// FlameBox is a node's place in a flame: a row and the columns [From, To).
type FlameBox struct {
	Node     int32
	Row      int
	From, To int
}

// Flame lays a node and what is below it out over columns and rows, the node
// itself in row 0 over the whole width. Boxes come row by row from left to
// right, the largest child leftmost; those of less than a column are left out.
func (w *Weights) Flame(node int32, columns, rows int) []FlameBox {
	if columns <= 0 || rows <= 0 || w.Bytes(node) <= 0 {
		return nil
	}
	total := uint64(w.Bytes(node))
	column := func(bytes int64) int {
		// Sums of absurd sizes may have wrapped around.
		high, low := bits.Mul64(uint64(min(max(bytes, 0), w.Bytes(node))), uint64(columns))
		quotient, _ := bits.Div64(high, low, total)
		return int(quotient)
	}
	least := w.Bytes(node) / int64(columns)
	boxes := []FlameBox{{Node: node, To: columns}}
	offsets := []int64{0} // of each box, in bytes from the left edge
	for at := 0; at < len(boxes); at++ {
		box := boxes[at]
		if box.Row+1 == rows {
			break // all that follow are in the last row too
		}
		offset := offsets[at]
		for _, child := range w.childrenFrom(box.Node, least) {
			from, to := column(offset), column(offset+w.Bytes(child))
			if to > from {
				boxes = append(boxes, FlameBox{Node: child, Row: box.Row + 1, From: from, To: to})
				offsets = append(offsets, offset)
			}
			offset += w.Bytes(child)
		}
	}
	return boxes
}
