//go:build cuda && linux && cgo

package cuda

import (
	"gorgonia.org/cu"

	"vramscope/pool"
)

// queue is a pool.Stream on the device: the stream's own number means nothing to
// the driver.
type queue struct {
	stream cu.Stream // the null stream for 0
	marker cu.Event  // where the stream stood when somebody had to wait for it
	marked bool      // marker exists
}

// queue finds the driver's stream of a number or makes it. Number 0 is the
// driver's null stream. The others are blocking ones: what runs on the null
// stream, such as Read, comes after what was queued on them before.
func (c *Context) queue(number pool.Stream) (*queue, error) {
	if q := c.queues[number]; q != nil {
		return q, nil
	}
	q := new(queue)
	if number != 0 {
		stream, err := cu.MakeStream(cu.DefaultStream)
		if err != nil {
			return nil, c.check("cuStreamCreate", err)
		}
		q.stream = stream
	}
	c.queues[number] = q
	return q, nil
}

func (q *queue) destroy(note func(call string, err error)) {
	if q.marked {
		note("cuEventDestroy", cu.DestroyEvent(&q.marker))
	}
	if q.stream != cu.NoStream {
		note("cuStreamDestroy", q.stream.Destroy())
	}
}

// SynchronizeStream waits until the device has done all work of one stream. A
// stream that was never used has none.
func (c *Context) SynchronizeStream(stream pool.Stream) error {
	r := newRequest((*Context).synchronizeStream)
	r.stream = stream
	return c.finish(r)
}

func (c *Context) synchronizeStream(r *request) error {
	q := c.queues[r.stream]
	if q == nil && r.stream != 0 {
		return nil
	}
	stream := cu.NoStream
	if q != nil {
		stream = q.stream
	}
	return c.check("cuStreamSynchronize", stream.Synchronize())
}

// OrderStreams implements pool.Orderer by an event, which the one stream records
// and the other waits for on the device. Nothing waits here. A stream that was
// never used has nothing to wait for.
func (c *Context) OrderStreams(stream, after pool.Stream) error {
	r := newRequest((*Context).orderStreams)
	r.stream, r.after = stream, after
	return c.finish(r)
}

func (c *Context) orderStreams(r *request) error {
	earlier := c.queues[r.after]
	if earlier == nil || r.after == r.stream {
		return nil
	}
	later, err := c.queue(r.stream)
	if err != nil {
		return err
	}
	if !earlier.marked {
		if earlier.marker, err = cu.MakeEvent(cu.DisableTiming); err != nil {
			return c.check("cuEventCreate", err)
		}
		earlier.marked = true
	}
	if err := earlier.marker.Record(earlier.stream); err != nil {
		return c.check("cuEventRecord", err)
	}
	return c.check("cuStreamWaitEvent", later.stream.Wait(earlier.marker, 0))
}
