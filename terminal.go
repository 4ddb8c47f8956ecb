package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/charmbracelet/x/term"

	"vramscope/themes"
)

// isTerminal says whether a dashboard can be drawn here.
func (p *program) isTerminal() bool {
	out, ok := p.out.(*os.File)
	name, _ := p.lookup("TERM")
	return ok && term.IsTerminal(out.Fd()) && p.in != nil && term.IsTerminal(p.in.Fd()) && name != "dumb"
}

// isColored says whether what goes to standard output may carry colours.
func (p *program) isColored() bool {
	out, ok := p.out.(*os.File)
	return p.settings.Color == "always" || ok && term.IsTerminal(out.Fd()) && p.profile() != themes.NoColor
}

// profile is how many colours there are: by the setting, else by what the
// environment says of the terminal. It asks the terminal nothing: over a slow
// line the answer comes late, or never.
func (p *program) profile() themes.Profile {
	switch p.settings.Color {
	case "none":
		return themes.NoColor
	case "16":
		return themes.Ansi16
	case "256":
		return themes.Ansi256
	case "truecolor":
		return themes.TrueColor
	}
	get := func(name string) string {
		value, _ := p.lookup(name)
		return strings.ToLower(value)
	}
	if get("NO_COLOR") != "" && p.settings.Color != "always" {
		return themes.NoColor
	}
	return profileOf(get("TERM"), get("COLORTERM"), get("TMUX") != "")
}

// profileOf is what a terminal that calls itself so can show. Inside tmux and
// screen, COLORTERM speaks of the terminal outside.
func profileOf(name, colorterm string, tmux bool) themes.Profile {
	inside := tmux || strings.HasPrefix(name, "tmux") || strings.HasPrefix(name, "screen")
	switch {
	case name == "dumb":
		return themes.NoColor
	case (colorterm == "truecolor" || colorterm == "24bit") && !inside, strings.HasSuffix(name, "-direct"):
		return themes.TrueColor
	}
	for _, known := range []string{"kitty", "ghostty", "wezterm", "alacritty", "foot"} {
		if strings.Contains(name, known) && !inside {
			return themes.TrueColor
		}
	}
	if strings.Contains(name, "256color") || inside {
		return themes.Ansi256
	}
	return themes.Ansi16
}

// isPlainLocale says whether the locale rules out characters beyond ASCII, or
// makes box-drawing ones two columns wide. Where no locale is set, as in most
// containers, the terminal outside is trusted to know them.
func (p *program) isPlainLocale() bool {
	if wide, _ := p.lookup("RUNEWIDTH_EASTASIAN"); wide == "1" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value, _ := p.lookup(name); value != "" {
			return !strings.Contains(strings.ReplaceAll(strings.ToLower(value), "-", ""), "utf8")
		}
	}
	return false
}

// theme is the theme that was asked for: one that is built in, or a file.
func (p *program) theme() (themes.Theme, error) {
	if theme, ok := themes.ByName(p.settings.Theme); ok {
		return theme, nil
	}
	text, err := os.ReadFile(p.settings.Theme)
	if err != nil {
		return themes.Theme{}, usageError{fmt.Sprintf("--theme %q is neither a theme (%s) nor a file that can be read",
			p.settings.Theme, strings.Join(themes.Names(), ", "))}
	}
	var definition themes.Definition
	if err := toml.Unmarshal(text, &definition); err != nil {
		return themes.Theme{}, usageError{fmt.Sprintf("theme file %s: %v", p.settings.Theme, err)}
	}
	theme, err := definition.Theme()
	if err != nil {
		return themes.Theme{}, usageError{fmt.Sprintf("theme file %s: %v", p.settings.Theme, err)}
	}
	return theme, nil
}
