package ui

import (
	"cmp"
	"slices"

	"vramscope/model"
)

// liveScope is a scope that was open at the moment that is looked at, or what
// lies in an arena outside every scope. Bytes.
type liveScope struct {
	arena  *model.ArenaView
	depth  int
	name   string
	row    int32 // of the scope tree, -1 for what lies outside
	live   int64 // pointer - entry, on both sides, scopes inside included
	own    int64 // without the scope inside
	opened int64 // monotonic ns, 0 unknown
}

// liveBlocks are the live blocks of a pool of one size and stream.
type liveBlocks struct {
	stream uint32
	each   int64 // bytes
	count  int64
	oldest int64 // monotonic ns of the first that was handed out, 0 unknown
}

func (b *liveBlocks) bytes() int64 { return b.each * b.count }

// liveRows are what was live at a moment: open scopes, the innermost last, in
// the arena with most first; and blocks, those that hold most first.
type liveRows struct {
	view   *model.SourceView
	pool   *model.PoolView
	scopes []liveScope
	blocks []liveBlocks
	places map[blockClass]int
	told   bool // the pool has told of its blocks
}

// blockClass is what blocks are put together by.
type blockClass struct {
	stream uint32
	bytes  int64
}

// update makes the rows of a scene anew if it is another one.
func (l *liveRows) update(s *scene) {
	if s.view == nil {
		*l = liveRows{}
		return
	}
	if l.view != s.view {
		l.view = s.view
		l.addScopes(s.view)
	}
	pool := s.choices.poolOf(s.view)
	if l.pool != pool || pool == nil {
		l.pool = pool
		l.addBlocks(pool)
	}
}

func (l *liveRows) addScopes(view *model.SourceView) {
	l.scopes = l.scopes[:0]
	arenas := 0
	for _, arena := range view.Arenas {
		if arena.Scopes == nil || arena.State.Released != 0 {
			continue
		}
		before := len(l.scopes)
		l.addArena(view, arena)
		if len(l.scopes) > before {
			arenas++
		}
	}
	if arenas > 1 {
		slices.SortStableFunc(l.scopes, func(a, b liveScope) int {
			if a.arena == b.arena {
				return 0
			}
			return cmp.Compare(usedOf(b.arena), usedOf(a.arena))
		})
	}
}

// addArena adds the open scopes of an arena and what lies outside them.
func (l *liveRows) addArena(view *model.SourceView, arena *model.ArenaView) {
	open := arena.Scopes.Open()
	forward, reverse := arena.Scopes.Pointers()
	used := usedOf(arena)
	inside := int64(0) // what the outermost scope has
	for i := range open {
		live := forward - open[i].EntryForward + open[i].EntryReverse - reverse
		if i == 0 {
			inside = live
		} else {
			l.scopes[len(l.scopes)-1].own -= live
		}
		name, row := "#", open[i].Node
		if row >= 0 && int(row) < arena.Scopes.Len() {
			name = view.Strings.String(arena.Scopes.Name(row))
		}
		l.scopes = append(l.scopes, liveScope{arena: arena, depth: i, name: name, row: row, live: live, own: live, opened: open[i].Opened})
	}
	if outside := used - inside; outside > 0 {
		l.scopes = append(l.scopes, liveScope{arena: arena, name: "outside every open scope", row: -1, live: outside, own: outside})
	}
}

// usedOf is what is in use on both sides of an arena; 0 where its length is not
// known.
func usedOf(arena *model.ArenaView) int64 {
	if arena.State.Length <= 0 {
		return 0
	}
	return arena.State.Forward + arena.State.Length - arena.State.Reverse
}

// addBlocks puts the live blocks of a pool together by stream and size.
func (l *liveRows) addBlocks(pool *model.PoolView) {
	l.blocks = l.blocks[:0]
	l.told = pool != nil && pool.Segments != nil
	if !l.told {
		return
	}
	if l.places == nil {
		l.places = map[blockClass]int{}
	}
	clear(l.places)
	for _, segment := range pool.Segments {
		for block := range segment.Blocks() {
			if block.Live {
				l.addBlock(&block)
			}
		}
	}
	slices.SortFunc(l.blocks, func(a, b liveBlocks) int {
		return cmp.Or(cmp.Compare(b.bytes(), a.bytes()), cmp.Compare(a.stream, b.stream), cmp.Compare(b.each, a.each))
	})
}

func (l *liveRows) addBlock(block *model.Block) {
	class := blockClass{block.Stream, block.Bytes}
	at, ok := l.places[class]
	if !ok {
		at = len(l.blocks)
		l.places[class] = at
		l.blocks = append(l.blocks, liveBlocks{stream: block.Stream, each: block.Bytes, oldest: block.Since})
	}
	b := &l.blocks[at]
	b.count++
	b.oldest = min(b.oldest, block.Since) // 0, unknown, stays
}
