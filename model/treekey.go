package model

import (
	"cmp"
	"math"
	"slices"

	"vramscope/recorder"
)

// TreeKey is what a scope tree is sorted by.
type TreeKey uint8

// The keys. Numbers sort from large to small, names from A to Z. Siblings are
// compared with each other alone, and nothing is ever summed over peaks.
const (
	TreeByPeak   TreeKey = iota // simultaneous peak above entry
	TreeByTotal                 // bytes allocated, scopes inside included
	TreeBySelf                  // bytes allocated in the scope itself
	TreeByLive                  // bytes in the open scope now; rows without one come last
	TreeByAllocs                // allocations, scopes inside included
	TreeByName                  // A to Z
	TreeByOrder                 // as the scopes were first opened
	TreeByCount                 // scopes merged into the row
	treeKeys
)

var treeKeyNames = [...]string{"peak", "total", "self", "live now", "allocations", "name", "order", "count"}

// String is the key's name on the screen.
func (k TreeKey) String() string { return treeKeyNames[min(k, treeKeys-1)] }

// Next is the key that follows, the first one after the last.
func (k TreeKey) Next() TreeKey { return (k + 1) % treeKeys }

// sortedRow is a row with what it is sorted by, smallest first.
type sortedRow struct {
	key uint64
	row int32
}

// sortKeys fills in what the rows of a tree are sorted by, in its own order or
// in the opposite one.
func sortKeys(rows []sortedRow, scopes *recorder.ScopeSnapshot, key TreeKey, reversed bool, table *recorder.StringTable) {
	turn := uint64(0)
	if reversed {
		turn = math.MaxUint64
	}
	read := func(row int32) int64 { return -int64(row) }
	switch key {
	case TreeByPeak:
		read = scopes.Peak
	case TreeByTotal:
		read = scopes.TotalBytes
	case TreeBySelf:
		read = scopes.SelfBytes
	case TreeByAllocs:
		read = scopes.AllocCount
	case TreeByCount:
		read = scopes.Count
	case TreeByLive:
		live := make(map[int32]int64, len(scopes.Open()))
		for _, open := range scopes.Open() {
			live[open.Node], _ = scopes.Live(open.Node)
		}
		read = func(row int32) int64 {
			if bytes, ok := live[row]; ok {
				return bytes
			}
			return math.MinInt64
		}
	case TreeByName:
		ranks := nameRanks(scopes, table)
		for row := range rows {
			rows[row] = sortedRow{key: ranks[scopes.Name(int32(row))] ^ turn, row: int32(row)}
		}
		return
	}
	for row := range rows {
		// The larger comes first: signed numbers in descending order. What is not
		// known comes last in either order.
		value := read(int32(row))
		rows[row] = sortedRow{key: ^(uint64(value) ^ 1<<63) ^ turn, row: int32(row)}
		if value == math.MinInt64 {
			rows[row].key = math.MaxUint64
		}
	}
}

// nameRanks says at which place each name stands from A to Z.
func nameRanks(scopes *recorder.ScopeSnapshot, table *recorder.StringTable) map[uint32]uint64 {
	ranks := map[uint32]uint64{}
	var names []uint32
	for row := range int32(scopes.Len()) {
		name := scopes.Name(row)
		if _, known := ranks[name]; !known {
			ranks[name] = 0
			names = append(names, name)
		}
	}
	texts := make(map[uint32]string, len(names))
	for _, name := range names {
		texts[name] = table.String(name)
	}
	slices.SortFunc(names, func(a, b uint32) int { return cmp.Compare(texts[a], texts[b]) })
	for rank, name := range names {
		ranks[name] = uint64(rank)
	}
	return ranks
}

// sortRows sorts rows by key and leaves equal ones in order. It takes a byte of
// the key at a time: byte counts differ in few of them, so that a hundred
// thousand rows take a millisecond or two. room is overwritten.
func sortRows(rows, room []sortedRow) []sortedRow {
	var differ uint64
	for i := range rows {
		differ |= rows[i].key ^ rows[0].key
	}
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var counts [257]int32
		for i := range rows {
			counts[rows[i].key>>shift&0xff+1]++
		}
		for i := 1; i < len(counts); i++ {
			counts[i] += counts[i-1]
		}
		for i := range rows {
			digit := rows[i].key >> shift & 0xff
			room[counts[digit]] = rows[i]
			counts[digit]++
		}
		rows, room = room, rows
	}
	return rows
}
