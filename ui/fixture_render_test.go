package ui

import (
	"fmt"
	"sync"
	"testing"

	"vramscope/arena"
	"vramscope/model"
	"vramscope/pool"
)

// renderFrame is one frame of the fixture: the stages of a renderer, and now and
// then something out of the ordinary.
func (f *fixture) renderFrame() {
	f.frame++
	f.stream.BeginFrame(f.frame)
	begun := f.ns
	if f.frame == 0 {
		f.uploadScene()
	}
	if f.frame == 13 {
		f.fillUp()
	}
	render := f.arena.Scope("render", arena.Int("frame", f.frame), arena.Int("width", 1920), arena.Int("height", 1080))
	f.project()
	for window := range int64(2) {
		f.traceWindow(window)
	}
	f.postprocess()
	render.End()
	f.usePool()
	f.stream.NotePeak("project", 2*gib+f.frame*64*mib, 9*gib+f.frame*256*mib)
	f.wait(max(0, fixturePeriod-(f.ns-begun)))
	f.sample()
	if f.frame%8 == 7 {
		f.state()
	}
}

// uploadScene puts what outlives a frame on the reverse side.
func (f *fixture) uploadScene() {
	upload := f.arena.Scope("scene_upload", arena.Text("scene", "harbour"), arena.Bool("cached", false))
	defer upload.End()
	f.must(f.arena.AllocTyped(arena.DTypeFloat32, true, 160*mib))
	f.must(f.arena.AllocTyped(arena.DTypeInt32, true, 90*mib))
	f.must(f.arena.AllocTyped(arena.DTypeUint8, true, 333*mib+5))
}

func (f *fixture) project() {
	projection := f.arena.Scope("projection")
	defer projection.End()
	temporary := f.arena.Temporary(false, nil)
	defer temporary.End()
	f.must(f.arena.AllocTyped(arena.DTypeFloat32, false, 64*mib, 4))
	f.must(f.arena.AllocTyped(arena.DTypeBool, false, 64*mib))
}

// traceWindow is the stage that takes the most.
func (f *fixture) traceWindow(window int64) {
	temporary := f.arena.Temporary(true, nil)
	defer temporary.End()
	state := f.arena.Scope("wavefront_state", arena.Int("window", window), arena.Float("share", 0.5))
	defer state.End()
	f.must(f.arena.AllocTyped(arena.DTypeFloat32, false, (512+16*f.frame)*mib))
	f.must(f.arena.AllocTyped(arena.DTypeFloat16, false, 900*mib))
	for range 1 + (f.frame+window)%3 {
		f.resolve()
	}
	if f.frame == 9 {
		f.arena.Scope("gather") // left without an end: its exit is not known
		f.must(f.arena.AllocTyped(arena.DTypeInt64, false, 40*mib))
	}
}

func (f *fixture) resolve() {
	sheet := f.arena.Scope("sheet_resolve")
	defer sheet.End()
	temporary := f.arena.Temporary(false, nil)
	defer temporary.End()
	f.must(f.arena.AllocTyped(arena.DTypeFloat32, false, 384*mib))
	f.must(f.arena.AllocTyped(arena.DTypeComplex64, false, 100*mib+13))
	f.arena.NoteParams(arena.Int("hits", 1000+f.frame))
}

func (f *fixture) postprocess() {
	post := f.arena.Scope("postprocess")
	defer post.End()
	f.arena.Mark()
	f.must(f.arena.AllocTyped(arena.DTypeFloat16, false, 700*mib))
	if err := f.arena.Restore(); err != nil {
		f.t.Fatal(err)
	}
}

// fillUp is a window that does not fit: the arena is reset with scopes open, and
// the frame begins anew.
func (f *fixture) fillUp() {
	f.arena.Scope("render", arena.Int("frame", f.frame))
	f.arena.Scope("wavefront_state", arena.Int("window", 0))
	f.must(f.arena.AllocTyped(arena.DTypeFloat32, false, 3*gib))
	if _, err := f.arena.AllocTyped(arena.DTypeFloat32, false, 9*gib); err == nil {
		f.t.Fatal("an allocation fits that should not")
	}
	f.arena.Reset("retry, the arena was full")
	f.uploadScene()
}

// stopInside leaves the render in the middle of a frame.
func (f *fixture) stopInside() {
	f.frame++
	f.stream.BeginFrame(f.frame)
	f.arena.Scope("render", arena.Int("frame", f.frame), arena.Int("width", 1920), arena.Int("height", 1080))
	f.project()
	f.arena.Temporary(true, nil)
	f.arena.Scope("wavefront_state", arena.Int("window", 0))
	f.must(f.arena.AllocTyped(arena.DTypeFloat32, false, 900*mib))
	f.arena.Mark()
	f.arena.Scope("sheet_resolve")
	f.arena.Temporary(false, nil)
	f.must(f.arena.AllocTyped(arena.DTypeFloat32, false, 384*mib))
	f.arena.Mark()
	f.must(f.arena.AllocTyped(arena.DTypeComplex64, false, 100*mib+13))
	f.stream.Flush()
	f.sample()
}

// must stops where the render was refused memory.
func (f *fixture) must(_ arena.Block, err error) {
	if err != nil {
		f.t.Fatal(err)
	}
}

// usePool leaves holes in the pool, and once asks for more than there is.
func (f *fixture) usePool() {
	for i := range int64(6) {
		if !f.take((1+(f.frame*7+i*3)%11)*mib+i*4096, pool.Stream(i%2)) {
			f.t.Fatal(fmt.Sprintf("the pool is full in frame %d", f.frame))
		}
	}
	for i := len(f.held) - 1; i >= 0; i -= 3 {
		f.give(i)
	}
	if f.frame == 17 && f.take(3*gib, 0) {
		f.t.Fatal("an allocation fits that should not")
	}
}

// renderedSnapshot is what there is to see of renderedFixture.
func renderedSnapshot(t testing.TB) *model.Snapshot {
	t.Helper()
	renderedOnce.Do(func() { rendered = renderedFixture(t).snapshot() })
	if rendered == nil {
		t.Fatal("the fixture could not be made")
	}
	return rendered
}

var (
	renderedOnce sync.Once
	rendered     *model.Snapshot
)
