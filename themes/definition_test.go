package themes

import (
	"strings"
	"testing"
)

func TestDefinitionChangesItsBase(t *testing.T) {
	theme, err := Definition{
		Name: "mine", Base: "dark", Background: "#101010",
		Roles: map[string]string{"title": "#ffd787 222 11 bold", "selection": "16 on #ffd787"},
		Ramps: map[string][]string{"heat": {"1", "2", "3", "4", "5", "6", "7", "8"}},
	}.Theme()
	if err != nil {
		t.Fatal(err)
	}
	if theme.Name != "mine" || theme.Background.TrueColor != RGB(0x101010) {
		t.Errorf("name %q, background %x", theme.Name, theme.Background.TrueColor)
	}
	title := Style{Foreground: hue(0xffd787, 222, 11), Attr: Bold}
	if theme.Roles[Title] != title {
		t.Errorf("title is %v, want %v", theme.Roles[Title], title)
	}
	if theme.Roles[Selection].Background.TrueColor != RGB(0xffd787) || theme.Roles[Selection].Attr != 0 {
		t.Errorf("selection is %v", theme.Roles[Selection])
	}
	if theme.Ramps[Heat][7].Foreground != palette(8) || theme.Ramps[Heat][7].Attr != Bold {
		t.Errorf("the last step of heat is %v", theme.Ramps[Heat][7])
	}
	dark, _ := ByName("dark")
	if theme.Roles[Error] != dark.Roles[Error] || theme.Ramps[Age] != dark.Ramps[Age] {
		t.Error("what the definition does not name is not the base's")
	}
}

func TestDefinitionErrors(t *testing.T) {
	for _, c := range []struct {
		what string
		d    Definition
		want string
	}{
		{"no name", Definition{}, "the theme has no name"},
		{"unknown base", Definition{Name: "x", Base: "neon"}, `there is no theme "neon" to start from: base is one of default, dark`},
		{"background", Definition{Name: "x", Background: "blue"}, `background: "blue" is no colour`},
		{"unknown role", Definition{Name: "x", Roles: map[string]string{"titel": "1"}}, `there is no role "titel"`},
		{"role", Definition{Name: "x", Roles: map[string]string{"title": "1 2 3 4"}}, "role title: \"1 2 3 4\" are too many colours"},
		{"unknown ramp", Definition{Name: "x", Ramps: map[string][]string{"warmth": nil}}, `there is no ramp "warmth"`},
		{"short ramp", Definition{Name: "x", Ramps: map[string][]string{"heat": {"1"}}}, "ramp heat has 1 steps: give it 8"},
		{"ramp step", Definition{Name: "x", Ramps: map[string][]string{"heat": {"1", "", "", "pink", "", "", "", ""}}}, `ramp heat, step 3: "pink"`},
	} {
		err := c.d.Validate()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

func TestDefinitionComplainsOfEverythingButNotForever(t *testing.T) {
	roles := map[string]string{}
	for i := range 100 {
		roles[strings.Repeat("x", i+1)] = "1"
	}
	err := Definition{Name: "x", Roles: roles}.Validate()
	if got := strings.Count(err.Error(), "\n") + 1; got != maxProblems {
		t.Errorf("%d complaints, want %d", got, maxProblems)
	}
}

func TestParseStyle(t *testing.T) {
	for _, c := range []struct {
		text string
		want Style
	}{
		{"", Style{}},
		{"inverse", Style{Attr: Inverse}},
		{"9 bold faint underline", Style{Foreground: palette(9), Attr: Bold | Faint | Underline}},
		{"on 4", Style{Background: palette(4)}},
		{"#000000 16 0 on #ffffff 231 15", Style{Foreground: hue(0, 16, 0), Background: hue(0xffffff, 231, 15)}},
	} {
		if got, err := ParseStyle(c.text); err != nil || got != c.want {
			t.Errorf("ParseStyle(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"on", "1 on 2 on 3", "blinking", "1 #ffffff", "1 2 16", "1 default"} {
		if got, err := ParseStyle(text); err == nil {
			t.Errorf("ParseStyle(%q) = %v, want an error", text, got)
		}
	}
}

func FuzzParseStyle(f *testing.F) {
	for _, seed := range []string{"", "bold", "#ffd787 222 11 on 16 underline", "on on", "256", "#\x00", "9999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ParseStyle(text); err != nil && strings.ContainsAny(err.Error(), "\x1b\x07\n\r") {
			t.Errorf("the error for %q holds a control character: %v", text, err)
		}
	})
}
