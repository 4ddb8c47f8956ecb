package recorder

import "slices"

// View is the log as it is now, for other goroutines to read while the owner
// goes on appending: the row of chunks is its own, and what lies in a chunk is
// never written again.
func (l *EventLog) View() EventLog {
	view := *l
	view.chunks = slices.Clone(l.chunks)
	return view
}
