package model

import "slices"

// freeze is what is known now, as something that never changes: a checkpoint to
// fold on from later. The fold itself goes on and copies what it changes.
func (f *fold) freeze() *fold {
	for _, a := range f.arenas {
		a.freeze(&f.strings)
	}
	for _, p := range f.pools {
		p.freeze()
	}
	f.share()
	c := *f
	c.say, c.parts = nil, nil
	return &c
}

// share says that somebody else holds the rows, so that they are copied before
// they are changed.
func (f *fold) share() {
	f.arenasShared, f.poolsShared, f.nonArenaShared, f.problems.shared = true, true, true, true
}

// thaw is a fold that goes on from a checkpoint. Several goroutines may thaw one
// at a time.
func (f *fold) thaw() *fold {
	c := *f
	c.ooms, c.actions, c.moments = slices.Clip(c.ooms), slices.Clip(c.actions), slices.Clip(c.moments)
	return &c
}

// size is the memory, estimated, that a frozen fold holds for itself alone,
// before being the checkpoint in front of it: what did not change between them
// is shared.
func (f *fold) size(before *fold) int64 {
	const (
		rowChunkBytes = 14 << 10 // 64 rows of a scope tree
		leafBytes     = 6 << 10
		most          = 64 // chunks that are believed to change between checkpoints
	)
	bytes := int64(2048 + 8*(len(f.arenas)+len(f.pools)))
	for i, a := range f.arenas {
		if before == nil || i >= len(before.arenas) || before.arenas[i] != a {
			rows := int64(a.view.Scopes.Len() + a.view.Scopes.Abandoned().Len())
			bytes += 2048 + 10*rows + rowChunkBytes*min(rows/64+1, most) + int64(24*(len(a.callers.entries)+len(a.dtypes.entries)))
		}
	}
	for i, p := range f.pools {
		if before == nil || i >= len(before.pools) || before.pools[i] != p {
			bytes += 1024
			leaves := int64(0)
			for _, s := range p.view.Segments {
				leaves += int64(len(s.leaves))
				bytes += 8
			}
			bytes += leafBytes * min(leaves, most)
		}
	}
	return bytes
}
