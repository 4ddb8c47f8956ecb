package ui

import (
	"fmt"

	"vramscope/model"
	"vramscope/model/costs"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// costChoices are what scopes are sized for, and of a calibration file what its
// panes share.
type costChoices struct {
	question costs.Question
	asked    int // grows with every other question

	source  string // the file that the rest is about
	scope   int    // in Index.Scopes
	answers []costs.Answer
	index   *costs.Index
	answer  int // that of asked which the answers are to
}

// ask asks another question.
func (c *costChoices) ask(q costs.Question) {
	c.question = q
	c.asked++
}

// isCosts says whether a source is a calibration file, read or not.
func isCosts(view *model.SourceView) bool {
	return view != nil && (view.Costs != nil || view.Kind == model.KindCosts)
}

// costs is the calibration file that is looked at, with the answers to what is
// asked of each of its scopes; nil where there is none.
func (s *scene) costs() (*costs.Index, []costs.Answer) {
	if s.view == nil || s.view.Costs == nil {
		return nil, nil
	}
	c, index := &s.choices.cost, s.view.Costs
	if c.index != index || c.answer != c.asked {
		c.index, c.answer, c.answers = index, c.asked, c.answers[:0]
		for i := range index.Scopes {
			c.answers = append(c.answers, index.Scopes[i].At(c.question, index.Costs.DensitySafety))
		}
	}
	if c.source != s.view.ID {
		c.source, c.scope = s.view.ID, largestPeak(c.answers)
	}
	c.scope = min(c.scope, max(len(index.Scopes)-1, 0))
	return index, c.answers
}

// largestPeak is the number of the answer with the largest peak.
func largestPeak(answers []costs.Answer) (largest int) {
	for i := range answers {
		if answers[i].Peak.Compare(answers[largest].Peak) > 0 {
			largest = i
		}
	}
	return largest
}

// costScope is the scope that is selected, with its answer; nil where there is
// none.
func (s *scene) costScope() (*costs.Scope, *costs.Answer) {
	index, answers := s.costs()
	if index == nil || len(index.Scopes) == 0 {
		return nil, nil
	}
	return &index.Scopes[s.choices.cost.scope], &answers[s.choices.cost.scope]
}

// newCostPanes makes the panes on a calibration file once.
func newCostPanes() map[layout.Pane]pane {
	const none = " A calibration file has none, a recording of the run has: watch the run with vramscope, then m."
	about := &costAboutPane{}
	panes := map[layout.Pane]pane{
		layout.ScopesPane: newCostScopesPane(), layout.ScopePane: &costScopePane{}, layout.StreamPane: newCostStreamPane(),
		layout.HeadroomPane: about, layout.ProcessesPane: about, layout.PeaksPane: &costRatiosPane{}, layout.PoolPane: &costDriversPane{},
		layout.InsidePane: &costQuestionPane{}, layout.MomentPane: &costScopePane{},
		layout.TimelinePane: &costFramesPane{}, layout.DevicePane: &costFramesPane{}, layout.PointersPane: &costFramesPane{},
		layout.LiveThenPane: newCostStreamPane(), layout.EventsPane: newCostStreamPane(), layout.EventPane: &costScopePane{},
	}
	for pane, text := range map[layout.Pane][2]string{
		layout.ArenaPane: {"Arena", "An arena's pointers."}, layout.DevicesPane: {"Devices", "The device that was measured on."}, layout.MarksPane: {"Marks", "An arena's saved pointers."},
		layout.CallersPane: {"Callers", "Who allocated in an arena."}, layout.BlocksPane: {"Blocks", "Segments and blocks of a pool."},
		layout.SegmentsPane: {"Segments", "Segments of a pool."}, layout.FreeSizesPane: {"Free blocks", "Free blocks of a pool."},
		layout.LadderPane: {"Failures", "Failed allocations and what was done."},
	} {
		panes[pane] = unfilledPane{text[0], text[1] + none}
	}
	return panes
}

// turnFrames sizes scopes for a frame more, or one less.
func (d *Dashboard) turnFrames(action keymap.Action) {
	q := d.choices.cost.question
	if action == keymap.MoreFrames {
		q.Frames++
	} else {
		q.Frames--
	}
	if q.Frames < 1 || q.Frames > costs.MostFrames {
		d.say(widget.StatusInfo, "scopes are sized for 1 frame at the least")
		return
	}
	d.choices.cost.ask(q)
	if !isCosts(d.scene.view) {
		d.say(widget.StatusInfo, fmt.Sprintf("a scope's peak is replayed for %s, where it can be: view 4 says it", framesText(q.Frames)))
	}
}

// sizeTyped sizes scopes for what is typed: a number of frames, or a driver with
// its units.
func (d *Dashboard) sizeTyped(verb, text string) {
	c := &d.choices.cost
	if verb == framesVerb {
		frames, err := costs.ParseFrames(text)
		if err != nil || len(frames) != 1 {
			d.say(widget.StatusError, fmt.Sprintf("write one number of frames from 1 to %d, such as :frames 64", costs.MostFrames))
			return
		}
		c.ask(costs.Question{Frames: frames[0], Drivers: c.question.Drivers})
		d.say(widget.StatusOK, "scopes are sized for "+framesText(frames[0]))
		return
	}
	name, units, err := costs.ParseDriver(text)
	if err != nil {
		d.say(widget.StatusError, "write a driver and how many units it has, such as :driver pool=65536")
		return
	}
	c.ask(c.question.With(name, units))
	d.say(widget.StatusOK, "drivers: "+c.question.DriversText())
}

// The commands for sizeTyped.
const (
	framesVerb = "frames"
	driverVerb = "driver"
)

func framesText(frames int64) string {
	if frames == 1 {
		return "1 frame"
	}
	return countText(int(frames)) + " frames"
}
