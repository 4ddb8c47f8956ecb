//go:build cuda && linux && cgo

package cuda

import (
	"runtime"
	"sync"

	"vramscope/pool"
)

// request is one piece of work for the worker, with its arguments and answers.
// It is a struct of plain fields and not a closure so that it can be used again:
// a call makes no garbage of its own.
type request struct {
	do func(*Context, *request) error

	address, from pool.Address
	bytes         int64
	total         int64
	stream, after pool.Stream
	value         byte
	memory        []byte
	figures       DefaultPool

	err  error
	done chan struct{} // gets one token when the worker is through
}

var requests = sync.Pool{New: func() any { return &request{done: make(chan struct{}, 1)} }}

// newRequest gets a request with nothing in it but what to do.
func newRequest(do func(*Context, *request) error) *request {
	r := requests.Get().(*request)
	r.do = do
	return r
}

// recycle gives a request back, to be called when its answers are read.
func (r *request) recycle() {
	*r = request{done: r.done}
	requests.Put(r)
}

// call lets the worker do the request and waits for it. A closed Context and a
// lost device are found without the worker, which may be in a call that hangs.
func (c *Context) call(r *request) error {
	if err := c.unusable(); err != nil {
		return err
	}
	select {
	case c.work <- r:
		<-r.done
		return r.err
	case <-c.closing:
		return ErrClosed
	}
}

// finish is call for a request without an answer.
func (c *Context) finish(r *request) error {
	err := c.call(r)
	r.recycle()
	return err
}

// unusable says why no work can be done, or nil.
func (c *Context) unusable() error {
	select {
	case <-c.closing:
		return ErrClosed
	default:
	}
	if lost := c.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// run is the worker. It says through ready whether it could begin, does what
// comes through the channel, and tears down when the Context is closed. It never
// gives its thread up: the thread ends with it, and with the thread everything
// that the driver keeps for one.
func (c *Context) run(ready chan<- error) {
	runtime.LockOSThread()
	if err := c.begin(); err != nil {
		ready <- err
		return
	}
	ready <- nil
	for {
		select {
		case r := <-c.work:
			r.err = c.perform(r)
			r.done <- struct{}{}
		case <-c.closing:
			c.closeError = c.end()
			close(c.ended)
			return
		}
	}
}

func (c *Context) perform(r *request) error {
	if lost := c.lost.Load(); lost != nil {
		return lost // found while the request waited
	}
	return r.do(c, r)
}
