package themes

import (
	"errors"
	"fmt"
	"sort"
	"strings"
)

// Definition is a theme as a user writes it in a file. The struct tags are
// those of a TOML reader; reading the file is another package's work.
//
//	name = "mine"
//	base = "dark"
//	background = "#101010"
//	[roles]
//	title = "#ffd787 bold"
//	selection = "16 on #ffd787"
//	[ramps]
//	heat = ["#203040", "#304860", ... eight of them]
type Definition struct {
	Name       string              `toml:"name"`       // as --theme takes it
	Base       string              `toml:"base"`       // the built-in theme that it changes; "" is default
	Background string              `toml:"background"` // a colour, see ParseColor; "" keeps the base's
	Roles      map[string]string   `toml:"roles"`      // role name to style, see ParseStyle
	Ramps      map[string][]string `toml:"ramps"`      // ramp name to eight styles
}

// maxProblems bounds how many errors Validate reports: a file of another kind
// would otherwise fill the screen.
const maxProblems = 8

// Validate says what is wrong with the definition, at most eight sentences
// joined; nil when Theme will succeed.
func (d Definition) Validate() error {
	_, err := d.Theme()
	return err
}

// Theme makes the theme. Every unknown name and unreadable style is an error
// of its own, and then no theme comes back.
func (d Definition) Theme() (Theme, error) {
	var problems []error
	complain := func(format string, args ...any) {
		if len(problems) < maxProblems {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}

	base := d.Base
	if base == "" {
		base = "default"
	}
	theme, known := ByName(base)
	if !known {
		complain("there is no theme %q to start from: base is one of %s", base, strings.Join(Names(), ", "))
	}
	if strings.TrimSpace(d.Name) == "" {
		complain("the theme has no name: give it one with name = \"…\"")
	}
	theme.Name = d.Name
	if d.Background != "" {
		color, err := ParseColor(d.Background)
		if err != nil {
			complain("background: %w", err)
		}
		theme.Background = color
	}

	for _, name := range sortedKeys(d.Roles) {
		role, known := RoleByName(name)
		if !known {
			complain("there is no role %q: remove it from [roles]", name)
			continue
		}
		style, err := ParseStyle(d.Roles[name])
		if err != nil {
			complain("role %s: %w", name, err)
		}
		theme.Roles[role] = style
	}
	for _, name := range sortedKeys(d.Ramps) {
		ramp, known := RampByName(name)
		if !known {
			complain("there is no ramp %q: use heat, pressure, age or change", name)
			continue
		}
		steps := d.Ramps[name]
		if len(steps) != RampSteps {
			complain("ramp %s has %d steps: give it %d", name, len(steps), RampSteps)
			continue
		}
		for i, text := range steps {
			style, err := ParseStyle(text)
			if err != nil {
				complain("ramp %s, step %d: %w", name, i, err)
			}
			style.Attr |= rampAttrs[i]
			theme.Ramps[ramp][i] = style
		}
	}
	if len(problems) > 0 {
		return Theme{}, errors.Join(problems...)
	}
	return theme, nil
}

// ParseStyle reads a style of a theme file: up to three colours for the
// foreground (24 bits, 256, 16; what is left out is derived), then "on" and as
// many for the background, and the words bold, faint, underline and inverse.
// Examples: "#ffd787 bold", "#ffd787 222 11", "16 on 222", "inverse".
func ParseStyle(text string) (Style, error) {
	var style Style
	colors := [2][]string{}
	ground := 0
	for _, word := range strings.Fields(text) {
		switch word {
		case "bold":
			style.Attr |= Bold
		case "faint":
			style.Attr |= Faint
		case "underline":
			style.Attr |= Underline
		case "inverse":
			style.Attr |= Inverse
		case "on":
			if ground == 1 {
				return Style{}, fmt.Errorf("%q has two backgrounds: write one \"on\"", text)
			}
			ground = 1
		default:
			colors[ground] = append(colors[ground], word)
		}
	}
	if ground == 1 && len(colors[1]) == 0 {
		return Style{}, fmt.Errorf("%q has no colour behind its \"on\"", text)
	}
	var err error
	if style.Foreground, err = parseForms(colors[0]); err != nil {
		return Style{}, err
	}
	if style.Background, err = parseForms(colors[1]); err != nil {
		return Style{}, err
	}
	return style, nil
}

// parseForms reads the one to three forms of a colour; none is the default.
func parseForms(words []string) (Color, error) {
	if len(words) == 0 {
		return Color{}, nil
	}
	if len(words) > 3 {
		return Color{}, fmt.Errorf("%q are too many colours: give at most three (24 bits, 256, 16)", strings.Join(words, " "))
	}
	color, err := ParseColor(words[0])
	if err != nil {
		return Color{}, err
	}
	for i, word := range words[1:] {
		form, err := ParseColor(word)
		if err != nil {
			return Color{}, err
		}
		n, isIndex := form.TrueColor.Index()
		if !isIndex || (i == 1 && n > 15) {
			return Color{}, fmt.Errorf("%q is no form for a smaller palette: give a number from 0 to 255, then one from 0 to 15", word)
		}
		if i == 0 {
			color.Ansi256, color.Ansi16 = form.Ansi256, form.Ansi16
		} else {
			color.Ansi16 = form.Ansi16
		}
	}
	return color, nil
}

// sortedKeys keeps the order of complaints the same from run to run.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
