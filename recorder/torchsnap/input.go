package torchsnap

import (
	"errors"
	"io"
)

// pieceBytes is how much of a file is read at once. Three pieces are in
// flight: one being decoded, one read, one ready.
const pieceBytes = 1 << 20

// maximumValue is the longest string or single value, in bytes.
const maximumValue = 16 << 20

// input is a file read ahead of the decoder by a goroutine of its own, so
// that reading or inflating takes the other processor.
type input struct {
	window []byte // unread bytes
	held   []byte // the array behind window
	offset int64  // of window[0] in the file
	err    error  // why nothing more comes; nil while more may

	pieces <-chan piece
	spare  chan<- []byte
	stop   chan struct{}
	done   <-chan struct{}
}

type piece struct {
	bytes []byte
	err   error
}

func newInput(r io.Reader) *input {
	pieces, spare := make(chan piece, 1), make(chan []byte, 3)
	stop, done := make(chan struct{}), make(chan struct{})
	in := &input{pieces: pieces, spare: spare, stop: stop, done: done}
	for range 2 {
		spare <- make([]byte, pieceBytes)
	}
	go func() {
		defer close(done)
		for {
			var buffer []byte
			select {
			case buffer = <-spare:
			case <-stop:
				return
			}
			n, err := io.ReadFull(r, buffer)
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = io.EOF
			}
			select {
			case pieces <- piece{buffer[:n], err}:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return in
}

// close ends the reading goroutine and waits for it, so that the reader is
// free again.
func (in *input) close() {
	close(in.stop)
	<-in.done
}

// more makes at least n bytes available in window, and says whether it could.
// The window's bytes may move; slices of it are void after the call.
func (in *input) more(n int) bool {
	for len(in.window) < n && in.err == nil {
		next := <-in.pieces
		in.err = next.err
		if need := len(in.window) + len(next.bytes); need > cap(in.held) {
			grown := make([]byte, len(in.window), need+pieceBytes)
			copy(grown, in.window)
			in.held = grown
		} else {
			copy(in.held[:len(in.window)], in.window)
		}
		in.window = append(in.held[:len(in.window)], next.bytes...)
		select {
		case in.spare <- next.bytes[:cap(next.bytes)]:
		default:
		}
	}
	return len(in.window) >= n
}

// advance drops n bytes from the front of the window.
func (in *input) advance(n int) {
	in.window = in.window[n:]
	in.offset += int64(n)
}
