package recorder

import (
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/klauspost/compress/zstd"
)

// FlushPeriod is how often a FileWriter makes what was written readable, in
// nanoseconds: a file that is cut loses at most this much.
const FlushPeriod int64 = 1e9

// FileOptions is what a recording file is made of. The zero value will do.
type FileOptions struct {
	// Clock tells monotonic nanoseconds; nil is MonotonicClock.
	Clock func() int64
	// Limit is the most bytes that the file may have; 0 is no limit. What
	// would exceed it is not written, apart from the end of the file.
	Limit int64
}

// FileWriter writes a recording. It is for one goroutine. An error stays: after
// it nothing more is written, and the file ends with its last whole line.
type FileWriter struct {
	path    string
	file    *os.File
	clock   func() int64
	limit   int64
	zstd    *zstd.Encoder // nil for a plain file
	line    []byte        // scratch
	pending []byte        // whole lines of a plain file that are not written
	flushed int64         // ns of the last flush
	dirty   bool          // something was written since
	content int64         // bytes before compression
	size    int64         // bytes of the file
	failed  error
	open    []string // sources that have said hello and not bye
}

// pendingBytes is how much of a plain file is gathered before it is written.
const pendingBytes = 64 << 10

// CreateFile makes a new recording file, which must not exist, readable by its
// owner alone. A name that ends in ".zst" is compressed. The error is a
// *FileError.
func CreateFile(path string, options FileOptions) (*FileWriter, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | syscall.O_NOFOLLOW
	file, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, &FileError{Path: path, Do: "create", Err: err}
	}
	w := &FileWriter{path: path, file: file, clock: options.Clock, limit: options.Limit}
	if w.clock == nil {
		w.clock = MonotonicClock()
	}
	if strings.HasSuffix(path, ".zst") {
		// One goroutine and a small window: the writer lives beside a render.
		w.zstd, err = zstd.NewWriter(fileSink{w}, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
		if err != nil {
			file.Close()
			return nil, &FileError{Path: path, Do: "create", Err: err}
		}
	}
	w.flushed = w.clock()
	return w, nil
}

// Path is the file's name as it was given.
func (w *FileWriter) Path() string { return w.path }

// Size is the bytes of the file so far, and those before compression.
func (w *FileWriter) Size() (file, content int64) { return w.size + int64(len(w.pending)), w.content }

// Write writes a record, and makes what was written readable when FlushPeriod
// has passed. The error is a *FileError, or AppendLine's for a record that does
// not fit a line; the latter does not end the file.
func (w *FileWriter) Write(record Record) error {
	line, err := AppendLine(w.line[:0], record)
	w.line = line
	if err != nil {
		return err
	}
	w.follow(record)
	return w.WriteLine(line)
}

// WriteLine writes a record's line, which AppendLine made. Close does not know
// of sources that only came through here.
func (w *FileWriter) WriteLine(line []byte) error {
	if w.failed != nil {
		return w.failed
	}
	if size, _ := w.Size(); w.limit > 0 && size+int64(len(line)) > w.limit {
		return &FileError{Path: w.path, Do: "write", Err: ErrFileLimit}
	}
	w.content += int64(len(line))
	w.dirty = true
	if w.zstd != nil {
		if _, err := w.zstd.Write(line); err != nil {
			return w.fail(err)
		}
	} else {
		w.pending = append(w.pending, line...)
		if len(w.pending) >= pendingBytes {
			if err := w.writePending(); err != nil {
				return err
			}
		}
	}
	return w.Tick()
}

// Tick makes what was written readable if FlushPeriod has passed. Call it now
// and then where nothing is written for a while.
func (w *FileWriter) Tick() error {
	if w.failed != nil || !w.dirty || w.clock()-w.flushed < FlushPeriod {
		return w.failed
	}
	return w.Flush()
}

// Flush makes what was written readable: a compressed file's block ends.
func (w *FileWriter) Flush() error {
	if w.failed != nil {
		return w.failed
	}
	w.flushed, w.dirty = w.clock(), false
	if w.zstd != nil {
		if err := w.zstd.Flush(); err != nil {
			return w.fail(err)
		}
		return nil
	}
	return w.writePending()
}

// Close ends the file. Each source that has not said bye says it with that
// reason. The error is a *FileError; the file is closed in any case.
func (w *FileWriter) Close(why string) error {
	w.limit = 0
	for len(w.open) > 0 && w.failed == nil {
		w.Write(&Bye{Head: Head{Src: w.open[0], Ns: w.clock()}, Why: why})
	}
	if w.zstd != nil && w.failed == nil {
		if err := w.zstd.Close(); err != nil {
			w.fail(err)
		}
	} else if w.failed == nil {
		w.writePending()
	}
	if err := w.file.Close(); err != nil && w.failed == nil {
		w.failed = &FileError{Path: w.path, Do: "write", Err: err}
	}
	err := w.failed
	if err == nil {
		w.failed = &FileError{Path: w.path, Do: "write", Err: os.ErrClosed}
	}
	return err
}

// follow keeps which sources have not said bye.
func (w *FileWriter) follow(record Record) {
	source := record.Source()
	switch record.(type) {
	case *Hello:
		for _, other := range w.open {
			if other == source {
				return
			}
		}
		w.open = append(w.open, source)
	case *Bye:
		kept := w.open[:0]
		for _, other := range w.open {
			if other != source {
				kept = append(kept, other)
			}
		}
		w.open = kept
	}
}

// writePending writes the lines that were gathered, in one piece.
func (w *FileWriter) writePending() error {
	if len(w.pending) == 0 {
		return nil
	}
	_, err := fileSink{w}.Write(w.pending)
	w.pending = w.pending[:0]
	if err != nil {
		return w.fail(err)
	}
	return nil
}

// fail keeps the first error.
func (w *FileWriter) fail(err error) error {
	if w.failed == nil {
		w.failed = &FileError{Path: w.path, Do: "write", Err: err}
	}
	return w.failed
}

// fileSink writes whole pieces to the file: lines, or parts of a compressed
// file. A piece that does not fit is taken back.
type fileSink struct{ *FileWriter }

// Write writes a piece, or takes back what was written of it.
func (s fileSink) Write(piece []byte) (int, error) {
	w := s.FileWriter
	if w.failed != nil {
		return 0, w.failed
	}
	n, err := w.file.Write(piece)
	if err == nil && n < len(piece) {
		err = io.ErrShortWrite
	}
	if err != nil {
		// What was written of the piece would read as a cut line.
		w.file.Truncate(w.size)
		w.fail(err)
		return n, err
	}
	w.size += int64(n)
	return n, nil
}
