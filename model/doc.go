// Package model says what records mean. A Store folds what sources tell into
// views and makes immutable snapshots of them; everything that a screen or a
// report shows is asked of a view. It knows no screen, takes its clock from
// outside and starts no goroutine.
//
// The way of a record: Store.Fold finds the keeper of whoever speaks. The keeper
// hands numbers to the history (series, pyramid, frames), events to the tape and
// to the tracks of pointers, and everything to a fold, which knows what all
// records amount to. Snapshot publishes: what did not change since the last
// snapshot is shared, and what a reader may hold is copied before it changes.
//
// The past: the tape keeps a frozen fold each few thousand events and what came
// after it. SourceView.At thaws the one before a moment and folds the rest up to
// it, so that any moment is a SourceView like the newest.
package model
