package torchsnap

import "fmt"

// RefusedError is a pickle that holds an opcode which no snapshot needs. The
// file was not executed.
type RefusedError struct {
	Opcode string // its name, such as "REDUCE"
	Byte   byte
	Offset int64  // in the inflated pickle, bytes
	Global string // the "module.name" asked for, where the opcode names one
}

func (e *RefusedError) Error() string {
	switch {
	case e.Global != "":
		return fmt.Sprintf("this pickle wants %q (opcode %s at byte %d); a PyTorch snapshot never does, so it was refused and nothing was run: dump it again with torch.cuda.memory._dump_snapshot", e.Global, e.Opcode, e.Offset)
	case executes(e.Byte):
		return fmt.Sprintf("this pickle holds the opcode %s at byte %d, which could run code; a PyTorch snapshot never does, so it was refused and nothing was run: dump it again with torch.cuda.memory._dump_snapshot", e.Opcode, e.Offset)
	default:
		return fmt.Sprintf("this pickle holds the opcode %s (0x%02x) at byte %d, which a PyTorch snapshot never does: save it again with pickle protocol 2 or later", e.Opcode, e.Byte, e.Offset)
	}
}

// MalformedError is a file that is no well-formed snapshot.
type MalformedError struct {
	Offset int64 // bytes into the inflated file
	What   string
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("the snapshot is malformed at byte %d: %s; dump it again with torch.cuda.memory._dump_snapshot", e.Offset, e.What)
}

// NotSnapshotError is a well-formed file that holds no snapshot.
type NotSnapshotError struct{ What string }

func (e *NotSnapshotError) Error() string {
	return e.What + "; a snapshot is what torch.cuda.memory._dump_snapshot writes"
}

// TooDenseError is a file whose content would take more memory than the limit
// of 4 bytes for each of its bytes, plus 64 MiB. Real snapshots stay far below.
type TooDenseError struct {
	Offset int64 // bytes of the inflated file that were read
	Needed int64 // bytes of memory
	Limit  int64 // bytes of memory
}

func (e *TooDenseError) Error() string {
	return fmt.Sprintf("the snapshot would take %d bytes of memory at byte %d, more than the %d that a file of its length may: it was made to exhaust memory, so it was refused; dump it again with torch.cuda.memory._dump_snapshot", e.Needed, e.Offset, e.Limit)
}

// TooLargeError is a packed file that inflates to more than any snapshot.
type TooLargeError struct {
	Packing  string // "gzip" or "zstd"
	Packed   int64  // bytes that were taken from the file
	Inflated int64  // bytes that came out of them, so far
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the file inflates from %d bytes to more than %d: it was made to exhaust this machine, so it was refused; if it is real, unpack it with %s -d and open the result", e.Packed, e.Inflated, e.Packing)
}
