package torchsnap

import (
	"errors"
	"io"
)

const (
	// pieceBytes is how much is read at once. A piece stays in the
	// processors' shared cache between the goroutine that reads or inflates
	// and the one that decodes.
	pieceBytes = 256 << 10
	// frontBytes is the room before each piece for what the decoder left of
	// the one before: more than it ever asks for at once.
	frontBytes = 20 << 10
)

// input is a file read ahead of the decoder by a goroutine of its own, so
// that reading or inflating takes another processor.
type input struct {
	window []byte // unread bytes
	held   []byte // the buffer behind window
	offset int64  // of window[0] in the file
	err    error  // why nothing more comes; nil while more may
	count  int    // pieces so far

	pieces <-chan piece
	spare  chan<- []byte
	stop   chan struct{}
	done   <-chan struct{}
}

// piece is a buffer with n bytes behind its front.
type piece struct {
	buffer []byte
	n      int
	err    error
}

// newInput begins to read r in pieces of so many bytes.
func newInput(r io.Reader, pieceBytes int) *input {
	pieces, spare := make(chan piece, 1), make(chan []byte, buffers)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		readPieces(r, pieceBytes, pieces, spare, stop)
	}()
	return &input{pieces: pieces, spare: spare, stop: stop, done: done}
}

// buffers is how many pieces there are: one that is decoded, one that waits,
// one that is read.
const buffers = 3

// readPieces reads pieces and sends them on, until the reader fails or stop
// is closed.
func readPieces(r io.Reader, pieceBytes int, pieces chan<- piece, spare <-chan []byte, stop <-chan struct{}) {
	for made := 0; ; {
		var buffer []byte
		select {
		case buffer = <-spare:
		default:
			if made < buffers {
				buffer = make([]byte, frontBytes+pieceBytes)
				made++
				break
			}
			select {
			case buffer = <-spare:
			case <-stop:
				return
			}
		}
		n, err := io.ReadFull(r, buffer[frontBytes:])
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // the last piece is a short one
		}
		select {
		case pieces <- piece{buffer, n, err}:
		case <-stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// close ends the reading goroutine and waits for it, so that the reader is
// free again.
func (in *input) close() {
	close(in.stop)
	<-in.done
}

// more makes at least n bytes available in window, and says whether it could;
// n is at most frontBytes. Slices of the window are void after the call.
func (in *input) more(n int) bool {
	for len(in.window) < n && in.err == nil {
		next := <-in.pieces
		in.err, in.count = next.err, in.count+1
		from := frontBytes - len(in.window)
		copy(next.buffer[from:frontBytes], in.window)
		if in.held != nil {
			in.spare <- in.held
		}
		in.held, in.window = next.buffer, next.buffer[from:frontBytes+next.n]
	}
	return len(in.window) >= n
}

// advance drops n bytes from the front of the window.
func (in *input) advance(n int) {
	in.window = in.window[n:]
	in.offset += int64(n)
}
