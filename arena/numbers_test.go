package arena_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"vramscope/arena"
)

// 3 x u8, 2 x f16, 2 x f32 in order: [0,3), padding of 1, [4,8), [8,16).
func TestForwardAlignsToTheItemSize(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	for _, want := range []struct{ numel, itemSize, offset, bytes int64 }{
		{3, 1, 0, 3}, {2, 2, 4, 4}, {2, 4, 8, 8},
	} {
		block := alloc(t, a, want.numel, want.itemSize)
		if block.Offset() != want.offset || block.Bytes() != want.bytes || int64(len(block.Memory())) != want.bytes {
			t.Fatalf("block %d+%d (%d visible), want %d+%d",
				block.Offset(), block.Bytes(), len(block.Memory()), want.offset, want.bytes)
		}
	}
	expect(t, a, 16, 64, 16)
}

// 15 bytes, 2 x f32 persistent: reverse 4, high-water 11 with the padding.
func TestReverseAlignsDownToTheItemSize(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 15})
	if block := persist(t, a, 2, 4); block.Offset() != 4 {
		t.Fatalf("offset %d, want 4", block.Offset())
	}
	expect(t, a, 0, 4, 11)
}

// 7 bytes, 3 x u8 forward, then 1 x f32: 4 bytes remain, and with the padding
// they are not enough on either side.
func TestRefusedAllocationMovesNothing(t *testing.T) {
	for _, side := range []struct {
		name    string
		persist bool
	}{{"forward", false}, {"reverse", true}} {
		t.Run(side.name, func(t *testing.T) {
			a := newArena(t, arena.Config{Name: "seven", Bytes: 7})
			alloc(t, a, 3, 1)
			before := a.State()
			_, err := a.AllocTyped(arena.DTypeFloat32, side.persist, 1)
			var insufficient *arena.InsufficientMemoryError
			if !errors.As(err, &insufficient) {
				t.Fatalf("error %v", err)
			}
			want := arena.InsufficientMemoryError{Arena: "seven", Asked: 4, ItemSize: 4,
				Remaining: 4, Length: 7, Persist: side.persist}
			if *insufficient != want {
				t.Fatalf("%+v, want %+v", *insufficient, want)
			}
			for _, fact := range []string{`"seven"`, "4 bytes", side.name, "4 of 7 bytes remain; make the arena larger"} {
				if !strings.Contains(err.Error(), fact) {
					t.Errorf("%q does not say %q", err, fact)
				}
			}
			expect(t, a, before.Forward, before.Reverse, before.HighWater)
		})
	}
}

// 16 bytes, 3 x f32, then 2 x f32: too much by 4 bytes.
func TestTwoAllocationsTooManyForSixteenBytes(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 16})
	alloc(t, a, 3, 4)
	if _, err := a.Alloc(2, 4); err == nil {
		t.Fatal("24 bytes fit in 16")
	}
	expect(t, a, 12, 16, 12)
	alloc(t, a, 1, 4)
	expect(t, a, 16, 16, 16)
}

func TestExactlyFullIsFine(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 32})
	alloc(t, a, 4, 4)
	persist(t, a, 2, 8)
	expect(t, a, 16, 16, 32)
	if a.Remaining() != 0 || a.PercentUsed() != 1 || a.Used() != 32 {
		t.Fatalf("remaining %d, used %d, fraction %v", a.Remaining(), a.Used(), a.PercentUsed())
	}
	for _, itemSize := range []int64{1, 8, 16} { // 16 divides both pointers: no padding
		alloc(t, a, 0, itemSize)
		persist(t, a, 0, itemSize)
	}
	if _, err := a.Alloc(1, 1); err == nil {
		t.Fatal("a byte fits in a full arena")
	}
	if _, err := a.AllocPersist(1, 1); err == nil {
		t.Fatal("a byte fits in a full arena")
	}
	expect(t, a, 16, 16, 32)
}

func TestNoItemsPayTheirPadding(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 31})
	alloc(t, a, 1, 1)
	if block := alloc(t, a, 0, 8); block.Offset() != 8 || block.Bytes() != 0 {
		t.Fatalf("block %+v", block)
	}
	expect(t, a, 8, 31, 8)
	if block := persist(t, a, 0, 16); block.Offset() != 16 {
		t.Fatalf("block %+v", block)
	}
	expect(t, a, 8, 16, 23)
	if _, err := a.Alloc(0, 32); err == nil {
		t.Fatal("padding of 24 fits in 8 bytes")
	}
	if _, err := a.AllocPersist(0, 32); err == nil {
		t.Fatal("rounding down to 0 stays above forward 8")
	}
	expect(t, a, 8, 16, 23)
}

func TestScalarIsOneItem(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 32})
	block, err := a.AllocTyped(arena.DTypeFloat64, false)
	if err != nil || block.Bytes() != 8 {
		t.Fatalf("%+v, %v", block, err)
	}
	view, err := arena.Slice[float64](a)
	if err != nil || len(view) != 1 {
		t.Fatalf("%v, %v", view, err)
	}
	expect(t, a, 16, 32, 16)
}

func TestItemSizesThatAreNoPowersOfTwo(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 100})
	alloc(t, a, 1, 1)
	if block := alloc(t, a, 2, 12); block.Offset() != 12 {
		t.Fatalf("offset %d, want 12", block.Offset())
	}
	if block := persist(t, a, 1, 12); block.Offset() != 84 {
		t.Fatalf("offset %d, want 84", block.Offset())
	}
	expect(t, a, 36, 84, 52)
}

// The high-water is the simultaneous maximum of both sides, not the sum of
// two maxima: 24 forward, rewound, then 20 reverse is 24 and not 44.
func TestHighWaterIsSimultaneous(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	a.Mark()
	alloc(t, a, 24, 1)
	if err := a.Restore(); err != nil {
		t.Fatal(err)
	}
	persist(t, a, 20, 1)
	expect(t, a, 0, 44, 24)
	alloc(t, a, 5, 1)
	expect(t, a, 5, 44, 25)
}

func TestHighWaterFollowsAllocationsAlone(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	if err := a.SetPointers(30, 40); err != nil {
		t.Fatal(err)
	}
	expect(t, a, 30, 40, 0)
	alloc(t, a, 0, 1)
	expect(t, a, 30, 40, 54)
	if err := a.SetPointers(10, 64); err != nil {
		t.Fatal(err)
	}
	if base := a.RestartHighWater(); base != 10 {
		t.Fatalf("restarted at %d, want 10", base)
	}
	alloc(t, a, 6, 1)
	expect(t, a, 16, 64, 16)
}

func TestSizeFromPortion(t *testing.T) {
	for _, c := range []struct {
		name   string
		config arena.Config
		want   int64
	}{
		{"rounds down", arena.Config{Available: 1001, Portion: 0.5}, 500},
		{"1536 MiB at the render fraction", arena.Config{Available: 1536 << 20, Portion: 0.4}, 644_245_094},
		{"bytes win", arena.Config{Bytes: 7, Available: 1000, Portion: 0.5}, 7},
		{"negative is empty", arena.Config{Bytes: -4}, 0},
		{"negative portion is empty", arena.Config{Available: 1000, Portion: -1}, 0},
		{"unmanaged is one byte", arena.Config{Unmanaged: true}, 1},
		{"unmanaged of a size", arena.Config{Unmanaged: true, Bytes: 9}, 9},
		{"buffer", arena.Config{Memory: make([]byte, 12)}, 12},
		{"part of a buffer", arena.Config{Bytes: 8, Memory: make([]byte, 12)}, 8},
		{"device", arena.Config{Bytes: 1 << 40, Base: 0x7f00_0000_0000}, 1 << 40},
	} {
		if c.want > 1<<20 {
			c.config.Base = 0x1000 // the number alone is asked for here
		}
		if a := newArena(t, c.config); a.Length() != c.want {
			t.Errorf("%s: length %d, want %d", c.name, a.Length(), c.want)
		}
	}
}

func TestEmptyArena(t *testing.T) {
	a := newArena(t, arena.Config{})
	if a.PercentUsed() != 0 || a.Remaining() != 0 {
		t.Fatalf("fraction %v, remaining %d", a.PercentUsed(), a.Remaining())
	}
	alloc(t, a, 0, 8)
	persist(t, a, 0, 8)
	if _, err := a.Alloc(1, 1); err == nil {
		t.Fatal("a byte fits in nothing")
	}
}

func TestPercentUsedIsAFraction(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 200})
	alloc(t, a, 30, 1)
	persist(t, a, 20, 1)
	if a.PercentUsed() != 0.25 {
		t.Fatalf("%v, want 0.25", a.PercentUsed())
	}
}

func TestMarks(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	if err := a.Restore(); !errors.Is(err, arena.ErrNoMark) {
		t.Fatalf("error %v", err)
	}
	alloc(t, a, 8, 1)
	a.Mark()
	alloc(t, a, 8, 1)
	a.Mark()
	alloc(t, a, 8, 1)
	persist(t, a, 4, 1)
	if marks := a.State().Marks; len(marks) != 2 || marks[0] != 8 || marks[1] != 16 {
		t.Fatalf("marks %v", marks)
	}
	for _, want := range []int64{16, 8} {
		if err := a.Restore(); err != nil {
			t.Fatal(err)
		}
		expect(t, a, want, 60, 28)
	}
	if marks := a.State().Marks; marks != nil {
		t.Fatalf("marks %v", marks)
	}
}

func TestMarkAboveTheReverseSideIsRefused(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	alloc(t, a, 40, 1)
	a.Mark()
	if err := a.SetPointers(0, 64); err != nil {
		t.Fatal(err)
	}
	persist(t, a, 32, 1)
	var pointers *arena.PointerError
	if err := a.Restore(); !errors.As(err, &pointers) {
		t.Fatalf("error %v", err)
	}
	expect(t, a, 0, 32, 40)
	if len(a.State().Marks) != 1 {
		t.Fatal("the mark is gone")
	}
}

func TestSetPointersRefusesWhatNoArenaHas(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	for _, pair := range [][2]int64{{-1, 64}, {10, 9}, {0, 65}, {65, 65}, {math.MinInt64, math.MaxInt64}, {0, -1}} {
		var pointers *arena.PointerError
		if err := a.SetPointers(pair[0], pair[1]); !errors.As(err, &pointers) {
			t.Errorf("%v: error %v", pair, err)
		}
	}
	expect(t, a, 0, 64, 0)
	for _, pair := range [][2]int64{{0, 0}, {64, 64}, {3, 50}, {0, 64}} {
		if err := a.SetPointers(pair[0], pair[1]); err != nil {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

func TestResetIsAsNew(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	a.SetLastLaunchFrames(3)
	alloc(t, a, 8, 1)
	persist(t, a, 8, 1)
	a.Mark()
	temporary := a.Temporary(true, func() int64 { t.Error("the floor is asked after a reset"); return 0 })
	alloc(t, a, 8, 1)
	a.Reset("retry")
	expect(t, a, 0, 64, 0)
	temporary.End()
	expect(t, a, 0, 64, 0)
	if err := a.Restore(); !errors.Is(err, arena.ErrNoMark) {
		t.Fatalf("error %v", err)
	}
	if a.LastLaunchFrames() != 3 {
		t.Fatal("a reset is not the render loop: it forgets no launch")
	}
}

func TestReleasedArenaStaysToLookAt(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Name: "gone", Bytes: 64, Observer: observer})
	block := alloc(t, a, 8, 1)
	persist(t, a, 8, 1)
	a.Release("the job ended")
	a.Release("twice")
	state := a.State()
	if state.HasBuffer || !state.Released || state.Length != 64 || state.Forward != 8 || state.Reverse != 56 || state.HighWater != 16 {
		t.Fatalf("%+v", state)
	}
	for _, allocate := range []func() error{
		func() error { _, err := a.Alloc(1, 1); return err },
		func() error { _, err := a.AllocPersist(0, 1); return err },
		func() error { _, err := arena.Slice[int32](a, 1); return err },
	} {
		if err := allocate(); !errors.Is(err, arena.ErrReleased) || !strings.Contains(err.Error(), `"gone"`) {
			t.Errorf("error %v", err)
		}
	}
	block.Memory()[0] = 1 // still ours to look at
	var released []arena.Event
	for _, event := range observer.events {
		if event.Op == arena.OpRelease {
			released = append(released, event)
		}
	}
	if len(released) != 1 || released[0].Reason != "the job ended" || released[0].Forward != 8 {
		t.Fatalf("%+v", released)
	}
}

func TestLaunchFramesAndCapacityAreCarried(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 1})
	if a.LastLaunchFrames() != arena.NoLaunchFrames || a.LastChunkCapacityLimited() {
		t.Fatal("a new arena knows of a launch")
	}
	a.SetLastLaunchFrames(0)
	a.SetLastChunkCapacityLimited(true)
	if state := a.State(); state.LastLaunchFrames != 0 || !state.LastChunkCapacityLimited {
		t.Fatalf("%+v", state)
	}
	a.SetLastLaunchFrames(-7)
	if a.LastLaunchFrames() != arena.NoLaunchFrames {
		t.Fatal("a negative number of frames is none")
	}
}

func TestUnmanagedArenaIsGoMemory(t *testing.T) {
	observer := newTree()
	a := newArena(t, arena.Config{Unmanaged: true, Poison: arena.PoisonByte(0xFF), Observer: observer})
	block := alloc(t, a, 1<<20, 4)
	if block.Offset() != arena.NoOffset || len(block.Memory()) != 4<<20 || block.Memory()[0] != 0 {
		t.Fatalf("offset %d, %d bytes, first %d", block.Offset(), len(block.Memory()), block.Memory()[0])
	}
	if a.Address(block) == 0 || a.Base() != 0 {
		t.Fatal("the memory is somewhere, the arena is not")
	}
	persist(t, a, 3, 1)
	expect(t, a, 0, 1, 0)
	scope := a.Scope("upload")
	view, err := arena.Slice[float64](a, 3, 5)
	scope.End()
	if err != nil || len(view) != 15 {
		t.Fatalf("%d items, %v", len(view), err)
	}
	if _, err := a.Alloc(-1, 1); err == nil {
		t.Fatal("bad sizes are bad here too")
	}
	if got := observer.root.names(); len(got) != 1 || got[0] != "upload" || observer.root.allocations != 0 {
		t.Fatalf("scopes %v, %d allocations", got, observer.root.allocations)
	}
	if state := a.State(); state.Managed || state.HasBuffer {
		t.Fatalf("%+v", state)
	}
	a.Release("")
	if _, err := a.Alloc(1, 1); !errors.Is(err, arena.ErrReleased) {
		t.Fatalf("error %v", err)
	}
}
