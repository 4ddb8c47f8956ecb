package themes

// defaultTheme uses the terminal's own sixteen colours and its background in
// every profile, so that it follows whatever palette the user has chosen.
func defaultTheme() Theme {
	faint := Style{Attr: Faint}
	return scheme{
		dim: faint, faint: faint, neutral: faint, calm: faint,
		accent:  Style{Foreground: palette(12)},
		primary: palette(12), secondary: palette(5), store: palette(6),
		persistent: palette(13), water: palette(3),
		good: palette(2), caution: palette(3), bad: palette(9), note: palette(6),
		series: [SeriesCount]Color{
			palette(12), palette(3), palette(2), palette(5), palette(6), palette(9), palette(10), palette(13),
		},
		ramps: [RampCount][RampSteps]Color{
			Heat:     paletteRamp([RampSteps]uint8{4, 4, 12, 6, 6, 2, 3, 3}),
			Pressure: paletteRamp([RampSteps]uint8{2, 2, 2, 2, 3, 3, 9, 9}),
			Age:      paletteRamp([RampSteps]uint8{6, 6, 12, 12, 4, 4, 5, 5}),
			Change:   paletteRamp([RampSteps]uint8{12, 12, 6, 8, 8, 3, 9, 9}),
		},
	}.build("default", false)
}

// darkScheme is the base of the dark themes; those for colour-blind eyes
// replace what their eyes confuse.
func darkScheme() scheme {
	return scheme{
		background: hue(0x15171c, 233, 0),
		text:       Style{Foreground: hue(0xd8dce3, 253, 7)},
		dim:        Style{Foreground: hue(0x8b93a1, 246, 7)},
		faint:      Style{Foreground: hue(0x5a6270, 241, 8)},
		accent:     Style{Foreground: hue(0x6cb6ff, 75, 12)},
		primary:    hue(0x4f9dea, 75, 12),
		secondary:  hue(0x9d7cd8, 140, 5),
		neutral:    Style{Foreground: hue(0xa3abb8, 248, 7)},
		calm:       Style{Foreground: hue(0x66707f, 242, 8)},
		store:      hue(0x3fb8af, 37, 6),
		persistent: hue(0xe07ab4, 175, 13),
		water:      hue(0xe8c95a, 221, 11),
		good:       hue(0x7bc96f, 114, 10),
		caution:    hue(0xf0a440, 215, 3),
		bad:        hue(0xf2635f, 203, 9),
		note:       hue(0x7fc7d9, 116, 14),
		series: [SeriesCount]Color{
			hue(0x4f9dea, 75, 12), hue(0xf0a440, 215, 3), hue(0x7bc96f, 114, 10), hue(0xe07ab4, 175, 13),
			hue(0x3fb8af, 37, 6), hue(0xe8c95a, 221, 11), hue(0x9d7cd8, 140, 5), hue(0xd8dce3, 253, 15),
		},
		ramps: [RampCount][RampSteps]Color{
			Heat: ramp(
				[RampSteps]uint32{0x4a5a8c, 0x45719b, 0x4187ab, 0x469ba5, 0x51ad95, 0x6fbe86, 0xb2cf7b, 0xf6df70},
				[RampSteps]uint8{60, 31, 67, 72, 73, 114, 185, 227},
				[RampSteps]uint8{4, 4, 12, 6, 6, 10, 11, 11}),
			Pressure: ramp(
				[RampSteps]uint32{0x7bc96f, 0xaac966, 0xd8c95d, 0xeabe53, 0xeeaf47, 0xf09b44, 0xf17f52, 0xf2635f},
				[RampSteps]uint8{114, 149, 185, 221, 215, 209, 204, 203},
				[RampSteps]uint8{10, 10, 10, 11, 11, 3, 9, 9}),
			Age: ramp(
				[RampSteps]uint32{0xc8f0ff, 0xa1d7ff, 0x79beff, 0x71a0f2, 0x7880dd, 0x7a68c3, 0x73619e, 0x6b5a78},
				[RampSteps]uint8{195, 153, 117, 75, 104, 98, 61, 60},
				[RampSteps]uint8{15, 14, 14, 12, 12, 13, 5, 5}),
			Change: ramp(
				[RampSteps]uint32{0x4f9dea, 0x609ad5, 0x7197c0, 0x8294ab, 0x999593, 0xb69a77, 0xd39f5c, 0xf0a440},
				[RampSteps]uint8{75, 74, 67, 103, 246, 137, 179, 215},
				[RampSteps]uint8{12, 12, 6, 7, 7, 3, 3, 11}),
		},
	}
}

func darkTheme() Theme { return darkScheme().build("dark", true) }

func lightTheme() Theme {
	return scheme{
		background: hue(0xfbfbf8, 231, 15),
		text:       Style{Foreground: hue(0x22262e, 235, 0)},
		dim:        Style{Foreground: hue(0x5f6773, 241, 8)},
		faint:      Style{Foreground: hue(0x9aa3af, 247, 7)},
		accent:     Style{Foreground: hue(0x0b5cad, 25, 4)},
		primary:    hue(0x1f6fc4, 26, 4),
		secondary:  hue(0x7b4fbf, 98, 5),
		neutral:    Style{Foreground: hue(0x4b5563, 239, 8)},
		calm:       Style{Foreground: hue(0x7d8692, 245, 8)},
		store:      hue(0x0d7d76, 30, 6),
		persistent: hue(0xb0367f, 125, 13),
		water:      hue(0x7c6a00, 58, 3),
		good:       hue(0x1f7a2e, 22, 2),
		caution:    hue(0xb45309, 130, 3),
		bad:        hue(0xb91c1c, 124, 1),
		note:       hue(0x0e7490, 24, 6),
		series: [SeriesCount]Color{
			hue(0x1f6fc4, 26, 4), hue(0xb45309, 130, 3), hue(0x1f7a2e, 22, 2), hue(0xb0367f, 125, 13),
			hue(0x0d7d76, 30, 6), hue(0x7c6a00, 58, 1), hue(0x7b4fbf, 98, 5), hue(0x22262e, 235, 0),
		},
		ramps: [RampCount][RampSteps]Color{
			Heat: ramp(
				[RampSteps]uint32{0x9fb4c8, 0x7da4c1, 0x5a94ba, 0x4186a6, 0x2d788a, 0x216574, 0x284867, 0x2f2a5a},
				[RampSteps]uint8{152, 110, 67, 31, 25, 23, 18, 17},
				[RampSteps]uint8{7, 7, 14, 6, 6, 12, 4, 4}),
			Pressure: ramp(
				[RampSteps]uint32{0x1f7a2e, 0x47731a, 0x6f6c07, 0x8c6303, 0xa45a06, 0xb54b0c, 0xb73414, 0xb91c1c},
				[RampSteps]uint8{22, 28, 58, 94, 130, 166, 160, 124},
				[RampSteps]uint8{2, 2, 2, 3, 3, 3, 1, 1}),
			Age: ramp(
				[RampSteps]uint32{0x0b5cad, 0x2d56b5, 0x4f51bc, 0x6354b1, 0x725a9d, 0x79628d, 0x726a86, 0x6b7280},
				[RampSteps]uint8{25, 26, 62, 61, 97, 96, 60, 243},
				[RampSteps]uint8{4, 4, 12, 12, 5, 5, 8, 8}),
			Change: ramp(
				[RampSteps]uint32{0x1f6fc4, 0x3570b1, 0x4a719d, 0x60728a, 0x756e6f, 0x8a654d, 0x9f5c2b, 0xb45309},
				[RampSteps]uint8{26, 25, 67, 66, 242, 95, 94, 130},
				[RampSteps]uint8{4, 4, 6, 8, 8, 3, 3, 1}),
		},
	}.build("light", false)
}

// highContrastTheme keeps every text at 7:1 or more on black.
func highContrastTheme() Theme {
	s := darkScheme()
	s.background = hue(0x000000, 16, 0)
	s.text = Style{Foreground: hue(0xffffff, 231, 15)}
	s.dim = Style{Foreground: hue(0xd0d0d0, 252, 7)}
	s.faint = Style{Foreground: hue(0xffffff, 231, 15)}
	s.accent = Style{Foreground: hue(0x5fd7ff, 81, 14)}
	s.primary, s.secondary = hue(0x5fafff, 75, 12), hue(0xd7afff, 183, 5)
	s.neutral = Style{Foreground: hue(0xbcbcbc, 250, 7)}
	s.calm = Style{Foreground: hue(0xe4e4e4, 254, 7)}
	s.store, s.persistent, s.water = hue(0x5fffd7, 86, 14), hue(0xff87d7, 212, 13), hue(0xffff5f, 227, 11)
	s.good, s.caution, s.bad = hue(0x5fff5f, 83, 10), hue(0xffd75f, 221, 11), hue(0xff8787, 210, 9)
	s.note = hue(0x87ffff, 123, 14)
	s.series = [SeriesCount]Color{
		hue(0x5fafff, 75, 12), hue(0xffd75f, 221, 11), hue(0x5fff5f, 83, 10), hue(0xff87d7, 212, 13),
		hue(0x5fffd7, 86, 14), hue(0xff8787, 210, 9), hue(0xd7afff, 183, 5), hue(0xffffff, 231, 15),
	}
	s.ramps[Heat] = ramp(
		[RampSteps]uint32{0x6f97e7, 0x5fa9e8, 0x5fccf9, 0x76e2e8, 0x98f4c6, 0xbaffba, 0xddffdd, 0xffffff},
		[RampSteps]uint8{69, 75, 81, 123, 158, 194, 230, 231},
		[RampSteps]uint8{12, 12, 14, 14, 10, 10, 15, 15})
	s.ramps[Pressure] = ramp(
		[RampSteps]uint32{0x5fff5f, 0xa4ff5f, 0xe8ff5f, 0xfff45f, 0xffe25f, 0xffcc65, 0xffa976, 0xff8787},
		[RampSteps]uint8{83, 155, 191, 227, 221, 222, 216, 210},
		[RampSteps]uint8{10, 10, 10, 11, 11, 11, 9, 9})
	s.ramps[Age] = ramp(
		[RampSteps]uint32{0xffffff, 0xddf5ff, 0xbbeaff, 0x9fd5ff, 0xa0c0ff, 0xb7b0ff, 0xd0a8f0, 0xe0a0d8},
		[RampSteps]uint8{231, 195, 159, 117, 111, 147, 177, 176},
		[RampSteps]uint8{15, 15, 14, 14, 14, 13, 13, 13})
	return s.build("high-contrast", true)
}

// deuteranopiaTheme tells states apart by blue, yellow and orange and by
// lightness, for eyes that confuse red with green (protanopes too).
func deuteranopiaTheme() Theme {
	s := darkScheme()
	s.secondary = hue(0xd4d4e4, 253, 7)
	s.store, s.persistent, s.water = hue(0xe69f00, 214, 3), hue(0xe69f00, 214, 3), hue(0xf6ea70, 227, 11)
	s.good, s.caution, s.bad = hue(0x56b4e9, 74, 12), hue(0xf6ea70, 227, 11), hue(0xe8702a, 166, 9)
	s.note = hue(0xb8c4d0, 251, 7)
	s.series = [SeriesCount]Color{
		hue(0x4f9dea, 75, 12), hue(0xe69f00, 214, 3), hue(0xf6ea70, 227, 11), hue(0xc8c8d8, 252, 7),
		hue(0x3a66b0, 61, 4), hue(0xa05a18, 130, 1), hue(0x8b93a1, 246, 8), hue(0xffffff, 231, 15),
	}
	s.ramps[Pressure] = ramp(
		[RampSteps]uint32{0x56b4e9, 0x80bbde, 0xaac2d4, 0xc8cda7, 0xe0db6b, 0xefd33f, 0xeba234, 0xe8702a},
		[RampSteps]uint8{74, 110, 250, 187, 185, 221, 172, 166},
		[RampSteps]uint8{12, 12, 12, 11, 11, 11, 9, 9})
	s.ramps[Change] = ramp(
		[RampSteps]uint32{0x4f9dea, 0x609ad5, 0x7197c0, 0x8294ab, 0x98958a, 0xb2985c, 0xcc9c2e, 0xe69f00},
		[RampSteps]uint8{75, 74, 67, 103, 246, 137, 178, 214},
		[RampSteps]uint8{12, 12, 6, 7, 7, 3, 3, 11})
	return s.build("deuteranopia", true)
}

// tritanopiaTheme tells states apart by teal and red and by lightness, for
// eyes that confuse blue with green and yellow with violet.
func tritanopiaTheme() Theme {
	s := darkScheme()
	s.accent = Style{Foreground: hue(0x4fd0dc, 80, 14)}
	s.primary, s.secondary = hue(0x35b5c9, 38, 6), hue(0xc8607a, 168, 5)
	s.store, s.persistent, s.water = hue(0xf2b0ba, 217, 13), hue(0xf0646e, 203, 9), hue(0xf8ecee, 255, 15)
	s.good, s.caution, s.bad = hue(0x2fa893, 36, 6), hue(0xf6ccd4, 224, 13), hue(0xf0464e, 203, 9)
	s.note = hue(0xa8b4c0, 249, 7)
	s.series = [SeriesCount]Color{
		hue(0x35b5c9, 38, 6), hue(0xf0646e, 203, 9), hue(0xf8ecee, 255, 15), hue(0x9c3a52, 125, 5),
		hue(0x8adbe8, 116, 14), hue(0xf2b0ba, 217, 13), hue(0x8b93a1, 246, 8), hue(0x1f7684, 30, 4),
	}
	s.ramps[Heat] = ramp(
		[RampSteps]uint32{0x7a3a4c, 0x9c4358, 0xc04e62, 0xdc6470, 0xee8088, 0xf4a2a8, 0xf8c6ca, 0xfcecee},
		[RampSteps]uint8{95, 131, 167, 168, 210, 217, 224, 231},
		[RampSteps]uint8{5, 5, 1, 9, 9, 13, 7, 15})
	s.ramps[Pressure] = ramp(
		[RampSteps]uint32{0x2fa893, 0x68cab7, 0x98d1c7, 0xbdcbc9, 0xdbbfc3, 0xf0a6b0, 0xf0767f, 0xf0464e},
		[RampSteps]uint8{36, 79, 116, 251, 181, 217, 210, 203},
		[RampSteps]uint8{6, 6, 6, 7, 7, 13, 9, 9})
	s.ramps[Change] = ramp(
		[RampSteps]uint32{0x35b5c9, 0x4eabbe, 0x66a2b2, 0x7f98a7, 0x998c9a, 0xb67f8b, 0xd3717d, 0xf0646e},
		[RampSteps]uint8{38, 73, 109, 247, 245, 138, 168, 203},
		[RampSteps]uint8{6, 6, 6, 7, 7, 13, 9, 9})
	return s.build("tritanopia", true)
}

// monoTheme has no colours in any profile: weight, lines and reverse video
// only, for paper-like screens and for those who like it quiet.
func monoTheme() Theme {
	faint := Style{Attr: Faint}
	theme := scheme{dim: faint, faint: faint, neutral: faint, calm: faint}.build("mono", false)
	for _, role := range []Role{Used, Allocated, Forward, Live, Active, Peak, HighWater, OK} {
		theme.Roles[role].Attr |= Bold
	}
	theme.Roles[Reverse].Attr |= Underline
	theme.Roles[Error].Attr |= Inverse
	theme.Roles[Abandoned].Attr |= Underline
	return theme
}
