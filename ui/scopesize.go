package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
)

// scopeSizing is what the selected scope of a recording or a program takes for
// the number of frames that is asked for, replayed from its own events where its
// runs tell.
type scopeSizing struct {
	of    streamOf
	sizer *model.ScopeSizer
	size  *model.ScopeSize

	frames int64 // that the peak and the label are for
	sized  *model.ScopeSize
	peak   model.Figure
	label  string
}

// take finds the size of the selected scope; not ok where there is none to be
// sized.
func (z *scopeSizing) take(s *scene) (ok bool) {
	a := s.choices.arenaOf(s.view)
	if a == nil || len(s.choices.scope.path) == 0 || s.choices.scope.abandoned {
		return false
	}
	if of := (streamOf{source: s.view.ID, arena: a.ID, choice: s.choices.scope.version}); z.sizer == nil || of != z.of {
		z.of, z.sizer = of, model.NewScopeSizer(a.ID, s.choices.scope.path)
	}
	z.size = z.sizer.Size(s.view, readEvents)
	if frames := s.choices.cost.question.Frames; z.sized != z.size || z.frames != frames {
		z.sized, z.frames, z.peak = z.size, frames, z.size.PeakAt(frames)
		z.label = "own peak for " + framesText(frames)
		if z.size.Bound {
			z.label += ", at most"
		}
	}
	return true
}

// write writes the peak of a scope that says for how many frames it ran, or why
// it cannot be told.
func (z *scopeSizing) write(f *flow, s *scene, numbers *recorder.ScopeRow) {
	if !hasFrames(numbers) || !z.take(s) {
		return
	}
	if z.peak.Known {
		f.bytes(z.label, grid.Of(themes.Peak), z.peak.Value)
	} else {
		f.text(z.label, grid.Of(themes.Dim), z.peak.Why)
	}
	f.line()
}

func hasFrames(numbers *recorder.ScopeRow) bool {
	for i := range numbers.Params {
		if numbers.Params[i].Name == model.FramesParam {
			return true
		}
	}
	return false
}

// lines are the same for the pop-up, with how it was found.
func (z *scopeSizing) lines(s *scene) []string {
	if !z.take(s) {
		return nil
	}
	if !z.peak.Known {
		return []string{z.label + "  not known: " + z.peak.Why}
	}
	lines := []string{z.label + "  " + string(grid.AppendExact(nil, z.peak.Value)), "  " + z.peak.Origin + "; scopes inside it apart"}
	if z.size.Err != nil {
		lines = append(lines, "  "+z.size.Err.Error())
	}
	return lines
}
