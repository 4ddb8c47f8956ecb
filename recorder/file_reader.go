package recorder

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest window of a compressed file that is read, bytes.
// zstd's own levels up to 19 stay below it.
const maxWindow = 16 << 20

// IsZstd says whether a file that begins with head is compressed with zstd.
func IsZstd(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(head) >= 4 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18
}

// Reader reads a recording, compressed or not: which one it is, its first bytes
// say. It is for one goroutine, Done apart.
//
// The end of a plain recording is not final, as Decoder says. A compressed one
// that may grow needs an input that waits for more instead of ending.
type Reader struct {
	*Decoder
	content *contentReader
}

// NewReader returns a Reader over input. Its memory is bounded, whatever input
// holds.
func NewReader(input io.Reader) *Reader {
	content := &contentReader{input: input}
	return &Reader{Decoder: NewDecoder(content), content: content}
}

// Done is how many bytes of the input have been read, before they are inflated.
// It may be called from any goroutine.
func (r *Reader) Done() int64 { return r.content.done.Load() }

// Truncated says that a compressed recording was cut: what could be inflated
// has been read.
func (r *Reader) Truncated() bool { return r.content.truncated }

// Close gives up what reading needs. It does not close the input.
func (r *Reader) Close() {
	if r.content.zstd != nil {
		r.content.zstd.Close()
	}
}

// FileReader is a Reader of a file.
type FileReader struct {
	*Reader
	path string
	file *os.File
	size int64
}

// OpenFile opens a recording file. The error is a *FileError.
func OpenFile(path string) (*FileReader, error) {
	// Without O_NONBLOCK a pipe in place of a file would wait for its writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, &FileError{Path: path, Do: "open", Err: err}
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
		if info.IsDir() {
			err = syscall.EISDIR
		}
	}
	if err != nil {
		file.Close()
		return nil, &FileError{Path: path, Do: "open", Err: err}
	}
	return &FileReader{Reader: NewReader(file), path: path, file: file, size: info.Size()}, nil
}

// Size is the bytes of the file when it was opened.
func (r *FileReader) Size() int64 { return r.size }

// Next returns the next record, as Decoder's Next; errors of the file are a
// *FileError.
func (r *FileReader) Next() (Record, error) {
	record, err := r.Reader.Next()
	var protocol *ProtocolError
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, &protocol) {
		return record, err
	}
	return nil, &FileError{Path: r.path, Do: "read", Err: err}
}

// Close closes the file.
func (r *FileReader) Close() error {
	r.Reader.Close()
	return r.file.Close()
}

// contentReader gives out what an input holds, inflated if it is compressed.
type contentReader struct {
	input     io.Reader
	done      atomic.Int64 // bytes taken from the input
	head      []byte       // of the input, until it is known what it is
	known     bool
	zstd      *zstd.Decoder // nil for a plain input
	truncated bool
	failed    error // the input's
}

// Read gives content out.
func (c *contentReader) Read(into []byte) (int, error) {
	if !c.known {
		if err := c.recognise(); err != nil {
			return 0, err
		}
	}
	if c.zstd != nil {
		return c.inflate(into)
	}
	if len(c.head) > 0 {
		n := copy(into, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.readInput(into)
}

// recognise reads the first bytes. An input that ends before it is known what
// it is may still grow.
func (c *contentReader) recognise() error {
	const enough = 4
	for len(c.head) < enough {
		var more [enough]byte
		n, err := c.readInput(more[:enough-len(c.head)])
		c.head = append(c.head, more[:n]...)
		if err != nil && len(c.head) < enough {
			if len(c.head) > 0 && errors.Is(err, io.EOF) && c.head[0] == '{' {
				break
			}
			return err
		}
	}
	c.known = true
	if !IsZstd(c.head) {
		return nil
	}
	var err error
	c.zstd, err = zstd.NewReader(io.MultiReader(bytes.NewReader(c.head), inputReader{c}), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
	c.head = nil
	return err
}

func (c *contentReader) readInput(into []byte) (int, error) {
	n, err := c.input.Read(into)
	c.done.Add(int64(n))
	if err != nil && !errors.Is(err, io.EOF) {
		c.failed = err
	}
	return n, err
}

// inputReader is the rest of the input, counted.
type inputReader struct{ *contentReader }

// Read reads the input.
func (r inputReader) Read(into []byte) (int, error) { return r.readInput(into) }

// inflate reads on in a compressed input. One that was cut ends there.
func (c *contentReader) inflate(into []byte) (int, error) {
	n, err := c.zstd.Read(into)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case c.failed != nil:
		return n, c.failed
	case errors.Is(err, io.ErrUnexpectedEOF):
		c.truncated = true
		return n, io.EOF
	case errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return n, ErrWindow
	}
	return n, ErrDamaged
}
