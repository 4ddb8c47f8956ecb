package costs

import (
	"fmt"

	"vramscope/arena"
	"vramscope/recorder"
)

// ItemsText is how many items an allocation has, with n for the number of
// frames: "3", "64 n", "3 + 64 n".
func ItemsText(e *recorder.CostEvent) string {
	switch {
	case e.Slope == 0:
		return fmt.Sprint(e.Intercept)
	case e.Intercept == 0:
		return fmt.Sprintf("%d n", e.Slope)
	case e.Slope < 0:
		return fmt.Sprintf("%d − %d n", e.Intercept, -e.Slope)
	}
	return fmt.Sprintf("%d + %d n", e.Intercept, e.Slope)
}

// OpText is what an event does, in a word or two.
func OpText(e *recorder.CostEvent) string {
	switch {
	case e.Op == arena.OpAlloc:
		return "alloc"
	case e.Op == arena.OpPersist:
		return "persist"
	case e.Op == arena.OpTempPush && e.Clear:
		return "temp, clears"
	case e.Op == arena.OpTempPush:
		return "temp"
	}
	return "temp ends"
}

// EventText is an event in one line.
func EventText(e *recorder.CostEvent) string {
	if !e.Allocates() {
		return OpText(e)
	}
	return fmt.Sprintf("%s (%s) × %d B", OpText(e), ItemsText(e), e.ItemSize)
}
