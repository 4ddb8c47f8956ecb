package ui

import (
	"path/filepath"

	"vramscope/model"
)

// recordings are the recordings that are open: two of one program are told apart
// by their files alone.
type recordings struct {
	snapshot *model.Snapshot
	paths    []string
	alike    bool // two of them have one name, in folders that differ
}

// recordingsOf are the recordings of a snapshot.
func recordingsOf(snapshot *model.Snapshot) (r recordings) {
	r.update(snapshot)
	return r
}

// update finds the recordings of a snapshot, once.
func (r *recordings) update(snapshot *model.Snapshot) {
	if r.snapshot == snapshot {
		return
	}
	r.snapshot, r.paths, r.alike = snapshot, r.paths[:0], false
	names := map[string]bool{}
	for _, view := range snapshot.Sources {
		last := len(r.paths) - 1
		if !isRecording(view) || last >= 0 && r.paths[last] == view.File { // the views of a file stand together
			continue
		}
		r.paths = append(r.paths, view.File)
		name := filepath.Base(view.File)
		r.alike = r.alike || names[name]
		names[name] = true
	}
}

// several says whether more than one recording is open.
func (r *recordings) several() bool { return len(r.paths) > 1 }

// name is what to call the file of a view: without its folder, unless another one
// has that name too.
func (r *recordings) name(view *model.SourceView) string {
	if r.alike {
		return view.File
	}
	return filepath.Base(view.File)
}

// isRecording says whether a view is of a recording: a file of records, and no
// memory dump or calibration file, which are called by their files anyway.
func isRecording(view *model.SourceView) bool {
	return view.File != "" && !isDump(view) && !isCosts(view)
}
