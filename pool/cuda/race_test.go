//go:build cuda && linux && cgo && race

package cuda

// raceEnabled says that sync.Pool forgets on purpose.
const raceEnabled = true
