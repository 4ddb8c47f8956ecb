package local

import (
	"context"
	"fmt"

	"vramscope/arena"
	"vramscope/pool"
)

const strips = 4 // that a frame is tone-mapped in

var pictureColumns = []column{{arena.DTypeFloat32, 4}, {arena.DTypeFloat16, 4}, {arena.DTypeUint8, 4}}

// postprocess makes the picture: frame buffers from the pool, strip by strip in
// the arena, after making sure that other allocators find room on the device.
func (r *Render) postprocess(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	r.memory.tiered.EnsureHeadroom(pool.HeadroomFraction)
	for range 2 {
		if _, err := r.memory.allocate(ownsFrameBuffers, r.options.Memory/256, 0, r.frame+2); err != nil {
			r.tellFailures("the picture is written without a copy")
			break
		}
	}
	r.tellFailures("")
	if r.frame%8 == 7 {
		r.mergeHistory()
	}
	if err := r.toneMap(ctx); err != nil {
		// An empty arena is five times as large as a strip.
		panic(fmt.Sprintf("a strip does not fit: %v", err))
	}
	r.pace(ctx, finished)
}

// mergeHistory folds the kept pictures into one: a transient of the pool.
func (r *Render) mergeHistory() {
	var input int64
	for _, t := range r.memory.tenants[ownsHistory] {
		input += t.bytes
	}
	if input == 0 {
		return
	}
	region := r.memory.peaks.Begin(r.memory.key)
	merged, err := r.memory.allocate(ownsHistory, input, 1, r.frame)
	if err != nil {
		r.memory.peaks.End(region)
		r.tellFailures("the history is not merged")
		return
	}
	r.memory.free(ownsHistory, func(t *tenant) bool { return t == merged })
	r.tellFailures("")
	r.stream.NotePeak("merge", input, r.memory.peaks.End(region).Corrected)
}

func (r *Render) toneMap(ctx context.Context) error {
	scope := r.enter("postprocess", arena.Int("width", width), arena.Int("height", height),
		arena.Text("tonemap_method", "aces"), arena.Bool("fxaa", true), arena.Int("channels", 4), arena.Text("dtype", "float16"))
	for strip := range strips {
		r.arena.Mark()
		pixels := r.share(0.12, pictureColumns)
		for _, c := range pictureColumns {
			block, err := r.arena.AllocTyped(c.dtype, false, pixels, c.width)
			if err != nil {
				return err
			}
			r.touch(block)
		}
		r.pace(ctx, traced+(finished-traced)*float64(strip+1)/strips)
		if err := r.arena.Restore(); err != nil {
			return err
		}
	}
	r.leave(scope)
	return nil
}
