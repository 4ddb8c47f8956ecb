package arena_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vramscope/arena"
)

// plainArena is the arena as plainly as it can be written: it looks for a
// place byte by byte, and restores copies.
type plainArena struct {
	length, forward, reverse, highWater int64
	marks                               []int64
	contexts                            []plainContext
}

type plainContext struct {
	handle           arena.Temporary
	forward, reverse int64
	clear            bool
	floor            int64
}

func (p *plainArena) alloc(bytes, itemSize int64, persist bool) (offset int64, ok bool) {
	if persist {
		end := p.reverse
		for end%itemSize != 0 {
			end--
		}
		if end-bytes < p.forward {
			return 0, false
		}
		p.reverse = end - bytes
		offset = p.reverse
	} else {
		start := p.forward
		for start%itemSize != 0 {
			start++
		}
		if start+bytes > p.reverse {
			return 0, false
		}
		p.forward = start + bytes
		offset = start
	}
	p.highWater = max(p.highWater, p.forward+p.length-p.reverse)
	return offset, true
}

// end ends the context at a position and all after it, last first.
func (p *plainArena) end(position int) {
	for len(p.contexts) > position {
		c := p.contexts[len(p.contexts)-1]
		p.contexts = p.contexts[:len(p.contexts)-1]
		if c.clear {
			p.reverse = c.reverse
		}
		p.forward = min(c.forward, p.reverse)
		if c.floor >= 0 && c.floor < p.reverse {
			p.reverse = max(c.floor, p.forward)
		}
	}
}

// liveBlock is bytes that nobody else may touch while the pointers enclose it.
type liveBlock struct {
	memory  []byte
	offset  int64
	persist bool
	pattern byte
}

// Random histories: the arena and the plain one agree on every place, pointer
// and refusal; live blocks never overlap; and the events alone say the same.
func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.Int64Range(0, 400).Draw(t, "length")
		observer := newTree()
		a, err := arena.New(arena.Config{Bytes: length, Observer: observer})
		if err != nil {
			t.Fatal(err)
		}
		plain := &plainArena{length: length, reverse: length}
		var live []liveBlock
		var ended []arena.Temporary
		pattern := byte(0)

		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				numel := rapid.Int64Range(0, 12).Draw(t, "numel")
				itemSize := rapid.SampledFrom([]int64{1, 2, 4, 8, 16, 3, 12, 24, 1000}).Draw(t, "item size")
				persist := rapid.Bool().Draw(t, "persist")
				offset, fits := plain.alloc(numel*itemSize, itemSize, persist)
				block, err := a.AllocTyped(arena.DType{Size: itemSize}, persist, numel)
				last := observer.events[len(observer.events)-1]
				if !fits {
					if _, insufficient := err.(*arena.InsufficientMemoryError); !insufficient || last.Op != arena.OpFail {
						t.Fatalf("error %v, event %+v; want a refusal", err, last)
					}
					return
				}
				if err != nil || block.Offset() != offset || int64(len(block.Memory())) != numel*itemSize {
					t.Fatalf("%+v, %v; want offset %d", block, err, offset)
				}
				// The address follows from the event alone.
				fromEvent := last.Forward - last.Bytes
				if persist {
					fromEvent = last.Reverse
				}
				if fromEvent != offset {
					t.Fatalf("event %+v; want offset %d", last, offset)
				}
				pattern++
				for i := range block.Memory() {
					block.Memory()[i] = pattern
				}
				live = append(live, liveBlock{block.Memory(), offset, persist, pattern})
			},
			"temporary": func(t *rapid.T) {
				clearPersist := rapid.Bool().Draw(t, "clear")
				floor := rapid.Int64Range(-1, length).Draw(t, "floor")
				ask := func() int64 { return floor }
				if rapid.Bool().Draw(t, "no floor") {
					ask, floor = nil, -1
				}
				plain.contexts = append(plain.contexts, plainContext{
					a.Temporary(clearPersist, ask), plain.forward, plain.reverse, clearPersist, floor})
			},
			"end": func(t *rapid.T) {
				if len(plain.contexts) == 0 {
					return
				}
				position := rapid.IntRange(0, len(plain.contexts)-1).Draw(t, "position")
				for _, c := range plain.contexts[position:] {
					ended = append(ended, c.handle)
				}
				handle := plain.contexts[position].handle
				plain.end(position)
				handle.End()
			},
			"end again": func(t *rapid.T) {
				if len(ended) > 0 {
					rapid.SampledFrom(ended).Draw(t, "ended").End()
				}
			},
			"mark": func(*rapid.T) {
				a.Mark()
				plain.marks = append(plain.marks, plain.forward)
			},
			"restore": func(t *rapid.T) {
				err := a.Restore()
				last := len(plain.marks) - 1
				if last < 0 || plain.marks[last] > plain.reverse {
					if err == nil {
						t.Fatal("a mark was restored that cannot be")
					}
					return
				}
				plain.forward, plain.marks = plain.marks[last], plain.marks[:last]
			},
			"set": func(t *rapid.T) {
				forward := rapid.Int64Range(-2, length+2).Draw(t, "forward")
				reverse := rapid.Int64Range(-2, length+2).Draw(t, "reverse")
				err := a.SetPointers(forward, reverse)
				if possible := 0 <= forward && forward <= reverse && reverse <= length; possible != (err == nil) {
					t.Fatalf("error %v", err)
				} else if possible {
					plain.forward, plain.reverse = forward, reverse
				}
			},
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 4).Draw(t, "rarely") != 0 {
					return
				}
				a.Reset("")
				for _, c := range plain.contexts {
					ended = append(ended, c.handle)
				}
				*plain = plainArena{length: length, reverse: length}
			},
			"": func(t *rapid.T) {
				state := a.State()
				if state.Forward != plain.forward || state.Reverse != plain.reverse || state.HighWater != plain.highWater ||
					!slices.Equal(state.Marks, plain.marks) || state.Temporaries != len(plain.contexts) {
					t.Fatalf("%+v, want %+v", state, plain)
				}
				last := observer.events[len(observer.events)-1]
				if last.Forward != plain.forward || last.Reverse != plain.reverse {
					t.Fatalf("event %+v, want pointers %d and %d", last, plain.forward, plain.reverse)
				}
				live = slices.DeleteFunc(live, func(block liveBlock) bool {
					if block.persist {
						return block.offset < plain.reverse
					}
					return block.offset+int64(len(block.memory)) > plain.forward
				})
				for _, block := range live {
					for _, value := range block.memory {
						if value != block.pattern {
							t.Fatalf("the block at %d was overwritten", block.offset)
						}
					}
				}
			},
		})
	})
}

// Scopes nest, are left open, end twice and out of order, are cut off by
// resets: every close names an open scope, and the stacks agree.
func TestRandomScopes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		observer := newTree() // panics when a scope closes that is not open
		a, err := arena.New(arena.Config{Bytes: 64, Observer: observer})
		if err != nil {
			t.Fatal(err)
		}
		var all, open []arena.Scope
		t.Repeat(map[string]func(*rapid.T){
			"open": func(*rapid.T) {
				scope := a.Scope("scope")
				if want := uint64(len(all) + 1); scope.Number() != want {
					t.Fatalf("number %d, want %d", scope.Number(), want)
				}
				all, open = append(all, scope), append(open, scope)
			},
			"end": func(t *rapid.T) {
				if len(all) == 0 {
					return
				}
				scope := rapid.SampledFrom(all).Draw(t, "scope")
				seen := len(observer.events)
				scope.End()
				position := slices.Index(open, scope)
				if emitted := len(observer.events) > seen; emitted != (position >= 0) {
					t.Fatalf("emitted %t, open at %d", emitted, position)
				}
				if position >= 0 {
					open = open[:position]
				}
			},
			"reset": func(*rapid.T) {
				a.Reset("")
				open = open[:0]
			},
			"": func(t *rapid.T) {
				if a.State().Scopes != len(open) || len(observer.stack) != len(open)+1 {
					t.Fatalf("%d scopes open, %d seen, want %d", a.State().Scopes, len(observer.stack)-1, len(open))
				}
			},
		})
	})
}
