package file

import (
	"fmt"
	"slices"
	"strings"

	"vramscope/recorder"
)

// CutError says that a recording does not end as it should: its writer still
// writes, was stopped, or the file was cut. Everything before was read.
type CutError struct {
	Path     string
	Bytes    int64    // behind the last whole record, that are part of one; 0 when it ends with a line
	Packed   bool     // it is compressed, and was cut within a block: how much that held is not known
	LastNs   int64    // moment of the last record, monotonic ns; 0 when there is none
	Sources  []string // that have not said goodbye
	BadLines int64    // lines that are no records, or too long
}

// Error is one sentence that says what is missing.
func (e *CutError) Error() string {
	var parts []string
	if len(e.Sources) > 0 {
		parts = append(parts, fmt.Sprintf("no goodbye of %s", strings.Join(e.Sources, ", ")))
	}
	if e.Bytes > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes of a record that is not whole", e.Bytes))
	}
	if e.Packed {
		parts = append(parts, "a compressed block that is not whole, which holds a second at most")
	}
	if len(parts) == 0 {
		parts = append(parts, "it holds no source")
	}
	return fmt.Sprintf("%q is not finished (%s): everything before was read", e.Path, strings.Join(parts, "; "))
}

// cut is the end of a recording that is not finished.
func (s *Source) cut(t *telling, reader *recorder.Reader) error {
	problems := reader.Problems()
	return &CutError{
		Path: s.path, Bytes: problems.CutBytes, Packed: reader.Truncated(), LastNs: problems.LastNs,
		Sources: t.unfinished(), BadLines: problems.BadLines + problems.LongLines,
	}
}

// telling is what goes to the caller, and what it was told of.
type telling struct {
	emit func(recorder.Record)
	open map[string]bool // sources that have said hello: whether they go on
	last recorder.Head   // of the last record with a source
	said bool            // how the file ends
}

func (t *telling) tell(record recorder.Record) {
	switch record.(type) {
	case *recorder.Hello:
		t.open[record.Source()] = true
	case *recorder.Bye:
		if t.open[record.Source()] {
			t.open[record.Source()] = false
		}
	}
	if record.Source() != "" {
		t.last.Src = record.Source()
	}
	t.last.Ns = max(t.last.Ns, record.Time())
	t.emit(record)
}

// finished says that every source has said goodbye.
func (t *telling) finished() bool { return len(t.open) > 0 && len(t.unfinished()) == 0 }

// unfinished is the sources that go on, by name.
func (t *telling) unfinished() []string {
	var names []string
	for name, goesOn := range t.open {
		if goesOn {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// forget is for another file of the name: what its sources do is told anew.
func (t *telling) forget() {
	clear(t.open)
	t.said = false
}

// remark says something about the file, in the name of its last source. Before
// there is one there is nobody to say it to.
func (t *telling) remark(level, text string) {
	if t.last.Src != "" {
		t.emit(&recorder.Note{Head: t.last, Level: level, Text: text})
	}
}

// tellCut says once how a file that is followed and does not grow ends.
func (t *telling) tellCut(path string, reader *recorder.Reader, read int64, packed bool) {
	if t.said {
		return
	}
	t.said = true
	problems := reader.Problems()
	if bad := problems.BadLines + problems.LongLines; bad > 0 {
		t.remark("warning", fmt.Sprintf("%d lines of %s are no records and were skipped; the first is line %d: %s",
			bad, path, problems.First[0].Line, problems.First[0].Reason))
	}
	if part := read - reader.Offset(); part > 0 && !packed {
		t.remark("warning", fmt.Sprintf("%s ends within a record: %d bytes of it are there, and the rest is waited for", path, part))
		return
	}
	t.remark("info", fmt.Sprintf("%s has no end yet: it is followed, and if its writer was stopped this is all there is", path))
}
