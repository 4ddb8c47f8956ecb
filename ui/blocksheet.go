package ui

import (
	"sort"

	"vramscope/model"
)

// blockSheet is the addresses of a pool as rows of cells: every segment begins
// in a row of its own, and all cells stand for as many bytes, so that sizes can
// be compared by eye.
type blockSheet struct {
	segments  []*model.Segment
	width     int   // cells in a row
	cellBytes int64 // that a cell stands for
	starts    []int // first row of each segment
	rows      int   // of all segments

	height, zoom int // what it was made for, besides
}

// Bounds of what a cell stands for, in bytes. Allocators hand out multiples of
// 256 or 512: less would show nothing more.
const (
	smallestCell = 64
	roundCell    = 512
)

// arrange lays segments out in rows of so many cells: at zoom 0 all of them fit
// into height rows if there are not too many, and each step of zoom halves what
// a cell stands for. It does nothing where all is as it was.
func (b *blockSheet) arrange(segments []*model.Segment, width, height, zoom int) {
	if b.width == width && b.height == height && b.zoom == zoom && same(b.segments, segments) {
		return
	}
	b.segments, b.width, b.height, b.zoom = segments, max(width, 1), max(height, 1), zoom
	b.cellBytes = max(b.fit()>>zoom, smallestCell)
	b.starts, b.rows = b.starts[:0], 0
	for _, segment := range segments {
		b.starts = append(b.starts, b.rows)
		b.rows += b.rowsOf(segment.Bytes, b.cellBytes)
	}
}

// same says whether two slices are the same ones, element for element and in
// memory: what a snapshot has published does not change.
func same(a, b []*model.Segment) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// rowsOf is how many rows a segment takes.
func (b *blockSheet) rowsOf(bytes, cellBytes int64) int {
	cells := (bytes-1)/cellBytes + 1
	return int(min((cells-1)/int64(b.width)+1, 1<<31))
}

// fit is the least that a cell must stand for so that all segments can be seen.
// Where there are more of them than rows, the large ones still have some rows.
func (b *blockSheet) fit() int64 {
	room, largest := b.height, int64(1)
	if len(b.segments) > room {
		room += len(b.segments)
	}
	for _, segment := range b.segments {
		largest = max(largest, segment.Bytes)
	}
	fits := func(cellBytes int64) bool {
		rows := 0
		for _, segment := range b.segments {
			if rows += b.rowsOf(segment.Bytes, cellBytes); rows > room {
				return false
			}
		}
		return true
	}
	low, high := int64(0), largest/int64(b.width)+1 // at high, each takes a row
	for high-low > 1 {
		if middle := low + (high-low)/2; fits(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	if rest := high % roundCell; rest > 0 {
		high += roundCell - rest
	}
	return high
}

// deepest is the highest zoom that still shows more than the one before.
func (b *blockSheet) deepest() (zoom int) {
	for cell := b.fit(); cell > smallestCell; cell >>= 1 {
		zoom++
	}
	return zoom
}

// segmentAtRow is the place of the segment that a row belongs to.
func (b *blockSheet) segmentAtRow(row int) int {
	return max(sort.Search(len(b.starts), func(i int) bool { return b.starts[i] > row })-1, 0)
}

// rowBytes is what a row stands for.
func (b *blockSheet) rowBytes() int64 { return b.cellBytes * int64(b.width) }

// cellOf is the cell of a segment that holds an address.
func (b *blockSheet) cellOf(segment int, address uint64) int64 {
	return int64(address-b.segments[segment].Address) / b.cellBytes
}

// rowOf is the row of all that holds an address.
func (b *blockSheet) rowOf(segment int, address uint64) int {
	return b.starts[segment] + int(b.cellOf(segment, address)/int64(b.width))
}

// addressAt is the address at which a cell begins; false where there is none in
// that row and column.
func (b *blockSheet) addressAt(row, column int) (segment int, address uint64, ok bool) {
	if row < 0 || row >= b.rows || column < 0 || column >= b.width {
		return 0, 0, false
	}
	segment = b.segmentAtRow(row)
	offset := (int64(row-b.starts[segment])*int64(b.width) + int64(column)) * b.cellBytes
	if offset >= b.segments[segment].Bytes {
		return 0, 0, false
	}
	return segment, b.segments[segment].Address + uint64(offset), true
}
