package widget

import (
	"strings"
	"testing"

	"vramscope/themes"
	"vramscope/ui/grid"
)

// newGrid is a grid that draws with unicode or ascii glyphs.
func newGrid(glyphs *themes.Glyphs, width, height int) *grid.Grid {
	g := grid.New(styles, glyphs)
	g.Resize(width, height)
	return g
}

var (
	styles  = darkStyles()
	unicode = themes.UnicodeGlyphs()
	ascii   = themes.ASCIIGlyphs()
)

func darkStyles() *grid.Styles {
	theme, _ := themes.ByName("dark")
	return grid.NewStyles(theme, themes.TrueColor)
}

// picture is one drawing in a test: what is drawn, in which size, and how that
// looks with each table of glyphs. Lines lose the blanks at their ends.
type picture struct {
	what          string
	width, height int
	draw          func(grid.Region)
	unicode       string
	ascii         string // "" is not looked at
}

func checkPictures(t *testing.T, pictures []picture) {
	t.Helper()
	for _, p := range pictures {
		for _, table := range []struct {
			glyphs *themes.Glyphs
			want   string
		}{{unicode, p.unicode}, {ascii, p.ascii}} {
			g := newGrid(table.glyphs, p.width, p.height)
			p.draw(g.All())
			got := strings.TrimRight(g.Plain(), "\n")
			if want := strings.TrimPrefix(table.want, "\n"); table.want != "" && got != want {
				t.Errorf("%s (%s):\n%s\nwant\n%s", p.what, table.glyphs.Name, got, want)
			}
		}
	}
}
