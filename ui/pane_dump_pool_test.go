package ui

import (
	"slices"
	"strings"
	"testing"

	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
)

func TestPoolViewOfADump(t *testing.T) {
	for _, dump := range goldenDumps {
		name := "dump-" + dump + "-pool"
		t.Run(name, func(t *testing.T) { goldenView(t, dumpSnapshot(t, dump), layout.Pool, name, "x", "right", "right") })
	}
	t.Run("render-oom", func(t *testing.T) {
		goldenView(t, dumpSnapshot(t, "render-oom"), layout.Pool, "dump-render-oom-pool", "O", "]", "S")
	})
}

func poolScreen(t testing.TB, name string, keys ...string) *Dashboard {
	d := dumpScreen(t, name, layout.Pool, 120, 32)
	press(d, keys...)
	return d
}

// contains says which texts are missing in a pane.
func contains(t testing.TB, d *Dashboard, pane layout.Pane, texts ...string) {
	t.Helper()
	shown := strings.Join(strings.Fields(paneText(t, d, pane)), " ")
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			t.Errorf("%q is not in the pane %s:\n%s", text, pane, paneText(t, d, pane))
		}
	}
}

// The figures are those that torch itself had counted.
func TestTheAllocatorInNumbers(t *testing.T) {
	d := poolScreen(t, "resnet18-train")
	contains(t, d, layout.PoolPane, "reserved 528.0 MiB in 34", "allocated 206.0 MiB in 251", "free 322.0 MiB", "largest 36.0 MiB",
		"fragmentation 89 %", "releasable 270.0 MiB", "requested 203.5 MiB", "lost inside blocks 2.5 MiB", "between them 52.0 MiB")
	press(d, "x", "x") // the peak of allocated bytes
	contains(t, d, layout.PoolPane, "allocated 426.4 MiB")
	if title, _ := d.dumpPanes[layout.PoolPane].title(&d.scene); title != "Allocator, after event 2,631 of 3,231" {
		t.Errorf("the title is %q", title)
	}
	press(d, "tab", "tab", "tab", "tab") // round to the pool, as the order of panes has it
	d.focus[layout.Pool] = layout.PoolPane
	press(d, "i")
	if d.popup == nil || !slices.ContainsFunc(d.popup.lines, func(line popupLine) bool {
		return line.label == "allocated" && strings.Contains(line.text, "447,121,408 B") && strings.Contains(line.text, "replayed")
	}) {
		t.Error("i does not say where the numbers come from")
	}
}

// What is not recorded is unknown.
func TestADumpWithoutSegments(t *testing.T) {
	read := stacksDump([][]uint32{{0}, {1}})
	d := newScreen(t, snapshotOf(map[string]*dump.Index{"traced": dump.New(read)}), layout.Pool, 120, 32)
	contains(t, d, layout.PoolPane, "reserved – in –", "free –", "fragmentation –", "allocated 1.5 KiB in 2")
	contains(t, d, layout.FreeSizesPane, "says nothing about memory from the driver")
	contains(t, d, layout.LadderPane, "No allocation of this dump failed.")
}

// The map is walked block by block, every one of them once.
func TestWalkingTheBlocksOfADump(t *testing.T) {
	d := poolScreen(t, "fragmented", "g")
	p := d.dumpPanes[layout.BlocksPane].(*dumpBlocksPane)
	space, _ := spaceOf(&d.scene)
	for i := range space.blocks[:200] {
		block := &space.blocks[i]
		if got := d.choices.dump.address; i > 0 && got != block.Address {
			t.Fatalf("step %d leads to %x, want %x", i, got, block.Address)
		}
		state := [...]string{recorder.DumpInactive: " free ", recorder.DumpActive: " live ", recorder.DumpPendingFree: " pending "}[block.State]
		contains(t, d, layout.BlocksPane, string(appendAddress(nil, block.Address))+state+string(grid.AppendBytes(nil, block.Bytes)))
		press(d, "right")
	}
	for range 200 {
		press(d, "left")
	}
	if p.cursor.block != 0 {
		t.Errorf("back at the beginning is block %d", p.cursor.block)
	}
	press(d, "G")
	if p.cursor.block != len(space.blocks)-1 {
		t.Errorf("the last block is %d", p.cursor.block)
	}
	press(d, "right", "down", "pgdown")
	if p.cursor.block != len(space.blocks)-1 {
		t.Errorf("behind the last block is %d", p.cursor.block)
	}
}

// Up and down keep to the column, and come to every row.
func TestWalkingTheRowsOfADump(t *testing.T) {
	d := poolScreen(t, "fragmented", "g")
	p := d.dumpPanes[layout.BlocksPane].(*dumpBlocksPane)
	last := 0
	for steps := 0; p.sheet.rowOf(p.cursor.segment, p.cursor.at().Address) < p.sheet.rows-1; steps++ {
		press(d, "down")
		row := p.sheet.rowOf(p.cursor.segment, p.cursor.at().Address)
		if row <= last || steps > p.sheet.rows {
			t.Fatalf("from row %d down leads to %d", last, row)
		}
		last = row
	}
	for steps := 0; p.cursor.block > 0; steps++ {
		press(d, "up")
		row := p.sheet.rowOf(p.cursor.segment, p.cursor.at().Address)
		if row >= last && p.cursor.block > 0 || steps > p.sheet.rows {
			t.Fatalf("from row %d up leads to %d", last, row)
		}
		last = row
	}
	press(d, "]", "]", "[")
	if p.cursor.segment != 1 || p.cursor.block != p.cursor.space.segments[1].First {
		t.Errorf("it stands in segment %d on block %d", p.cursor.segment, p.cursor.block)
	}
	press(d, "+", "+", "-", "0")
	if p.zoom != 0 {
		t.Errorf("the zoom is %d", p.zoom)
	}
	clickIn(t, d, layout.BlocksPane, 40, 3)
	if segment, _, _ := p.sheet.addressAt(p.offset+3, 40-p.place.gutter-1); p.cursor.segment != segment {
		t.Errorf("a click leads to segment %d, want %d", p.cursor.segment, segment)
	}
}

// Every cell of the map adds up to what the blocks in it have.
func TestTheMapOfADumpAddsUp(t *testing.T) {
	for _, name := range goldenDumps {
		d := poolScreen(t, name, "x")
		p := d.dumpPanes[layout.BlocksPane].(*dumpBlocksPane)
		space, _ := spaceOf(&d.scene)
		for i := range space.segments {
			segment := &space.segments[i]
			cellBytes := p.sheet.cellBytes
			p.paint(segment, 0, cellBytes, int((segment.Bytes-1)/cellBytes+1))
			live, pending, free := int64(0), int64(0), int64(0)
			for _, cell := range p.drawn {
				live, pending, free = live+cell.Live, pending+cell.Pending, free+cell.Free
			}
			if live != segment.Allocated || pending != segment.Pending || free != segment.Free() {
				t.Errorf("%s segment %d: %d live, %d pending and %d free, want %d, %d and %d", name, i,
					live, pending, free, segment.Allocated, segment.Pending, segment.Free())
			}
		}
	}
}

// The block under the cursor has its stack selected in the tree.
func TestABlockSelectsItsStack(t *testing.T) {
	d := poolScreen(t, "resnet18-train", "x", "right", "right")
	p := d.dumpPanes[layout.BlocksPane].(*dumpBlocksPane)
	for p.cursor.at().State == recorder.DumpInactive {
		press(d, "right")
	}
	press(d, "4")
	if got := d.dumpPanes[layout.ScopesPane].(*dumpScopesPane).tree.stack; got != p.cursor.at().Stack {
		t.Errorf("the tree has stack %d selected, want %d", got, p.cursor.at().Stack)
	}
}

func TestTheSegmentsOfADump(t *testing.T) {
	d := poolScreen(t, "resnet18-train")
	d.focus[layout.Pool] = layout.SegmentsPane
	p := d.dumpPanes[layout.SegmentsPane].(*dumpSegmentsPane)
	press(d, "g", "j", "j")
	space, _ := spaceOf(&d.scene)
	if d.choices.dump.address != space.segments[2].Address {
		t.Errorf("the map stands at %x", d.choices.dump.address)
	}
	if note := d.dumpPanes[layout.BlocksPane].(*dumpBlocksPane); true {
		if _, text := note.title(&d.scene); !strings.HasPrefix(text, "segment 3 of 34") {
			t.Errorf("the map says %q", text)
		}
	}
	for key, number := range map[string]func(s *dumpSegment) int64{
		"z": func(s *dumpSegment) int64 { return s.Bytes }, "l": func(s *dumpSegment) int64 { return s.Allocated },
		"t": func(s *dumpSegment) int64 { return s.Free() }, "p": func(s *dumpSegment) int64 { return s.largest },
		"c": func(s *dumpSegment) int64 { return int64(s.Count) },
	} {
		press(d, "s", key)
		if !slices.IsSortedFunc(p.rows.rows, func(a, b int32) int { return int(number(&space.segments[b]) - number(&space.segments[a])) }) {
			t.Errorf("s %s does not sort", key)
		}
	}
	press(d, "/")
	typeIn(d, "releasable")
	for _, row := range p.rows.rows {
		if !space.segments[row].releasable() {
			t.Errorf("segment %d is not releasable", row)
		}
	}
	if len(p.rows.rows) == 0 || len(p.rows.rows) == len(space.segments) {
		t.Errorf("%d segments are left", len(p.rows.rows))
	}
	press(d, "esc", "g", "enter")
	if d.popup == nil {
		t.Error("enter tells nothing")
	}
}

// The free memory of each pool and stream, and its blocks by size.
func TestTheFreeMemoryOfADump(t *testing.T) {
	d := poolScreen(t, "fragmented")
	d.focus[layout.Pool] = layout.FreeSizesPane
	p := d.dumpPanes[layout.FreeSizesPane].(*dumpFreePane)
	space, _ := spaceOf(&d.scene)
	sum := freeClasses{}
	for i := range space.shelves {
		press(d, "j")
		classes := p.classes(space)
		if classes.Free.Bytes != space.shelves[i].Free || classes.Free.Largest != space.shelves[i].Largest || classes.Free.Blocks != space.shelves[i].Blocks {
			t.Errorf("shelf %d has %+v, want %+v", i, classes.Free, space.shelves[i])
		}
		for k := range classes.Sizes {
			sum.Sizes[k].Blocks += classes.Sizes[k].Blocks
			sum.Sizes[k].Bytes += classes.Sizes[k].Bytes
		}
	}
	press(d, "g")
	if all := p.classes(space); all.Sizes != sum.Sizes || all.Free.Bytes != space.space.Free {
		t.Error("the shelves are not together what is free")
	}
	contains(t, d, layout.FreeSizesPane, "fragmentation 99.5 % = 1 - 14.0M / free 2.9G")
	press(d, "enter")
	if d.popup == nil || !slices.ContainsFunc(d.popup.lines, func(line popupLine) bool { return strings.Contains(line.text, "blocks, the largest") }) {
		t.Error("enter tells nothing")
	}
}

// The failure is explained from the moment it happened on.
func TestAFailureIsExplained(t *testing.T) {
	d := poolScreen(t, "render-oom")
	contains(t, d, layout.LadderPane, "process limit: asked 264.8 MiB, device free 136.5 GiB", "used has 99.6 MiB")
	d.choices.dump.lookAt(d.scene.view.Dump.Devices[0], 1850)
	d.drawFrame()
	contains(t, d, layout.LadderPane, "No allocation had failed by this moment")
	press(d, "o")
	contains(t, d, layout.LadderPane, "process limit")
	d.focus[layout.Pool] = layout.LadderPane
	press(d, "j")
	contains(t, d, layout.LadderPane, "The device had the memory")
	press(d, "enter")
	if d.popup == nil || d.popup.title != "Out of memory at event 1851, 1 of 1" {
		t.Error("enter does not explain")
	}
}
