package model

import (
	"fmt"
	"strconv"
	"strings"

	"vramscope/pool"
	"vramscope/recorder"
)

// poolFold is one pool while its records are folded.
type poolFold struct {
	id       int64
	state    recorder.PoolState // Segments and Blocks are empty
	table    segmentTable
	complete bool // a state told of every segment
	seen     bool // a state or an event told of some segment
	frozen   bool // a checkpoint holds it: resume before changing it
	view     *PoolView
}

// published is the pool as it is now, for readers.
func (p *poolFold) published() *PoolView {
	if p.view == nil {
		p.view = &PoolView{ID: p.id, State: p.state, Complete: p.complete}
		if p.seen {
			p.view.Segments = p.table.publish()
		}
	}
	return p.view
}

// freeze makes the pool one that never changes, for a checkpoint.
func (p *poolFold) freeze() {
	p.published()
	p.frozen = true
}

// resumePool goes on from what was published.
func resumePool(view *PoolView) *poolFold {
	return &poolFold{id: view.ID, state: view.State, complete: view.Complete, seen: view.Segments != nil,
		table: resumeSegments(view.Segments), view: view}
}

// replacePool is a pool as a state tells it; before is what was known of it, nil
// when nothing was. Problems are what cannot be.
func replacePool(state *recorder.PoolState, before *poolFold, problem func(text string)) *poolFold {
	p := &poolFold{id: state.ID, state: *state}
	p.state.Segments, p.state.Blocks = recorder.SegmentColumns{}, recorder.BlockColumns{}
	if len(state.Segments.Address) == 0 && len(state.Blocks.Address) > 0 {
		problem(fmt.Sprintf("pool %d: the state has blocks and no segments; they are left out", state.ID))
		return p
	}
	p.seen, p.complete = true, true
	p.table.clear()
	p.table.segments = []*Segment{}
	columns := &state.Blocks
	blocks, at := make([]Block, 0, len(columns.Address)), 0
	for i := range columns.Address {
		address, ok := parseAddress(columns.Address[i])
		if !ok {
			problem(fmt.Sprintf("pool %d: a block's address cannot be read", state.ID))
			continue
		}
		live := element(columns.Live, i) != 0
		blocks = append(blocks, Block{Address: address, Bytes: element(columns.Bytes, i), Requested: element(columns.Requested, i),
			Stream: element(columns.Stream, i), Live: live})
	}
	for i := range state.Segments.Address {
		address, ok := parseAddress(state.Segments.Address[i])
		bytes := element(state.Segments.Bytes, i)
		if !ok || bytes <= 0 {
			problem(fmt.Sprintf("pool %d: a segment cannot be read", state.ID))
			continue
		}
		var inside []Block
		inside, at = blocksOf(blocks, at, address, bytes)
		if !tile(inside, address, bytes) {
			problem(fmt.Sprintf("pool %d: the blocks of a segment do not fill it; shown as one free block", state.ID))
			inside = nil
		}
		if before != nil {
			before.table.date(inside)
		}
		if !p.table.add(address, bytes, inside...) {
			problem(fmt.Sprintf("pool %d: two segments overlap", state.ID))
		}
	}
	return p
}

// date gives blocks the age that they have in the table, where it knows them.
func (t *segmentTable) date(blocks []Block) {
	if len(blocks) == 0 {
		return
	}
	at := t.find(blocks[0].Address)
	if at < 0 {
		return
	}
	for i := range blocks {
		old, ok := t.segments[at].BlockAt(blocks[i].Address)
		if ok && old.Address == blocks[i].Address && old.Bytes == blocks[i].Bytes && old.Live == blocks[i].Live {
			blocks[i].Since = old.Since
		}
	}
}

// blocksOf are the blocks from at on that begin in a segment, and the next at.
func blocksOf(blocks []Block, at int, address uint64, bytes int64) ([]Block, int) {
	for at < len(blocks) && blocks[at].Address < address {
		at++
	}
	from := at
	for at < len(blocks) && blocks[at].Address-address < uint64(bytes) {
		at++
	}
	return blocks[from:at:at], at
}

// tile says whether the blocks fill the segment without gap or overlap.
func tile(blocks []Block, address uint64, bytes int64) bool {
	end := address
	for i := range blocks {
		if blocks[i].Address != end || blocks[i].Bytes <= 0 {
			return false
		}
		end += uint64(blocks[i].Bytes)
	}
	return end == address+uint64(bytes)
}

// parseAddress reads a hexadecimal address of the record format.
func parseAddress(text string) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, "0x")
	address, err := strconv.ParseUint(digits, 16, 64)
	return address, ok && err == nil
}

// element is a column's value, zero where a column of zeros was left out.
func element[T int64 | uint32 | uint8 | int32](column []T, i int) T {
	if i < len(column) {
		return column[i]
	}
	return 0
}

// apply folds one event. It says in words what cannot be, "" mostly.
func (p *poolFold) apply(events *recorder.PoolEvents, i int) (problem string) {
	op, address, bytes := events.Op[i], element64(events.Address, i), element(events.Bytes, i)
	if op != pool.OpRebuild && p.view != nil {
		p.view = nil
	}
	switch op {
	case pool.OpSegment:
		p.seen = true
		stream := element(events.Stream, i)
		if p.merges() {
			p.table.takeOver(stream, func(uint32) bool { return true })
		}
		if !p.table.add(address, bytes, Block{Address: address, Bytes: bytes, Stream: stream}) {
			return "segments taken over others"
		}
	case pool.OpSegmentFree:
		segment, ok := p.table.remove(address)
		if !ok {
			return p.unless("segments given back that were not held")
		}
		if live := segment.live(); live > 0 {
			return "segments given back with live blocks"
		}
	case pool.OpAlloc:
		return p.allocate(Block{Address: address, Bytes: bytes, Requested: element(events.Requested, i),
			Stream: element(events.Stream, i), Live: true, Since: element(events.Ns, i)})
	case pool.OpFree:
		return p.free(address, bytes, element(events.Stream, i), element(events.Ns, i))
	case pool.OpRebuild:
		p.view = nil
		p.table.clear()
		p.table.segments = []*Segment{}
		p.seen, p.complete = true, true
		p.state.Generation = events.Generation
	}
	return ""
}

func element64(column []uint64, i int) uint64 {
	if i < len(column) {
		return column[i]
	}
	return 0
}

// unless is the problem, unless what is missing may have come before the first
// state that was seen.
func (p *poolFold) unless(problem string) string {
	if !p.complete {
		return ""
	}
	return problem
}

// merges says whether the pool takes over the free blocks of other streams, as
// RMM's does: one list after another until a request fits, and all of them before
// it asks for another segment. No event says so; what the events show of it is
// followed, and the next state knows better.
func (p *poolFold) merges() bool { return p.state.Tier == "A" || p.state.Tier == "B" }

// allocate marks a stretch as handed out. It must lie in free blocks.
func (p *poolFold) allocate(block Block) (problem string) {
	at := p.table.find(block.Address)
	if at < 0 {
		return p.unless("blocks handed out outside every segment")
	}
	if block.Bytes <= 0 || uint64(block.Bytes) > p.table.segments[at].Address+uint64(p.table.segments[at].Bytes)-block.Address {
		return "blocks handed out across the end of a segment"
	}
	s := p.table.own(at)
	leaf, place := s.search(block.Address)
	if leaf < 0 {
		return "blocks handed out where none is"
	}
	end := block.Address + uint64(block.Bytes)
	if held := s.leaves[leaf].blocks[place]; p.merges() && !held.Live && held.Address+uint64(held.Bytes) < end {
		p.mergeFor(&block)
		s = p.table.own(at)
		leaf, place = s.search(block.Address)
	}
	for {
		old := s.leaves[leaf].blocks[place]
		if old.Live {
			problem = "blocks handed out that were in use"
		}
		if old.Address+uint64(old.Bytes) >= end {
			break
		}
		p.table.absorb(s, leaf, place)
	}
	old := s.leaves[leaf].blocks[place]
	parts := make([]Block, 0, 3)
	if below := block.Address - old.Address; below > 0 {
		parts = append(parts, Block{Address: old.Address, Bytes: int64(below), Stream: old.Stream, Since: old.Since})
	}
	parts = append(parts, block)
	if above := old.Address + uint64(old.Bytes) - end; above > 0 {
		parts = append(parts, Block{Address: end, Bytes: int64(above), Stream: old.Stream, Since: old.Since})
	}
	p.table.replace(s, leaf, place, parts...)
	return problem
}

// mergeFor takes over the lists of other streams, from the lowest number up, until
// the block lies in one free block.
func (p *poolFold) mergeFor(block *Block) {
	for _, stream := range p.table.freeStreams() {
		if stream == block.Stream {
			continue
		}
		p.table.takeOver(block.Stream, func(of uint32) bool { return of == stream })
		held, ok := p.table.segments[p.table.find(block.Address)].BlockAt(block.Address)
		if ok && held.Address+uint64(held.Bytes) >= block.Address+uint64(block.Bytes) {
			return
		}
	}
}

// free marks a block as free and joins it with free neighbours of its stream.
func (p *poolFold) free(address uint64, bytes int64, stream uint32, ns int64) (problem string) {
	at := p.table.find(address)
	if at < 0 {
		return p.unless("frees outside every segment")
	}
	s := p.table.own(at)
	leaf, place := s.search(address)
	if leaf < 0 {
		return "frees of blocks that are not known"
	}
	block := s.leaves[leaf].blocks[place]
	if !block.Live || block.Address != address {
		return "frees of blocks that were not in use"
	}
	if bytes != 0 && bytes != block.Bytes {
		problem = "frees with another size than was handed out"
	}
	owned := p.table.ownLeaf(s, leaf)
	owned.blocks[place] = Block{Address: address, Bytes: block.Bytes, Stream: stream, Since: ns}
	if upLeaf, upPlace, ok := s.next(leaf, place); ok && s.leaves[upLeaf].blocks[upPlace].freeOn(stream) {
		p.table.absorb(s, leaf, place)
	}
	if downLeaf, downPlace, ok := s.previous(leaf, place); ok && s.leaves[downLeaf].blocks[downPlace].freeOn(stream) {
		p.table.absorb(s, downLeaf, downPlace)
	}
	return problem
}

func (b *Block) freeOn(stream uint32) bool { return !b.Live && b.Stream == stream }

// live is how many blocks of the segment are handed out.
func (s *Segment) live() (blocks int) {
	for _, leaf := range s.leaves {
		for i := range leaf.blocks {
			if leaf.blocks[i].Live {
				blocks++
			}
		}
	}
	return blocks
}
