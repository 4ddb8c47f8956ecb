package widget

import (
	"fmt"
	"testing"

	"vramscope/ui/grid"
)

// scopeRows is a tree table of n made-up scopes.
type scopeRows int64

func (n scopeRows) Len() int { return int(n) }

func (n scopeRows) DrawCell(r grid.Region, row, column int) {
	switch column {
	case 0:
		names := [...]string{"render", "wavefront_state", "sheet_resolve"}
		node := Node{Depth: row % 3, State: NodeState(row % 4), Name: names[row%3], Rails: 1 << 1}
		TreeName(r, &node)
	case 4:
		MiniBar(r, int64(row), int64(n), 0)
	default:
		p := r.Pen(0, 0)
		p.Bytes(0, int64(row*column)<<28, r.Width())
	}
}

func scopeTable(rows int) Table {
	return Table{
		Columns: []TableColumn{
			{Title: "scope", Width: 12, Grow: 1},
			{Title: "live now", Width: 10, Align: grid.Right},
			{Title: "self", Width: 10, Align: grid.Right, Drop: 2},
			{Title: "peak", Width: 10, Align: grid.Right},
			{Title: "share", Width: 7, Drop: 3},
		},
		Rows: scopeRows(rows), Selected: 3, SortColumn: 3, Descending: true,
	}
}

func TestTable(t *testing.T) {
	checkPictures(t, []picture{
		{
			"with a scrollbar", 66, 6,
			func(r grid.Region) { table := scopeTable(20); table.Draw(r) }, `
 scope                     live now       self     ▾ peak share
   render                       0 B        0 B        0 B        █
 ├ ▾ wavefront_state      256.0 MiB  512.0 MiB  768.0 MiB ▍      │
 │ └ ▸ sheet_resolve      512.0 MiB    1.0 GiB    1.5 GiB ▊      │
▌✗ render                 768.0 MiB    1.5 GiB    2.3 GiB █      │
 ├   wavefront_state        1.0 GiB    2.0 GiB    3.0 GiB █▍     │`, `
 scope                     live now       self     v peak share
   render                       0 B        0 B        0 B        #
 | - wavefront_state      256.0 MiB  512.0 MiB  768.0 MiB .      |
 | ` + "`" + ` + sheet_resolve      512.0 MiB    1.0 GiB    1.5 GiB =      |
>x render                 768.0 MiB    1.5 GiB    2.3 GiB #      |
 |   wavefront_state        1.0 GiB    2.0 GiB    3.0 GiB #.     |`,
		},
		{
			"scrolled to the end", 66, 4,
			func(r grid.Region) { table := scopeTable(20); table.Offset, table.Selected = 17, 19; table.Draw(r) }, `
 scope                     live now       self     ▾ peak share
 │ └ ▾ sheet_resolve        4.3 GiB    8.5 GiB   12.8 GiB ██████ │
 ▸ render                   4.5 GiB    9.0 GiB   13.5 GiB ██████▎│
▌├ ✗ wavefront_state        4.8 GiB    9.5 GiB   14.3 GiB ██████▋█`, "",
		},
		{
			"framed, with lines between the columns", 80, 7,
			func(r grid.Region) {
				table := scopeTable(4)
				table.Ruled = true
				Frame(r, 0)
				table.DrawFramed(r, 0)
				Title(r, "Scopes, by peak", "", true)
			}, `
┌ Scopes, by peak ─────────────┬── live now ┬────── self ┬──── ▾ peak ┬ share ─┐
│   render                     │        0 B │        0 B │        0 B │        │
│ ├ ▾ wavefront_state          │  256.0 MiB │  512.0 MiB │  768.0 MiB │ █▊     │
│ │ └ ▸ sheet_resolve          │  512.0 MiB │    1.0 GiB │    1.5 GiB │ ███▌   │
│▌✗ render                     │  768.0 MiB │    1.5 GiB │    2.3 GiB │ █████▎ │
│                              │            │            │            │        │
└──────────────────────────────┴────────────┴────────────┴────────────┴────────┘`, `
+ Scopes, by peak -------------+-- live now +------ self +---- v peak + share -+
|   render                     |        0 B |        0 B |        0 B |        |
| | - wavefront_state          |  256.0 MiB |  512.0 MiB |  768.0 MiB | #=     |
| | ` + "`" + ` + sheet_resolve          |  512.0 MiB |    1.0 GiB |    1.5 GiB | ###-   |
|>x render                     |  768.0 MiB |    1.5 GiB |    2.3 GiB | #####. |
|                              |            |            |            |        |
+------------------------------+------------+------------+------------+--------+`,
		},
	})
}

// Columns go in the order of their Drop, and those of 0 never.
func TestTableDropsColumnsInOrder(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{54, "scope live now self peak share"},
		{53, "scope live now self peak"},
		{46, "scope live now self peak"},
		{45, "scope live now peak"},
		{35, "scope live now peak"},
		{34, "scope live now peak"},
		{10, "scope live now"}, // those of 0 stay as long as there is a column for them
	} {
		table := scopeTable(0)
		got := ""
		for i, s := range table.layout(c.width) {
			if s.width > 0 {
				if got != "" {
					got += " "
				}
				got += table.Columns[i].Title
			}
		}
		if got != c.want {
			t.Errorf("in %d columns: %s, want %s", c.width, got, c.want)
		}
	}
}

func TestTableColumnsFit(t *testing.T) {
	for _, ruled := range []bool{false, true} {
		for width := range 200 {
			table := scopeTable(0)
			table.Ruled = ruled
			end := 0
			for i, s := range table.layout(width) {
				if s.width == 0 {
					continue
				}
				if s.x < end+1 || s.x+s.width > max(width, 1) {
					t.Fatalf("in %d columns, column %d takes %d+%d, the one before ends at %d", width, i, s.x, s.width, end)
				}
				end = s.x + s.width
			}
			if width > 60 && end != width {
				t.Errorf("in %d columns the table takes %d", width, end)
			}
		}
	}
}

func TestColumnAt(t *testing.T) {
	table := scopeTable(5)
	table.Draw(newGrid(unicode, 66, 10).All())
	for x, want := range map[int]int{0: -1, 1: 0, 24: 0, 25: -1, 26: 1, 58: -1, 59: 4, 65: 4, 66: -1, -1: -1} {
		if got := table.ColumnAt(x); got != want {
			t.Errorf("column %d is %d of the table, want %d (%v)", x, got, want, table.spans[:5])
		}
	}
}

// A table of a million rows asks for those that can be seen.
func TestTableAsksForVisibleRowsOnly(t *testing.T) {
	asked := 0
	table := Table{
		Columns: []TableColumn{{Title: "n", Width: 10}}, Selected: -1, SortColumn: -1, Offset: 500_000,
		Rows: countingRows{1_000_000, &asked},
	}
	table.Draw(newGrid(unicode, 40, 11).All())
	if asked != 10 {
		t.Errorf("asked for %d cells, want 10", asked)
	}
}

type countingRows struct {
	n     int
	asked *int
}

func (c countingRows) Len() int { return c.n }

func (c countingRows) DrawCell(r grid.Region, row, column int) {
	*c.asked++
	r.Text(0, 0, 0, fmt.Sprint(row))
}

func TestTreeNames(t *testing.T) {
	draw := func(node Node) func(grid.Region) { return func(r grid.Region) { TreeName(r, &node) } }
	checkPictures(t, []picture{
		{"root", 24, 1, draw(Node{State: NodeOpen, Name: "render"}), "▾ render", "- render"},
		{"child with siblings", 24, 1, draw(Node{Depth: 1, Rails: 1 << 1, State: NodeClosed, Name: "a"}), "├ ▸ a", "| + a"},
		{"last child", 24, 1, draw(Node{Depth: 1, Name: "a"}), "└   a", "`   a"},
		{"grandchild", 24, 1, draw(Node{Depth: 2, Rails: 1 << 1, Name: "a"}), "│ └   a", "| `   a"},
		{"abandoned", 24, 1, draw(Node{Depth: 1, State: NodeLost, Name: "tile"}), "└ ✗ tile", "` x tile"},
		{"too deep", 24, 1, draw(Node{Depth: 40, State: NodeOpen, Name: "tile"}), "…40 ▾ tile", "~40 - tile"},
		{"too long", 20, 1, draw(Node{State: NodeOpen, Name: "wavefront_state_of_the_sheet"}), "▾ wavefron…the_sheet", ""},
		{"hostile", 20, 1, draw(Node{Name: "a\x1b[2J\u202eb"}), "  a\uFFFD[2J\uFFFDb", "  a?[2J?b"},
	})
}

func TestTreeMatch(t *testing.T) {
	g := newGrid(unicode, 20, 1)
	x := TreeName(g.All(), &Node{Name: "wavefront", MatchFrom: 4, MatchTo: 9})
	_, plain := g.All().Get(x+3, 0)
	_, match := g.All().Get(x+4, 0)
	if plain != 0 || match == 0 {
		t.Errorf("styles %d and %d around the match", plain, match)
	}
}

// TestAnEmptyColumnGivesWay: before any other is left out, and before the text of
// another is cut.
func TestAnEmptyColumnGivesWay(t *testing.T) {
	table := Table{Selected: -1, SortColumn: -1, Rows: scopeRows(1), Columns: []TableColumn{
		{Title: "name", Width: 6, Grow: 1},
		{Title: "empty", Width: 10, Empty: true},
		{Title: "text", Width: 4, Content: 12, Drop: 2},
		{Title: "bytes", Width: 8, Drop: 1},
	}}
	for _, c := range []struct {
		width  int
		widths [4]int
	}{
		{40, [4]int{6, 10, 12, 8}},
		{45, [4]int{11, 10, 12, 8}}, // what is left over goes to what grows
		{39, [4]int{16, 0, 12, 8}},  // the text would be cut
		{25, [4]int{6, 0, 8, 8}},    // and is, where nothing else gives way
		{21, [4]int{6, 0, 4, 8}},
		{20, [4]int{10, 0, 0, 8}},
	} {
		for i, span := range table.layout(c.width) {
			if span.width != c.widths[i] {
				t.Errorf("%d columns: %q is %d wide, want %d", c.width, table.Columns[i].Title, span.width, c.widths[i])
			}
		}
	}
}
