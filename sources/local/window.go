package local

import (
	"context"
	"fmt"

	"vramscope/arena"
	"vramscope/pool"
)

// Where a frame's time goes, as shares of it.
const (
	projected = 0.12 // the projection has ended
	traced    = 0.78 // the windows have
	finished  = 0.97 // post-processing has
)

// window is a range of tiles that is rendered at once.
type window struct{ first, end int }

func (w window) tiles() int { return w.end - w.first }

func (w window) String() string { return fmt.Sprintf("tiles %d to %d", w.first, w.end-1) }

// renderWindows renders the frame, in one window if it fits. Where the arena
// fills, everything in it is abandoned and the window done again in halves;
// where the pool has no memory left, the window is dropped.
func (r *Render) renderWindows(ctx context.Context) {
	demand := r.demand()
	waiting := []window{{0, tiles}}
	retry := int64(0)
	frame := r.openFrame(retry)
	for len(waiting) > 0 && ctx.Err() == nil {
		w := waiting[0]
		waiting = waiting[1:]
		err := r.renderWindow(ctx, w, demand)
		if err == nil {
			continue
		}
		if r.memory.broken != nil {
			break
		}
		class, rule := pool.ClassifyFailure(err)
		switch {
		case class == pool.FailureArenaFull && w.tiles() > 1:
			middle := w.first + w.tiles()/2
			halves := []window{{w.first, middle}, {middle, w.end}}
			waiting = append(halves, waiting...)
			r.tellArenaFull(err, rule, fmt.Sprintf("%v were abandoned, and are done again in halves", w))
			retry++
			frame = r.retryFrame(retry)
		default:
			r.tellFailures(fmt.Sprintf("%v of frame %d were dropped; the render goes on", w, r.frame))
			r.note("warning", fmt.Sprintf("frame %d lacks %v: %v", r.frame, w, err))
			frame = r.reopenFrame(frame, retry)
		}
	}
	r.closeFrame(frame)
}

// openedFrame is the scope and the context of a frame.
type openedFrame struct {
	place     place
	temporary arena.Temporary
	kept      int64 // offset down to which the frame's table stays; arena.NoFloor before there is one
}

// openFrame opens the frame's scope with what all its windows need.
func (r *Render) openFrame(retry int64) *openedFrame {
	f := &openedFrame{kept: arena.NoFloor}
	f.place = r.enter("render", arena.Int("frame", r.frame), arena.Int("width", width), arena.Int("height", height), arena.Int("retry", retry))
	f.temporary = r.arena.Temporary(true, nil)
	if err := r.frameInputs(); err != nil {
		// The scene is a fifth of the arena: the inputs always fit beside it.
		panic(fmt.Sprintf("the frame's inputs do not fit: %v", err))
	}
	r.opened = f
	return f
}

func (r *Render) closeFrame(f *openedFrame) {
	f.temporary.End()
	r.leave(f.place)
	r.opened = nil
}

// reopenFrame gives up what a failed window left open.
func (r *Render) reopenFrame(f *openedFrame, retry int64) *openedFrame {
	r.closeFrame(f)
	return r.openFrame(retry)
}

// retryFrame begins again in an empty arena: the scopes that are open count as
// abandoned, and memory is given back if there is pressure.
func (r *Render) retryFrame(retry int64) *openedFrame {
	r.abandon("arena full")
	r.release(false)
	if err := r.uploadScene(); err != nil {
		panic(fmt.Sprintf("a scene that fitted does not fit again: %v", err))
	}
	return r.openFrame(retry)
}

var (
	cameraColumns      = []column{{arena.DTypeFloat32, 13}}
	accumulatorColumns = []column{{arena.DTypeFloat32, 4}, {arena.DTypeUint8, 1}}
)

// frameInputs are the camera and the accumulators, which stay for the frame.
func (r *Render) frameInputs() error {
	camera, err := r.arena.AllocTyped(cameraColumns[0].dtype, true, cameraColumns[0].width)
	if err != nil {
		return err
	}
	r.touch(camera)
	cells := r.share(0.04, accumulatorColumns)
	r.arena.NoteParams(arena.Int("out_cells", cells), arena.Float("exposure", 1.25), arena.Bool("denoise", true))
	for _, c := range accumulatorColumns {
		block, err := r.arena.AllocTyped(c.dtype, true, cells, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	return nil
}

// demand is how much of the arena the frame's rays want, as a share: it comes
// and goes with what is in the picture, and now and then is too much.
func (r *Render) demand() float64 {
	demand := 0.26 + 0.12*r.random.Float64()
	if r.schedule.full.due(r.frame) {
		demand = 1.2
	}
	return demand
}
