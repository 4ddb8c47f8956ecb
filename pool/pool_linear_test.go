package pool

import (
	"cmp"
	"errors"
	"slices"
)

// linearPool is the model: the rules of RMM's pool_memory_resource word for
// word, on plain lists that are walked from end to end. It is what Pool must
// equal, and what it is measured against.
type linearPool struct {
	upstream Upstream
	maximum  int64 // 0: none
	size     int64
	lists    map[Stream][]linearBlock // each in address order
	heads    map[Address]bool         // where upstream blocks begin
	live     map[Address]int64        // rounded sizes
}

type linearBlock struct {
	address Address
	size    int64
}

func newLinearPool(upstream Upstream, initial, maximum int64) (*linearPool, error) {
	p := &linearPool{
		upstream: upstream,
		maximum:  maximum,
		lists:    map[Stream][]linearBlock{},
		heads:    map[Address]bool{},
		live:     map[Address]int64{},
	}
	if initial > 0 {
		first, err := p.expand(initial, initial)
		if err != nil {
			return nil, err
		}
		p.insert(0, first)
	}
	return p, nil
}

func (p *linearPool) Allocate(bytes int64, stream Stream) (Address, error) {
	if bytes == 0 {
		return 0, nil
	}
	size := (bytes + 255) / 256 * 256
	if found, ok := p.bestFit(stream, size); ok {
		return p.handOut(found, size, stream), nil
	}
	for _, other := range p.otherStreams(stream) {
		if found, ok := p.bestFit(other, size); ok {
			return p.handOut(found, size, other), nil
		}
	}
	for _, other := range p.otherStreams(stream) {
		moved := p.lists[other]
		delete(p.lists, other)
		for _, block := range moved {
			p.insert(stream, block)
		}
		if found, ok := p.bestFit(stream, size); ok {
			return p.handOut(found, size, stream), nil
		}
	}
	grown, err := p.expand(p.growth(size), size)
	if err != nil {
		return 0, err
	}
	return p.handOut(grown, size, stream), nil
}

func (p *linearPool) Free(address Address, bytes int64, stream Stream) error {
	if address == 0 {
		return nil
	}
	size, ok := p.live[address]
	if !ok || size != (bytes+255)/256*256 {
		return errors.New("not live")
	}
	delete(p.live, address)
	p.insert(stream, linearBlock{address, size})
	return nil
}

// bestFit takes the smallest block that fits out of a list, the lowest of
// those.
func (p *linearPool) bestFit(stream Stream, size int64) (linearBlock, bool) {
	list := p.lists[stream]
	best := -1
	for i := range list {
		if list[i].size >= size && (best < 0 || list[i].size < list[best].size) {
			best = i
		}
	}
	if best < 0 {
		return linearBlock{}, false
	}
	found := list[best]
	p.lists[stream] = slices.Delete(list, best, best+1)
	return found, true
}

// handOut gives the low end of a block away and the rest to a list.
func (p *linearPool) handOut(found linearBlock, size int64, rest Stream) Address {
	p.live[found.address] = size
	if found.size > size {
		p.insert(rest, linearBlock{found.address + Address(size), found.size - size})
	}
	return found.address
}

// insert puts a block in its place by address and joins it with the blocks
// beside it, but not across the head of an upstream block.
func (p *linearPool) insert(stream Stream, block linearBlock) {
	list := p.lists[stream]
	at := 0
	for at < len(list) && list[at].address < block.address {
		at++
	}
	joinsNext := at < len(list) && p.joins(block, list[at])
	if at > 0 && p.joins(list[at-1], block) {
		list[at-1].size += block.size
		if joinsNext {
			list[at-1].size += list[at].size
			list = slices.Delete(list, at, at+1)
		}
	} else if joinsNext {
		list[at] = linearBlock{block.address, block.size + list[at].size}
	} else {
		list = slices.Insert(list, at, block)
	}
	p.lists[stream] = list
}

func (p *linearPool) joins(low, high linearBlock) bool {
	return low.address+Address(low.size) == high.address && !p.heads[high.address]
}

func (p *linearPool) otherStreams(own Stream) []Stream {
	var streams []Stream
	for stream := range p.lists {
		if stream != own {
			streams = append(streams, stream)
		}
	}
	slices.Sort(streams)
	return streams
}

func (p *linearPool) growth(size int64) int64 {
	if p.maximum == 0 {
		return max(size, p.size)
	}
	remaining := max(0, (p.maximum-p.size+255)/256*256)
	if size <= remaining {
		return max(size, remaining/2)
	}
	return 0
}

func (p *linearPool) expand(try, least int64) (linearBlock, error) {
	for try >= least {
		address, err := p.upstream.Allocate(try)
		if err == nil {
			p.size += try
			p.heads[address] = true
			return linearBlock{address, try}, nil
		}
		if try == least {
			break
		}
		try = max(least, try/2)
	}
	return linearBlock{}, &OutOfMemoryError{Asked: least, Where: "linear", Reason: "Maximum pool size exceeded"}
}

// releaseFree is what RMM lacks: upstream blocks without a live block go back,
// by walking everything.
func (p *linearPool) releaseFree(segments []linearBlock) (kept []linearBlock, released int64) {
	for _, segment := range segments {
		end := segment.address + Address(segment.size)
		inUse := false
		for address := range p.live {
			inUse = inUse || address >= segment.address && address < end
		}
		if inUse {
			kept = append(kept, segment)
			continue
		}
		for stream, list := range p.lists {
			p.lists[stream] = slices.DeleteFunc(list, func(b linearBlock) bool {
				return b.address >= segment.address && b.address < end
			})
		}
		delete(p.heads, segment.address)
		p.size -= segment.size
		released += segment.size
	}
	return kept, released
}

// freeBlocks lists all free blocks by address.
func (p *linearPool) freeBlocks() []Block {
	var blocks []Block
	for stream, list := range p.lists {
		for _, b := range list {
			blocks = append(blocks, Block{Address: b.address, Bytes: b.size, Stream: stream})
		}
	}
	slices.SortFunc(blocks, func(a, b Block) int { return cmp.Compare(a.Address, b.Address) })
	return blocks
}
