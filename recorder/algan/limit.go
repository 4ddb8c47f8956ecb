package algan

import "unsafe"

// The memory that may be taken: so much for each byte of the file, and a
// constant, of which a part is kept for what is made of the tables later: routes
// as texts, and the answers for each scope.
const (
	memoryPerByte = 4
	memoryApart   = 64 << 20
	memoryKept    = 40 << 20
)

// account counts the memory that a reading has taken, what was thrown away
// meanwhile too, and keeps it below the limit.
type account struct{ taken, limit int64 }

// newAccount is for a file of so many bytes, which are held themselves.
func newAccount(bytes int) *account {
	return &account{taken: memoryKept + 2*int64(bytes), limit: memoryPerByte*int64(bytes) + memoryApart}
}

// take counts bytes that are about to be used. It panics with a *TooDenseError,
// which Read turns into its answer, where they are more than the file's length
// allows.
func (a *account) take(bytes int64) {
	a.taken += bytes
	if a.taken > a.limit {
		panic(&TooDenseError{Needed: a.taken, Limit: a.limit})
	}
}

// appended is append with the memory accounted for.
func appended[T any](a *account, column []T, items ...T) []T {
	if need := len(column) + len(items); need > cap(column) {
		column = append(withRoom[T](a, max(need, 2*cap(column), 4)), column...)
	}
	return append(column, items...)
}

// withRoom is an empty column with room for so many items.
func withRoom[T any](a *account, room int) []T {
	a.take(int64(room) * int64(unsafe.Sizeof(*new(T))))
	return make([]T, 0, room)
}
