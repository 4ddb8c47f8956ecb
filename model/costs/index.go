package costs

import (
	"strings"

	"vramscope/model/dump"
	"vramscope/recorder"
)

// Index is a calibration file, ready to be asked. It is immutable.
type Index struct {
	Costs    *recorder.Costs
	Scopes   []Scope // in the file's order
	Problems []string

	common map[string]string // by scope
}

// Scope is a scope on one route.
type Scope struct {
	Cost   *recorder.ScopeCost
	Name   string // free of what a terminal obeys, as all texts here
	Route  string // every parameter, "a=1 b=2"; "" for a scope without
	Varies string // the parameters in which the scope's routes differ
	Allocs int64  // -1 where the file does not tell
	Falls  Fall   // where the peak grows less with more frames
}

// Fall is where a peak falls though frames are added, so that no search for the
// most frames that fit can rely on it. Frames is 0 where it never does, or where
// the trace is too long to be looked at.
type Fall struct {
	Frames       int64 // the larger number of frames
	Before, Then int64 // bytes
}

// Whole files are looked through for falling peaks as far as this: so many
// frames, and so many events in all.
const (
	lookedFrames = 64
	lookedEvents = 100_000
)

// New makes an index.
func New(costs *recorder.Costs) *Index {
	x := &Index{Costs: costs, Scopes: make([]Scope, len(costs.Scopes)), common: map[string]string{}}
	varying := varyingParams(costs.Scopes)
	events := 0
	for i := range costs.Scopes {
		cost := &costs.Scopes[i]
		scope := Scope{Cost: cost, Name: dump.CleanText(cost.Name), Allocs: -1}
		varies := varying[cost.Name]
		scope.Route = routeText(cost.Route, func(string) bool { return true })
		scope.Varies = routeText(cost.Route, func(key string) bool { return varies[key] })
		x.common[scope.Name] = routeText(cost.Route, func(key string) bool { return !varies[key] })
		if cost.Trace != nil {
			scope.Allocs = 0
			for j := range cost.Trace {
				if cost.Trace[j].Allocates() {
					scope.Allocs++
				}
			}
			if events += len(cost.Trace); events <= lookedEvents {
				scope.Falls = fallOf(cost.Trace)
			}
		}
		x.Scopes[i] = scope
	}
	for _, problem := range costs.Problems {
		x.Problems = append(x.Problems, dump.CleanText(problem))
	}
	for i := range x.Scopes {
		if s := &x.Scopes[i]; len(x.Problems) < mostProblems {
			if text := imbalance(s.Cost.Trace); text != "" {
				x.Problems = append(x.Problems, s.title()+": "+text)
			}
		}
		if s := &x.Scopes[i]; s.Falls.Frames > 0 && len(x.Problems) < mostProblems {
			x.Problems = append(x.Problems, s.title()+": the peak falls "+s.Falls.String())
		}
	}
	return x
}

// mostProblems bounds what is said of a file.
const mostProblems = 50

// title is the scope with its route, in one text.
func (s *Scope) title() string {
	if s.Route == "" {
		return s.Name
	}
	return s.Name + " " + s.Route
}

// routeText is those parameters of a route whose names are wanted.
func routeText(route []recorder.DumpSetting, wanted func(key string) bool) string {
	var text strings.Builder
	for _, param := range route {
		if !wanted(param.Key) {
			continue
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(dump.CleanText(param.Key) + "=" + dump.CleanText(param.Value))
	}
	return text.String()
}

// varyingParams is, by scope, the parameters in which its routes differ: those
// that not every route has with one value.
func varyingParams(scopes []recorder.ScopeCost) map[string]map[string]bool {
	type seen struct {
		first map[string]string
		count map[string]int
		all   int
	}
	by, varying := map[string]*seen{}, map[string]map[string]bool{}
	for i := range scopes {
		scope := &scopes[i]
		if by[scope.Name] == nil {
			by[scope.Name] = &seen{first: map[string]string{}, count: map[string]int{}}
			varying[scope.Name] = map[string]bool{}
		}
		known := by[scope.Name]
		known.all++
		for _, param := range scope.Route {
			value, again := known.first[param.Key]
			if !again {
				known.first[param.Key] = param.Value
			} else if value != param.Value {
				varying[scope.Name][param.Key] = true
			}
			known.count[param.Key]++
		}
	}
	for name, known := range by {
		for key, count := range known.count {
			if count < known.all {
				varying[name][key] = true
			}
		}
	}
	return varying
}

// Common is the parameters that every route of a scope has with one value.
func (x *Index) Common(name string) string { return x.common[name] }

func fallOf(trace recorder.CostTrace) Fall {
	before := int64(0)
	for frames := int64(1); frames <= lookedFrames; frames++ {
		replayed, err := trace.Replay(frames, recorder.ReplayFrom{})
		if err != nil {
			return Fall{}
		}
		if replayed.Peak < before {
			return Fall{Frames: frames, Before: before, Then: replayed.Peak}
		}
		before = replayed.Peak
	}
	return Fall{}
}

// Head is what the file says of itself, free of what a terminal obeys.
func (x *Index) Head() Head { return headOf(x.Costs) }
