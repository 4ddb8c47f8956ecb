package local

import (
	"context"

	"vramscope/arena"
	"vramscope/pool"
)

var (
	rayColumns = []column{{arena.DTypeFloat32, 3}, {arena.DTypeFloat32, 3}, {arena.DTypeFloat32, 3},
		{arena.DTypeInt32, 1}, {arena.DTypeInt16, 1}, {arena.DTypeUint8, 1}}
	screenColumns   = []column{{arena.DTypeFloat32, 4}, {arena.DTypeInt32, 1}, {arena.DTypeUint8, 1}}
	hitColumns      = []column{{arena.DTypeFloat32, 3}, {arena.DTypeInt32, 1}}
	sortColumns     = []column{{arena.DTypeInt64, 1}, {arena.DTypeInt32, 1}}
	radianceColumns = []column{{arena.DTypeFloat32, 3}, {arena.DTypeFloat16, 4}}
	texelColumns    = []column{{arena.DTypeUint8, 4}, {arena.DTypeFloat32, 1}}
	shadowColumns   = []column{{arena.DTypeFloat32, 3}, {arena.DTypeBool, 1}}
	tableColumns    = []column{{arena.DTypeInt32, 1}}
)

// survive is the share of rays that bounce on.
const survive = 0.62

// renderWindow traces the rays of some tiles. Its failure leaves its scopes and
// contexts open.
func (r *Render) renderWindow(ctx context.Context, w window, demand float64) error {
	part := demand * float64(w.tiles()) / tiles
	primary := r.share(0.40*part, rayColumns)
	bounces := 3 + r.random.IntN(3)
	scope := r.enter("wavefront_state", arena.Int("primary", primary), arena.Int("tiles", int64(w.tiles())), arena.Int("bounces", int64(bounces)))
	opened := r.opened
	temporary := r.arena.Temporary(true, func() int64 { return opened.kept })
	if err := r.rayState(primary); err != nil {
		return err
	}
	if err := r.precomputeRaster(part); err != nil {
		return err
	}
	if err := r.windowSheets(w); err != nil {
		return err
	}
	for bounce := range bounces {
		if err := r.resolveSheet(bounce, primary); err != nil {
			return err
		}
		done := (float64(w.first) + float64(w.tiles())*float64(bounce+1)/float64(bounces)) / tiles
		r.pace(ctx, projected+(traced-projected)*done)
		primary = int64(float64(primary) * survive)
	}
	r.arena.SetLastLaunchFrames(1)
	temporary.End()
	r.leave(scope)
	return nil
}

// rayState is what every ray carries along.
func (r *Render) rayState(primary int64) error {
	for _, c := range rayColumns {
		block, err := r.arena.AllocTyped(c.dtype, false, primary, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	return nil
}

// precomputeRaster finds which triangles are on screen, in memory that goes
// before the rays start. The frame's first window leaves a table of them on the
// persistent side, which the others use: it outlives the window by its floor.
func (r *Render) precomputeRaster(part float64) error {
	scope := r.enter("raster_precompute")
	cells := r.share(0.10*part, screenColumns)
	r.arena.NoteParams(arena.Int("tri_screen_cells", cells), arena.Int("bez_bounds_cells", cells/3))
	temporary := r.arena.Temporary(false, nil)
	for _, c := range screenColumns {
		block, err := r.arena.AllocTyped(c.dtype, false, cells, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	temporary.End()
	if r.opened.kept == arena.NoFloor {
		table, err := r.arena.AllocTyped(tableColumns[0].dtype, true, cells/2+1)
		if err != nil {
			return err
		}
		r.touch(table)
		_, r.opened.kept = r.arena.Pointers()
	}
	r.leave(scope)
	return nil
}

// windowSheets takes what a window needs from the pool: a few blocks of mixed
// sizes, on the streams in turn. In a frame that is to fail it asks for more
// than the device has.
func (r *Render) windowSheets(w window) error {
	if r.schedule.failed.due(r.frame) && w.first == 0 {
		if err := r.askTooMuch(); err != nil {
			return err
		}
	}
	for i := range 3 {
		bytes := r.size(r.options.Memory/2048, r.options.Memory/160)
		if _, err := r.memory.allocate(ownsSheets, bytes, pool.Stream(i), r.frame+int64(i)); err != nil {
			return err
		}
	}
	r.tellFailures("")
	return nil
}

// resolveSheet follows the rays of one bounce to what they hit.
func (r *Render) resolveSheet(bounce int, rays int64) error {
	scope := r.enter("sheet_resolve", arena.Int("bounce", int64(bounce)), arena.Int("rays", rays))
	temporary := r.arena.Temporary(false, nil)
	for _, c := range hitColumns {
		block, err := r.arena.AllocTyped(c.dtype, false, rays, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	for _, step := range []func(int64) error{r.sortHits, r.shade, r.traceShadows} {
		if err := step(rays); err != nil {
			return err
		}
	}
	temporary.End()
	r.leave(scope)
	return nil
}

// sortHits orders the hits by sheet: a key and its double buffer.
func (r *Render) sortHits(rays int64) error {
	temporary := r.arena.Temporary(false, nil)
	for _, c := range sortColumns {
		block, err := r.arena.AllocTyped(c.dtype, false, rays, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	temporary.End()
	offsets, err := r.arena.AllocTyped(arena.DTypeInt32, false, rays+1)
	if err != nil {
		return err
	}
	r.touch(offsets)
	return nil
}

func (r *Render) shade(rays int64) error {
	scope := r.enter("shade", arena.Int("rays", rays))
	temporary := r.arena.Temporary(false, nil)
	for _, c := range radianceColumns {
		block, err := r.arena.AllocTyped(c.dtype, false, rays, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	if err := r.fetchTexels(rays); err != nil {
		return err
	}
	temporary.End()
	r.leave(scope)
	return nil
}

func (r *Render) fetchTexels(rays int64) error {
	scope := r.enter("texture_fetch")
	temporary := r.arena.Temporary(false, nil)
	for _, c := range texelColumns {
		block, err := r.arena.AllocTyped(c.dtype, false, rays, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	temporary.End()
	r.leave(scope)
	return nil
}

func (r *Render) traceShadows(rays int64) error {
	scope := r.enter("shadow_trace", arena.Int("rays", rays))
	temporary := r.arena.Temporary(false, nil)
	for _, c := range shadowColumns {
		block, err := r.arena.AllocTyped(c.dtype, false, rays, c.width)
		if err != nil {
			return err
		}
		r.touch(block)
	}
	temporary.End()
	r.leave(scope)
	return nil
}

// size is a size between two, small ones more often.
func (r *Render) size(least, most int64) int64 {
	chance := r.random.Float64()
	return least + int64(chance*chance*float64(most-least))
}
