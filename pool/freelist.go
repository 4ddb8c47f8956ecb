package pool

import "math/bits"

const (
	// classShift drops the bits of a size below the smallest rounding, 256 bytes.
	classShift = 8
	// classColumns is how many classes split each doubling of the size: fine
	// enough that 5,000 blocks of mixed sizes leave one or two to a class.
	classColumns = 256
	classBits    = 8
	// classRows covers every size that an int64 can hold.
	classRows = 63 - classShift - classBits + 1
)

// listID names a free list by its place in the ledger.
type listID uint16

// freeList holds the free blocks of one stream, ordered by size and, within a
// size, by address. It answers "the smallest block that is large enough, and
// of those the one at the lowest address" exactly.
//
// Sizes are first split into classes: one for each multiple of 256 bytes below
// 64 KiB, then 256 to each doubling. Bitmaps find the next class that is not
// empty in a few instructions. The sizes of a class form a tree (see
// freelist_tree.go), which seldom holds more than one or two, and the blocks of
// one size a heap by address (see freelist_heap.go), of which there may be
// thousands.
type freeList struct {
	stream Stream
	id     listID
	bytes  int64 // sum of the sizes
	count  int   // free blocks

	occupied uint64               // bit r: row r holds a block
	rows     [classRows]*classRow // made when first used
}

// classRow is the classes of one doubling of the size; those of the first row
// are 256 bytes wide and, but for the odd end of a segment, of a single size.
type classRow struct {
	occupied [classColumns / 64]uint64 // one bit a column: its tree is not empty
	roots    [classColumns]blockID
}

// classOf places a size. Larger sizes never have a smaller class.
func classOf(size int64) (row, column uint) {
	units := uint64(size) >> classShift
	if units < classColumns {
		return 0, uint(units)
	}
	length := uint(bits.Len64(units))
	return length - classBits, uint(units>>(length-classBits-1)) & (classColumns - 1)
}

// from returns the first column at or after the given one whose tree is not
// empty.
func (r *classRow) from(column uint) (uint, bool) {
	if column >= classColumns {
		return 0, false
	}
	word := column / 64
	for set := r.occupied[word] &^ (1<<(column%64) - 1); ; set = r.occupied[word] {
		if set != 0 {
			return word*64 + uint(bits.TrailingZeros64(set)), true
		}
		if word++; word == uint(len(r.occupied)) {
			return 0, false
		}
	}
}

// last returns the last column whose tree is not empty; the row has one.
func (r *classRow) last() uint {
	word := len(r.occupied) - 1
	for r.occupied[word] == 0 {
		word--
	}
	return uint(word*64 + bits.Len64(r.occupied[word]) - 1)
}

// mark sets the column's bit to whether its tree holds anything, and reports
// whether the row does.
func (r *classRow) mark(column uint) bool {
	bit := uint64(1) << (column % 64)
	if r.roots[column] != 0 {
		r.occupied[column/64] |= bit
		return true
	}
	r.occupied[column/64] &^= bit
	return r.occupied != [classColumns / 64]uint64{}
}

// find returns the best fit for size, or none.
func (l *freeList) find(s *blockSlab, size int64) blockID {
	row, column := classOf(size)
	if classes := l.rows[row]; classes != nil {
		// Sizes in the request's own class may be below it: only the tree
		// knows. In the first row, whose classes begin at the request itself,
		// and in every larger class the first fits.
		if root := classes.roots[column]; row > 0 && root != 0 {
			if id := s.treeAtLeast(root, size); id != 0 {
				return id
			}
			column++
		}
		if column, ok := classes.from(column); ok {
			return s.treeEnd(classes.roots[column], smaller)
		}
	}
	above := l.occupied &^ (2<<row - 1)
	if above == 0 {
		return 0
	}
	classes := l.rows[bits.TrailingZeros64(above)]
	column, _ = classes.from(0)
	return s.treeEnd(classes.roots[column], smaller)
}

// largest returns the size of the largest free block, 0 if there is none.
func (l *freeList) largest(s *blockSlab) int64 {
	if l.occupied == 0 {
		return 0
	}
	classes := l.rows[bits.Len64(l.occupied)-1]
	return s.blocks[s.treeEnd(classes.roots[classes.last()], larger)].size
}

// any returns some free block, or none.
func (l *freeList) any() blockID {
	if l.occupied == 0 {
		return 0
	}
	classes := l.rows[bits.TrailingZeros64(l.occupied)]
	column, _ := classes.from(0)
	return classes.roots[column]
}

// insert adds a block, whose address and size are set.
func (l *freeList) insert(s *blockSlab, id blockID) {
	size := s.blocks[id].size
	s.places[id] = place{priority: s.places[id].priority}
	row, column := classOf(size)
	classes := l.rows[row]
	if classes == nil {
		classes = new(classRow)
		l.rows[row] = classes
	}
	if root := &classes.roots[column]; *root != 0 {
		s.treeInsert(root, id)
	} else {
		*root = id
		classes.mark(column)
		l.occupied |= 1 << row
	}
	l.count++
	l.bytes += size
}

// remove takes a block out.
func (l *freeList) remove(s *blockSlab, id blockID) {
	size := s.blocks[id].size
	row, column := classOf(size)
	classes := l.rows[row]
	root := &classes.roots[column]
	s.treeRemove(root, id)
	if *root == 0 && !classes.mark(column) {
		l.occupied &^= 1 << row
	}
	l.count--
	l.bytes -= size
}

// resize moves a free block to another address and size. A block that is alone
// in its class and stays there, as the large one does from which many are
// carved, keeps its place.
func (l *freeList) resize(s *blockSlab, id blockID, address Address, size int64) {
	b, alone := &s.blocks[id], place{priority: s.places[id].priority}
	row, column := classOf(b.size)
	newRow, newColumn := classOf(size)
	if row == newRow && column == newColumn && s.places[id] == alone {
		l.bytes += size - b.size
		b.address, b.size = address, size
		return
	}
	l.remove(s, id)
	b.address, b.size = address, size
	l.insert(s, id)
}
