package torchsnap

import (
	"errors"
	"fmt"
	"io"

	"vramscope/recorder"
)

// Options says how a snapshot is read. The zero value is good.
type Options struct {
	// Size is the length in bytes of what is read, as far as it is known, 0
	// otherwise. It is a hint for the room of columns and is not trusted.
	Size int64
	// Progress, when set, is called about once for every 256 KiB inflated,
	// from the goroutine that called Read, with the bytes taken from the
	// reader (of Size in all) and the events read so far. A false answer ends
	// the reading with ErrCancelled.
	Progress func(bytes, events int64) bool
	// Partial, when set, is called about every 65,536 events, from the
	// goroutine that called Read, with the dump as far as it was read. It is
	// marked Truncated, has the end state (which stands first in the file) and
	// the first events of each device, without their Free and Notes. It is
	// immutable and shares its columns with the dump that Read returns, whose
	// rows, strings, frames and stacks keep their numbers.
	Partial func(*recorder.Dump)
}

// Read reads a snapshot from r: a pickle of protocol 2 to 5 or JSON text,
// plain or in gzip, zstd, the HTML page of torch.cuda._memory_viz or a
// torch.save archive, which it tells by their first bytes. Reading and
// inflating run in a goroutine that has ended when Read returns.
//
// A file that ends early or is damaged gives what it holds up to there, with
// Truncated set and the reason among its Problems. Texts in the dump are free
// of control characters. The errors are *RefusedError, *MalformedError,
// *NotSnapshotError, *TooDenseError, *TooLargeError, ErrCancelled, or wrap r's
// own.
func Read(r io.Reader, options Options) (*recorder.Dump, error) {
	c, err := unpack(r, options.Size)
	if err != nil {
		return nil, err
	}
	defer c.close()
	in := newInput(c.reader, c.pieceBytes())
	defer in.close()
	m := newMachine(in, c.whole)
	m.watch = watch{progress: options.Progress, partial: options.Partial, every: partialEvents, read: c.raw.taken}
	if c.json {
		return m.dump((*machine).runJSON)
	}
	return m.dump((*machine).run)
}

// dump runs the machine and assembles what it leaves.
func (m *machine) dump(run func(*machine) (value, error)) (dump *recorder.Dump, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			tooDense, ok := failure.(*TooDenseError)
			if !ok {
				panic(failure)
			}
			dump, err = nil, tooDense
		}
	}()
	top, err := run(m)
	if err == nil {
		dump, err = m.assemble().finish(top)
	} else {
		dump, err = m.rescue(err)
	}
	if err != nil {
		return nil, err
	}
	dump.Format, dump.Bytes = m.format(), m.in.offset
	return dump, nil
}

// rescue gives what was read before a file ended or broke. A file that was
// refused, or that holds nothing yet, stays an error.
func (m *machine) rescue(failure error) (*recorder.Dump, error) {
	malformed, isMalformed := errors.AsType[*MalformedError](failure)
	if !isMalformed && !errors.Is(failure, errCut) {
		return nil, failure
	}
	at := m.in.offset
	dump, err := m.salvage()
	switch {
	case isMalformed && (err != nil || !holdsSomething(dump)):
		return nil, failure
	case err != nil:
		return nil, err
	}
	dump.Truncated = true
	why := fmt.Sprintf("the file ends early, at byte %d", at)
	if isMalformed {
		why = fmt.Sprintf("the file is broken at byte %d (%s)", malformed.Offset, malformed.What)
	} else if d, ok := errors.AsType[*damage](m.in.err); ok {
		why = fmt.Sprintf("the file is damaged: %s, %d bytes into its content", d.what(), at)
	}
	dump.Problems = append(dump.Problems, fmt.Sprintf("%s: %d events were read, later ones are missing", why, m.eventCount))
	return dump, nil
}

func holdsSomething(dump *recorder.Dump) bool {
	for _, d := range dump.Devices {
		if len(d.Segments) > 0 || d.Events.Len() > 0 {
			return true
		}
	}
	return false
}
