package ui

import (
	"strings"
	"testing"

	"vramscope/ui/layout"
)

// TestTheDriversCountIsAskedForWhereItIsShown: the table of allocators adds up to
// what the driver counts to the process in the pool view as well, and where
// nothing says a process's share, the driver is not asked for it.
func TestTheDriversCountIsAskedForWhereItIsShown(t *testing.T) {
	for _, size := range [][2]int{{120, 32}, {80, 24}, {200, 60}} {
		for _, view := range []layout.View{layout.Overview, layout.Devices, layout.Pool} {
			d := newScreen(t, trainedSnapshot(t), view, size[0], size[1])
			frame := bodyText(d)
			if !strings.Contains(frame, "by driver") && !strings.Contains(frame, "by the driver") && !strings.Contains(frame, "context, ") {
				t.Errorf("%s at %d×%d shows nothing of what the driver counts:\n%s", view, size[0], size[1], frame)
			}
			if !d.interest.Processes {
				t.Errorf("%s at %d×%d: the driver is not asked for what it shows", view, size[0], size[1])
			}
		}
	}
	for _, view := range []layout.View{layout.Arena, layout.Scopes, layout.Timeline, layout.Events} {
		if d := newScreen(t, trainedSnapshot(t), view, 120, 32); d.interest.Processes {
			t.Errorf("%s: the driver is asked for processes that nothing shows", view)
		}
	}
	if d := newScreen(t, renderedSnapshot(t), layout.Pool, 120, 32); d.interest.Processes {
		t.Error("the driver is asked for processes while the pool's blocks are shown")
	}
}
