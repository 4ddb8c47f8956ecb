package model

// chunkBits says how many elements a vector takes memory for at a time, as a
// power of two, unless its owner says otherwise: few enough that a short series is
// cheap, enough that a long one has few pieces.
const chunkBits = 8

// vector is a row of elements that only grows at its end and only shrinks at
// its beginning. Elements are numbered from the first one ever appended and
// keep their number.
//
// A copy of a vector is a reader's view of it: the owner may go on appending
// and dropping while another goroutine reads the copy, because what the copy
// can see is never written again.
type vector[T any] struct {
	chunks [][]T
	bits   uint8 // a chunk has 2^bits elements; 0 is chunkBits
	first  int   // number of the oldest element that is kept, that of a chunk's first
	end    int   // number of the next element
}

// append adds an element and says for how many memory was taken.
func (v *vector[T]) append(element T) (grown int) {
	if v.bits == 0 {
		v.bits = chunkBits
	}
	at := v.end - v.first
	if at == len(v.chunks)<<v.bits {
		grown = 1 << v.bits
		v.chunks = append(v.chunks, make([]T, grown))
	}
	v.chunks[at>>v.bits][at&(1<<v.bits-1)] = element
	v.end++
	return grown
}

// at is the element of that number, which must lie in [first, end).
func (v *vector[T]) at(number int) T {
	at := uint(number - v.first)
	return v.chunks[at>>v.bits][at&(1<<v.bits-1)]
}

// run is the elements from number on that lie together in memory, at least one
// and none from end on.
func (v *vector[T]) run(number, end int) []T {
	at := uint(number - v.first)
	offset := at & (1<<v.bits - 1)
	return v.chunks[at>>v.bits][offset:min(1<<v.bits, offset+uint(end-number))]
}

// len is how many elements are kept.
func (v *vector[T]) len() int { return v.end - v.first }

// room is for how many elements memory is taken.
func (v *vector[T]) room() int { return len(v.chunks) << v.bits }

// drop gives up whole chunks in front of number and says how many elements. It
// copies the row of chunks, so that it should not be called for each of them.
func (v *vector[T]) drop(number int) (elements int) {
	chunks := min((number-v.first)>>v.bits, len(v.chunks))
	if v.bits == 0 || chunks <= 0 {
		return 0
	}
	// Readers hold the old row of chunks, so it is not shifted in place.
	v.chunks = append([][]T(nil), v.chunks[chunks:]...)
	v.first += chunks << v.bits
	v.end = max(v.end, v.first)
	return chunks << v.bits
}
