package torchsnap

import "unsafe"

// The memory that may be taken: so much for each inflated byte read, and a
// constant. A part of the constant is kept for what is taken whatever the
// file holds: the pieces of the input, an inflater's window, the runtime.
const (
	memoryPerByte = 4
	memoryApart   = 64 << 20
	memoryKept    = 24 << 20
)

// account counts the memory that a reading holds and keeps it below the
// limit. What is thrown away counts as well, up to as much again as is in
// use: so long Go's collector may let it lie.
type account struct {
	read    *int64 // inflated bytes read so far
	live    int64
	garbage int64
	peak    int64
}

// take counts bytes that are about to be used. It panics with a
// *TooDenseError, which Read turns into its answer, where they are more than
// the file's length allows: no caller could go on without them.
func (a *account) take(bytes int64) {
	a.live += bytes
	needed := a.needed()
	if limit := memoryLimit(*a.read); needed > limit {
		panic(&TooDenseError{Offset: *a.read, Needed: needed, Limit: limit})
	}
	a.peak = max(a.peak, needed)
}

// spare is how many bytes may be taken on top.
func (a *account) spare() int64 { return memoryLimit(*a.read) - a.needed() }

func (a *account) needed() int64 { return memoryKept + a.live + min(a.garbage, a.live) }

// memoryLimit is how many bytes may be held after so many were read.
func memoryLimit(read int64) int64 { return memoryPerByte*read + memoryApart }

// drop counts bytes that are no longer in use.
func (a *account) drop(bytes int64) {
	a.live -= bytes
	a.garbage += bytes
}

// appended is append with the memory accounted for.
func appended[T any](a *account, column []T, items ...T) []T {
	if need := len(column) + len(items); need > cap(column) {
		column = withRoom(a, column, max(need, cap(column)+cap(column)/2, 1))
	}
	return append(column, items...)
}

// withRoom is the column with room for so many items in all.
func withRoom[T any](a *account, column []T, room int) []T {
	size := int64(unsafe.Sizeof(*new(T)))
	a.take(int64(room) * size)
	grown := make([]T, len(column), room)
	copy(grown, column)
	a.drop(int64(cap(column)) * size)
	return grown
}

// store holds items by number in chunks, so that it grows without a copy and
// without garbage.
type store[T any] struct {
	chunks [][]T
	count  int
}

const chunkItems = 256

// add appends an item and returns its number.
func (s *store[T]) add(a *account, item T) int {
	chunk := s.count / chunkItems
	if chunk == len(s.chunks) {
		s.chunks = appended(a, s.chunks, withRoom[T](a, nil, chunkItems)[:chunkItems])
	}
	s.chunks[chunk][s.count%chunkItems] = item
	s.count++
	return s.count - 1
}

// at is the item of a number.
func (s *store[T]) at(n int) *T { return &s.chunks[n/chunkItems][n%chunkItems] }
