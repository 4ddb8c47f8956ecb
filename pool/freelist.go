package pool

import "math/bits"

const (
	// classShift drops the bits of a size below the smallest rounding, 256 bytes.
	classShift = 8
	// classColumns is how many classes split each doubling of the size: one
	// machine word, so that "the next larger class that holds anything" is one
	// instruction.
	classColumns = 64
	// classRows covers every size that an int64 can hold.
	classRows = 63 - classShift - 6 + 1
)

// freeList holds the free blocks of one stream, ordered by size and, within a
// size, by address. It answers "the smallest block that is large enough, and
// of those the one at the lowest address" exactly.
//
// Sizes are first split into classes: one for each multiple of 256 bytes below
// 16 KiB, then 64 to each doubling. Two levels of bitmaps find the next class
// that is not empty in two instructions. The blocks of a class form a tree
// (see freelist_tree.go), which for mixed sizes holds a handful of them and
// stays logarithmic when they are all alike.
type freeList struct {
	stream Stream
	bytes  int64 // sum of the sizes
	count  int   // free blocks

	rows    uint64                           // bit r: row r holds a block
	columns [classRows]uint64                // bit c: class (r, c) holds a block
	roots   [classRows][classColumns]blockID // the tree of each class
	bins    Histogram
}

// classOf places a size. Larger sizes never have a smaller class.
func classOf(size int64) (row, column uint) {
	units := uint64(size) >> classShift
	if units < classColumns {
		return 0, uint(units)
	}
	length := uint(bits.Len64(units))
	return length - 6, uint(units>>(length-7)) & (classColumns - 1)
}

// find returns the best fit for size, or none.
func (l *freeList) find(blocks []block, size int64) blockID {
	row, column := classOf(size)
	// Blocks in the request's own class may be smaller than it: only the tree
	// knows. In a class of one size and in a larger class the first one fits.
	if root := l.roots[row][column]; root != 0 {
		if row == 0 {
			return treeFirst(blocks, root)
		}
		if id := treeLowerBound(blocks, root, size, 0); id != 0 {
			return id
		}
	}
	larger := l.columns[row] &^ (2<<column - 1)
	if larger == 0 {
		rows := l.rows &^ (2<<row - 1)
		if rows == 0 {
			return 0
		}
		row = uint(bits.TrailingZeros64(rows))
		larger = l.columns[row]
	}
	column = uint(bits.TrailingZeros64(larger))
	return treeFirst(blocks, l.roots[row][column])
}

// at returns the free block of exactly that size and address, or none.
func (l *freeList) at(blocks []block, size int64, address Address) blockID {
	row, column := classOf(size)
	id := treeLowerBound(blocks, l.roots[row][column], size, address)
	if id != 0 && blocks[id].size == size && blocks[id].address == address {
		return id
	}
	return 0
}

// largest returns the size of the largest free block, 0 if there is none.
func (l *freeList) largest(blocks []block) int64 {
	if l.rows == 0 {
		return 0
	}
	row := bits.Len64(l.rows) - 1
	column := bits.Len64(l.columns[row]) - 1
	return blocks[treeLast(blocks, l.roots[row][column])].size
}

// any returns some free block, or none.
func (l *freeList) any() blockID {
	if l.rows == 0 {
		return 0
	}
	row := bits.TrailingZeros64(l.rows)
	return l.roots[row][bits.TrailingZeros64(l.columns[row])]
}

// insert adds a block, whose address and size are set.
func (l *freeList) insert(blocks []block, id blockID) {
	b := &blocks[id]
	b.children, b.parent = [2]blockID{}, 0
	row, column := classOf(b.size)
	root := &l.roots[row][column]
	if *root == 0 {
		*root = id
		l.columns[row] |= 1 << column
		l.rows |= 1 << row
	} else {
		treeInsert(blocks, root, id)
	}
	l.count++
	l.bytes += b.size
	l.bins.add(b.size, 1)
}

// remove takes a block out.
func (l *freeList) remove(blocks []block, id blockID) {
	b := &blocks[id]
	row, column := classOf(b.size)
	root := &l.roots[row][column]
	treeRemove(blocks, root, id)
	if *root == 0 {
		l.columns[row] &^= 1 << column
		if l.columns[row] == 0 {
			l.rows &^= 1 << row
		}
	}
	l.count--
	l.bytes -= b.size
	l.bins.add(b.size, -1)
}

// resize moves a free block to another address and size. A block that is alone
// in its class and stays there, as the large one does from which many are
// carved, keeps its place.
func (l *freeList) resize(blocks []block, id blockID, address Address, size int64) {
	b := &blocks[id]
	row, column := classOf(b.size)
	newRow, newColumn := classOf(size)
	if row == newRow && column == newColumn && b.parent == 0 && b.children == [2]blockID{} {
		l.bytes += size - b.size
		l.bins.add(b.size, -1)
		l.bins.add(size, 1)
		b.address, b.size = address, size
		return
	}
	l.remove(blocks, id)
	b.address, b.size = address, size
	l.insert(blocks, id)
}

// Histogram counts free blocks by size: entry n holds those of 2^n up to
// 2^(n+1)-1 bytes.
type Histogram [64]HistogramBin

// HistogramBin is one entry of a Histogram.
type HistogramBin struct {
	Count int64 // free blocks
	Bytes int64 // their sizes together, bytes
}

// add counts one block more (sign 1) or less (sign -1).
func (h *Histogram) add(size int64, sign int64) {
	bin := &h[(bits.Len64(uint64(size))-1)&63]
	bin.Count += sign
	bin.Bytes += sign * size
}
