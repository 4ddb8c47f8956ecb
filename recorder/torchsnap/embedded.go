package torchsnap

import (
	"bufio"
	"encoding/base64"
	"errors"
	"io"
)

// embedded is the snapshot inside the HTML page that
// torch.cuda._memory_viz writes: const local_files = [{"name": ..., "base64":
// "..."}]. Where there are several, it is the first.
func embedded(page *bufio.Reader) io.Reader {
	return &htmlReader{page: page}
}

type htmlReader struct {
	page    *bufio.Reader
	decoder io.Reader // nil before the snapshot was found
}

func (h *htmlReader) Read(p []byte) (int, error) {
	if h.decoder == nil {
		if err := h.find(); err != nil {
			return 0, err
		}
		h.decoder = base64.NewDecoder(base64.StdEncoding, &untilQuote{page: h.page})
	}
	n, err := h.decoder.Read(p)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if _, ok := errors.AsType[*sourceError](err); !ok {
			err = &damage{"base64", err}
		}
	}
	return n, err
}

// find moves behind the quote that opens the base64 text.
func (h *htmlReader) find() error {
	const key = `"base64"`
	matched := 0
	for matched < len(key) {
		c, err := h.page.ReadByte()
		if errors.Is(err, io.EOF) {
			return &NotSnapshotError{"the file is an HTML page with no snapshot in it: give the pickle that it was made from"}
		}
		if err != nil {
			return err
		}
		switch {
		case c == key[matched]:
			matched++
		case c == key[0]:
			matched = 1
		default:
			matched = 0
		}
	}
	for {
		switch c, err := h.page.ReadByte(); {
		case err != nil:
			return &damage{"base64", io.ErrUnexpectedEOF}
		case c == '"':
			return nil
		case c != ':' && c != ' ' && c != '\n' && c != '\t' && c != '\r':
			return &NotSnapshotError{"the file is an HTML page whose snapshot is not where it belongs: give the pickle that it was made from"}
		}
	}
}

// untilQuote reads up to the quote that closes a string.
type untilQuote struct {
	page  *bufio.Reader
	ended bool
}

func (u *untilQuote) Read(p []byte) (int, error) {
	if u.ended {
		return 0, io.EOF
	}
	if _, err := u.page.Peek(1); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	ready, _ := u.page.Peek(min(u.page.Buffered(), len(p)))
	n := 0
	for _, c := range ready {
		if c == '"' {
			u.ended = true
			u.page.Discard(1)
			break
		}
		p[n] = c
		n++
	}
	u.page.Discard(n)
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
