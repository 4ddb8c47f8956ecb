package recorder

import (
	"errors"
	"slices"
	"strconv"
)

// FoldedName is the string number of rows in which scopes were folded together
// because a tree's bounds were reached. It is the text "…" in every table.
const FoldedName uint32 = 1<<32 - 1

// MaxStrings is the most strings that a source can have, and MaxStringBytes
// the most bytes that they can hold together. What goes beyond has no number
// of its own: a writer gives it FoldedName, a reader shows its number.
const (
	MaxStrings     = 1 << 20
	MaxStringBytes = 32 << 20
)

const (
	foldedText   = "…"
	stringsChunk = 256
	// A gap is left where a record was lost, and filling it copies what views
	// share: no honest source has many.
	maxFilled = 1 << 13
)

// ErrTooManyStrings is returned where a source has more strings than
// MaxStrings and MaxStringBytes allow. Those that fit are known; show the
// numbers of the others.
var ErrTooManyStrings = errors.New("the source names more strings than a reader keeps; the rest are shown by number")

// StringTable is a reader's side of a source's strings. Add and Reset are for
// its one owner; a copy of it is an immutable view that any goroutine may read
// while the owner goes on adding. The zero value is empty.
type StringTable struct {
	chunks []*[stringsChunk]string
	known  uint32 // strings with a number below or equal to it may be known
	bytes  int64
	filled int // gaps that were filled
}

// Len is the largest number that may be known.
func (t *StringTable) Len() int { return int(t.known) }

// Lookup is the string of that number, and whether it is known. 0 is no string
// and known as "".
func (t *StringTable) Lookup(number uint32) (string, bool) {
	switch {
	case number == 0:
		return "", true
	case number == FoldedName:
		return foldedText, true
	case number > t.known:
		return "", false
	}
	cell := t.chunks[(number-1)/stringsChunk][(number-1)%stringsChunk]
	if cell == "" {
		return "", false
	}
	return cell[:len(cell)-1], true
}

// String is the string of that number. One that is not known reads "#17": its
// number. It is not sanitised for a terminal.
func (t *StringTable) String(number uint32) string {
	text, known := t.Lookup(number)
	if !known {
		return "#" + strconv.FormatUint(uint64(number), 10)
	}
	return text
}

// Add takes the strings of a record in. A number that is known keeps its
// string. The error is ErrTooManyStrings when some did not fit.
func (t *StringTable) Add(record *Strings) error {
	var failed error
	for i, text := range record.Strings {
		number := uint64(record.First) + uint64(i)
		if number == 0 || number == uint64(FoldedName) {
			continue
		}
		if number > MaxStrings || t.bytes+int64(len(text)) > MaxStringBytes {
			failed = ErrTooManyStrings
			continue
		}
		t.set(uint32(number), text)
	}
	return failed
}

// Reset forgets every string, for a source that starts anew. Copies keep theirs.
func (t *StringTable) Reset() { *t = StringTable{} }

// set makes a string known. A cell holds its string with one more byte behind
// it, so that a known empty string differs from a gap.
func (t *StringTable) set(number uint32, text string) {
	chunk, at := int((number-1)/stringsChunk), (number-1)%stringsChunk
	for len(t.chunks) <= chunk {
		t.chunks = append(t.chunks, new([stringsChunk]string))
	}
	if number <= t.known {
		if t.chunks[chunk][at] != "" || t.filled == maxFilled {
			return
		}
		t.filled++
		// A gap inside what copies can see is filled on a copy of its own.
		t.chunks = slices.Clone(t.chunks)
		filled := *t.chunks[chunk]
		t.chunks[chunk] = &filled
	}
	t.chunks[chunk][at] = text + "\x00"
	t.bytes += int64(len(text)) + 1
	t.known = max(t.known, number)
}
