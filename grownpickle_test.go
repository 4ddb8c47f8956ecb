package main

import (
	"bufio"
	bytesof "encoding/binary"
	"io"

	"vramscope/recorder"
)

// grownPickle writes a dump's first device as a PyTorch snapshot in pickle
// protocol 4, its events so many times over: addresses and times are shifted,
// so that no block is allocated twice. What a pickler of Python would remember
// and refer to is remembered and referred to, so that an event takes as many
// bytes as in a real file.
type grownPickle struct {
	w       *bufio.Writer
	dump    *recorder.Dump
	memo    uint32 // entries so far
	strings map[string]uint32
	frames  map[uint32]uint32 // frame -> memo
	lists   uint32            // memo of the last list of frames
}

func writeGrownPickle(w io.Writer, dump *recorder.Dump, times int) error {
	g := &grownPickle{w: bufio.NewWriterSize(w, 1<<20), dump: dump, strings: map[string]uint32{}, frames: map[uint32]uint32{}}
	g.put(0x80, 4)
	g.dict(func() {
		g.text("segments")
		g.list(func() {
			for k := range times {
				g.segments(uint64(k) << 44)
			}
		})
		g.text("device_traces")
		g.list(func() {
			g.list(func() {
				for k := range times {
					g.events(uint64(k)<<44, int64(k))
				}
			})
		})
		g.text("allocator_settings")
		g.dict(func() {
			g.text("expandable_segments")
			g.put(0x89)
		})
	})
	g.put('.')
	return g.w.Flush()
}

func (g *grownPickle) put(bytes ...byte) { _, _ = g.w.Write(bytes) }

// remember gives what was written last a place in the memo.
func (g *grownPickle) remember() (place uint32) {
	g.put(0x94)
	g.memo++
	return g.memo - 1
}

func (g *grownPickle) dict(items func()) {
	g.put('}')
	g.remember()
	g.put('(')
	items()
	g.put('u')
}

func (g *grownPickle) list(items func()) {
	g.put(']')
	g.remember()
	g.put('(')
	items()
	g.put('e')
}

func (g *grownPickle) get(place uint32) {
	if place < 256 {
		g.put('h', byte(place))
		return
	}
	g.put('j')
	g.put(bytesof.LittleEndian.AppendUint32(nil, place)...)
}

func (g *grownPickle) text(text string) {
	if place, known := g.strings[text]; known {
		g.get(place)
		return
	}
	g.fresh(text)
	g.strings[text] = g.memo - 1
}

// fresh writes a text that nothing refers to.
func (g *grownPickle) fresh(text string) {
	g.put('X')
	g.put(bytesof.LittleEndian.AppendUint32(nil, uint32(len(text)))...)
	g.put([]byte(text)...)
	g.remember()
}

func (g *grownPickle) number(n int64) {
	switch {
	case n >= 0 && n < 1<<8:
		g.put('K', byte(n))
	case n >= 0 && n < 1<<16:
		g.put('M', byte(n), byte(n>>8))
	case n >= -1<<31 && n < 1<<31:
		g.put('J')
		g.put(bytesof.LittleEndian.AppendUint32(nil, uint32(n))...)
	default:
		g.put(0x8a, 8)
		g.put(bytesof.LittleEndian.AppendUint64(nil, uint64(n))...)
	}
}

func (g *grownPickle) pair(key string, n int64) {
	g.text(key)
	g.number(n)
}

// stack writes the frames of a stack as a list of its own.
func (g *grownPickle) stack(stack int32) {
	g.put(']')
	g.lists = g.remember()
	g.put('(')
	for _, frame := range g.dump.Stacks.Stack(stack) {
		if place, known := g.frames[frame]; known {
			g.get(place)
			continue
		}
		g.frames[frame] = g.memo
		f := &g.dump.Frames[frame]
		g.dict(func() {
			g.text("name")
			g.text(g.dump.Strings[f.Name])
			g.text("filename")
			g.text(g.dump.Strings[f.File])
			g.pair("line", f.Line)
		})
	}
	g.put('e')
}

func (g *grownPickle) pool(pool uint16) {
	id := g.dump.MemoryPools[pool]
	g.number(id[0])
	g.number(id[1])
	g.put(0x86)
	g.remember()
}

var blockStates = [...]string{
	recorder.DumpInactive: "inactive", recorder.DumpActive: "active_allocated", recorder.DumpPendingFree: "active_pending_free",
}

func (g *grownPickle) segments(shift uint64) {
	d := &g.dump.Devices[0]
	for i := range d.Segments {
		s := &d.Segments[i]
		g.dict(func() {
			g.pair("device", 0)
			g.pair("address", int64(s.Address+shift))
			g.pair("total_size", s.Bytes)
			g.pair("allocated_size", s.Allocated)
			g.pair("active_size", s.Active)
			g.pair("requested_size", s.Requested)
			g.pair("stream", int64(g.dump.Streams[s.Stream]))
			g.text("segment_type")
			if s.Small {
				g.text("small")
			} else {
				g.text("large")
			}
			g.text("segment_pool_id")
			g.pool(s.Pool)
			g.text("frames")
			g.stack(s.Stack)
			g.text("blocks")
			g.list(func() { g.blocks(s, shift) })
		})
	}
}

func (g *grownPickle) blocks(s *recorder.DumpSegment, shift uint64) {
	b := &g.dump.Devices[0].Blocks
	for i := s.First; i < s.First+s.Count; i++ {
		g.dict(func() {
			g.pair("address", int64(b.Address[i]+shift))
			g.pair("size", b.Bytes[i])
			g.pair("requested_size", b.Requested[i])
			g.text("state")
			g.text(blockStates[b.State[i]])
			g.text("frames")
			g.stack(max(b.Stack[i], 0))
		})
	}
}

func (g *grownPickle) events(shift uint64, round int64) {
	e := &g.dump.Devices[0].Events
	last := e.Len() - 1
	later := round * (e.TimeUs[last] - e.TimeUs[0] + 1000)
	for i := range e.Len() {
		action := e.Action[i]
		g.dict(func() {
			g.text("action")
			g.text(action.String())
			g.text("addr")
			g.number(int64(e.Address[i] + shift))
			g.pair("size", e.Bytes[i])
			g.pair("stream", int64(g.dump.Streams[e.Stream[i]]))
			g.text("time_us")
			g.number(e.TimeUs[i] + later)
			g.text("compile_context")
			g.fresh("N/A")
			g.text("user_metadata")
			g.text("")
			g.text("frames")
			if i > 0 && action == recorder.DumpFreeCompleted && e.Stack[i] == e.Stack[i-1] {
				g.get(g.lists)
			} else {
				g.stack(e.Stack[i])
			}
		})
	}
}
