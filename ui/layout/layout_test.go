package layout

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vramscope/ui/grid"
)

var update = flag.Bool("update", false, "write the golden files")

// Every view in every layout, as pictures in testdata.
func TestPictures(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height int
		options       Options
	}{
		{"full-120x30", 120, 30, Options{}},
		{"full-160x48-three-arenas", 160, 48, Options{Arenas: 3, Message: 1}},
		{"compact-80x20", 80, 20, Options{}},
		{"compact-100x26-typing", 100, 26, Options{Message: 1, Input: true}},
		{"mini-40x10", 40, 10, Options{}},
		{"mini-100x16", 100, 16, Options{Message: 1}},
		{"tiny-24x6", 24, 6, Options{}},
	} {
		var out strings.Builder
		for v := View(0); int(v) < ViewCount; v++ {
			l := Compute(c.width, c.height, v, c.options)
			fmt.Fprintf(&out, "%s\n\n%s\n\n", v, art(c.width, c.height, &l))
		}
		comparePicture(t, c.name, out.String())
	}
}

// comparePicture compares a picture with the one in testdata.
func comparePicture(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has changed (go test ./ui/layout -update writes it):\n%s", path, got)
	}
}

// The views that show allocators, for each content, as pictures in testdata.
func TestPicturesOfAllocators(t *testing.T) {
	for _, size := range []struct {
		name          string
		width, height int
	}{{"allocators-120x32", 120, 32}, {"allocators-80x24", 80, 24}, {"allocators-40x10", 40, 10}} {
		var out strings.Builder
		draw := func(view View, what string, options Options) {
			options.Allocators = 10
			l := Compute(size.width, size.height, view, options)
			fmt.Fprintf(&out, "%s of %s\n\n%s\n\n", view, what, art(size.width, size.height, &l))
		}
		draw(Overview, "allocators", Options{Content: Allocators})
		draw(Overview, "allocators and a pool", Options{Content: AllocatorsAndPool})
		draw(Overview, "everything", Options{Content: Everything})
		draw(Pool, "tiers", Options{Pools: Tiers})
		draw(Pool, "counters alone", Options{Pools: Counters})
		comparePicture(t, size.name, out.String())
	}
}

func TestSmallScreens(t *testing.T) {
	for _, c := range []struct {
		width, height int
		view          View
		options       Options
		want          string
	}{
		{12, 1, Overview, Options{}, `
headroom····`},
		{12, 2, Overview, Options{Input: true}, `
headroom····
INPUT`},
		{12, 3, Overview, Options{}, `
HEADER
headroom····
pool········`},
		{12, 5, Overview, Options{}, `
HEADER
headroom····
pool········
arena·······
scopes······`},
		{12, 6, Timeline, Options{Message: 1}, `
HEADER
timeline····
············
············
moment······
FOOTER`},
		{1, 1, Overview, Options{}, `
h`},
	} {
		l := Compute(c.width, c.height, c.view, c.options)
		if got := art(c.width, c.height, &l); "\n"+got != c.want {
			t.Errorf("%s at %d×%d:\n%s\nwant%s", c.view, c.width, c.height, got, c.want)
		}
	}
}

func TestZoomedPane(t *testing.T) {
	l := Compute(80, 24, Pool, Options{Zoomed: BlocksPane})
	if places := l.Places(); len(places) != 1 || places[0].Pane != BlocksPane || places[0].Frame != l.Body {
		t.Errorf("places are %v, the body is %v", places, l.Body)
	}
	if _, shown := l.Find(SegmentsPane); shown {
		t.Error("another pane is shown too")
	}
}

func TestSizeOf(t *testing.T) {
	for _, c := range []struct {
		width, height int
		want          Size
	}{
		{120, 30, Full}, {400, 100, Full}, {119, 30, Compact}, {120, 29, Compact}, {80, 20, Compact}, {79, 20, Mini}, {200, 19, Mini},
		{40, 10, Mini}, {39, 10, Tiny}, {40, 9, Tiny}, {1, 1, Tiny}, {0, 0, Tiny},
	} {
		if got := SizeOf(c.width, c.height); got != c.want {
			t.Errorf("%d×%d is %d, want %d", c.width, c.height, got, c.want)
		}
	}
}

func TestNothingToLayOut(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {-1, 10}, {10, 0}, {-80, -24}} {
		l := Compute(size[0], size[1], Overview, Options{})
		if len(l.Places()) != 0 || !l.Body.Empty() {
			t.Errorf("%v has places", size)
		}
	}
	if l := Compute(80, 24, View(99), Options{}); l.View != Overview {
		t.Error("a view that does not exist is not the overview")
	}
}

func TestAt(t *testing.T) {
	l := Compute(120, 30, Overview, Options{})
	for _, pane := range []Pane{HeadroomPane, PoolPane, ScopesPane, TimelinePane} {
		place, ok := l.Find(pane)
		if !ok {
			t.Fatalf("%s is not shown", pane)
		}
		for _, at := range [][2]int{{place.Inner.X, place.Inner.Y}, {place.Inner.X + place.Inner.W - 1, place.Inner.Y + place.Inner.H - 1}} {
			if got, ok := l.At(at[0], at[1]); !ok || got.Pane != pane {
				t.Errorf("%v is in %s, want %s", at, got.Pane, pane)
			}
		}
	}
	if _, ok := l.At(0, 0); ok {
		t.Error("the header is in a pane")
	}
}

func TestCenter(t *testing.T) {
	area := grid.Rect{X: 0, Y: 1, W: 80, H: 20}
	for _, c := range []struct {
		width, height int
		want          grid.Rect
	}{
		{40, 10, grid.Rect{X: 20, Y: 6, W: 40, H: 10}}, {100, 100, area}, {-1, 5, grid.Rect{X: 40, Y: 8, W: 0, H: 5}},
	} {
		if got := Center(area, c.width, c.height); got != c.want {
			t.Errorf("%d×%d is at %v, want %v", c.width, c.height, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for p := Pane(1); int(p) < PaneCount; p++ {
		if name := p.String(); name == "" || seen[name] {
			t.Errorf("pane %d has the name %q", p, name)
		}
		seen[p.String()] = true
	}
	if strings.Join(ViewNames(), " ") != "Overview Devices Arena Scopes Timeline Pool Events" {
		t.Errorf("the views are %v", ViewNames())
	}
	if View(99).String() != "" || Pane(99).String() != "" {
		t.Error("what does not exist has a name")
	}
}

// Every pane of a view is shown on a large screen.
func TestEveryPaneHasAPlace(t *testing.T) {
	shown := map[Pane]bool{}
	for v := View(0); int(v) < ViewCount; v++ {
		for content := range ContentCount {
			l := Compute(200, 60, v, Options{Content: Content(content), Pools: PoolContent(content % PoolContentCount), Allocators: 9})
			for _, place := range l.Places() {
				shown[place.Pane] = true
			}
		}
	}
	for p := Pane(1); int(p) < PaneCount; p++ {
		if !shown[p] {
			t.Errorf("%s is in no view", p)
		}
	}
}
