//go:build cuda && linux && cgo

package cuda

import (
	"errors"
	"slices"

	"vramscope/pool"
)

// linearList is a pool as it is written in a day, to be compared with: best fit
// from one list in the order of addresses that is walked from end to end, joined
// when freed, grown by doubling, with the live blocks in a map. Its answers are
// those of Pool for one stream.
type linearList struct {
	upstream pool.Upstream
	segments []compareBlock
	size     int64
	free     []compareBlock
	live     map[pool.Address]int64
}

func newLinearList(upstream pool.Upstream) *linearList {
	return &linearList{upstream: upstream, live: make(map[pool.Address]int64)}
}

func (l *linearList) Allocate(bytes int64, _ pool.Stream) (pool.Address, error) {
	size := (bytes + pool.PoolAlignment - 1) &^ (pool.PoolAlignment - 1)
	best := -1
	for i := range l.free {
		if l.free[i].bytes >= size && (best < 0 || l.free[i].bytes < l.free[best].bytes) {
			best = i
		}
	}
	if best < 0 {
		grown := max(size, l.size)
		address, err := l.upstream.Allocate(grown)
		if err != nil {
			return 0, err
		}
		l.segments = append(l.segments, compareBlock{address, grown})
		l.size += grown
		best = l.insert(compareBlock{address, grown})
	}
	address := l.free[best].address
	if l.free[best].bytes == size {
		l.free = slices.Delete(l.free, best, best+1)
	} else {
		l.free[best].address += pool.Address(size)
		l.free[best].bytes -= size
	}
	l.live[address] = size
	return address, nil
}

// insert puts a block into its place and says where that is.
func (l *linearList) insert(block compareBlock) int {
	at := 0
	for at < len(l.free) && l.free[at].address < block.address {
		at++
	}
	l.free = slices.Insert(l.free, at, block)
	return at
}

func (l *linearList) Free(address pool.Address, _ int64, _ pool.Stream) error {
	size, ok := l.live[address]
	if !ok {
		return errors.New("not live")
	}
	delete(l.live, address)
	at := l.insert(compareBlock{address, size})
	if at+1 < len(l.free) && l.joins(l.free[at], l.free[at+1]) {
		l.free[at].bytes += l.free[at+1].bytes
		l.free = slices.Delete(l.free, at+1, at+2)
	}
	if at > 0 && l.joins(l.free[at-1], l.free[at]) {
		l.free[at-1].bytes += l.free[at].bytes
		l.free = slices.Delete(l.free, at, at+1)
	}
	return nil
}

func (l *linearList) joins(low, high compareBlock) bool {
	return low.address+pool.Address(low.bytes) == high.address &&
		!slices.ContainsFunc(l.segments, func(s compareBlock) bool { return s.address == high.address })
}

func (l *linearList) Close() error {
	for _, segment := range l.segments {
		if err := l.upstream.Free(segment.address, segment.bytes); err != nil {
			return err
		}
	}
	return nil
}
