package dump

import "slices"

// ordered maps addresses to numbers and finds the nearest one at or below an
// address. It keeps sorted rows of bounded length, so that a change moves
// little however many addresses there are.
type ordered struct{ rows [][]orderedEntry }

type orderedEntry struct {
	address uint64
	number  int32
}

const orderedRow = 256

func compareEntry(entry orderedEntry, address uint64) int {
	switch {
	case entry.address < address:
		return -1
	case entry.address > address:
		return 1
	}
	return 0
}

// row is the row in which an address has its place; -1 when there are none.
func (o *ordered) row(address uint64) int {
	at, found := slices.BinarySearchFunc(o.rows, address, func(row []orderedEntry, address uint64) int {
		return compareEntry(row[0], address)
	})
	if !found {
		at--
	}
	return max(at, min(0, len(o.rows)-1))
}

// floor is the number of the nearest address at or below one.
func (o *ordered) floor(address uint64) (number int32, found bool) {
	r := o.row(address)
	if r < 0 {
		return 0, false
	}
	at, exact := slices.BinarySearchFunc(o.rows[r], address, compareEntry)
	if !exact {
		at--
	}
	if at < 0 {
		return 0, false
	}
	return o.rows[r][at].number, true
}

// put sets the number of an address.
func (o *ordered) put(address uint64, number int32) {
	r := o.row(address)
	if r < 0 {
		o.rows = append(o.rows, []orderedEntry{{address, number}})
		return
	}
	at, exact := slices.BinarySearchFunc(o.rows[r], address, compareEntry)
	if exact {
		o.rows[r][at].number = number
		return
	}
	row := slices.Insert(o.rows[r], at, orderedEntry{address, number})
	o.rows[r] = row
	if len(row) == orderedRow {
		o.rows[r] = row[: orderedRow/2 : orderedRow/2]
		o.rows = slices.Insert(o.rows, r+1, slices.Clone(row[orderedRow/2:]))
	}
}

// drop removes an address.
func (o *ordered) drop(address uint64) {
	r := o.row(address)
	if r < 0 {
		return
	}
	at, exact := slices.BinarySearchFunc(o.rows[r], address, compareEntry)
	if !exact {
		return
	}
	if o.rows[r] = slices.Delete(o.rows[r], at, at+1); len(o.rows[r]) == 0 {
		o.rows = slices.Delete(o.rows, r, r+1)
	}
}
