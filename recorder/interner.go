package recorder

import "strings"

// maxInternedString is the longest string that an Interner keeps, in bytes. A
// longer one is cut and ends in "…".
const maxInternedString = 4096

// Interner is a writer's side of a source's strings: it gives each string a
// number and hands out those that the readers have not seen as Strings
// records. It is for one goroutine at a time. NewInterner makes one.
type Interner struct {
	numbers map[string]uint32
	texts   []string // by number, from 1
	flushed int      // how many of texts were handed out
	bytes   int64

	// The last two strings asked for: events come in runs of one caller and
	// one item type.
	recent [2]struct {
		text   string
		number uint32
	}
	turn uint8
}

// NewInterner returns an Interner that knows no string.
func NewInterner() *Interner { return &Interner{numbers: make(map[string]uint32)} }

// Number is the string's number, a new one for a new string; 0 for "". When
// the bounds of MaxStrings and MaxStringBytes are reached it is FoldedName.
func (in *Interner) Number(text string) uint32 {
	if text == "" {
		return 0
	}
	if in.recent[0].text == text {
		return in.recent[0].number
	}
	if in.recent[1].text == text {
		return in.recent[1].number
	}
	number, known := in.numbers[text]
	if !known {
		number = in.add(text)
	}
	in.recent[in.turn].text, in.recent[in.turn].number = text, number
	in.turn ^= 1
	return number
}

// Text is the string of a number that Number returned, as readers see it.
func (in *Interner) Text(number uint32) string {
	switch {
	case number == FoldedName:
		return foldedText
	case number == 0 || int(number) > len(in.texts):
		return ""
	}
	return in.texts[number-1]
}

// Len is how many strings have a number.
func (in *Interner) Len() int { return len(in.texts) }

// Pending says whether there are strings that Flush has not handed out.
func (in *Interner) Pending() bool { return in.flushed < len(in.texts) }

// Flush hands the strings that no reader has seen to emit, in records that fit
// a line each. It must run before a record that uses their numbers is written.
func (in *Interner) Flush(head Head, emit func(*Strings)) {
	in.emit(head, in.flushed, emit)
	in.flushed = len(in.texts)
}

// All hands every string to emit, for a reader that comes late.
func (in *Interner) All(head Head, emit func(*Strings)) { in.emit(head, 0, emit) }

// add gives a new string its number.
func (in *Interner) add(text string) uint32 {
	// The caller's string may be a piece of something large.
	text = strings.Clone(readable(text))
	if number, known := in.numbers[text]; known {
		return number
	}
	if len(in.texts) >= MaxStrings || in.bytes+int64(len(text)) > MaxStringBytes {
		return FoldedName
	}
	in.texts = append(in.texts, text)
	number := uint32(len(in.texts))
	in.numbers[text] = number
	in.bytes += int64(len(text))
	return number
}

// readable is the text as readers will see it: valid UTF-8 and not too long.
func readable(text string) string {
	if len(text) > maxInternedString {
		text = text[:maxInternedString] + foldedText
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// emit cuts the strings from the first on into records.
func (in *Interner) emit(head Head, first int, emit func(*Strings)) {
	for first < len(in.texts) {
		end, size := first, lineReserve
		for end < len(in.texts) {
			size += maxEscape*len(in.texts[end]) + len(`"",`)
			if size > MaxLine && end > first {
				break
			}
			end++
		}
		emit(&Strings{Head: head, First: uint32(first + 1), Strings: in.texts[first:end:end]})
		first = end
	}
}

// maxEscape is how many bytes of a line one byte of a string can take, and
// lineReserve what the rest of a line of columns or strings can take.
const (
	maxEscape   = len(`\u0000`)
	lineReserve = 4096
)
