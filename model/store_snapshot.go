package model

import (
	"cmp"
	"slices"

	"vramscope/recorder"
)

// How long a live source may be silent before it is called stale: three of its
// own intervals, and at least this, in ns.
const staleSource = 2_000_000_000

// Snapshot is everything as it is now (monotonic ns, and the same moment in Unix
// ns). It is the last one again when nothing has changed since.
func (s *Store) Snapshot(now, wall int64) *Snapshot {
	s.judge(now)
	if !s.dirty {
		return s.last
	}
	snapshot := &Snapshot{Version: 1, Now: now, Wall: wall, Log: s.log.entries, Self: s.self}
	if s.last != nil {
		snapshot.Version = s.last.Version + 1
	}
	for _, source := range s.sources {
		views := s.views(source)
		slices.SortStableFunc(views, func(a, b *SourceView) int { return cmp.Compare(a.kindOrder(), b.kindOrder()) })
		snapshot.Sources = append(snapshot.Sources, views...)
	}
	slices.SortStableFunc(snapshot.Sources, func(a, b *SourceView) int { return cmp.Compare(a.group(), b.group()) })
	s.last, s.dirty = snapshot, false
	return snapshot
}

// judge finds the live sources that have been silent for too long.
func (s *Store) judge(now int64) {
	for _, source := range s.sources {
		if source.status != StatusLive || source.info.File != "" {
			continue
		}
		interval, troubled := int64(0), false
		for _, k := range source.keepers {
			troubled = troubled || k.fold.trouble != "" // it said why nothing comes
			if hello := k.fold.hello; hello != nil && hello.Hz > 0 {
				interval = max(interval, int64(3e9/max(hello.Hz, 1e-3)))
			}
		}
		if !troubled && interval > 0 && now-source.heard > max(staleSource, interval) {
			source.status = StatusStale
			source.why = "nothing came for longer than it said: the program is stopped, or in one long call"
			s.change(source)
		}
	}
}

// Changed says whether a snapshot would differ from the last one, but for
// silence.
func (s *Store) Changed() bool { return s.dirty }

// views are the views of one source; one that has not spoken yet has one that
// says so.
func (s *Store) views(source *storedSource) []*SourceView {
	if len(source.keepers) == 0 {
		view := &SourceView{ID: source.info.ID, Source: source.info.ID, Kind: source.info.Kind, Frame: -1}
		source.complete(view)
		return []*SourceView{view}
	}
	views := make([]*SourceView, len(source.keepers))
	for i, k := range source.keepers {
		fresh := k.view == nil
		views[i] = k.published()
		if fresh {
			source.complete(views[i])
		}
	}
	return views
}

// complete fills in what the records do not say.
func (s *storedSource) complete(v *SourceView) {
	v.File, v.Done, v.Size = s.info.File, s.progress.Done, s.progress.Size
	v.Own = s.info.Own
	v.DoneCount, v.LeftNs = s.progress.Count, s.progress.LeftNs
	v.Dump, v.Summary, v.Costs = s.dump, s.summary, s.costs
	v.BadLines = s.progress.Problems.BadLines + s.progress.Problems.LongLines
	v.Unread = s.progress.Problems
	v.Status, v.StatusWhy = s.status, s.why
	v.Name = cmp.Or(v.Name, s.info.Name, s.info.File)
	if s.status != StatusLive {
		return
	}
	switch {
	case v.Goodbye != nil:
		v.Status, v.StatusWhy = StatusEnded, cmp.Or(v.Goodbye.Why, "the source said goodbye")
	case v.Trouble != "" && v.Kind == recorder.KindDevice:
		v.Status, v.StatusWhy = StatusLost, v.Trouble
	case v.Trouble != "":
		v.StatusWhy = v.Trouble
	}
}

// group is where a source stands in the list.
func (v *SourceView) group() int {
	if v.File != "" {
		return 4
	}
	return v.kindOrder()
}

// kindOrder puts what people look for first: programs, then devices, then the
// host.
func (v *SourceView) kindOrder() int {
	switch v.Kind {
	case recorder.KindDevice:
		return 1
	case recorder.KindHost:
		return 2
	}
	return 0
}

// Find is the view of an ID; nil when there is none.
func (s *Snapshot) Find(id string) *SourceView {
	for _, v := range s.Sources {
		if v.ID == id {
			return v
		}
	}
	return nil
}

// Beside are the other sources of the moment that a view shows: those of the
// same recording, or the live ones. For a view of the past they are as they were
// then.
func (s *Snapshot) Beside(view *SourceView) []*SourceView {
	var beside []*SourceView
	for _, other := range s.Sources {
		if other.ID == view.ID || other.File != view.File || view.File != "" && other.Source != view.Source {
			continue
		}
		if view.Past {
			other = other.At(view.Now)
		}
		beside = append(beside, other)
	}
	return beside
}

var statusTexts = [...]string{
	"connecting", "live", "loading", "following", "complete", "cut", "stale", "ended", "failed", "lost",
}

// String is the status in a word.
func (s Status) String() string { return statusText(s) }

func statusText(s Status) string {
	if int(s) < len(statusTexts) {
		return statusTexts[s]
	}
	return "unknown"
}
