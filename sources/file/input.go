package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"vramscope/recorder"
)

// ending says why an input has ended.
type ending uint8

const (
	endReached   ending = iota // there is no more, and nothing is waited for
	endReplaced                // the path names another file
	endTruncated               // the file is shorter than what was read of it
)

// input is a file that may grow. At its end it waits in the middle of a Read, so
// that a compressed recording can be followed like a plain one.
type input struct {
	*Source
	*telling
	ctx    context.Context
	file   *os.File
	watch  *watch
	reader *recorder.Reader
	offset int64 // of what was read
	packed bool  // it is compressed
	end    ending

	replaced bool  // the path names another file: what is left is read, then it ends
	quiet    int64 // seconds passed when the end was reached, -1 before it was looked at
	gone     bool  // the path names no file, and that was told
}

// Read reads on, waiting for more as long as there may be some.
func (in *input) Read(into []byte) (int, error) {
	for {
		n, err := in.file.Read(into)
		if n > 0 {
			if in.offset == 0 {
				in.packed = recorder.IsZstd(into[:n])
			}
			in.offset += int64(n)
			in.done.Store(in.offset)
			if in.offset > in.total.Load() {
				in.measure()
			}
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if !in.more() {
			return 0, io.EOF
		}
	}
}

// measure reads how long the file is.
func (in *input) measure() {
	if info, err := in.file.Stat(); err == nil {
		in.total.Store(info.Size())
	}
}

// more waits at the end of the file. It is false when there will be no more.
func (in *input) more() bool {
	in.keepProblems(in.reader.Problems())
	if !in.Follow || in.finished() || in.replaced {
		if in.replaced {
			in.end = endReplaced
		}
		return false
	}
	in.quiet = -1
	for {
		switch in.look() {
		case lookGrown:
			in.following.Store(false)
			return true
		case lookTruncated:
			in.end = endTruncated
			in.remark("warning", fmt.Sprintf("%s was truncated: it is read from its beginning", in.path))
			return false
		case lookReplaced:
			// Its writer may have added something just before: read once more.
			in.replaced = true
			in.remark("info", fmt.Sprintf("%s was replaced: the new file is read from its beginning", in.path))
			return true
		}
		in.following.Store(true)
		if !in.watch.wait(in.ctx) {
			return false
		}
	}
}

// looked is what a look at the file found.
type looked uint8

const (
	lookSame looked = iota
	lookGrown
	lookTruncated
	lookReplaced
)

func (in *input) look() looked {
	info, err := in.file.Stat()
	if err != nil {
		return lookSame
	}
	in.total.Store(info.Size())
	switch {
	case info.Size() > in.offset:
		return lookGrown
	case info.Size() < in.offset:
		return lookTruncated
	}
	named, err := os.Stat(in.path)
	switch {
	case err == nil && !os.SameFile(info, named):
		return lookReplaced
	case errors.Is(err, os.ErrNotExist) && !in.gone:
		in.gone = true
		in.remark("warning", fmt.Sprintf("%s was removed: what was read stays, and a new file of the name will be read", in.path))
	}
	in.settle()
	return lookSame
}

// settle says what is wrong with a file that has not grown since the look
// before: until then its writer may have been in the middle of a line.
func (in *input) settle() {
	switch {
	case in.quiet < 0:
		in.quiet = in.watch.seconds
	case in.watch.seconds > in.quiet:
		in.tellCut(in.path, in.reader, in.offset, in.packed)
	}
}
