package themes

// scheme is what a theme is made from: a colour for each purpose. The mapping
// from purposes to roles is the same for every theme (build), so that a
// theme's author picks a few colours and cannot forget a role.
type scheme struct {
	background Color
	text       Style // what is read
	dim        Style // units, labels
	faint      Style // frames, guides
	accent     Style

	primary    Color // the watched process, allocated, forward, live
	secondary  Color // other processes, reserved
	neutral    Style // the driver, what is unaccounted for
	calm       Style // free
	store      Color // arenas
	persistent Color // the reverse side of an arena
	water      Color // high-water, peaks

	good    Color
	caution Color
	bad     Color
	note    Color

	series [SeriesCount]Color
	ramps  [RampCount][RampSteps]Color
}

// build gives every role its style.
func (s scheme) build(name string, dark bool) Theme {
	theme := Theme{Name: name, Dark: dark, Background: s.background}
	plain := func(c Color) Style { return Style{Foreground: c} }
	with := func(style Style, attr Attr) Style {
		style.Attr |= attr
		return style
	}

	r := &theme.Roles
	r[Text], r[Dim], r[Accent] = s.text, s.dim, with(s.accent, Bold)
	r[Title], r[TitleFocused] = with(s.text, Bold), with(s.accent, Bold|Inverse)
	r[Border], r[BorderFocused], r[BorderArmed] = s.faint, s.accent, with(plain(s.bad), Bold)
	r[Header], r[Footer] = with(s.text, Bold), s.dim
	r[Key], r[KeyOff] = with(s.accent, Bold), s.faint
	r[Selection], r[Cursor] = with(s.text, Inverse), with(s.accent, Inverse)
	r[Match] = with(s.accent, Bold|Underline)
	r[Guide], r[Axis] = s.faint, s.dim
	r[Button], r[ButtonFocused] = s.text, with(s.accent, Bold|Inverse)

	r[Used], r[Others], r[Driver] = plain(s.primary), plain(s.secondary), s.neutral
	r[Free], r[Total], r[Unaccounted] = s.calm, s.text, s.neutral
	r[Gate] = plain(s.caution)
	r[Reserved], r[Allocated], r[Active] = plain(s.secondary), plain(s.primary), plain(s.store)
	r[Pending], r[Releasable] = plain(s.caution), plain(s.good)
	r[Arena], r[Forward], r[Reverse] = plain(s.store), plain(s.primary), plain(s.persistent)
	r[HighWater], r[Mark] = plain(s.water), with(s.text, Bold)
	r[Live], r[Self], r[Peak] = plain(s.primary), plain(s.store), plain(s.water)
	r[Abandoned] = plain(s.caution)

	r[OK], r[Info] = plain(s.good), plain(s.note)
	r[Warning], r[Error] = with(plain(s.caution), Bold), with(plain(s.bad), Bold)
	r[Stale] = s.dim

	for i, color := range s.series {
		r[int(Series0)+i] = plain(color)
	}
	for ramp := range s.ramps {
		for step, color := range s.ramps[ramp] {
			theme.Ramps[ramp][step] = Style{Foreground: color, Attr: rampAttrs[step]}
		}
	}
	return theme
}

// rampAttrs are what is left of a ramp where there are no colours; the glyph
// of a cell shows the step besides.
var rampAttrs = [RampSteps]Attr{0, 0, 0, 0, 0, Bold, Bold, Bold}

// ramp is a ramp with each step given for every profile.
func ramp(rgb [RampSteps]uint32, of256, of16 [RampSteps]uint8) [RampSteps]Color {
	var steps [RampSteps]Color
	for i := range steps {
		steps[i] = hue(rgb[i], of256[i], of16[i])
	}
	return steps
}

// paletteRamp is a ramp in the terminal's own sixteen colours.
func paletteRamp(of16 [RampSteps]uint8) [RampSteps]Color {
	var steps [RampSteps]Color
	for i := range steps {
		steps[i] = palette(of16[i])
	}
	return steps
}
