package keymap

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

var update = flag.Bool("update", false, "write the golden files")

func TestNoKeyMeansTwoThings(t *testing.T) {
	for c := range ContextCount {
		seen := map[string]Action{}
		for i := range bindings {
			b := &bindings[i]
			if !b.In(Context(c)) {
				continue
			}
			for _, name := range b.Keys {
				if other, taken := seen[name]; taken {
					t.Errorf("in a %s, %q is both %s and %s", Context(c), name, other, b.Action)
				}
				seen[name] = b.Action
			}
		}
	}
}

func TestEveryBindingIsWhole(t *testing.T) {
	for i := range bindings {
		b := &bindings[i]
		switch {
		case b.Action == None, len(b.Keys) == 0, b.where == 0:
			t.Errorf("binding %d (%s) has no action, key or context", i, b.Action)
		case b.Help == "" || len(b.Help) > 14:
			t.Errorf("%s: the hint %q is not of 1 to 14 letters", b.Action, b.Help)
		case !strings.HasSuffix(b.Long, "."):
			t.Errorf("%s: %q is no sentence", b.Action, b.Long)
		case b.Dangerous && !b.Acts:
			t.Errorf("%s is dangerous and yet allowed with --readonly", b.Action)
		}
	}
	for a := Action(1); int(a) < ActionCount; a++ {
		if Find(a) == nil {
			t.Errorf("no key does %s", a)
		}
		if back, ok := ActionByName(a.String()); !ok || back != a {
			t.Errorf("ActionByName(%q) = %s, %v", a.String(), back, ok)
		}
	}
	if _, ok := ActionByName(""); ok || Find(None) != nil {
		t.Error("None has a name or a key")
	}
}

// The keys of the design's table, and what they must ask before.
func TestTheKeysThatAct(t *testing.T) {
	for _, c := range []struct {
		key             string
		action          Action
		acts, dangerous bool
	}{
		{"r", Reclaim, true, false}, {"R", ForceReclaim, true, true}, {"B", Rebuild, true, true},
		{"P", ResetPeak, true, true}, {"H", Headroom, true, false}, {"m", Record, false, false},
	} {
		for _, context := range []Context{List, Tree, Timeline, BlockMap} {
			b := Lookup(context, c.key)
			if b == nil || b.Action != c.action || b.Acts != c.acts || b.Dangerous != c.dangerous {
				t.Errorf("%s in a %s is %+v", c.key, context, b)
			}
		}
		for _, context := range []Context{Dialog, Input, Sort} {
			if b := Lookup(context, c.key); b != nil && b.Acts {
				t.Errorf("%s acts in a %s", c.key, context)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		context Context
		key     string
		want    Action
	}{
		{Tree, "space", Toggle}, {List, "space", Pause}, {Timeline, "space", Pause}, {Dialog, "space", Press}, {Tree, "p", Pause},
		{Tree, "right", Open}, {List, "right", Right}, {Timeline, "end", Follow}, {List, "end", Bottom},
		{Timeline, "[", PanBack}, {BlockMap, "[", PreviousSegment}, {Dialog, "esc", No}, {Input, "esc", Cancel}, {List, "esc", Back},
		{Sort, "s", SortBySelf}, {List, "?", Help}, {List, "f1", Help}, {List, "4", ShowScopes},
	} {
		if b := Lookup(c.context, c.key); b == nil || b.Action != c.want {
			t.Errorf("%s in a %s is %v, want %s", c.key, c.context, b, c.want)
		}
	}
	for c := range ContextCount {
		if b := Lookup(Context(c), "ctrl+c"); b == nil || b.Action != Quit {
			t.Errorf("ctrl+c in a %s does not quit", Context(c))
		}
	}
	if Lookup(Input, "q") != nil || Lookup(List, "ctrl+alt+x") != nil || Lookup(Context(99), "q") != nil {
		t.Error("a key was found that does nothing")
	}
}

// Every key has the name that Bubble Tea gives it.
func TestKeysAreBubbleTeas(t *testing.T) {
	special := map[string]tea.Key{
		"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
		"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "space": {Code: tea.KeySpace, Text: " "}, "tab": {Code: tea.KeyTab},
		"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "backspace": {Code: tea.KeyBackspace}, "f1": {Code: tea.KeyF1},
	}
	for i := range bindings {
		for _, name := range bindings[i].Keys {
			want, isSpecial := special[name]
			switch rest, isControl := strings.CutPrefix(name, "ctrl+"); {
			case isSpecial:
			case isControl:
				want = tea.Key{Code: rune(rest[0]), Mod: tea.ModCtrl}
			case utf8.RuneCountInString(name) == 1:
				want = tea.Key{Code: rune(name[0]), Text: name}
			}
			if got := tea.KeyPressMsg(want).String(); got != name {
				t.Errorf("%s: Bubble Tea calls %q %q", bindings[i].Action, name, got)
			}
		}
	}
}

func TestLabels(t *testing.T) {
	for action, want := range map[Action]string{
		Up: "↑/k", PageDown: "PgDn/Ctrl-D", PreviousPane: "Shift-Tab", Help: "?/F1", Toggle: "Space", DrillOut: ",/Backspace",
	} {
		if got := Find(action).Label(); got != want {
			t.Errorf("%s reads %q, want %q", action, got, want)
		}
	}
	b := Find(Up).Bubbles()
	if got := b.Help(); got.Key != "↑/k" || got.Desc != "up" || len(b.Keys()) != 2 {
		t.Errorf("for Bubbles it is %+v %v", got, b.Keys())
	}
}

func TestHints(t *testing.T) {
	line := func(c Context, readOnly bool) string {
		var out []string
		for _, h := range Hints(c, readOnly) {
			entry := h.Key + " " + h.Label
			if h.Off {
				entry = "(" + entry + ")"
			}
			if h.Last {
				entry = "… " + entry
			}
			out = append(out, entry)
		}
		return strings.Join(out, "  ")
	}
	for _, c := range []struct {
		context  Context
		readOnly bool
		want     string
	}{
		{Tree, false, "r reclaim  R force  B rebuild  P reset  H headroom  m record  Space open/close  E open all  T flame  f s/frames  / filter  : command  s sort  i origin  Tab next pane  c source  … ? help  … q quit"},
		{Timeline, true, "(r reclaim)  (R force)  (B rebuild)  (P reset)  (H headroom)  m record  Enter details  Space pause  End live  + zoom  f s/frames  / filter  : command  s sort  i origin  Tab next pane  c source  … ? help  … q quit"},
		{Dialog, false, "Enter press  y yes  n no  Tab other button"},
		{Input, false, "Enter apply  Esc cancel  Tab complete"},
	} {
		if got := line(c.context, c.readOnly); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.context, got, c.want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	path := filepath.Join("testdata", "keys.md")
	if *update {
		if err := os.WriteFile(path, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := Markdown(); got != string(want) {
		t.Errorf("the table of keys has changed (go test ./ui/keymap -update writes %s):\n%s", path, got)
	}
}

func TestLookupMakesNoGarbage(t *testing.T) {
	if allocs := testing.AllocsPerRun(100, func() { Lookup(Tree, "pgdown") }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
