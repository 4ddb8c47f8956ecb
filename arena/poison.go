package arena

import (
	"fmt"
	"strconv"
	"strings"
)

// The environment variables that turn poison on: -1 is off, 0 to 255 is the
// fill byte. The first is algan's name; the second is our twin of it, and wins.
const (
	poisonVariable     = "ALGAN_ARENA_POISON"
	poisonVariableTwin = "VRAMSCOPE_ARENA_POISON"
)

// Poison says whether every allocation is filled with a byte, so that a read
// of memory nobody wrote shows. The zero value is off. 0xFF reads as NaN in
// floats and as -1 in integers.
type Poison struct {
	on    bool
	value byte
}

// PoisonByte is a poison that fills with value.
func PoisonByte(value byte) Poison { return Poison{on: true, value: value} }

// Byte is the fill byte, and false when poison is off.
func (p Poison) Byte() (value byte, on bool) { return p.value, p.on }

// PoisonFromEnvironment reads VRAMSCOPE_ARENA_POISON or else
// ALGAN_ARENA_POISON (a documented switch of algan: -1 off, 0..255 the fill
// byte) through lookup, which is usually os.LookupEnv. An empty variable
// counts as unset. Anything else is a *PoisonError, and poison is off.
func PoisonFromEnvironment(lookup func(name string) (value string, set bool)) (Poison, error) {
	for _, name := range []string{poisonVariableTwin, poisonVariable} {
		text, set := lookup(name)
		if text = strings.TrimSpace(text); !set || text == "" {
			continue
		}
		value, err := strconv.Atoi(text)
		if err != nil || value < -1 || value > 255 {
			return Poison{}, &PoisonError{Variable: name, Value: text}
		}
		if value == -1 {
			return Poison{}, nil
		}
		return PoisonByte(byte(value)), nil
	}
	return Poison{}, nil
}

// PoisonError is a poison variable that holds neither -1 nor a byte.
type PoisonError struct {
	Variable string // name of the environment variable
	Value    string // what it holds
}

// Error is a sentence that says what to set.
func (e *PoisonError) Error() string {
	return fmt.Sprintf("%s is %q; set it to -1 (off) or to a byte from 0 to 255", e.Variable, e.Value)
}

// writePoison fills the bytes of an allocation before any pointer has moved.
func (a *Arena) writePoison(start, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	if a.memory == nil {
		if err := a.fill(start, bytes, a.poison.value); err != nil {
			return fmt.Errorf("arena %q could not poison %d bytes at offset %d and allocated nothing; "+
				"turn poison off if the device cannot be written: %w", a.name, bytes, start, err)
		}
		return nil
	}
	fillBytes(a.memory[start:start+bytes], a.poison.value)
	return nil
}

// fillBytes doubles what is already filled: copy is several times as fast as
// a loop over bytes. There must be one byte at least.
func fillBytes(memory []byte, value byte) {
	memory[0] = value
	for filled := 1; filled < len(memory); filled *= 2 {
		copy(memory[filled:], memory[:filled])
	}
}
