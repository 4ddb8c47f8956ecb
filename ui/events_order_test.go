package ui

import (
	"slices"
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// eventsOf are the texts of the Events view from the top, without the rest of
// their lines.
func eventsOf(d *Dashboard) (texts []string) {
	for _, entry := range d.panes[layout.EventsPane].(*eventsPane).rows.entries {
		texts = append(texts, entry.Text)
	}
	return texts
}

// tellNight folds a recording of a program that began its clock at one
// nanosecond and says a word every ten seconds from a moment in Unix ns on.
func tellNight(t testing.TB, store *model.Store, file string, wall int64, words ...string) {
	t.Helper()
	id := "file:" + file
	store.Add(model.SourceInfo{ID: id, File: file})
	records := []recorder.Record{&recorder.Hello{Head: recorder.Head{Src: "pid:7-7", Ns: 1}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol,
		Kind: recorder.KindProcess, Name: "render.py", PID: 7, Wall: wall}}
	for i, word := range words {
		records = append(records, &recorder.Note{Head: recorder.Head{Src: "pid:7-7", Ns: 1 + int64(i)*10_000_000_000}, Text: word})
	}
	for _, record := range records {
		if err := store.Fold(id, record); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEventsOfSeveralRecordingsAreInOrderOfTime: whatever the order in which the
// files are named, and although each has a clock of its own.
func TestEventsOfSeveralRecordingsAreInOrderOfTime(t *testing.T) {
	nights := map[string]func(*model.Store){
		"a": func(s *model.Store) { tellNight(t, s, "/r/first.vscope", fixtureWall, "one", "three") },
		"b": func(s *model.Store) { tellNight(t, s, "/r/second.vscope", fixtureWall+5_000_000_000, "two", "four") },
	}
	for _, order := range []string{"ab", "ba"} {
		store := model.NewStore(model.Options{})
		for _, night := range strings.Split(order, "") {
			nights[night](store)
		}
		// It is opened much later, on a machine whose clock stands elsewhere.
		snapshot := func() *model.Snapshot { return store.Snapshot(77, fixtureWall+3_600_000_000_000) }
		d := newScreen(t, snapshot(), layout.Events, 120, 32)
		if got := eventsOf(d); !slices.Equal(got, []string{"one", "two", "three", "four"}) {
			t.Fatalf("%s: %v", order, got)
		}
		text := paneText(t, d, layout.EventsPane)
		for i, seconds := range []int64{0, 5, 10, 15} {
			if line := strings.Split(text, "\n")[i+1]; !strings.Contains(line, clockTime(fixtureWall+seconds*1_000_000_000)) {
				t.Errorf("%s: line %d is %q", order, i, line)
			}
		}
		pane := d.panes[layout.EventsPane].(*eventsPane)
		if pane.table.Selected != 3 {
			t.Errorf("%s: the cursor begins at %d", order, pane.table.Selected)
		}
		// A third one, of the middle: what is chosen stays chosen.
		press(d, "up")
		tellNight(t, store, "/r/third.vscope", fixtureWall+7_000_000_000, "two and a half")
		d.show(snapshot())
		if got := eventsOf(d); !slices.Equal(got, []string{"one", "two", "two and a half", "three", "four"}) {
			t.Errorf("%s: with a third %v", order, got)
		}
		if at := pane.rows.entries[pane.table.Selected].Text; at != "three" {
			t.Errorf("%s: the cursor went to %q", order, at)
		}
		press(d, "/", "f", "o", "u")
		if at := pane.rows.entries[pane.table.Selected].Text; at != "four" || len(pane.rows.entries) != 1 {
			t.Errorf("%s: of %v the cursor is at %q", order, eventsOf(d), at)
		}
	}
}
