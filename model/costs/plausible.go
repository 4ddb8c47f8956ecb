package costs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"vramscope/arena"
	"vramscope/model/dump"
	"vramscope/recorder"
)

// imbalance says what is wrong with the temporary contexts of a trace, "" where
// each is opened once and closed once. The program passes over it and goes on,
// and what is told here is what it reckons.
func imbalance(trace recorder.CostTrace) string {
	open, surplus := 0, 0
	for i := range trace {
		switch trace[i].Op {
		case arena.OpTempPush:
			open++
		case arena.OpTempPop:
			if open == 0 {
				surplus++
			} else {
				open--
			}
		}
	}
	var parts []string
	if open > 0 {
		parts = append(parts, fmt.Sprintf("%d never closed, so that their bytes count as kept", open))
	}
	if surplus > 0 {
		parts = append(parts, fmt.Sprintf("%d closed that were never opened", surplus))
	}
	if parts == nil {
		return ""
	}
	return "temporary contexts of its trace: " + strings.Join(parts, ", ") + "; measure the scope anew"
}

// strangeDrivers says which of the drivers that were given no scope grows with.
func (x *Index) strangeDrivers(given map[string]int64) (problems []string) {
	known := map[string]bool{FramesDriver: true}
	for i := range x.Scopes {
		if units := x.Scopes[i].Cost.Units; units != nil {
			for _, driver := range units.Drivers {
				known[driver.Name] = true
			}
		}
		if density := x.Scopes[i].Cost.Density; density != nil {
			known[density.Of] = true
			for _, per := range density.Per {
				known[per] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !known[name] {
			problems = append(problems, dump.CleanText(fmt.Sprintf("no scope grows with %q: write one of %s", name, strings.Join(names, ", "))))
		}
	}
	return problems
}
