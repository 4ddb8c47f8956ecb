package themes

// Glyphs is the table of every character that the program draws with. Each
// is one column wide in wcwidth and outside emoji; text of others (names,
// messages) is not its concern.
//
// Within a group, every glyph differs from the others by its shape, so that
// nothing depends on colour: the fills of a stacked bar, the states of a
// source, the marks of a timeline, the states of a block.
type Glyphs struct {
	Name    string // "unicode" or "ascii"
	Unicode bool   // text outside ASCII may be drawn
	Braille bool   // charts draw with the 2×4 dots of U+2800 to U+28FF; otherwise with Lines and Fills

	// Borders is indexed by the arms of a line in a cell, see ArmUp: the sum
	// of two frames that meet is the glyph of their joint.
	Borders [16]rune

	Left  [9]rune // a cell filled from the left by 0 to 8 eighths
	Lower [9]rune // a cell filled from below by 0 to 8 eighths
	Fills [4]rune // a cell filled all over: FillSolid, FillDense, FillMedium, FillLight
	Lines [4]rune // points of a line chart without braille, one for each series

	CapLeft   rune // the left edge of a bar
	CapRight  rune // its right edge
	HalfRight rune // a cell filled in its right half
	Empty     rune // nothing here: free in a bar
	Gate      rune // a limit in a bar
	HighWater rune // a maximum in a bar
	Mark      rune // points at a place in the bar above
	Baseline  rune // the horizontal line of a limit in a chart

	Selected   rune // beside the selected row
	SortUp     rune // the column sorts from small to large
	SortDown   rune // the column sorts from large to small
	NodeOpen   rune // a node whose children are shown
	NodeClosed rune // a node whose children are hidden
	NodeLeaf   rune // a node without children
	Abandoned  rune // a scope that was open when its arena was reset

	SourceLive    rune // records arrive
	SourcePaused  rune // the screen stands still, records arrive
	SourceStale   rune // no record for a while
	SourceEnded   rune // it said goodbye, or the file is at its end
	SourceLost    rune // it went away without a word
	SourceRefused rune // it does not let us in

	EventOOM     rune // an allocation failed
	EventRebuild rune // the pool was torn down and built again
	EventReclaim rune // memory was given back
	EventAction  rune // another command was carried out
	EventNote    rune // a remark
	EventLost    rune // records were dropped
	EventError   rune // something failed
	EventFrame   rune // a frame begins

	BlockFree       rune // nothing allocated in this cell's addresses
	BlockSparse     rune // under half allocated
	BlockDense      rune // half or more, not all
	BlockFull       rune // all allocated
	BlockPending    rune // freed and waiting on a stream
	BlockReleasable rune // in a segment that is wholly free
	BlockUnmapped   rune // addresses of no segment

	StatusOK      rune // done
	StatusInfo    rune // a remark
	StatusWarning rune // not what was asked
	StatusError   rune // failed
	StatusBusy    rune // under way

	DotFull     rune // one of a count that is used up
	DotEmpty    rune // one of a count that is left
	Thumb       rune // the moving part of a scrollbar
	Track       rune // the rest of a scrollbar
	Arrow       rune // from before to after
	Path        rune // between the parts of a path
	Times       rune // a multiplication
	Ellipsis    rune // something was cut here
	Unknown     rune // a number that is not known
	Separator   rune // between two remarks on one line
	LegendLine  rune // a series drawn as a line
	LegendDots  rune // a series drawn as a dotted line
	CursorLine  rune // the vertical line of a chart's cursor
	AxisTick    rune // the axis at a labelled value
	AxisLine    rune // the axis between labels
	ColumnRule  rune // between two columns of a table
	Pointer     rune // points at the thing behind it: the button that enter presses
	TreeTee     rune // before a child with siblings further down
	TreeCorner  rune // before the last child
	TreeLine    rune // past the children of an ancestor with siblings further down
	ButtonLeft  rune // opens a button
	ButtonRight rune // closes a button
}

// The arms of a line in a cell. A joint is the sum of its arms: a corner at
// the top left is ArmRight|ArmDown.
const (
	ArmUp    = 1
	ArmRight = 2
	ArmDown  = 4
	ArmLeft  = 8
)

// The fills of Glyphs.Fills, from the darkest.
const (
	FillSolid = iota
	FillDense
	FillMedium
	FillLight
)

// UnicodeGlyphs is the table for terminals that show box drawing, block
// elements and braille.
func UnicodeGlyphs() *Glyphs {
	return &Glyphs{
		Name: "unicode", Unicode: true, Braille: true,
		Borders: [16]rune{
			' ', '╵', '╶', '└', '╷', '│', '┌', '├', '╴', '┘', '─', '┴', '┐', '┤', '┬', '┼',
		},
		Left:  [9]rune{' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'},
		Lower: [9]rune{' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'},
		Fills: [4]rune{'█', '▓', '▒', '░'},
		Lines: [4]rune{'•', '+', '×', '∘'},

		CapLeft: '▕', CapRight: '▏', HalfRight: '▐', Empty: '·', Gate: '╎', HighWater: '┊', Mark: '▴', Baseline: '╌',

		Selected: '▌', SortUp: '▴', SortDown: '▾',
		NodeOpen: '▾', NodeClosed: '▸', NodeLeaf: ' ', Abandoned: '✗',

		SourceLive: '●', SourcePaused: '‖', SourceStale: '◌', SourceEnded: '○', SourceLost: '✗', SourceRefused: '⊘',

		EventOOM: '✗', EventRebuild: '⟲', EventReclaim: '▿', EventAction: '▹', EventNote: '◇', EventLost: '≋',
		EventError: '!', EventFrame: '┆',

		BlockFree: '·', BlockSparse: '░', BlockDense: '▓', BlockFull: '█', BlockPending: '▚', BlockReleasable: '□',
		BlockUnmapped: ' ',

		StatusOK: '✓', StatusInfo: '◇', StatusWarning: '!', StatusError: '✗', StatusBusy: '…',

		DotFull: '●', DotEmpty: '○', Thumb: '█', Track: '│', Arrow: '→', Path: '›', Times: '×',
		Ellipsis: '…', Unknown: '–', Separator: '·', LegendLine: '─', LegendDots: '┄',
		CursorLine: '│', AxisTick: '┤', AxisLine: '│', ColumnRule: '│', Pointer: '▸', TreeTee: '├', TreeCorner: '└', TreeLine: '│', ButtonLeft: '[', ButtonRight: ']',
	}
}

// ASCIIGlyphs is the table for terminals and readers that show nothing else.
func ASCIIGlyphs() *Glyphs {
	return &Glyphs{
		Name: "ascii",
		Borders: [16]rune{
			' ', '|', '-', '+', '|', '|', '+', '+', '-', '+', '-', '+', '+', '+', '+', '+',
		},
		Left:  [9]rune{' ', ' ', '.', '.', '-', '-', '=', '=', '#'},
		Lower: [9]rune{' ', '.', ':', '-', '=', '+', '*', '%', '#'},
		Fills: [4]rune{'#', '%', '=', '.'},
		Lines: [4]rune{'*', '+', 'x', 'o'},

		CapLeft: '[', CapRight: ']', HalfRight: '=', Empty: '.', Gate: ':', HighWater: '|', Mark: '^', Baseline: '-',

		Selected: '>', SortUp: '^', SortDown: 'v',
		NodeOpen: '-', NodeClosed: '+', NodeLeaf: ' ', Abandoned: 'x',

		SourceLive: '*', SourcePaused: '=', SourceStale: '~', SourceEnded: 'o', SourceLost: 'x', SourceRefused: '0',

		EventOOM: 'X', EventRebuild: '@', EventReclaim: 'v', EventAction: '>', EventNote: 'i', EventLost: '~',
		EventError: '!', EventFrame: '\'',

		BlockFree: '.', BlockSparse: '-', BlockDense: '=', BlockFull: '#', BlockPending: 'p', BlockReleasable: 'o',
		BlockUnmapped: ' ',

		StatusOK: '+', StatusInfo: 'i', StatusWarning: '!', StatusError: 'x', StatusBusy: '~',

		DotFull: '*', DotEmpty: 'o', Thumb: '#', Track: '|', Arrow: '>', Path: '>', Times: 'x',
		Ellipsis: '~', Unknown: '-', Separator: '|', LegendLine: '-', LegendDots: '.',
		CursorLine: '|', AxisTick: '+', AxisLine: '|', ColumnRule: '|', Pointer: '>', TreeTee: '|', TreeCorner: '`', TreeLine: '|', ButtonLeft: '[', ButtonRight: ']',
	}
}
