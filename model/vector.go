package model

// chunkLength is how many elements a vector takes memory for at a time, unless
// its owner says otherwise: small enough that a short series is cheap, large
// enough that a long one has few pieces.
const chunkLength = 256

// vector is a row of elements that only grows at its end and only shrinks at
// its beginning. Elements are numbered from the first one ever appended and
// keep their number.
//
// A copy of a vector is a reader's view of it: the owner may go on appending
// and dropping while another goroutine reads the copy, because what the copy
// can see is never written again.
type vector[T any] struct {
	chunks [][]T
	chunk  int // elements in a chunk; 0 is chunkLength
	first  int // number of the oldest element that is kept, a multiple of chunk
	end    int // number of the next element
}

// append adds an element and says for how many memory was taken.
func (v *vector[T]) append(element T) (grown int) {
	if v.chunk == 0 {
		v.chunk = chunkLength
	}
	at := v.end - v.first
	if at == len(v.chunks)*v.chunk {
		v.chunks = append(v.chunks, make([]T, v.chunk))
		grown = v.chunk
	}
	v.chunks[at/v.chunk][at%v.chunk] = element
	v.end++
	return grown
}

// at is the element of that number, which must lie in [first, end).
func (v *vector[T]) at(number int) T {
	at, chunk := uint(number-v.first), uint(v.chunk)
	return v.chunks[at/chunk][at%chunk]
}

// run is the elements from number on that lie together in memory, at least one
// and none from end on.
func (v *vector[T]) run(number, end int) []T {
	at, chunk := uint(number-v.first), uint(v.chunk)
	offset := at % chunk
	return v.chunks[at/chunk][offset:min(chunk, offset+uint(end-number))]
}

// len is how many elements are kept.
func (v *vector[T]) len() int { return v.end - v.first }

// room is for how many elements memory is taken.
func (v *vector[T]) room() int { return len(v.chunks) * v.chunk }

// drop gives up whole chunks in front of number and says how many elements.
func (v *vector[T]) drop(number int) (elements int) {
	if v.chunk == 0 || number-v.first < v.chunk {
		return 0
	}
	chunks := min((number-v.first)/v.chunk, len(v.chunks))
	// Readers hold the old row of chunks, so it is not shifted in place.
	v.chunks = append([][]T(nil), v.chunks[chunks:]...)
	v.first += chunks * v.chunk
	v.end = max(v.end, v.first)
	return chunks * v.chunk
}
