package local

import (
	"context"
	"fmt"

	"vramscope/pool"
)

// streamTextures keeps the textures that the picture shows in the pool: some
// are used, some are new, and the oldest go when there are too many.
func (r *Render) streamTextures(context.Context) {
	textures := r.memory.tenants[ownsTextures]
	for range len(textures) / 3 {
		textures[r.random.IntN(len(textures))].used = r.frame
	}
	budget := r.options.Memory / 7
	for range 2 + r.random.IntN(5) {
		stream := pool.Stream(r.random.IntN(4))
		if _, err := r.memory.allocate(ownsTextures, r.size(r.options.Memory/8192, r.options.Memory/96), stream, 0); err != nil {
			r.tellFailures("the texture stays on the host")
			break
		}
	}
	r.evict(budget)
	if r.random.IntN(3) == 0 {
		r.keepHistory()
	}
	if r.rescue {
		r.importAsset()
	}
	r.tellFailures("")
}

// evict drops textures at random from the older half until the rest fits: what
// it leaves are holes of all sizes.
func (r *Render) evict(budget int64) {
	var held int64
	for _, t := range r.memory.tenants[ownsTextures] {
		held += t.bytes
	}
	for held > budget {
		textures := r.memory.tenants[ownsTextures]
		victim := textures[r.random.IntN(len(textures)/2+1)]
		held -= r.memory.free(ownsTextures, func(t *tenant) bool { return t == victim })
	}
}

// keepHistory keeps a picture for the denoiser over some frames.
func (r *Render) keepHistory() {
	bytes := r.size(r.options.Memory/1024, r.options.Memory/128)
	if _, err := r.memory.allocate(ownsHistory, bytes, 0, r.frame+5+r.random.Int64N(25)); err != nil {
		r.tellFailures("the denoiser goes without this history")
	}
}

// importAsset asks for more than is free in one piece, and less than there is
// once the pool's free segments have gone back: the failure callback has to
// make room. It waits for a frame in which the device stands so.
func (r *Render) importAsset() {
	least, most, known := r.importRange()
	if known && most-least < r.options.Memory/512 {
		r.makeFreeSegment()
		least, most, known = r.importRange()
	}
	switch {
	case !known: // no pool to make room in
		r.rescue = false
	case most-least >= r.options.Memory/512:
		r.rescue = false
		if _, err := r.memory.allocate(ownsImports, least+(most-least)/2, 3, r.frame); err != nil {
			r.tellFailures("the asset is imported in pieces")
		}
	}
}

// importRange is between the largest size that is there in one piece, and the
// largest that would be after the free segments have gone back.
func (r *Render) importRange() (least, most int64, known bool) {
	free, err := r.memory.device.Room()
	usage, known := r.memory.usage()
	return max(free, usage.LargestFree), free + usage.Releasable, known && err == nil
}

// makeFreeSegment leaves a segment that is free as a whole, if the device can
// give it: that of a scratch buffer which goes at once.
func (r *Render) makeFreeSegment() {
	free, err := r.memory.device.Room()
	usage, _ := r.memory.usage()
	bytes := max(free/2, usage.LargestFree+1)
	if err != nil || bytes+pool.PoolAlignment > free {
		return
	}
	if scratch, err := r.memory.allocate(ownsImports, bytes, 3, r.frame); err == nil {
		r.memory.free(ownsImports, func(t *tenant) bool { return t == scratch })
	}
}

// project finds out what is seen, with an allocator of its own on the same
// device: a transient outside the arena and the pool.
func (r *Render) project(ctx context.Context) {
	input := int64(float64(r.options.Memory) * (0.004 + 0.004*r.random.Float64()))
	ratio := 3 + 2*r.random.Float64()
	peak, err := r.foreign(ctx, input, ratio)
	for _, makeRoom := range []func(){func() {}, r.dropCaches} {
		if err == nil || r.memory.broken != nil {
			break
		}
		// The pool holds what the other allocator needs: give back, try again.
		makeRoom()
		r.release(true)
		peak, err = r.foreign(ctx, input, ratio)
	}
	if r.memory.broken != nil {
		return
	}
	if err != nil {
		r.note("warning", fmt.Sprintf("frame %d is projected on the host: %v", r.frame, err))
		return
	}
	r.stream.NotePeak("project", input, peak)
}

// dropCaches gives up everything that can be loaded or made again.
func (r *Render) dropCaches() {
	everything := func(*tenant) bool { return true }
	freed := r.memory.free(ownsTextures, everything) + r.memory.free(ownsHistory, everything)
	r.note("info", fmt.Sprintf("frame %d gave up textures and history, %.1f MiB, so that the projection finds room", r.frame, float64(freed)/(1<<20)))
}

// foreign takes memory from the device itself, in three pieces, and gives it
// back. peak is how much that was, as a region of the peaks measures it.
func (r *Render) foreign(ctx context.Context, input int64, ratio float64) (peak int64, err error) {
	type piece struct {
		address pool.Address
		bytes   int64
	}
	var pieces []piece
	region := r.memory.peaks.Begin(r.memory.key)
	defer func() {
		peak = r.memory.peaks.End(region).Corrected
		for _, p := range pieces {
			r.memory.breaks(r.memory.device.Free(p.address, p.bytes))
			r.memory.outside.Add(-p.bytes)
		}
	}()
	for i, part := range []float64{0.25, 0.35, 0.40} {
		bytes := int64(part * ratio * float64(input))
		address, err := r.memory.device.Allocate(bytes)
		if err != nil {
			r.memory.breaks(err)
			return 0, err
		}
		pieces = append(pieces, piece{address, bytes})
		r.memory.outside.Add(bytes)
		r.memory.breaks(r.memory.device.Touch(address, bytes, 0))
		r.pace(ctx, projected*float64(i+1)/3)
	}
	return 0, nil // the peak is read at the end
}
