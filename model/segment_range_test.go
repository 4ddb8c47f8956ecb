package model

import (
	"testing"

	"pgregory.net/rapid"
)

// A part of the map holds what a plain count of the blocks' bytes says.
func TestCellsFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table segmentTable
		var blocks []Block
		address := uint64(0x1000)
		for range rapid.IntRange(1, 400).Draw(t, "blocks") {
			bytes := rapid.Int64Range(1, 50).Draw(t, "bytes")
			blocks = append(blocks, Block{Address: address, Bytes: bytes, Live: rapid.Bool().Draw(t, "live"),
				Stream: rapid.Uint32Range(0, 1).Draw(t, "stream"), Since: rapid.Int64Range(0, 9).Draw(t, "since")})
			address += uint64(bytes)
		}
		if !table.add(0x1000, int64(address-0x1000), blocks...) {
			t.Fatal("the segment is refused")
		}
		s := table.segments[0]
		offset := rapid.Int64Range(0, s.Bytes+20).Draw(t, "offset")
		cellBytes := rapid.Int64Range(1, 200).Draw(t, "cell")
		n := rapid.IntRange(1, 60).Draw(t, "cells")
		got := s.CellsFrom(nil, offset, cellBytes, n)
		want := make([]Cell, n)
		for _, block := range blocks {
			for i := range block.Bytes {
				at := int64(block.Address-s.Address) + i - offset
				if at < 0 || at/cellBytes >= int64(n) {
					continue
				}
				cell := &want[at/cellBytes]
				if i == 0 {
					cell.Blocks++
				}
				b := block
				cell.add(&b, 1)
			}
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("cell %d of %d bytes from %d is %+v, want %+v", i, cellBytes, offset, got[i], want[i])
			}
		}
	})
}

func TestCellsFromOfHugeSegments(t *testing.T) {
	var table segmentTable
	const bytes = 1<<62 + 5
	if !table.add(1<<20, bytes, Block{Address: 1 << 20, Bytes: bytes, Live: true}) {
		t.Fatal("the segment is refused")
	}
	s := table.segments[0]
	for _, cellBytes := range []int64{1, 1 << 30, 1 << 62} {
		cells := s.CellsFrom(nil, 1<<40, cellBytes, 8)
		if cells[0].Live != min(cellBytes, bytes-1<<40) || len(cells) != 8 {
			t.Errorf("the first cell of %d bytes holds %d", cellBytes, cells[0].Live)
		}
	}
	if cells := s.CellsFrom(nil, -1, 5, 3); len(cells) != 3 || cells[0] != (Cell{}) {
		t.Error("in front of the segment there is something")
	}
	room := make([]Cell, 0, 64)
	if n := testing.AllocsPerRun(20, func() { s.CellsFrom(room, 0, 1<<50, 64) }); n != 0 {
		t.Errorf("a map makes %v pieces of garbage", n)
	}
}
