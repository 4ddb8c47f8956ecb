package themes

import "fmt"

// Profile is how many colours a terminal can show.
type Profile uint8

// The profiles, in rising order.
const (
	NoColor   Profile = iota // no colour; bold, underline and reverse remain
	Ansi16                   // the 16 colours that the terminal's own palette defines
	Ansi256                  // the 256-colour palette of xterm
	TrueColor                // 24 bits

	// ProfileCount is the number of profiles.
	ProfileCount = int(iota)
)

// profileNames are what the command line takes, in the order of the constants.
var profileNames = [ProfileCount]string{"none", "16", "256", "truecolor"}

// String is the profile's name on the command line: none, 16, 256, truecolor.
func (p Profile) String() string {
	if int(p) < ProfileCount {
		return profileNames[p]
	}
	return ""
}

// ParseProfile finds a profile by its name on the command line. The error
// lists the names.
func ParseProfile(name string) (Profile, error) {
	for i, known := range profileNames {
		if known == name {
			return Profile(i), nil
		}
	}
	return NoColor, fmt.Errorf("there is no colour profile %q: give none, 16, 256 or truecolor", name)
}
