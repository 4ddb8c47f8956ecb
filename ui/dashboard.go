package ui

import (
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// Dashboard is the one Bubble Tea model. Panes are plain structs that it draws
// and hands actions to; data comes as immutable snapshots from the feed. Keys
// are drawn at once, new data at most every Options.Refresh.
type Dashboard struct {
	feed    Feed
	options Options
	clock   func() time.Time

	grid    *grid.Grid
	theme   int // index into options.Themes
	width   int
	height  int
	content string // the last frame
	stale   bool   // content must be drawn anew

	snapshot  *model.Snapshot
	dataDrawn time.Time // when data was last taken
	waiting   bool      // a tick will take the data that came too soon
	seen      uint64    // the last entry of the log that was looked at

	scene    scene
	selected string // ID of the selected source; "" is the one that was begun with
	began    string // ID of the program that was begun with, or gone on with, unasked
	chosen   bool   // the user has chosen what is looked at
	wide     bool   // keys reach all sources of the device
	moment   int64  // monotonic ns that is looked at, 0 is the newest
	axis     widget.AxisUnit
	paused   bool
	pausedAt *model.Snapshot
	baseline *baseline

	view      layout.View
	focus     map[layout.View]layout.Pane
	zoomed    bool
	panes     map[layout.Pane]pane
	dumpPanes map[layout.Pane]pane // on a memory dump
	costPanes map[layout.Pane]pane // on a calibration file
	layout    layout.Layout
	outbox    model.Outbox
	message   message

	question *question
	entry    *entryLine
	sorting  bool
	popup    *popup
	filters  []string // what was typed after /
	typed    []string // what was typed after :
	mouse    bool
	focused  bool // the terminal has the focus
	hungUp   bool
	interest Interest
	choices  choices
	sent     []sentCommand
	batch    *sentBatch      // what a key sent last, where that went to several programs
	armed    sentCommand     // that had the recorded program keep a recording of its own
	besides  besideLine      // about a recording, while it waits for an answer
	offered  string          // ID of the source that c offers first: a file just written, or what was looked at before it
	cameBack string          // ID of the run that was offered last
	aside    map[string]bool // sources that are not looked at and whose trouble was told, since another was looked at
	newcomer string          // ID of the program that was offered in place of a stand-in
	dumps    dumpWork        // what panes on a memory dump have had worked out
	later    []tea.Cmd       // what a typed command started

	hintsMade [keymap.ContextCount][]keymap.Hint
	dumpHints [keymap.ContextCount][]keymap.Hint // on a memory dump
	costHints [keymap.ContextCount][]keymap.Hint // on a calibration file

	job struct { // of the process in the header
		hello *recorder.Hello
		text  string
	}
	hintsTrue [keymap.ContextCount]keptHints // of what is looked at
}

// message is the line that stays at the bottom until another replaces it. The
// result of an action is kept: what the program does meanwhile, however loud,
// does not wipe it off; another action or esc does.
type message struct {
	kind widget.StatusKind
	text string
	wall int64 // Unix ns
	kept bool
	said bool // it answers a key: the next key takes it away, or lets go of it

	source string // ID of the source whose trouble it tells, "" where it tells something else
	until  int64  // monotonic ns until which it stands, where that source is not looked at; 0 is for good
	ended  bool   // it tells that a source broke off

	command string     // ID of the command that it waits for the answer of
	batch   *sentBatch // of which it tells, in lines
	lines   []string   // under the text
}

func newDashboard(feed Feed, options Options) *Dashboard {
	options.fill()
	d := &Dashboard{
		feed: feed, options: options, clock: time.Now,
		axis: options.Unit, mouse: options.Mouse, focused: true, selected: options.Source, chosen: options.Source != "", moment: options.At,
		focus: map[layout.View]layout.Pane{}, panes: newPanes(), dumpPanes: newDumpPanes(), costPanes: newCostPanes(), stale: true,
		outbox: model.Outbox{ReadOnly: options.ReadOnly},
	}
	d.grid = grid.New(grid.NewStyles(options.Themes[0], options.Profile), options.glyphs())
	if view, ok := viewByName(options.View); ok {
		d.view = view
	}
	d.choices.dump.begin = maps.Clone(options.Moments)
	d.choices.cost.ask(options.Sizing)
	d.choices.arena = options.Arena
	if options.AllArenas {
		d.choices.summing = sumAlways
	}
	d.takeData()
	for _, warning := range options.Warnings {
		d.say(widget.StatusWarning, warning)
	}
	return d
}

// Init starts what the first picture needs; data comes by itself.
func (d *Dashboard) Init() tea.Cmd { return d.prepare() }

// Update takes one message. It never waits for anything.
func (d *Dashboard) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var command tea.Cmd
	switch msg := msg.(type) {
	case dataMsg:
		command = d.onData()
		return d, tea.Batch(command, d.prepare())
	case reckonedMsg:
		msg()
	case refreshMsg:
		d.waiting = false
		d.takeData()
	case tea.WindowSizeMsg:
		d.width, d.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		command = d.onKey(msg)
	case tea.PasteMsg:
		if d.entry != nil {
			d.entry.paste(msg)
		}
	case tea.MouseClickMsg:
		d.onClick(msg.Mouse())
	case tea.MouseWheelMsg:
		d.onWheel(msg.Mouse())
	case tea.FocusMsg:
		d.focused = true
	case tea.BlurMsg:
		d.focused = false
	case resumedMsg, tea.ResumeMsg:
		d.takeData()
		command = tea.ClearScreen
	case hangupMsg:
		d.hungUp = true
		return d, tea.Quit
	case panicMsg:
		panic(msg.cause)
	default:
		return d, nil
	}
	d.stale = true
	d.announce()
	if work := d.prepare(); work != nil {
		d.later = append(d.later, work)
	}
	if d.later != nil {
		command, d.later = tea.Batch(append(d.later, command)...), nil
	}
	return d, command
}

// refreshMsg says that enough time has passed to draw new data.
type refreshMsg struct{}

// onData takes new data at once if the last was taken long enough ago, and
// otherwise sees to it that it is taken then.
func (d *Dashboard) onData() tea.Cmd {
	every := d.options.Refresh
	if !d.focused {
		every = max(every, time.Second)
	}
	if since := d.clock().Sub(d.dataDrawn); since >= every || d.wasRead() {
		d.takeData()
		d.stale = true
		d.announce()
		return nil
	} else if !d.waiting {
		d.waiting = true
		return tea.Tick(every-since, func(time.Time) tea.Msg { return refreshMsg{} })
	}
	return nil
}

// wasRead says that there is a first source to look at, or that the file that is
// looked at has been read to its end since data was last taken: that is not kept
// waiting.
func (d *Dashboard) wasRead() bool {
	shown := d.scene.newest
	if shown == nil {
		return len(d.feed.Snapshot().Sources) > 0
	}
	if shown.Status != model.StatusLoading {
		return false
	}
	newest := d.feed.Snapshot().Find(shown.ID)
	return newest != nil && newest.Status != model.StatusLoading
}

// refresh is how often new data is drawn: seldom while nobody looks.
func (d *Dashboard) refresh() time.Duration {
	if !d.focused {
		return max(d.options.Refresh, time.Second)
	}
	return d.options.Refresh
}

// takeData takes the newest snapshot and sets the scene.
func (d *Dashboard) takeData() {
	d.dataDrawn = d.clock()
	if newest := d.feed.Snapshot(); newest != nil {
		d.snapshot = newest
	}
	if d.snapshot == nil {
		d.snapshot = &model.Snapshot{}
	}
	d.setScene()
	d.dropAside()
	d.readLog()
	d.followCommands()
	d.goOn()
	d.offerComeback()
	d.offerNewcomer()
	d.refreshChooser()
	if d.scene.dumpOf(); d.choices.dump.refused != nil {
		d.say(widget.StatusError, d.choices.dump.refused.Error())
		d.choices.dump.refused = nil
	}
}

// setScene finds what is looked at in the snapshot that is shown.
func (d *Dashboard) setScene() {
	shown := d.snapshot
	if d.paused && d.pausedAt != nil {
		shown = d.pausedAt
	}
	s := scene{
		choices: &d.choices, dumps: &d.dumps, snapshot: shown, reserve: d.options.Reserve, axis: d.axis,
		paused: d.paused, readOnly: d.options.ReadOnly, baseline: d.baseline, files: d.scene.files,
	}
	s.files.update(shown)
	s.newest = shown.Find(d.selected)
	if s.newest == nil {
		s.newest = d.firstOf(shown)
	}
	if s.newest != nil {
		s.moment, s.view = s.newest.Now, s.newest
		if d.moment > 0 && d.moment < s.newest.Now {
			s.moment, s.past = d.moment, true
			s.view = s.newest.At(d.moment)
		}
		if !s.past && d.baseline == nil {
			d.choices.letGo(s.newest)
		}
		s.beside = shown.Beside(s.view)
		s.device = d.choices.memoryOf(s.view)
	}
	turned := d.scene.newest != nil && (s.newest == nil || s.newest.ID != d.scene.newest.ID)
	d.scene = s
	if turned {
		d.leaveAside()
		if d.popup != nil && d.popup.scene {
			d.popup = nil
		}
	}
}

// say puts a message into the line at the bottom. What went wrong with a key is
// kept like an action's result.
func (d *Dashboard) say(kind widget.StatusKind, text string) {
	d.message = message{kind: kind, text: text, wall: d.clock().UnixNano(), kept: true, said: true}
}

// announce tells the feed what is on the screen, when that has changed.
func (d *Dashboard) announce() {
	d.arrange()
	interest := Interest{
		Events: d.view != layout.Devices, Processes: d.showsProcesses(),
		Slow: d.view == layout.Devices, Focused: d.focused, Refresh: d.refresh(),
	}
	if d.scene.newest != nil {
		interest.Source = d.scene.newest.Source
	}
	if interest != d.interest {
		d.interest = interest
		d.feed.Show(interest)
	}
}

// showsProcesses says that a pane of the view tells what the driver counts to a
// process.
func (d *Dashboard) showsProcesses() bool {
	for _, pane := range [...]layout.Pane{layout.ProcessesPane, layout.HeadroomPane, layout.InsidePane, layout.AllocatorsPane} {
		if _, shown := d.layout.Find(pane); shown {
			return true
		}
	}
	return false
}

// View is the frame. It is drawn only when something has changed.
func (d *Dashboard) View() tea.View {
	if d.stale {
		d.content = d.drawFrame()
		d.stale = false
	}
	view := tea.NewView(d.content)
	view.AltScreen = true
	view.ReportFocus = true
	view.WindowTitle = d.windowTitle()
	if d.mouse {
		view.MouseMode = tea.MouseModeCellMotion
	}
	return view
}

func (d *Dashboard) windowTitle() string {
	if d.scene.view == nil {
		return "vramscope"
	}
	return "vramscope: " + grid.Sanitize(d.scene.view.Name)
}

// nextTheme shows the next theme.
func (d *Dashboard) nextTheme() {
	d.theme = (d.theme + 1) % len(d.options.Themes)
	d.look()
	d.say(widget.StatusInfo, "theme "+d.options.Themes[d.theme].Name)
}

func (d *Dashboard) look() {
	d.grid.SetLook(grid.NewStyles(d.options.Themes[d.theme], d.options.Profile), d.options.glyphs())
}

// context is who has the keys.
func (d *Dashboard) context() keymap.Context {
	switch {
	case d.question != nil:
		return keymap.Dialog
	case d.entry != nil:
		return keymap.Input
	case d.sorting:
		return keymap.Sort
	case d.popup != nil:
		return keymap.List
	}
	if p := d.focusedPane(); p != nil {
		return p.keys()
	}
	return keymap.List
}

// focusedPane is the pane that has the keys, nil where the view has none.
func (d *Dashboard) focusedPane() pane { return d.paneOf(d.focusedName()) }

// focusedName is the pane that has the keys: the one that was chosen for the
// view if it is on the screen, else the view's own.
func (d *Dashboard) focusedName() layout.Pane {
	main := mainPane[d.view]
	if _, shown := d.layout.Find(layout.AllocatorsPane); shown && d.view == layout.Pool {
		main = layout.AllocatorsPane // there is no map to walk
	}
	for _, name := range [...]layout.Pane{d.focus[d.view], main, layout.AllocatorsPane} {
		if _, shown := d.layout.Find(name); shown && name != layout.NoPane {
			return name
		}
	}
	if places := d.layout.Places(); len(places) > 0 {
		return places[0].Pane
	}
	return layout.NoPane
}

// mainPane is the pane that has the keys when a view is opened.
var mainPane = [layout.ViewCount]layout.Pane{
	layout.Overview: layout.ScopesPane, layout.Devices: layout.ProcessesPane, layout.Arena: layout.StreamPane,
	layout.Scopes: layout.ScopesPane, layout.Timeline: layout.TimelinePane, layout.Pool: layout.BlocksPane,
	layout.Events: layout.EventsPane,
}

// viewByName finds a view by its title, in any case.
func viewByName(name string) (layout.View, bool) {
	for i, known := range layout.ViewNames() {
		if strings.EqualFold(known, name) {
			return layout.View(i), true
		}
	}
	return 0, false
}
