package themes

// Attr is a set of text attributes.
type Attr uint8

// The attributes. Bold, Underline and Inverse are kept where there are no
// colours; Faint is not, for terminals disagree on it.
const (
	Bold      Attr = 1 << iota
	Faint          // less weight than plain text
	Underline      // a line below
	Inverse        // foreground and background exchanged, what terminals call reverse video

	// AttrCount is the number of attributes.
	AttrCount = 4
)

// Style is what a Role or a step of a ramp looks like.
type Style struct {
	Foreground Color
	Background Color // the zero Color takes the theme's background
	Attr       Attr
}

// RampSteps is the number of steps of every ramp.
const RampSteps = 8

// Ramp names a scale of styles from little (step 0) to much (step 7).
type Ramp uint8

// The ramps.
const (
	Heat     Ramp = iota // how much: from hardly any to the most
	Pressure             // how near to trouble: from fine over warning to error
	Age                  // how old: from new to long held
	Change               // a difference: from shrunk (0) over unchanged (3, 4) to grown (7)

	// RampCount is the number of ramps.
	RampCount = int(iota)
)

// rampNames are the names in theme files, in the order of the constants.
var rampNames = [RampCount]string{"heat", "pressure", "age", "change"}

// String is the ramp's name in a theme file; "" for a number that is none.
func (r Ramp) String() string {
	if int(r) < RampCount {
		return rampNames[r]
	}
	return ""
}

// RampByName finds a ramp by its name in a theme file.
func RampByName(name string) (Ramp, bool) {
	for i, known := range rampNames {
		if known == name {
			return Ramp(i), true
		}
	}
	return 0, false
}

// Theme says what everything looks like. It is a plain value: copy it, change
// the copy, and no other theme changes.
type Theme struct {
	Name       string
	Dark       bool  // made for a dark background; the default theme is for both
	Background Color // the zero Color leaves the terminal's own
	Roles      [RoleCount]Style
	Ramps      [RampCount][RampSteps]Style
}

// All are the themes that are built in, the default first.
func All() []Theme {
	return []Theme{
		defaultTheme(), darkTheme(), lightTheme(), highContrastTheme(),
		deuteranopiaTheme(), tritanopiaTheme(), monoTheme(),
	}
}

// Names are the names of All, in its order.
func Names() []string {
	all := All()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// ByName finds a built-in theme.
func ByName(name string) (Theme, bool) {
	for _, theme := range All() {
		if theme.Name == name {
			return theme, true
		}
	}
	return Theme{}, false
}
