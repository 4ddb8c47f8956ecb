package torchsnap

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// refuse names an opcode that is not allowed, and the global that it wants.
func (m *machine) refuse(op byte) error {
	name, known := refused[op]
	if !known {
		return m.malformed(fmt.Sprintf("0x%02x is no opcode", op))
	}
	refusal := &RefusedError{Opcode: name, Byte: op, Offset: m.in.offset}
	switch op {
	case 'c', 'i':
		m.in.more(512)
		refusal.Global = globalInLines(m.in.window[1:])
	case 0x93:
		if n := len(m.stack); n >= 2 && m.stack[n-1].kind == kindText && m.stack[n-2].kind == kindText {
			refusal.Global = clip(m.strings[m.stack[n-2].n]) + "." + clip(m.strings[m.stack[n-1].n])
		}
	}
	return refusal
}

// globalInLines reads the "module\nname\n" behind GLOBAL and INST.
func globalInLines(bytes []byte) string {
	bytes = bytes[:min(len(bytes), 256)]
	module := slices.Index(bytes, '\n')
	if module < 0 {
		return ""
	}
	name := slices.Index(bytes[module+1:], '\n')
	if name < 0 || !utf8.Valid(bytes[:module+1+name]) {
		return ""
	}
	return clip(string(bytes[:module])) + "." + clip(string(bytes[module+1:module+1+name]))
}

// clip shortens a hostile name for a sentence and takes out what a terminal
// would obey.
func clip(name string) string {
	clean := make([]rune, 0, 64)
	for _, r := range name {
		if r < ' ' || r >= 0x7f {
			r = '?'
		}
		if clean = append(clean, r); len(clean) == 64 {
			break
		}
	}
	return string(clean)
}
