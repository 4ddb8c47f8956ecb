package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// wheelInterval is how close together wheel events may come; those between
// are dropped, so that a fast wheel does not outrun the drawing.
const wheelInterval = 15 * time.Millisecond

// mouseFilter thins out what a mouse sends. Keys pass untouched.
type mouseFilter struct {
	now  func() time.Time
	last time.Time
}

func newMouseFilter() *mouseFilter { return &mouseFilter{now: time.Now} }

func (f *mouseFilter) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg.(type) {
	case tea.MouseWheelMsg, tea.MouseMotionMsg:
		now := f.now()
		if now.Sub(f.last) < wheelInterval {
			return nil
		}
		f.last = now
	}
	return msg
}
