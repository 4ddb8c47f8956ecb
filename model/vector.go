package model

// chunkLength is how many elements a vector takes memory for at a time: small
// enough that a short series is cheap, large enough that a long one has few
// pieces.
const chunkLength = 256

// vector is a row of elements that only grows at its end and only shrinks at
// its beginning. Elements are numbered from the first one ever appended and
// keep their number.
//
// A copy of a vector is a reader's view of it: the owner may go on appending
// and dropping while another goroutine reads the copy, because what the copy
// can see is never written again.
type vector[T any] struct {
	chunks []*[chunkLength]T
	first  int // number of the oldest element that is kept, a multiple of chunkLength
	end    int // number of the next element
}

// append adds an element and says whether memory was taken for it.
func (v *vector[T]) append(element T) (grown bool) {
	at := v.end - v.first
	if at == len(v.chunks)*chunkLength {
		v.chunks = append(v.chunks, new([chunkLength]T))
		grown = true
	}
	v.chunks[at/chunkLength][at%chunkLength] = element
	v.end++
	return grown
}

// at is the element of that number, which must lie in [first, end).
func (v *vector[T]) at(number int) T {
	at := uint(number - v.first)
	return v.chunks[at/chunkLength][at%chunkLength]
}

// run is the elements from number on that lie together in memory, at least one
// and none from end on.
func (v *vector[T]) run(number, end int) []T {
	at := uint(number - v.first)
	offset := at % chunkLength
	return v.chunks[at/chunkLength][offset:min(chunkLength, offset+uint(end-number))]
}

// len is how many elements are kept.
func (v *vector[T]) len() int { return v.end - v.first }

// drop gives up whole chunks in front of number and says how many.
func (v *vector[T]) drop(number int) (chunks int) {
	chunks = min((number-v.first)/chunkLength, len(v.chunks))
	if chunks <= 0 {
		return 0
	}
	// Readers hold the old row of chunks, so it is not shifted in place.
	v.chunks = append([]*[chunkLength]T(nil), v.chunks[chunks:]...)
	v.first += chunks * chunkLength
	v.end = max(v.end, v.first)
	return chunks
}
