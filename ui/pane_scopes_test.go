package ui

import (
	"slices"
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
)

func TestScopesView(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"scopes", nil},
		{"scopes-by-total-reversed", []string{"s", "t", "S"}},
		{"scopes-filtered", []string{"/", "g", "a", "t", "h", "enter"}},
		{"scopes-drilled", []string{"j", "."}},
		{"scopes-flame", []string{"T", "j", "j"}},
		{"scopes-since-oom", []string{"O", "d", "F"}},
		{"scopes-all-arenas", []string{"A"}},
	} {
		t.Run(c.name, func(t *testing.T) { goldenView(t, renderedSnapshot(t), layout.Scopes, c.name, c.keys...) })
	}
}

// names are the names in a scopes pane, from top to bottom, without what stands
// around them.
func scopeNames(t *testing.T, d *Dashboard) (names []string) {
	t.Helper()
	for line := range strings.Lines(paneText(t, d, layout.ScopesPane)) {
		line = strings.TrimLeft(line, "▌│├└▾▸✗ ")
		if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); name != "" && name != "│" {
			names = append(names, name)
		}
	}
	return names
}

func selectedLine(t *testing.T, d *Dashboard) string {
	t.Helper()
	for line := range strings.Lines(paneText(t, d, layout.ScopesPane)) {
		if strings.HasPrefix(line, "▌") {
			return line
		}
	}
	return ""
}

func scopesScreen(t *testing.T) *Dashboard {
	return newScreen(t, renderedSnapshot(t), layout.Scopes, 120, 32)
}

func TestTheTreeOpensAndCloses(t *testing.T) {
	d := scopesScreen(t)
	for _, step := range []struct {
		keys []string
		want []string
	}{
		{nil, []string{"render", "wavefront_state", "sheet_resolve", "gather", "postprocess", "projection", "scene_upload", "abandoned", "render", "wavefront_state"}},
		{[]string{"space"}, []string{"render", "scene_upload", "abandoned", "render", "wavefront_state"}},
		{[]string{"enter"}, []string{"render", "wavefront_state", "sheet_resolve", "gather", "postprocess", "projection", "scene_upload", "abandoned", "render", "wavefront_state"}},
		{[]string{"enter", "h"}, []string{"render", "wavefront_state", "postprocess", "projection", "scene_upload", "abandoned", "render", "wavefront_state"}},
		{[]string{"C"}, []string{"render", "scene_upload", "abandoned"}},
		{[]string{"E"}, []string{"render", "wavefront_state", "sheet_resolve", "gather", "postprocess", "projection", "scene_upload", "abandoned", "render", "wavefront_state"}},
	} {
		press(d, step.keys...)
		if got := scopeNames(t, d); !slices.Equal(got, step.want) {
			t.Errorf("after %v: %v, want %v", step.keys, got, step.want)
		}
	}
	if !strings.Contains(selectedLine(t, d), "render") {
		t.Errorf("closing all selects %q", selectedLine(t, d))
	}
}

func TestTheSelectedScopeIsShownBeside(t *testing.T) {
	d := scopesScreen(t)
	press(d, "j", "j")
	if got := d.choices.scope.path; !slices.Equal(got, []string{"render", "wavefront_state", "sheet_resolve"}) {
		t.Fatalf("%v is chosen", got)
	}
	if text := paneText(t, d, layout.ScopePane); !strings.Contains(text, "render › wavefront_state › sheet_resolve") || !strings.Contains(text, "last ran with hits=") {
		t.Errorf("beside stands\n%s", text)
	}
	press(d, "h", "h")
	if got := d.choices.scope.path; !slices.Equal(got, []string{"render", "wavefront_state"}) {
		t.Errorf("left of a leaf is %v", got)
	}
}

// The same scope stays selected when the tree is sorted anew, when it is that of
// another moment, and when that moment does not have it.
func TestTheSelectionStaysWithTheScope(t *testing.T) {
	d := scopesScreen(t)
	press(d, "j", "j", "s", "n", "S")
	if got := selectedLine(t, d); !strings.Contains(got, "sheet_resolve") {
		t.Errorf("sorted by name %q is selected", got)
	}
	d.lookAt(d.scene.newest.First + 1)
	d.drawFrame()
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "No scope") && !strings.Contains(text, "no arena") {
		t.Errorf("before the first scope there is\n%s", text)
	}
	press(d, "F")
	if got := selectedLine(t, d); !strings.Contains(got, "sheet_resolve") {
		t.Errorf("back in the present %q is selected", got)
	}
}

func TestSortingByEveryColumn(t *testing.T) {
	d := scopesScreen(t)
	for key, want := range map[string][]string{
		"n": {"projection", "wavefront_state", "postprocess"}, // siblings below render, from last to first
		"p": {"projection", "postprocess", "wavefront_state"},
		"t": {"projection", "postprocess", "wavefront_state"},
		"s": {"projection", "postprocess", "wavefront_state"},
		"c": {"postprocess", "projection", "wavefront_state"},
		"o": {"postprocess", "projection", "wavefront_state"},
		"a": {"postprocess", "wavefront_state", "projection"},
	} {
		press(d, "s", key)
		var got []string
		for _, name := range scopeNames(t, d) {
			if slices.Contains(want, name) && len(got) < 3 {
				got = append([]string{name}, got...)
			}
		}
		if key == "n" {
			want = []string{"wavefront_state", "projection", "postprocess"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("s %s: from the last to the first %v, want %v", key, got, want)
		}
	}
	title, _ := d.panes[layout.ScopesPane].title(&d.scene)
	press(d, "s", "esc")
	if after, _ := d.panes[layout.ScopesPane].title(&d.scene); after != title {
		t.Errorf("esc after s sorts: %q, was %q", after, title)
	}
}

func TestAClickOnATitleSorts(t *testing.T) {
	d := scopesScreen(t)
	pane := d.panes[layout.ScopesPane].(*scopesPane)
	column := func(which int) (x int) {
		for x = 0; pane.tree.table.ColumnAt(x) != which; x++ {
		}
		return x
	}
	clickIn(t, d, layout.ScopesPane, column(scopeTotal), -1)
	if pane.order != (scopeOrder{key: 1}) {
		t.Errorf("a click on total sorts by %v", pane.order)
	}
	clickIn(t, d, layout.ScopesPane, column(scopeTotal), -1)
	if !pane.order.reversed {
		t.Error("a second click does not turn the order round")
	}
	clickIn(t, d, layout.ScopesPane, 5, 2)
	chosen := d.choices.scope.path
	clickIn(t, d, layout.ScopesPane, 5, 2)
	if len(chosen) == 0 || !slices.Equal(d.choices.scope.path, chosen) {
		t.Errorf("clicks on a row choose %v, then %v", chosen, d.choices.scope.path)
	}
}

func TestFilterKeepsWhatIsAbove(t *testing.T) {
	d := scopesScreen(t)
	press(d, "/")
	typeIn(d, "GATHER|nothing")
	if got := scopeNames(t, d); len(got) != 1 || got[0] != "No" {
		t.Errorf("capitals match small letters: %v", got)
	}
	press(d, "esc", "/")
	typeIn(d, "gather")
	if got := scopeNames(t, d); !slices.Equal(got, []string{"render", "wavefront_state", "gather"}) {
		t.Errorf("gather keeps %v", got)
	}
	press(d, "esc")
	press(d, "/")
	typeIn(d, "!^(render|wave)")
	if got := scopeNames(t, d); !slices.Contains(got, "render") || slices.Contains(got, "abandoned") {
		t.Errorf("! keeps %v", got)
	}
	press(d, "esc", "/", "(", "enter")
	if d.scene.view == nil || len(scopeNames(t, d)) != 10 {
		t.Errorf("a pattern that is none changes the rows: %v", scopeNames(t, d))
	}
}

func TestSearchOpensWhatIsAbove(t *testing.T) {
	d := scopesScreen(t)
	press(d, "/")
	typeIn(d, "resolve|post")
	press(d, "esc", "C")
	for i, want := range []string{"sheet_resolve", "postprocess", "sheet_resolve"} {
		press(d, "n")
		if got := selectedLine(t, d); !strings.Contains(got, want) {
			t.Errorf("n for the %d. time is at %q, want %s", i+1, got, want)
		}
	}
	press(d, "N")
	if got := selectedLine(t, d); !strings.Contains(got, "postprocess") {
		t.Errorf("N is at %q", got)
	}
}

func TestDrillingInAndOut(t *testing.T) {
	d := scopesScreen(t)
	press(d, "j", ".")
	if got := scopeNames(t, d); !slices.Equal(got, []string{"wavefront_state", "sheet_resolve", "gather"}) {
		t.Errorf("drilled into wavefront_state there are %v", got)
	}
	press(d, "j", ".")
	if got := scopeNames(t, d); !slices.Equal(got, []string{"sheet_resolve"}) {
		t.Errorf("drilled into sheet_resolve there are %v", got)
	}
	press(d, "n", ",")
	if got := scopeNames(t, d); len(got) != 3 {
		t.Errorf("one step out there are %v", got)
	}
	press(d, "backspace", ",")
	if got := scopeNames(t, d); len(got) != 10 {
		t.Errorf("all the way out there are %v", got)
	}
}

func TestAbandonedScopesStandApart(t *testing.T) {
	d := scopesScreen(t)
	text := paneText(t, d, layout.ScopesPane)
	_, apart, ok := strings.Cut(text, "✗ abandoned")
	if !ok || !strings.Contains(apart, "frame 13: reset with 2 scopes open: retry, the arena was full") {
		t.Fatalf("the reason is not said:\n%s", text)
	}
	if strings.Contains(apart, "unclosed") {
		t.Error("an abandoned scope is called unclosed")
	}
	press(d, "G")
	if text := paneText(t, d, layout.ScopePane); !strings.Contains(text, "retry, the arena was full") || strings.Contains(text, "entry") {
		t.Errorf("of an abandoned scope is said\n%s", text)
	}
}

func TestUnclosedIsSaidInPlaceOfANumber(t *testing.T) {
	d := scopesScreen(t)
	for line := range strings.Lines(paneText(t, d, layout.ScopesPane)) {
		if strings.Contains(line, "gather") && !strings.Contains(line, "unclosed") {
			t.Errorf("a scope that never closed reads %q", line)
		}
		if strings.Contains(line, "postprocess") && !strings.Contains(line, "– │") {
			t.Errorf("a scope that is closed reads %q", line)
		}
	}
}

func TestFlameGraphKeys(t *testing.T) {
	d := scopesScreen(t)
	press(d, "T", "j", "j")
	if got := d.choices.scope.path; !slices.Equal(got, []string{"render", "wavefront_state", "sheet_resolve"}) {
		t.Errorf("two boxes down is %v", got)
	}
	press(d, "k", "l")
	if got := d.choices.scope.path; !slices.Equal(got, []string{"render", "postprocess"}) {
		t.Errorf("up and right is %v", got)
	}
	press(d, "h", "space")
	if text := paneText(t, d, layout.ScopesPane); strings.Contains(text, "postp") || !strings.Contains(text, "wavefront_state") {
		t.Errorf("zoomed into wavefront_state there is\n%s", text)
	}
	press(d, ",")
	clickIn(t, d, layout.ScopesPane, 1, 1)
	if got := d.choices.scope.path; !slices.Equal(got, []string{"render"}) {
		t.Errorf("a click on the second row chooses %v", got)
	}
	press(d, "T")
	if got := selectedLine(t, d); !strings.Contains(got, "render") {
		t.Errorf("back in the tree %q is selected", got)
	}
}

func TestWhatChangedSinceAMoment(t *testing.T) {
	d := scopesScreen(t)
	d.lookAt(d.scene.newest.First + 150_000_000) // in the second frame
	press(d, "d", "F")
	text := paneText(t, d, layout.ScopesPane)
	for _, want := range []string{"grown", "new", "–"} { // gather came later: its peak then is unknown
		if !strings.Contains(text, want) {
			t.Errorf("%q is not among\n%s", want, text)
		}
	}
	if title, _ := d.panes[layout.ScopesPane].title(&d.scene); !strings.Contains(title, "since") {
		t.Errorf("the title is %q", title)
	}
	press(d, "space")
	if got := scopeNames(t, d); !slices.Equal(got, []string{"render", "scene_upload"}) {
		t.Errorf("closed it shows %v", got)
	}
	press(d, "E", "s", "n", "j")
	if got := d.choices.scope.path; !slices.Equal(got, []string{"render", "postprocess"}) {
		t.Errorf("by name the first below render is %v", got)
	}
	press(d, "d")
	if got := scopeNames(t, d); !slices.Contains(got, "abandoned") {
		t.Errorf("no longer comparing it shows %v", got)
	}
}

// A scope that the newer moment does not have is gone, and its peak is unknown.
func TestWhatIsGoneSinceAMoment(t *testing.T) {
	d := scopesScreen(t)
	press(d, "d")
	d.lookAt(d.scene.newest.First + 150_000_000)
	if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, "gone") {
		t.Errorf("gather is not gone in\n%s", text)
	}
}

func TestAllArenasTogether(t *testing.T) {
	f := renderedFixture(t)
	f.arena.Release("done")
	f.newArena("frames 24-47", 16*gib)
	f.renderFrame()
	d := newScreen(t, f.snapshot(), layout.Scopes, 120, 32)
	text := paneText(t, d, layout.ScopesPane)
	for line := range strings.Lines(text) {
		if strings.Contains(line, "projection") && !strings.Contains(line, " 2 │") {
			t.Errorf("a scope of two arenas reads %q", line)
		}
	}
	if !strings.Contains(text, "abandoned, apart") {
		t.Errorf("abandoned scopes do not stand apart:\n%s", text)
	}
	press(d, "j", "j")
	sum := d.choices.sums.selected()
	if sum == nil || !strings.Contains(paneText(t, d, layout.ScopePane), sum.Name) {
		t.Errorf("beside stands\n%s", paneText(t, d, layout.ScopePane))
	}
	press(d, "(")
	if d.scene.sumsArenas() || d.choices.arenaOf(d.scene.view).State.Name != "frames 0-23" {
		t.Errorf("the arena before is %q", d.choices.arenaOf(d.scene.view).State.Name)
	}
	if got := scopeNames(t, d); !slices.Contains(got, "gather") {
		t.Errorf("it has %v", got)
	}
	press(d, ")")
	if got := d.choices.arenaOf(d.scene.view).State.Name; got != "frames 24-47" {
		t.Errorf("the next arena is %q", got)
	}
}

// Names come from programs that are not to be trusted.
func TestHostileScopeNames(t *testing.T) {
	f := newFixture(t)
	f.newArena("\x1b]0;owned\a", gib)
	outer := f.arena.Scope("\x1b[31mred\u202e\n" + strings.Repeat("界", 300))
	f.arena.Scope("", arena.Text("\x1b[2J", "\r\x00"))
	f.must(f.arena.AllocTyped(arena.DType{Name: "\x1b[5mblink", Size: 1}, false, 100))
	outer.End()
	for view := range layout.ViewCount {
		for _, size := range goldenSizes {
			d := newScreen(t, f.snapshot(), layout.View(view), size.width, size.height)
			press(d, "E", "T", "T", "A", "A", "j", "d", "j", "d")
			for _, char := range d.grid.Plain() {
				if char < ' ' && char != '\n' || char == '\u202e' || char == 0x7f {
					t.Errorf("%s at %s has %q on the screen", layout.View(view), size.name, char)
				}
			}
		}
	}
	if got := grid.Sanitize("\x1b"); got == "\x1b" {
		t.Error("control characters pass")
	}
}

func TestScopesWithoutAnything(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct {
		name string
		then func()
		want string
	}{
		{"no arena", func() {}, "no arena"},
		{"no scope", func() { f.newArena("empty", gib) }, "No scope was opened"},
	} {
		c.then()
		d := newScreen(t, f.snapshot(), layout.Scopes, 120, 32)
		press(d, "j", "E", "C", ".", ",", "T", "n", "N", "s", "t", "S", "A", "j", "A", "d", "j", "d", "y", "i", "esc")
		if text := paneText(t, d, layout.ScopesPane); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}
