// Package arena is a bump arena: one buffer that is filled from both ends.
//
// The forward pointer starts at 0 and serves temporary allocations; the
// reverse pointer starts at the length and serves persistent ones. An
// allocation moves one pointer past the padding that its item size asks for
// and past its bytes, and may fill the arena exactly. Nothing is freed by
// dropping a reference: memory comes back when a pointer is rewound, by a
// temporary context, a mark, a set pair of pointers or a reset.
//
//	frame := a.Temporary(true, nil)
//	defer frame.End()
//	scope := a.Scope("wavefront", arena.Int("primary", rays))
//	defer scope.End()
//	hits, err := arena.Slice[float32](a, rays, 4)
//
// The behaviour mirrors algan's ManualMemory, TempMemoryContext and arena
// scopes, with its later hardening: extents are whole numbers, negative and
// overflowing ones are refused, zero extents are allowed on both sides and pay
// their padding, and a refused allocation moves nothing. Where Go allows what
// Python's with blocks do not (contexts ended out of order, twice, or after a
// reset), the arena keeps 0 <= forward <= reverse <= length.
//
// # Who watches
//
// An Observer, set in Config or swapped with SetObserver, is told of every
// event with the pointers that follow from it, so that a recording can be
// replayed exactly. Without an observer an allocation costs a few nanoseconds
// and a scope costs one test; neither makes garbage, scope parameters included.
//
// # Goroutines
//
// An arena belongs to one goroutine. Another one reads a State, which the
// owner took and handed over.
//
// All sizes, offsets and pointers are bytes, counted from the arena's start.
package arena
