package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/ui/layout"
)

// TestRecordingsOfOneProgramAreToldApart: in the list of sources and in the header
// by their files, with the folders where the files have one name.
func TestRecordingsOfOneProgramAreToldApart(t *testing.T) {
	for name, test := range map[string]struct{ files, names []string }{
		"two names": {[]string{"/r/a/first.vscope", "/r/b/second.vscope.zst"}, []string{"first.vscope", "second.vscope.zst"}},
		"one name":  {[]string{"/r/a/run.vscope", "/r/b/run.vscope"}, []string{"/r/a/run.vscope", "/r/b/run.vscope"}},
	} {
		store := model.NewStore(model.Options{})
		for _, file := range test.files {
			tellNight(t, store, file, fixtureWall, "begun")
		}
		d := newScreen(t, store.Snapshot(1, fixtureWall), layout.Overview, 120, 32)
		for i, file := range test.names {
			d.choose("file:" + test.files[i])
			d.drawFrame()
			if header := headerText(d); !strings.Contains(header, "render.py 7 "+string(d.grid.All().Glyphs().Separator)+" "+file) {
				t.Errorf("%s: the header is %q", name, header)
			}
			press(d, "c")
			if text := chooserText(d); !strings.Contains(text, "Recording "+file+" \nrender.py 7 ") {
				t.Errorf("%s: the sources are\n%s", name, text)
			}
			press(d, "esc")
		}
	}
	// One alone needs no more room in the header.
	store := model.NewStore(model.Options{})
	tellNight(t, store, "/r/a/first.vscope", fixtureWall, "begun")
	d := newScreen(t, store.Snapshot(1, fixtureWall), layout.Overview, 120, 32)
	if header := headerText(d); strings.Contains(header, "first") {
		t.Errorf("the header is %q", header)
	}
	press(d, "c")
	if text := chooserText(d); !strings.HasPrefix(text, "Recording first.vscope \n") {
		t.Errorf("the sources are\n%s", text)
	}
}
