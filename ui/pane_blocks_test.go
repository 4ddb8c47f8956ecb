package ui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
)

// onBlocks is a screen on the pool whose map has the keys.
func onBlocks(t testing.TB, width, height int) *Dashboard {
	d := newScreen(t, rebuiltFixture(t).snapshot(), layout.Pool, width, height)
	if d.focusedName() != layout.BlocksPane {
		t.Fatal("the map of blocks has not the keys")
	}
	return d
}

// under is the block under the cursor.
func under(t testing.TB, d *Dashboard) model.Block {
	t.Helper()
	pool := d.choices.poolOf(d.scene.view)
	var c blockCursor
	c.find(&d.scene, pool)
	return c.block
}

// Right goes through every block of every segment in the order of addresses,
// left the same way back.
func TestBlocksAreWalkedOneByOne(t *testing.T) {
	d := onBlocks(t, 120, 32)
	var all []model.Block
	for _, segment := range d.choices.poolOf(d.scene.view).Segments {
		for block := range segment.Blocks() {
			all = append(all, block)
		}
	}
	for i, want := range all {
		if got := under(t, d); got != want {
			t.Fatalf("block %d is %+v, want %+v", i, got, want)
		}
		press(d, "right")
	}
	if got := under(t, d); got != all[len(all)-1] {
		t.Errorf("the walk goes on behind the last block: %+v", got)
	}
	for i := len(all) - 1; i >= 0; i-- {
		if got := under(t, d); got != all[i] {
			t.Fatalf("on the way back block %d is %+v, want %+v", i, got, all[i])
		}
		press(d, "left")
	}
}

// Down and up go by rows of the map and never stay where they are, but at the
// ends.
func TestBlocksAreWalkedByRows(t *testing.T) {
	for _, keys := range [][]string{{}, {"+"}, {"+", "+", "+"}} {
		d := onBlocks(t, 100, 40)
		press(d, keys...)
		pane := d.panes[layout.BlocksPane].(*blocksPane)
		seen := 0
		for before := under(t, d); ; seen++ {
			press(d, "down")
			after := under(t, d)
			if after == before {
				break
			}
			if after.Address < before.Address {
				t.Fatalf("down goes up: from %#x to %#x", before.Address, after.Address)
			}
			before = after
		}
		segments := d.choices.poolOf(d.scene.view).Segments
		if last := segments[len(segments)-1]; under(t, d).Address < last.Address {
			t.Errorf("with %v the last segment is not reached in %d steps of %d rows", keys, seen, pane.sheet.rows)
		}
		for before := under(t, d); ; {
			press(d, "up")
			after := under(t, d)
			if after == before {
				break
			}
			if after.Address > before.Address {
				t.Fatalf("up goes down: from %#x to %#x", before.Address, after.Address)
			}
			before = after
		}
		if got := under(t, d).Address; got != segments[0].Address {
			t.Errorf("with %v up ends at %#x", keys, got)
		}
	}
}

func TestSegmentsAreSteppedThrough(t *testing.T) {
	d := onBlocks(t, 120, 32)
	segments := d.choices.poolOf(d.scene.view).Segments
	for i := 1; i < len(segments); i++ {
		press(d, "]")
		if got := under(t, d).Address; got != segments[i].Address {
			t.Fatalf("segment %d begins at %#x, the cursor is at %#x", i, segments[i].Address, got)
		}
	}
	press(d, "]", "[")
	if got := under(t, d).Address; got != segments[len(segments)-2].Address {
		t.Errorf("before the last segment the cursor is at %#x", got)
	}
	press(d, "home")
	if got := under(t, d).Address; got != segments[0].Address {
		t.Errorf("home is %#x", got)
	}
	press(d, "end")
	last := segments[len(segments)-1]
	if got := under(t, d); got.Address+uint64(got.Bytes) != last.Address+uint64(last.Bytes) {
		t.Errorf("end is %+v", got)
	}
}

func TestMapZooms(t *testing.T) {
	d := onBlocks(t, 120, 32)
	pane := d.panes[layout.BlocksPane].(*blocksPane)
	whole := pane.sheet.cellBytes
	if pane.sheet.rows > pane.place.height {
		t.Errorf("the whole pool takes %d rows, there are %d", pane.sheet.rows, pane.place.height)
	}
	press(d, "+")
	if pane.sheet.cellBytes != whole/2 {
		t.Errorf("a cell is %d bytes, want half of %d", pane.sheet.cellBytes, whole)
	}
	for range 60 {
		press(d, "+")
	}
	if pane.sheet.cellBytes != smallestCell {
		t.Errorf("the closest look has cells of %d bytes", pane.sheet.cellBytes)
	}
	for _, key := range []string{"right", "down", "pgdown", "end", "pgup", "up"} {
		press(d, key)
		row := pane.sheet.rowOf(pane.cursor.segment, pane.cursor.block.Address)
		if row < pane.offset || row >= pane.offset+pane.place.height {
			t.Errorf("after %s the cursor's row %d is not among the %d from %d on", key, row, pane.place.height, pane.offset)
		}
	}
	press(d, "0")
	if pane.sheet.cellBytes != whole {
		t.Errorf("all of it has cells of %d bytes, want %d", pane.sheet.cellBytes, whole)
	}
	press(d, "-")
	if pane.sheet.cellBytes != whole {
		t.Error("there is more than all of it")
	}
}

// A click stands on the block at that place of the map, and the table follows.
func TestMapIsClicked(t *testing.T) {
	d := onBlocks(t, 120, 32)
	pane := d.panes[layout.BlocksPane].(*blocksPane)
	for y := range pane.place.height {
		for x := pane.place.gutter + 1; x < 118; x += 7 {
			segment, address, ok := pane.sheet.addressAt(pane.offset+y, x-pane.place.gutter-1)
			if !ok {
				continue
			}
			clickIn(t, d, layout.BlocksPane, x, y)
			if got := under(t, d); address < got.Address || address >= got.Address+uint64(got.Bytes) {
				t.Fatalf("a click at %d, %d on %#x stands on %+v", x, y, address, got)
			}
			table := d.panes[layout.SegmentsPane].(*segmentsPane)
			if got := table.rows.rows[table.table.Selected].segment; got != pane.sheet.segments[segment] {
				t.Fatalf("the table selects the segment at %#x", got.Address)
			}
		}
	}
}

func TestBlockUnderTheCursorIsTold(t *testing.T) {
	d := onBlocks(t, 120, 32)
	for {
		block := under(t, d)
		state := " free "
		if block.Live {
			state = " live "
		}
		want := string(appendAddress(nil, block.Address)) + state + string(grid.AppendBytes(nil, block.Bytes))
		if got := paneText(t, d, layout.BlocksPane); !strings.Contains(got, want) {
			t.Fatalf("the map does not tell %q:\n%s", want, got)
		}
		press(d, "right")
		if under(t, d) == block {
			break
		}
	}
	press(d, "enter")
	if d.popup == nil || d.popup.title != "Block" {
		t.Fatal("enter does not say everything about the block")
	}
}

func TestMapColours(t *testing.T) {
	d := onBlocks(t, 120, 32)
	if got := bodyText(d); !strings.Contains(got, "by age") || !strings.Contains(got, "new █") {
		t.Error("the map does not say that its colours are ages")
	}
	press(d, "s", "l")
	if got := bodyText(d); !strings.Contains(got, "by use") || strings.Contains(got, "long held") {
		t.Error("the map does not say that its colours are what is live")
	}
	press(d, "s", "a")
	if got := bodyText(d); !strings.Contains(got, "by age") {
		t.Error("the map cannot be coloured by age again")
	}
	pane := blocksPane{}
	for _, c := range []struct {
		age  int64
		step int
	}{{0, 0}, {99e6, 0}, {100e6, 1}, {1e9, 2}, {9e9, 3}, {59e9, 4}, {299e9, 5}, {1799e9, 6}, {1800e9, 7}, {1e18, 7}} {
		if got := pane.step(&model.Cell{Newest: 5}, 5+c.age); got != c.step {
			t.Errorf("after %d ns the colour is %d, want %d", c.age, got, c.step)
		}
	}
}

// Every address of a pool has a place on the sheet, and every place its address.
func TestBlockSheet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		segments := randomSegments(t)
		width, height := rapid.IntRange(1, 200).Draw(t, "width"), rapid.IntRange(1, 60).Draw(t, "height")
		var b blockSheet
		b.arrange(segments, width, height, 0)
		if len(segments) <= height && b.rows > height {
			t.Fatalf("%d segments take %d rows of %d", len(segments), b.rows, height)
		}
		zoom := rapid.IntRange(0, b.deepest()).Draw(t, "zoom")
		b.arrange(segments, width, height, zoom)
		for i, segment := range segments {
			offset := rapid.Int64Range(0, segment.Bytes-1).Draw(t, "offset")
			address := segment.Address + uint64(offset)
			row, cell := b.rowOf(i, address), b.cellOf(i, address)
			if got := b.segmentAtRow(row); got != i {
				t.Fatalf("row %d belongs to segment %d, want %d", row, got, i)
			}
			at, begin, ok := b.addressAt(row, int(cell%int64(width)))
			if !ok || at != i || begin > address || address-begin >= uint64(b.cellBytes) {
				t.Fatalf("the cell of %#x begins at %#x in segment %d (%v)", address, begin, at, ok)
			}
		}
		if _, _, ok := b.addressAt(b.rows, 0); ok {
			t.Fatal("there is a place below the last row")
		}
	})
}

// randomSegments are the segments of a pool that a state tells of.
func randomSegments(t *rapid.T) []*model.Segment {
	state := recorder.PoolState{ID: 1, Name: "random", Tier: "B"}
	address := uint64(rapid.Uint64Range(1, 1<<40).Draw(t, "base"))
	for range rapid.IntRange(1, 30).Draw(t, "segments") {
		bytes := int64(1) << rapid.IntRange(0, 36).Draw(t, "power")
		bytes += rapid.Int64Range(0, bytes-1).Draw(t, "more")
		state.Segments.Address = append(state.Segments.Address, recorder.FormatAddress(address))
		state.Segments.Bytes = append(state.Segments.Bytes, bytes)
		state.Blocks.Address = append(state.Blocks.Address, recorder.FormatAddress(address))
		state.Blocks.Bytes = append(state.Blocks.Bytes, bytes)
		state.Blocks.Requested = append(state.Blocks.Requested, 0)
		state.Blocks.Stream = append(state.Blocks.Stream, 0)
		state.Blocks.Live = append(state.Blocks.Live, 0)
		address += uint64(bytes) + 1<<20
	}
	store := model.NewStore(model.Options{})
	for _, record := range []recorder.Record{
		&recorder.Hello{Head: recorder.Head{Src: "p", Ns: 1}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess},
		&recorder.State{Head: recorder.Head{Src: "p", Ns: 2}, Pools: []recorder.PoolState{state}},
	} {
		if err := store.Fold("p", record); err != nil {
			t.Fatal(err)
		}
	}
	segments := store.Snapshot(2, 2).Sources[0].Pools[0].Segments
	if len(segments) != len(state.Segments.Address) {
		t.Fatalf("%d of %d segments arrived", len(segments), len(state.Segments.Address))
	}
	return segments
}

// The cursor of a map stays inside the pool whatever keys are pressed.
func TestBlockCursorStaysInside(t *testing.T) {
	keys := []keymap.Action{keymap.Left, keymap.Right, keymap.Up, keymap.Down, keymap.PageUp, keymap.PageDown, keymap.Top,
		keymap.Bottom, keymap.NextSegment, keymap.PreviousSegment}
	rapid.Check(t, func(t *rapid.T) {
		segments := randomSegments(t)
		c := blockCursor{segments: segments}
		c.enter(0)
		var b blockSheet
		for _, action := range rapid.SliceOfN(rapid.SampledFrom(keys), 1, 60).Draw(t, "keys") {
			b.arrange(segments, rapid.IntRange(1, 90).Draw(t, "width"), 20, rapid.IntRange(0, 6).Draw(t, "zoom"))
			c.do(action, &b, 5)
			segment := segments[c.segment]
			if got, ok := segment.BlockAt(c.block.Address); !ok || got != c.block {
				t.Fatalf("after %s the cursor is on %+v, which segment %d has not", action, c.block, c.segment)
			}
		}
	})
}
