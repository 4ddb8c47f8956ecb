package open

import (
	"errors"
	"io"
	"os"
	"syscall"

	"vramscope/recorder"
)

// File is a file that was recognised and opened. One of its parts is set.
type File struct {
	Path      string
	Format    *Format
	Recording *recorder.FileReader // to be read to its end, and closed
	Dump      *recorder.Dump
	Costs     *recorder.Costs
}

// Open recognises a file and opens it with its reader. The error is a
// *recorder.FileError for a file that cannot be read, a *DeclinedError for one
// that is known and not opened, an *UnknownError for one that is not known, a
// *recorder.ProtocolError for a recording that needs a newer reader, or the
// reader's own.
func Open(path string, watch Watch) (*File, error) {
	format, err := Recognise(path)
	if err != nil {
		return nil, err
	}
	switch {
	case format.recording:
		reader, err := recorder.OpenFile(path)
		if err != nil {
			return nil, err
		}
		return &File{Path: path, Format: format, Recording: reader}, nil
	case format.ReadDump != nil:
		dump, err := format.ReadDump(path, watch)
		if err != nil {
			return nil, err
		}
		return &File{Path: path, Format: format, Dump: dump}, nil
	case format.ReadCosts != nil:
		costs, err := format.ReadCosts(path)
		if err != nil {
			return nil, err
		}
		return &File{Path: path, Format: format, Costs: costs}, nil
	}
	return nil, &DeclinedError{Path: path, Format: format.Name, Reason: format.Reason, Advice: format.Advice}
}

// Recognise says what a file is. The format may be one that is not opened:
// Format.Opens says so. The errors are those of Open, without a *DeclinedError
// for such a format.
func Recognise(path string) (*Format, error) {
	head, err := readHead(path)
	if err != nil {
		return nil, err
	}
	if len(head) == 0 {
		return nil, &DeclinedError{
			Path: path, Format: "an empty file", Reason: "nothing was written to it yet", Advice: "wait for its writer or name another file",
		}
	}
	content := look(head)
	for i := range formats {
		if formats[i].match(content) {
			if formats[i].recording {
				if err := checkVersion(content); err != nil {
					return nil, err
				}
			}
			return &formats[i], nil
		}
	}
	return nil, unknown(path, content)
}

// headBytes is how much of a file is looked at, and of what it inflates to.
const headBytes = 64 << 10

// readHead reads the beginning of a regular file.
func readHead(path string) ([]byte, error) {
	failed := func(err error) error { return &recorder.FileError{Path: path, Do: "open", Err: err} }
	// Without O_NONBLOCK a pipe in place of a file would wait for its writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, failed(err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, failed(err)
	case info.IsDir():
		return nil, failed(syscall.EISDIR)
	case !info.Mode().IsRegular():
		return nil, failed(recorder.ErrNotRegular)
	}
	head := make([]byte, headBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &recorder.FileError{Path: path, Do: "read", Err: err}
	}
	return head[:n], nil
}

// checkVersion refuses a recording that needs a newer reader.
func checkVersion(content *content) error {
	line, whole := content.firstLine()
	if !whole {
		return nil
	}
	var protocol *recorder.ProtocolError
	if _, err := recorder.DecodeLine(line); errors.As(err, &protocol) {
		return err
	}
	return nil
}
