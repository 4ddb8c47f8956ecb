package torchsnap

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// maximumLayers is how many packings may lie around a snapshot: gzip
	// twice, and a page or an archive.
	maximumLayers = 3
	// sniffed is how much of each layer is looked at, in bytes.
	sniffed = 512
	// maximumInflated and maximumRatio are how much may come out of a packed
	// file, in bytes and in bytes for each packed one. Snapshots of a loop
	// that repeats come to 1:50.
	maximumInflated = 64 << 30
	maximumRatio    = 2000
	// zstdWindow is the largest window of zstd that is allocated, in bytes;
	// zstd's levels up to 19 use 8 MiB.
	zstdWindow = 8 << 20
)

// content is a snapshot's text or pickle, unpacked.
type content struct {
	reader  io.Reader
	json    bool
	raw     *counted // what Read was given
	out     *counted // what comes out of all packings
	size    int64    // of the raw file, 0 unknown
	packed  bool
	closers []func()
}

// unpack takes off what is packed around a snapshot, which it knows by its
// first bytes.
func unpack(r io.Reader, size int64) (*content, error) {
	c := &content{raw: &counted{reader: source{r}}, size: size}
	c.reader = c.raw
	for range maximumLayers + 1 {
		buffered := bufio.NewReaderSize(c.reader, 8<<10)
		c.reader = buffered
		head, err := buffered.Peek(sniffed)
		wrapped := false
		if len(head) > 0 || errors.Is(err, io.EOF) {
			wrapped, err = c.unwrap(buffered, head)
		} else {
			err = firstFailure(err)
		}
		if err != nil {
			c.close()
			return nil, err
		}
		if !wrapped {
			c.out = &counted{reader: c.reader}
			c.reader = c.out
			return c, nil
		}
	}
	c.close()
	return nil, &NotSnapshotError{fmt.Sprintf("the file is packed more than %d times over: unpack it first", maximumLayers)}
}

// firstFailure is the error of a file of which nothing can be read.
func firstFailure(err error) error {
	if failed, ok := errors.AsType[*sourceError](err); ok {
		return fmt.Errorf("reading the snapshot failed at its first byte: %w", failed.err)
	}
	if _, ok := errors.AsType[*damage](err); ok {
		return &NotSnapshotError{err.Error()}
	}
	return err
}

// unwrap takes off one layer, if head begins one; or it says why what is
// there is no snapshot.
func (c *content) unwrap(buffered *bufio.Reader, head []byte) (bool, error) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(head) == 0:
		return false, &NotSnapshotError{"the file is empty"}
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		inflater, err := gzip.NewReader(buffered)
		if err != nil {
			return false, &NotSnapshotError{"the file begins like gzip, but its header is damaged"}
		}
		inflater.Multistream(true)
		c.wrap(inflater, "gzip")
		return true, nil
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		inflater, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return false, &NotSnapshotError{"the file begins like zstd, but its header is damaged"}
		}
		c.closers = append(c.closers, inflater.Close)
		c.wrap(inflater, "zstd")
		return true, nil
	case bytes.HasPrefix(head, []byte("BZh")):
		return false, &NotSnapshotError{"the file is packed with bzip2: unpack it with bunzip2 first"}
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return false, &NotSnapshotError{"the file is packed with xz: unpack it with unxz first"}
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		c.reader, c.packed = buffered, true
		return true, skipArchiveHead(buffered, head)
	case bytes.HasPrefix(text, []byte("<")):
		c.reader, c.packed = embedded(buffered), true
		return true, nil
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		c.json = true
		return false, nil
	case head[0] == opProto, bytes.IndexByte([]byte("(}]ci"), head[0]) >= 0:
		return false, nil // what begins like protocols 0 and 1 is declined by its opcodes
	}
	return false, &NotSnapshotError{"the file is neither a pickle nor JSON"}
}

// skipArchiveHead moves to the pickle of a torch.save archive: the first entry
// of a zip file, data.pkl, which is stored as it is.
func skipArchiveHead(archive *bufio.Reader, head []byte) error {
	declined := &NotSnapshotError{"the file is a zip archive, and its first entry is no data.pkl as torch.save writes it: unpack it first"}
	const fixed = 30 // bytes of an entry's head before its name
	if len(head) < fixed {
		return declined
	}
	method := binary.LittleEndian.Uint16(head[8:])
	name, extra := int(binary.LittleEndian.Uint16(head[26:])), int(binary.LittleEndian.Uint16(head[28:]))
	if method != 0 || fixed+name > len(head) || !bytes.HasSuffix(head[fixed:fixed+name], []byte("data.pkl")) {
		return declined
	}
	if _, err := archive.Discard(fixed + name + extra); err != nil {
		return declined
	}
	return nil
}

// wrap puts an inflater on top.
func (c *content) wrap(inflater io.Reader, name string) {
	c.packed = true
	c.reader = &inflated{reader: inflater, name: name, raw: c.raw}
}

func (c *content) close() {
	for _, closer := range c.closers {
		closer()
	}
}

// whole guesses how many bytes come in all; 0 is unknown.
func (c *content) whole() int64 {
	taken := c.raw.taken()
	if c.size <= 0 || taken <= 0 {
		return 0
	}
	if !c.packed {
		return c.size
	}
	return int64(float64(c.out.taken()) * float64(c.size) / float64(taken))
}

// pieceBytes is how much to read at once: not much more than there is.
func (c *content) pieceBytes() int {
	if c.size > 0 && !c.packed {
		return int(min(c.size+1, pieceBytes))
	}
	return pieceBytes
}

// counted is a reader that counts its bytes; the count may be read from any
// goroutine.
type counted struct {
	reader io.Reader
	count  atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.count.Add(int64(n))
	return n, err
}

func (c *counted) taken() int64 { return c.count.Load() }

// source is the reader that Read was given; its failures are told from those
// of what is packed in it.
type source struct{ io.Reader }

func (s source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &sourceError{err}
	}
	return n, err
}

// sourceError is a failure of the source.
type sourceError struct{ err error }

func (e *sourceError) Error() string { return e.err.Error() }
func (e *sourceError) Unwrap() error { return e.err }

// damage is a packing that is broken or ends early.
type damage struct {
	name string
	err  error
}

func (d *damage) what() string {
	if errors.Is(d.err, io.ErrUnexpectedEOF) {
		return "its " + d.name + " stream ends early"
	}
	return "its " + d.name + " stream is broken"
}

func (d *damage) Error() string { return "the file is damaged: " + d.what() }
func (d *damage) Unwrap() error { return d.err }

// inflated is an inflater's output, as far as it is not more than any packed
// snapshot could give.
type inflated struct {
	reader io.Reader
	name   string
	raw    *counted
	count  int64
}

func (i *inflated) Read(p []byte) (int, error) {
	n, err := i.reader.Read(p)
	i.count += int64(n)
	if taken := i.raw.taken(); i.count > maximumInflated || i.count > maximumRatio*taken+memoryApart {
		return 0, &TooLargeError{Packing: i.name, Packed: taken, Inflated: i.count}
	}
	switch {
	case err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return n, err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return n, &NotSnapshotError{fmt.Sprintf("the file is packed with a zstd window of more than %d MiB: unpack it with zstd -d --long=31 first", zstdWindow>>20)}
	}
	if _, ok := errors.AsType[*sourceError](err); ok {
		return n, err
	}
	return n, &damage{i.name, err}
}
