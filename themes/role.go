// Package themes holds what the screen looks like and nothing of what it
// shows: semantic colours, ramps for every colour profile, and glyph tables.
//
// A pane asks for a Role ("free", "warning"), never for a colour. A Theme says
// what each Role looks like in each Profile. No state is told apart by its hue
// alone: fills and marks differ in shape too, see Glyphs.
package themes

// Role is the meaning of a piece of the screen. A Theme gives each Role a
// Style.
type Role uint8

// The roles. Their order is that of the style numbers of the cell grid; new
// ones go before the series.
const (
	Text          Role = iota // plain text; style 0, what a blank cell has
	Dim                       // text of less weight: units, labels, what is unknown
	Accent                    // a thing to look at: the value that a pane is about
	Title                     // the title of a pane
	TitleFocused              // the title of the pane that has the keys
	Border                    // the frame of a pane
	BorderFocused             // the frame of the pane that has the keys
	BorderArmed               // the frame of a dialog that is about to act on a process
	Header                    // the first line of the screen
	Footer                    // the line of key hints
	Key                       // a key in a hint
	KeyOff                    // a key that is refused now (read-only, nothing reachable)
	Selection                 // the selected row
	Cursor                    // the cursor of a chart or a block map
	Match                     // the part of a name that a filter matched
	Guide                     // the lines of a tree, the grid of a chart
	Axis                      // axes and their labels
	Button                    // a button of a dialog
	ButtonFocused             // the button that enter presses

	Used        // device memory of the watched process
	Others      // device memory of other processes
	Driver      // device memory that the driver keeps for itself
	Free        // free memory, of a device, a pool or an arena
	Total       // a total: of a device, or the total column of scopes
	Unaccounted // what the driver counts and no allocator admits to
	Gate        // the marks of the 15 % and 20 % gates
	Reserved    // an allocator's bytes taken from the driver
	Allocated   // bytes in blocks handed out
	Active      // handed out, or waiting on a stream
	Pending     // freed, and waiting on a stream
	Releasable  // segments that are wholly free
	Arena       // memory inside an arena
	Forward     // the forward (temporary) side of an arena
	Reverse     // the reverse (persistent) side of an arena
	HighWater   // the simultaneous maximum of both sides
	Mark        // a saved pointer
	Live        // live now
	Self        // bytes allocated by a scope itself over its life
	Peak        // a peak
	Abandoned   // a scope that was open when its arena was reset

	OK      // it worked; it runs
	Info    // a remark
	Warning // under pressure; not what was asked
	Error   // it failed; out of memory
	Stale   // a reading that is old, a source that is silent

	Series0 // the first of eight colours without a meaning of their own
	Series1
	Series2
	Series3
	Series4
	Series5
	Series6
	Series7

	// RoleCount is the number of roles.
	RoleCount = int(iota)
)

// SeriesCount is how many Series roles there are; number n is Series0 + n.
const SeriesCount = 8

// roleNames are the names in theme files, in the order of the constants.
var roleNames = [RoleCount]string{
	"text", "dim", "accent", "title", "title_focused", "border", "border_focused", "border_armed",
	"header", "footer", "key", "key_off", "selection", "cursor", "match", "guide", "axis",
	"button", "button_focused",
	"used", "others", "driver", "free", "total", "unaccounted", "gate", "reserved", "allocated",
	"active", "pending", "releasable", "arena", "forward", "reverse", "high_water", "mark",
	"live", "self", "peak", "abandoned",
	"ok", "info", "warning", "error", "stale",
	"series0", "series1", "series2", "series3", "series4", "series5", "series6", "series7",
}

// String is the role's name in a theme file, such as "high_water"; "" for a
// number that is no role.
func (r Role) String() string {
	if int(r) < RoleCount {
		return roleNames[r]
	}
	return ""
}

// RoleByName finds a role by its name in a theme file.
func RoleByName(name string) (Role, bool) {
	for i, known := range roleNames {
		if known == name {
			return Role(i), true
		}
	}
	return 0, false
}
