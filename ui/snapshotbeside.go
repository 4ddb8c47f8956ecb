package ui

import (
	"path/filepath"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
)

// What a failed allocation says of the snapshot that the program wrote then.
const snapshotWritten = "a snapshot was written: "

// snapshotsOf are the paths of the snapshots that a program wrote, as it tells
// them: those of its failed allocations, and then those that it was asked for.
func snapshotsOf(view *model.SourceView) (paths []string) {
	for _, oom := range view.OOMs {
		if _, path, written := strings.Cut(oom.Outcome, snapshotWritten); written {
			paths = append(paths, path)
		}
	}
	for i := range view.Actions {
		if a := &view.Actions[i]; a.Command.Name == recorder.CommandSnapshot && a.Final != nil && a.Final.State == recorder.AckDone && a.Final.Path != "" {
			paths = append(paths, a.Final.Path)
		}
	}
	return paths
}

// snapshotBeside is the newest snapshot of a program that is open beside it, nil
// where none is.
func snapshotBeside(snapshot *model.Snapshot, view *model.SourceView) *model.SourceView {
	paths := snapshotsOf(view)
	for i := len(paths) - 1; i >= 0; i-- {
		for _, other := range snapshot.Sources {
			if isDump(other) && isFileOf(other.File, paths[i], view.File) {
				return other
			}
		}
	}
	return nil
}

// isFileOf says whether an open file is the one that was written at a path. It
// may have been copied to another place, together with the recording that tells
// of it.
func isFileOf(open, written, recording string) bool {
	if filepath.Base(open) != filepath.Base(written) {
		return false
	}
	if recording != "" && filepath.Dir(open) == filepath.Dir(recording) {
		return true
	}
	whole, err := filepath.Abs(open)
	return err == nil && whole == filepath.Clean(written)
}

// whySnapshot says where the blocks of a process are whose allocators tell
// counters alone; "" where there is no such process.
func whySnapshot(s *scene) string {
	if poolSet(s.view, nil) == nil {
		return ""
	}
	text := "Its allocators tell counters alone"
	if s.view.File != "" {
		text = "Its allocators told counters alone"
	}
	if open := snapshotBeside(s.snapshot, s.newest); open != nil {
		way := "c lists it, "
		if s.offered == open.ID {
			way = "c Enter goes there, to "
		}
		return text + ". A snapshot of this program is open beside: " + way + filepath.Base(open.File) + "."
	}
	text += ": their blocks are in a snapshot"
	if paths := snapshotsOf(s.newest); len(paths) > 0 {
		return text + ". It wrote one: `:open " + paths[len(paths)-1] + "`, then c Enter goes there."
	}
	switch {
	case s.view.File != "":
		return text + ", and the recording names none that was written. `:open FILE` opens one beside, and c lists it."
	case model.Obeys(s.view, recorder.CommandSnapshot):
		return text + ". `:snapshot` has torch write one and opens it beside, then c Enter goes there."
	}
	why := "the program does not obey it"
	if s.view.Hello != nil && s.view.Hello.Refuses[recorder.CommandSnapshot] != "" {
		why = s.view.Hello.Refuses[recorder.CommandSnapshot]
	}
	return text + ", and `:snapshot` is refused: " + why + "."
}

// offer is the source that c selects first, "" for the one that is looked at. Of a
// program whose blocks are in a snapshot alone it is that snapshot.
func (d *Dashboard) offer() string {
	if d.snapshot.Find(d.offered) != nil {
		return d.offered
	}
	if view := d.scene.newest; view != nil && len(view.Pools) == 0 && poolSet(view, nil) != nil {
		if open := snapshotBeside(d.snapshot, view); open != nil {
			return open.ID
		}
	}
	return ""
}
