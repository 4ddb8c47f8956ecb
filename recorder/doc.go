// Package recorder has what a run leaves behind: the records that travel
// between a watched process and its watcher, the file that holds them, and the
// scope trees that are built from an arena's events.
//
// FORMAT.md beside this file is the record format, key by key. The same
// records travel on a socket and lie in a file, so that live views, followed
// files and opened files share one decoder (Decoder) and one model (ScopeTree
// for merged trees, AllocationRecorder for every single scope).
//
// On the side of the watched process a Stream turns an arena's and a pool's
// events into records, and a Registry keeps arenas for a calibration dump.
package recorder
