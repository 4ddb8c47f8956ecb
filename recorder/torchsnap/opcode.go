package torchsnap

// The opcodes of pickle that a snapshot may use, as Python's pickletools
// documents them.
const (
	opMark            = '('
	opStop            = '.'
	opNone            = 'N'
	opBinInt          = 'J'
	opBinInt1         = 'K'
	opBinInt2         = 'M'
	opBinFloat        = 'G'
	opBinUnicode      = 'X'
	opBinGet          = 'h'
	opLongBinGet      = 'j'
	opBinPut          = 'q'
	opLongBinPut      = 'r'
	opAppend          = 'a'
	opAppends         = 'e'
	opSetItem         = 's'
	opSetItems        = 'u'
	opEmptyDict       = '}'
	opEmptyList       = ']'
	opEmptyTuple      = ')'
	opTuple           = 't'
	opList            = 'l'
	opDict            = 'd'
	opProto           = 0x80
	opTuple1          = 0x85
	opTuple2          = 0x86
	opTuple3          = 0x87
	opNewTrue         = 0x88
	opNewFalse        = 0x89
	opLong1           = 0x8a
	opLong4           = 0x8b
	opShortBinUnicode = 0x8c
	opBinUnicode8     = 0x8d
	opMemoize         = 0x94
	opFrame           = 0x95
)

// refused names the opcodes that a snapshot never holds. Those that could
// import or call something stand first.
var refused = map[byte]string{
	'c': "GLOBAL", 0x93: "STACK_GLOBAL", 'R': "REDUCE", 'b': "BUILD", 'i': "INST", 'o': "OBJ", 0x81: "NEWOBJ",
	0x92: "NEWOBJ_EX", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4", 'P': "PERSID", 'Q': "BINPERSID",

	'0': "POP", '1': "POP_MARK", '2': "DUP", 0x8f: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET",
	'B': "BINBYTES", 'C': "SHORT_BINBYTES", 0x8e: "BINBYTES8", 0x96: "BYTEARRAY8", 0x97: "NEXT_BUFFER",
	0x98: "READONLY_BUFFER", 'T': "BINSTRING", 'U': "SHORT_BINSTRING", 'I': "INT", 'L': "LONG", 'F': "FLOAT",
	'S': "STRING", 'V': "UNICODE", 'g': "GET", 'p': "PUT",
}

// executes says whether an opcode imports or calls something.
func executes(op byte) bool {
	switch op {
	case 'c', 0x93, 'R', 'b', 'i', 'o', 0x81, 0x92, 0x82, 0x83, 0x84, 'P', 'Q':
		return true
	}
	return false
}
