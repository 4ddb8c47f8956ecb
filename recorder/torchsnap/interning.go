package torchsnap

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"unicode/utf8"

	"vramscope/recorder"
)

// interning gives strings, frames and stacks their numbers, each distinct one
// once.
type interning struct {
	*account
	seed maphash.Seed
	salt uint64

	strings  []string
	meanings []meaning // by string number
	byText   numberTable

	frames  []recorder.DumpFrame
	byFrame numberTable

	stacks  recorder.DumpStacks
	byStack numberTable
	scratch []uint32 // the frames of the list at hand
}

func newInterning(a *account) interning {
	in := interning{account: a, seed: maphash.MakeSeed()}
	in.salt = maphash.Bytes(in.seed, nil)
	in.intern(nil)
	in.stacks.Start = []uint32{0, 0} // stack 0 is empty
	return in
}

// intern gives a string its number. Number 0 is the empty string.
func (t *interning) intern(text []byte) uint32 {
	if !harmless(text) {
		text = []byte(harmlessText(text))
	}
	hash := maphash.Bytes(t.seed, text)
	if number, known := t.byText.find(hash, func(n uint32) bool { return t.strings[n] == string(text) }); known {
		return number
	}
	t.take(int64(len(text)))
	kept := string(text)
	number := uint32(len(t.strings))
	t.strings = appended(t.account, t.strings, kept)
	t.meanings = appended(t.account, t.meanings, meaningOf(kept))
	t.byText.add(t.account, hash, number, func(n uint32) uint64 { return maphash.String(t.seed, t.strings[n]) })
	return number
}

// frame gives a line of a stack its number.
func (t *interning) frame(f recorder.DumpFrame) uint32 {
	hash := t.frameHash(f)
	if number, known := t.byFrame.find(hash, func(n uint32) bool { return t.frames[n] == f }); known {
		return number
	}
	number := uint32(len(t.frames))
	t.frames = appended(t.account, t.frames, f)
	t.byFrame.add(t.account, hash, number, func(n uint32) uint64 { return t.frameHash(t.frames[n]) })
	return number
}

func (t *interning) frameHash(f recorder.DumpFrame) uint64 {
	return mixed(mixed(t.salt, uint64(f.Name)<<32|uint64(f.File)), uint64(f.Line))
}

// stack gives the frames in scratch their stack number.
func (t *interning) stack() int32 {
	if len(t.scratch) == 0 {
		return 0
	}
	hash := t.stackHash(t.scratch)
	number, known := t.byStack.find(hash, func(n uint32) bool {
		return equalFrames(t.stacks.Stack(int32(n)), t.scratch)
	})
	if known {
		return int32(number)
	}
	t.stacks.Frames = appended(t.account, t.stacks.Frames, t.scratch...)
	t.stacks.Start = appended(t.account, t.stacks.Start, uint32(len(t.stacks.Frames)))
	number = uint32(len(t.stacks.Start) - 2)
	t.byStack.add(t.account, hash, number, func(n uint32) uint64 { return t.stackHash(t.stacks.Stack(int32(n))) })
	return int32(number)
}

func (t *interning) stackHash(frames []uint32) uint64 {
	hash := t.salt
	for _, frame := range frames {
		hash = mixed(hash, uint64(frame))
	}
	return hash
}

// mixed folds a word into a hash. The salt that each hash begins with keeps a
// hostile file from making many that are equal.
func mixed(hash, word uint64) uint64 {
	high, low := bits.Mul64(hash^word^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return high ^ low
}

func equalFrames(a, b []uint32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// harmless says whether a text is plain ASCII without control characters.
func harmless(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// harmlessText is a text without what is no UTF-8 and what a terminal would
// obey: control characters and those that turn the writing's direction. Lines
// are joined by spaces.
func harmlessText(text []byte) string {
	var clean strings.Builder
	for _, r := range string(text) {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			r = ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || turnsDirection(r):
			r = utf8.RuneError
		}
		clean.WriteRune(r)
	}
	return clean.String()
}

func turnsDirection(r rune) bool {
	return r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
