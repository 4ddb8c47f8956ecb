package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/layout"
)

// fixtureFeed is a feed whose snapshot a test sets. It keeps what it was asked.
type fixtureFeed struct {
	newest    *model.Snapshot
	wake      chan struct{}
	sent      []*recorder.Command
	recording string
	interest  Interest
	closed    string
	opened    []string
	refuses   error // what Open answers
}

func (f *fixtureFeed) Snapshot() *model.Snapshot { return f.newest }
func (f *fixtureFeed) Wake() <-chan struct{}     { return f.wake }
func (f *fixtureFeed) Recording() string         { return f.recording }
func (f *fixtureFeed) Show(interest Interest)    { f.interest = interest }

func (f *fixtureFeed) Open(path string) error {
	f.opened = append(f.opened, path)
	return f.refuses
}

func (f *fixtureFeed) Close(source string) error {
	f.closed = source
	return nil
}

func (f *fixtureFeed) Send(_ string, command *recorder.Command) error {
	f.sent = append(f.sent, command)
	return nil
}

func (f *fixtureFeed) Record(_ []string, start bool) (string, error) {
	path := f.recording
	if f.recording = ""; start {
		path, f.recording = "/tmp/render.vscope", "/tmp/render.vscope"
	}
	return path, nil
}

// newScreen is a dashboard on a snapshot, in a terminal of the given size, as it
// is after its first frame.
func newScreen(t testing.TB, snapshot *model.Snapshot, view layout.View, width, height int) *Dashboard {
	t.Helper()
	options := Options{Profile: themes.NoColor, View: strings.ToLower(layout.ViewNames()[view])}
	d := newDashboard(&fixtureFeed{newest: snapshot, wake: make(chan struct{})}, options)
	d.message = message{} // the log's, which is not what these tests are about
	d.Update(tea.WindowSizeMsg{Width: width, Height: height})
	d.drawFrame()
	return d
}

// show gives the dashboard another snapshot, as it comes from the feed.
func (d *Dashboard) show(snapshot *model.Snapshot) {
	d.feed.(*fixtureFeed).newest = snapshot
	d.takeData()
	d.message = message{}
	d.drawFrame()
}

// press presses keys by their names in the keymap and draws after each.
func press(d *Dashboard, names ...string) {
	for _, name := range names {
		d.Update(keyOf(name))
		d.drawFrame()
	}
}

// keyOf is the key press of a name.
func keyOf(name string) tea.KeyPressMsg {
	special := map[string]tea.Key{
		"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
		"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "space": {Code: tea.KeySpace, Text: " "}, "tab": {Code: tea.KeyTab},
		"backspace": {Code: tea.KeyBackspace},
	}
	if key, ok := special[name]; ok {
		return tea.KeyPressMsg(key)
	}
	return tea.KeyPressMsg(tea.Key{Code: []rune(name)[0], Text: name})
}

// typeIn presses the key of each character of a text, and enter.
func typeIn(d *Dashboard, text string) {
	for _, char := range text {
		press(d, string(char))
	}
	press(d, "enter")
}

// click clicks at a place of a pane's inside; y -1 is the upper side of its frame.
func clickIn(t testing.TB, d *Dashboard, pane layout.Pane, x, y int) {
	t.Helper()
	place, ok := d.layout.Find(pane)
	if !ok {
		t.Fatalf("there is no pane %s on the screen", pane)
	}
	d.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: place.Inner.X + x, Y: place.Inner.Y + y})
	d.drawFrame()
}

// paneText is what stands in a pane, its frame apart.
func paneText(t testing.TB, d *Dashboard, pane layout.Pane) string {
	t.Helper()
	d.drawFrame()
	place, ok := d.layout.Find(pane)
	if !ok {
		t.Fatalf("there is no pane %s on the screen", pane)
	}
	return textIn(d.grid.All().At(place.Inner))
}

// bodyText is everything between the tabs and the lines at the bottom.
func bodyText(d *Dashboard) string {
	d.drawFrame()
	return textIn(d.grid.All().At(d.layout.Body))
}

func textIn(r grid.Region) string {
	var text strings.Builder
	for y := range r.Height() {
		var line strings.Builder
		for x := range r.Width() {
			char, _ := r.Get(x, y)
			line.WriteRune(char)
		}
		text.WriteString(strings.TrimRight(line.String(), " "))
		text.WriteByte('\n')
	}
	return text.String()
}

// updateGolden says that the golden screens are to be written anew.
var updateGolden = os.Getenv("VRAMSCOPE_UPDATE_GOLDEN") == "1"

// golden compares a screen with the one in testdata/golden.
func golden(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".txt")
	if updateGolden {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("VRAMSCOPE_UPDATE_GOLDEN=1 go test ./ui writes it: %v", err)
	}
	if got != string(want) {
		t.Errorf("%s has changed (VRAMSCOPE_UPDATE_GOLDEN=1 go test ./ui writes it anew):\n%s\nwas:\n%s", path, got, want)
	}
}

// goldenSizes are the sizes that golden screens are drawn at.
var goldenSizes = []struct {
	name          string
	width, height int
}{{"40x10", 40, 10}, {"80x24", 80, 24}, {"120x32", 120, 32}, {"200x60", 200, 60}}

// goldenView compares the body of a view at every size.
func goldenView(t *testing.T, snapshot *model.Snapshot, view layout.View, name string, keys ...string) {
	t.Helper()
	for _, size := range goldenSizes {
		t.Run(size.name, func(t *testing.T) {
			d := newScreen(t, snapshot, view, size.width, size.height)
			press(d, keys...)
			golden(t, name+"-"+size.name, bodyText(d))
		})
	}
}
