package themes

import (
	"reflect"
	"testing"
)

// runesOf calls visit with the name and value of every rune of a table.
func runesOf(g *Glyphs, visit func(name string, r rune)) {
	value := reflect.ValueOf(*g)
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		switch field := value.Field(i); field.Kind() {
		case reflect.Int32:
			visit(name, rune(field.Int()))
		case reflect.Array:
			for j := range field.Len() {
				visit(name, rune(field.Index(j).Int()))
			}
		}
	}
}

func TestEveryGlyphIsGiven(t *testing.T) {
	for _, g := range []*Glyphs{UnicodeGlyphs(), ASCIIGlyphs()} {
		runesOf(g, func(name string, r rune) {
			if r == 0 {
				t.Errorf("%s: %s is missing", g.Name, name)
			}
		})
	}
}

func TestASCIIGlyphsAreASCII(t *testing.T) {
	runesOf(ASCIIGlyphs(), func(name string, r rune) {
		if r < ' ' || r > '~' {
			t.Errorf("%s is %q", name, r)
		}
	})
}

// States that can stand side by side differ by shape.
func TestStatesDifferByShape(t *testing.T) {
	for _, g := range []*Glyphs{UnicodeGlyphs(), ASCIIGlyphs()} {
		for what, group := range map[string][]rune{
			"fills":      g.Fills[:],
			"lines":      g.Lines[:],
			"sources":    {g.SourceLive, g.SourcePaused, g.SourceStale, g.SourceEnded, g.SourceLost, g.SourceRefused},
			"nodes":      {g.NodeOpen, g.NodeClosed, g.NodeLeaf, g.Abandoned},
			"events":     {g.EventOOM, g.EventRebuild, g.EventReclaim, g.EventAction, g.EventNote, g.EventLost, g.EventError, g.EventFrame},
			"blocks":     {g.BlockFree, g.BlockSparse, g.BlockDense, g.BlockFull, g.BlockPending, g.BlockReleasable, g.BlockUnmapped},
			"statuses":   {g.StatusOK, g.StatusInfo, g.StatusWarning, g.StatusError, g.StatusBusy},
			"dots":       {g.DotFull, g.DotEmpty},
			"scrollbar":  {g.Thumb, g.Track},
			"arena":      {g.Left[8], g.Empty, g.HighWater, g.CapLeft},
			"gauge":      {g.Fills[0], g.Fills[1], g.Fills[2], g.Fills[3], g.Gate},
			"sort":       {g.SortUp, g.SortDown},
			"selection":  {g.Selected, ' '},
			"known":      {g.Unknown, '0'},
			"cut or not": {g.Ellipsis, ' '},
		} {
			seen := map[rune]bool{}
			for _, r := range group {
				if seen[r] {
					t.Errorf("%s: %q stands twice among the %s", g.Name, r, what)
				}
				seen[r] = true
			}
		}
	}
}

// The sum of two frames' arms is the glyph of their joint.
func TestBordersJoin(t *testing.T) {
	g := UnicodeGlyphs()
	for arms, want := range map[int]rune{
		ArmRight | ArmDown:                      '┌',
		ArmUp | ArmRight | ArmDown:              '├',
		ArmLeft | ArmRight | ArmDown:            '┬',
		ArmUp | ArmRight | ArmDown | ArmLeft:    '┼',
		ArmUp | ArmDown:                         '│',
		ArmUp | ArmLeft | ArmRight:              '┴',
		(ArmUp | ArmLeft) | (ArmDown | ArmLeft): '┤',
	} {
		if got := g.Borders[arms]; got != want {
			t.Errorf("arms %04b are %q, want %q", arms, got, want)
		}
	}
}
