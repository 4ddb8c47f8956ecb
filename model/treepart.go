package model

import (
	"hash/maphash"

	"vramscope/recorder"
)

// RowID names a row of a scope tree by its path, from one snapshot to the next
// and from one moment to another.
type RowID uint64

// treePart is one scope tree made ready to be shown: the tree itself or that of
// the abandoned scopes. What depends on the tree alone is kept until another
// tree is shown.
type treePart struct {
	scopes *recorder.ScopeSnapshot
	table  recorder.StringTable
	ids    []RowID // by row
	idsOf  *recorder.ScopeSnapshot

	starts   []int32 // children of row r are children[starts[r+1]:starts[r+2]], those of the root children[starts[0]:starts[1]]
	children []int32
	place    []int32 // room for filling children
	sorted   bool
	rows     []sortedRow
	room     []sortedRow

	kept    []uint8 // by row: bits of the filter
	filters bool    // kept is up to date
}

// Bits of treePart.kept.
const (
	keptMatch uint8 = 1 << iota // the row's own name passes the filter
	keptAbove                   // a row below it passes
	keptBelow                   // a row above it passes
)

var treeSeed = maphash.MakeSeed()

// show takes another tree.
func (p *treePart) show(scopes *recorder.ScopeSnapshot, table *recorder.StringTable) {
	if p.scopes == scopes {
		return
	}
	p.scopes, p.table = scopes, *table
	p.sorted, p.filters = false, false
	p.identify()
}

// identify gives each row its ID. Rows that the tree before had too are looked
// at only where they may have changed.
func (p *treePart) identify() {
	n := p.scopes.Len()
	known := len(p.ids)
	p.ids = append(p.ids[:min(known, n)], make([]RowID, max(0, n-known))...)
	names := map[uint32]uint64{}
	for from, to := range p.scopes.Changed(p.idsOf) {
		for row := from; row < to; row++ {
			name := p.scopes.Name(row)
			hash, ok := names[name]
			if !ok {
				hash = maphash.String(treeSeed, p.table.String(name))
				names[name] = hash
			}
			above := uint64(0)
			if parent := p.scopes.Parent(row); parent >= 0 {
				above = uint64(p.ids[parent])
			}
			p.ids[row] = RowID(mix(above, hash))
		}
	}
	p.idsOf = p.scopes
}

// mix makes one hash of that of a parent and that of a name.
func mix(parent, name uint64) uint64 {
	h := (parent ^ name<<1) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	return (h + name) * 0xbf58476d1ce4e5b9
}

// sort orders the children of every row.
func (p *treePart) sort(key TreeKey, reversed bool) {
	if p.sorted {
		return
	}
	p.sorted = true
	n := p.scopes.Len()
	if cap(p.starts) < n+2 {
		most := n + n/4 + 2
		p.rows, p.room = make([]sortedRow, most), make([]sortedRow, most)
		p.starts, p.children, p.place = make([]int32, most), make([]int32, most), make([]int32, most)
	}
	rows := p.rows[:n]
	sortKeys(rows, p.scopes, key, reversed, &p.table)
	rows = sortRows(rows, p.room[:n])
	// Rows in order go to their parents, whose children are then in order.
	p.starts, p.children, p.place = p.starts[:n+2], p.children[:n], p.place[:n+1]
	clear(p.starts)
	for row := range int32(n) {
		p.starts[p.scopes.Parent(row)+2]++
	}
	for i := 1; i < len(p.starts); i++ {
		p.starts[i] += p.starts[i-1]
	}
	copy(p.place, p.starts)
	for i := range rows {
		parent := p.scopes.Parent(rows[i].row) + 1
		p.children[p.place[parent]] = rows[i].row
		p.place[parent]++
	}
}

// below are the rows under a row, -1 for the root, in order.
func (p *treePart) below(row int32) []int32 {
	return p.children[p.starts[row+1]:p.starts[row+2]]
}

// filter marks the rows that pass, those above them and those below them.
func (p *treePart) filter(f *treeFilter) {
	if p.filters || !f.on() {
		return
	}
	p.filters = true
	n := p.scopes.Len()
	if cap(p.kept) < n {
		p.kept = make([]uint8, n+n/4)
	}
	p.kept = p.kept[:n]
	passes := map[uint32]bool{}
	for row := range int32(n) {
		name := p.scopes.Name(row)
		pass, ok := passes[name]
		if !ok {
			pass = f.passes(p.table.String(name))
			passes[name] = pass
		}
		p.kept[row] = 0
		if pass {
			p.kept[row] = keptMatch
		}
		if parent := p.scopes.Parent(row); parent >= 0 && !f.invert && p.kept[parent]&(keptMatch|keptBelow) != 0 {
			p.kept[row] |= keptBelow
		}
	}
	for row := int32(n) - 1; row >= 0; row-- {
		if parent := p.scopes.Parent(row); parent >= 0 && p.kept[row]&(keptMatch|keptAbove) != 0 {
			p.kept[parent] |= keptAbove
		}
	}
}
