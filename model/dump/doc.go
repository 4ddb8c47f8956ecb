// Package dump answers questions about a memory dump: what was live at any
// moment and who allocated it, where the peaks lie, how the segments looked,
// why an allocation failed, and what differs between two moments.
//
// New builds the indexes over an immutable recorder.Dump once, in time that
// grows with its events. After that an answer costs what it shows, not what
// the file holds. Everything an Index hands out is safe to read from several
// goroutines at once.
//
// A moment is an event number: the state after that event. BeforeFirst is the
// state before the first one. Byte counts are exact unless a Device says
// otherwise in its Problems.
package dump
