package themes

import (
	"strings"
	"testing"
)

func TestEveryRoleAndRampHasOneName(t *testing.T) {
	seen := map[string]bool{}
	for role := Role(0); int(role) < RoleCount; role++ {
		name := role.String()
		if name == "" || seen[name] {
			t.Errorf("role %d has the name %q: missing or used twice", role, name)
		}
		seen[name] = true
		if back, ok := RoleByName(name); !ok || back != role {
			t.Errorf("RoleByName(%q) = %d, %v", name, back, ok)
		}
	}
	for ramp := Ramp(0); int(ramp) < RampCount; ramp++ {
		if back, ok := RampByName(ramp.String()); !ok || back != ramp {
			t.Errorf("RampByName(%q) = %d, %v", ramp.String(), back, ok)
		}
	}
	if Role(250).String() != "" || Ramp(250).String() != "" || Profile(250).String() != "" {
		t.Error("a number that is no role, ramp or profile has a name")
	}
}

func TestBuiltInThemes(t *testing.T) {
	want := "default dark light high-contrast deuteranopia tritanopia mono"
	if got := strings.Join(Names(), " "); got != want {
		t.Fatalf("themes: %s, want %s", got, want)
	}
	for _, name := range Names() {
		theme, ok := ByName(name)
		if !ok || theme.Name != name {
			t.Errorf("ByName(%q) = %q, %v", name, theme.Name, ok)
		}
	}
	if _, ok := ByName("solarised"); ok {
		t.Error("a theme that does not exist was found")
	}
}

func TestTheDefaultThemeUsesOnlyTheTerminalsOwnColours(t *testing.T) {
	theme, _ := ByName("default")
	check := func(what string, style Style) {
		for _, color := range []Color{style.Foreground, style.Background} {
			for _, v := range []Value{color.TrueColor, color.Ansi256, color.Ansi16} {
				if n, isIndex := v.Index(); !v.IsDefault() && (!isIndex || n > 15) {
					t.Errorf("%s uses %x", what, v)
				}
			}
		}
	}
	for role, style := range theme.Roles {
		check(Role(role).String(), style)
	}
	for ramp := range theme.Ramps {
		for _, style := range theme.Ramps[ramp] {
			check(Ramp(ramp).String(), style)
		}
	}
}

func TestMonoHasNoColour(t *testing.T) {
	theme, _ := ByName("mono")
	for role, style := range theme.Roles {
		if style.Foreground != (Color{}) || style.Background != (Color{}) {
			t.Errorf("%s has a colour", Role(role))
		}
	}
}

// Text that is read needs 4.5:1 (WCAG AA), 7:1 in the high-contrast theme;
// frames and fills need to be seen only.
func TestContrast(t *testing.T) {
	read := []Role{
		Text, Dim, Accent, Title, Header, Key, Axis, Used, Others, Live, Self, Total, Peak, HighWater,
		Abandoned, OK, Info, Warning, Error, Reserved, Allocated, Arena, Forward, Reverse, Pending, Releasable,
	}
	seen := []Role{Border, Free, Driver, Unaccounted, Gate, Guide}
	for name := range eyesOfThemes {
		theme, _ := ByName(name)
		for _, profile := range []Profile{TrueColor, Ansi256} {
			background := shown(theme.Background.In(profile))
			for _, role := range read {
				atLeast := 4.5
				switch {
				case name == "high-contrast":
					atLeast = 7
				case role != Text && role != Dim && role != Warning && role != Error && role != OK:
					atLeast = 4
				}
				if got := contrast(shown(theme.Roles[role].Foreground.In(profile)), background); got < atLeast {
					t.Errorf("%s, %s: %s has contrast %.2f, want %.1f", name, profile, role, got, atLeast)
				}
			}
			for _, role := range seen {
				if got := contrast(shown(theme.Roles[role].Foreground.In(profile)), background); got < 2.2 {
					t.Errorf("%s, %s: %s has contrast %.2f, want 2.2", name, profile, role, got)
				}
			}
		}
	}
}

// Roles that stand side by side in one widget look different to the eyes that
// the theme is made for.
func TestNeighboursLookDifferent(t *testing.T) {
	groups := [][]Role{
		{Used, Others, Driver, Free},
		{Forward, Reverse, HighWater, Free},
		{Reserved, Allocated, Arena},
		{Allocated, Pending, Free},
		{OK, Warning, Error, Info},
		{Series0, Series1, Series2, Series3, Series4, Series5, Series6, Series7},
	}
	for name, eyes := range eyesOfThemes {
		theme, _ := ByName(name)
		for _, profile := range []Profile{TrueColor, Ansi256} {
			for e, eye := range eyes {
				for _, group := range groups {
					for i, a := range group {
						for _, b := range group[i+1:] {
							x := shown(theme.Roles[a].Foreground.In(profile))
							y := shown(theme.Roles[b].Foreground.In(profile))
							if got := difference(eye.sees(x), eye.sees(y)); got < 12 {
								t.Errorf("%s, %s, eye %d: %s and %s differ by %.1f", name, profile, e, a, b, got)
							}
						}
					}
				}
			}
		}
	}
}

// The heat ramp goes one way in lightness, so that it reads in grey too.
func TestHeatIsMonotone(t *testing.T) {
	for name := range eyesOfThemes {
		theme, _ := ByName(name)
		for _, profile := range []Profile{TrueColor, Ansi256} {
			direction := 1.0
			if !theme.Dark {
				direction = -1
			}
			previous := -1000.0
			for step, style := range theme.Ramps[Heat] {
				lightness := direction * linear(shown(style.Foreground.In(profile))).lab()[0]
				if lightness <= previous {
					t.Errorf("%s, %s: heat step %d has lightness %.0f after %.0f", name, profile, step, lightness, previous)
				}
				previous = lightness
			}
		}
	}
}

func TestRampsEndApart(t *testing.T) {
	for name, eyes := range eyesOfThemes {
		theme, _ := ByName(name)
		for ramp := range theme.Ramps {
			for _, profile := range []Profile{TrueColor, Ansi256, Ansi16} {
				first := shown(theme.Ramps[ramp][0].Foreground.In(profile))
				last := shown(theme.Ramps[ramp][RampSteps-1].Foreground.In(profile))
				for _, eye := range eyes {
					if got := difference(eye.sees(first), eye.sees(last)); got < 15 {
						t.Errorf("%s, %s: the ends of %s differ by %.1f", name, profile, Ramp(ramp), got)
					}
				}
			}
		}
	}
}

// What has no colour must still tell selection, focus and error apart.
func TestMeaningSurvivesWithoutColour(t *testing.T) {
	const kept = Bold | Underline | Inverse
	for _, theme := range All() {
		for _, role := range []Role{Selection, Cursor, TitleFocused, ButtonFocused} {
			if theme.Roles[role].Attr&Inverse == 0 {
				t.Errorf("%s: %s is not inverse", theme.Name, role)
			}
		}
		for _, role := range []Role{Title, Warning, Error, Key, Match} {
			if theme.Roles[role].Attr&kept == 0 {
				t.Errorf("%s: %s looks like plain text without colours", theme.Name, role)
			}
		}
	}
}

func TestParseProfile(t *testing.T) {
	for p := Profile(0); int(p) < ProfileCount; p++ {
		if got, err := ParseProfile(p.String()); err != nil || got != p {
			t.Errorf("ParseProfile(%q) = %v, %v", p.String(), got, err)
		}
	}
	if _, err := ParseProfile("many"); err == nil {
		t.Error("an unknown profile was accepted")
	}
}
