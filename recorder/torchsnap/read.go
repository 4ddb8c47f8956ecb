package torchsnap

import (
	"errors"
	"fmt"
	"io"

	"vramscope/recorder"
)

// Options says how a snapshot is read.
type Options struct {
	// Size is the length of the inflated file in bytes as far as it is known,
	// 0 otherwise. It is a hint for sizing columns and is not trusted.
	Size int64
	// Progress, when set, is called now and then from the reading goroutine
	// with the bytes and events read so far. A false answer ends the reading
	// with ErrCancelled.
	Progress func(bytes, events int64) bool
}

// ErrCancelled is the end of a reading that Options.Progress did not want to
// go on.
var ErrCancelled = errors.New("reading the snapshot was cancelled")

// ReadPickle reads a snapshot's pickle from r, to its end. A file that ends
// early gives what it holds, with Truncated set. The errors are
// *RefusedError, *MalformedError, *NotSnapshotError, *TooDenseError,
// ErrCancelled, or r's own.
func ReadPickle(r io.Reader, options Options) (*recorder.Dump, error) {
	in := newInput(r)
	defer in.close()
	m := newMachine(in, memoryLimit, options.Size)
	m.progress = options.Progress
	top, err := m.run()
	var dump *recorder.Dump
	switch {
	case errors.Is(err, errCut):
		if dump, err = m.salvage(); err != nil {
			return nil, err
		}
		dump.Truncated = true
		dump.Problems = append(dump.Problems, fmt.Sprintf("the file ends early, at byte %d: %d events were read, later ones are missing", in.offset, len(m.events.Action)))
	case err != nil:
		return nil, err
	default:
		if dump, err = newAssembly(m).finish(top); err != nil {
			return nil, err
		}
	}
	dump.Format = fmt.Sprintf("PyTorch memory snapshot, pickle protocol %d", m.protocol)
	dump.Bytes = in.offset
	return dump, nil
}

// memoryLimit is how many bytes may be held after offset bytes were read.
func memoryLimit(offset int64) int64 { return memoryPerByte*offset + memoryApart }
