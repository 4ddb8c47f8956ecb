package ui

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vramscope/model/dump"
	"vramscope/recorder"
)

// stacksDump is a dump with these stacks, frames by number and innermost first,
// each of which has allocated once.
func stacksDump(stacks [][]uint32) *recorder.Dump {
	d := &recorder.Dump{Strings: []string{""}}
	d.Stacks.Start = []uint32{0, 0}
	device := recorder.DumpDevice{}
	e := &device.Events
	for number, stack := range stacks {
		for _, frame := range stack {
			for int(frame) >= len(d.Frames) {
				d.Strings = append(d.Strings, "f"+string(rune('a'+len(d.Frames)%26)))
				d.Frames = append(d.Frames, recorder.DumpFrame{Name: uint32(len(d.Strings) - 1), Line: int64(len(d.Frames))})
			}
		}
		d.Stacks.Frames = append(d.Stacks.Frames, stack...)
		d.Stacks.Start = append(d.Stacks.Start, uint32(len(d.Stacks.Frames)))
		e.Action = append(e.Action, recorder.DumpAlloc)
		e.Address = append(e.Address, uint64(1<<40+number*4096))
		e.Bytes = append(e.Bytes, int64(512*(1+number%5)))
		e.Stream, e.Pool, e.TimeUs = append(e.Stream, 0), append(e.Pool, 0), append(e.TimeUs, int64(number+1))
		e.Stack = append(e.Stack, int32(number+1))
	}
	d.Devices = []recorder.DumpDevice{device}
	return d
}

// plainRows lists the rows as anybody would: it walks the whole tree.
type plainRows struct {
	forest *dumpForest
	open   map[int32]bool
	order  func(a, b int32) int
}

func (p *plainRows) children(node int32) []int32 {
	children := p.forest.children(nil, node)
	slices.SortFunc(children, p.order)
	return children
}

// list appends the rows from a node on; all says that nothing is closed.
func (p *plainRows) list(into []stackRow, node int32, depth int, rails uint64, all bool) []stackRow {
	into = append(into, stackRow{node, depth, rails})
	if !all && !p.open[node] {
		return into
	}
	children := p.children(node)
	for i, child := range children {
		below := rails
		if i+1 < len(children) && depth+1 < 64 {
			below |= 1 << (depth + 1)
		}
		into = p.list(into, child, depth+1, below, all)
	}
	return into
}

// set opens or closes a node as the rows do.
func (p *plainRows) set(node int32, open, alone bool) {
	for {
		p.open[node] = open
		children := p.forest.children(nil, node)
		if !open || alone || len(children) != 1 {
			return
		}
		node = children[0]
	}
}

func seenRows(r *stackRows, from, count int) (seen []stackRow) {
	for more := r.goTo(from); more && len(seen) < count; more = r.next() {
		seen = append(seen, stackRow{r.node(), r.depth(), r.rails()})
	}
	return seen
}

// Whatever is opened and closed, the rows that are found without a list are
// those of the list.
func TestRowsAreThoseOfAListOfThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 5), 1, 6), 1, 30).Draw(t, "stacks")
		index := dump.New(stacksDump(stacks))
		q := forestQuestion{dumpTrace: dumpTrace{index: index}, direction: dump.Direction(rapid.IntRange(0, 1).Draw(t, "direction"))}
		q.filter = rapid.SampledFrom([]string{"", "", "fb", "!fc"}).Draw(t, "filter")
		var pattern filterPattern
		if err := pattern.set(q.filter); err != nil {
			t.Fatal(err)
		}
		forest := growForest(q, pattern)
		weights := (&weightQuestion{forest: forest, of: q.dumpTrace, to: len(stacks)}).weigh(weightAllocated)
		order := func(a, b int32) int {
			return cmp.Or(cmp.Compare(weights.Bytes(b), weights.Bytes(a)), cmp.Compare(a, b))
		}
		rows := &stackRows{order: order}
		rows.show(forest)
		plain := &plainRows{forest: forest, open: map[int32]bool{}, order: order}
		plain.set(0, true, false)
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			node := int32(rapid.IntRange(0, forest.tree.Len()-1).Draw(t, "node"))
			if !forest.shows(node) {
				continue
			}
			switch rapid.SampledFrom([]string{"open", "close", "open", "close", "all", "none", "reveal", "drill"}).Draw(t, "step") {
			case "open":
				rows.open(node)
				plain.set(node, true, false)
			case "close":
				rows.set(node, false)
				plain.set(node, false, true)
			case "all":
				rows.openAll()
				for at := range forest.tree.Len() {
					plain.open[int32(at)] = true
				}
			case "none":
				rows.closeAll()
				clear(plain.open)
				plain.set(rows.root, true, false)
			case "reveal":
				rows.reveal(node)
				for at := node; at != 0 && at != rows.root; {
					at = forest.tree.Parent[at]
					plain.open[at] = true
				}
			case "drill":
				rows.root = node
			}
			want := plain.list(nil, rows.root, 0, 0, false)
			if rows.count() != len(want) {
				t.Fatalf("%d rows, want %d", rows.count(), len(want))
			}
			from := rapid.IntRange(0, len(want)-1).Draw(t, "from")
			if got := seenRows(rows, from, len(want)); !slices.Equal(got, want[from:]) {
				t.Fatalf("from %d on the rows are\n%v, want\n%v", from, got, want[from:])
			}
			for i, row := range want {
				if got, ok := rows.rowOf(row.node); !ok || got != i {
					t.Fatalf("node %d is in row %d, %v, want %d", row.node, got, ok, i)
				}
			}
		}
		checkSearch(t, rows, plain)
	})
}

// checkSearch compares a walk over what was found with a plain list of it.
func checkSearch(t *rapid.T, rows *stackRows, plain *plainRows) {
	var pattern filterPattern
	if err := pattern.set(rapid.SampledFrom([]string{"fa", "f[bd]", "!fa", "nothing"}).Draw(t, "pattern")); err != nil {
		t.Fatal(err)
	}
	found := rows.forest.find(pattern)
	var all []int32
	want := []int32{}
	for _, row := range plain.list(nil, rows.root, 0, 0, true) {
		all = append(all, row.node)
		if found.matches(row.node) {
			want = append(want, row.node)
		}
	}
	if len(want) == 0 {
		if _, ok := rows.after(rows.root, found); ok {
			t.Fatal("something was found where nothing matches")
		}
		return
	}
	for at, node := range all {
		next, previous := want[0], want[len(want)-1]
		for _, match := range slices.Backward(want) {
			if slices.Index(all, match) > at {
				next = match
			}
		}
		for _, match := range want {
			if slices.Index(all, match) < at {
				previous = match
			}
		}
		if got, _ := rows.after(node, found); got != next {
			t.Fatalf("after %d comes %d, want %d", node, got, next)
		}
		if got, _ := rows.before(node, found); got != previous {
			t.Fatalf("before %d comes %d, want %d", node, got, previous)
		}
	}
}
