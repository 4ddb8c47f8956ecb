package costs

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"vramscope/model/dump"
	"vramscope/recorder"
)

// Model is how a scope's bytes follow from a question.
type Model string

// The models.
const (
	ModelTrace   Model = "trace"   // its allocations are replayed, in order
	ModelUnits   Model = "units"   // linear in its drivers
	ModelDensity Model = "density" // linear too, and one driver may be expected from what is rendered
)

// Model is the scope's.
func (s *Scope) Model() Model {
	switch {
	case s.Cost.Density != nil:
		return ModelDensity
	case s.Cost.Units != nil:
		return ModelUnits
	}
	return ModelTrace
}

// Answer is what a scope takes above its entry.
type Answer struct {
	Peak        Amount // forward; what was released before the end counts
	End         Amount // forward
	ReversePeak Amount // the persistent side; without an arena's length charged its worst padding
	ReverseEnd  Amount
	Needs       []string // drivers that nobody gave
	Expected    int64    // units of the density's driver, where they were not given; -1 otherwise
}

// At answers a question.
func (s *Scope) At(q Question, safety float64) Answer {
	if s.Cost.Trace != nil {
		return s.replay(q)
	}
	return s.reckon(q, safety)
}

func (s *Scope) replay(q Question) Answer {
	replayed, err := s.Cost.Trace.Replay(q.Frames, recorder.ReplayFrom{})
	if err != nil {
		none := unknown(err.Error())
		return Answer{Peak: none, End: none, ReversePeak: none, ReverseEnd: none, Expected: -1}
	}
	return Answer{
		Peak: known(replayed.Peak), End: known(replayed.End), ReversePeak: known(replayed.ReversePeak), ReverseEnd: known(replayed.ReverseEnd), Expected: -1,
	}
}

// reckon adds up the bytes of the drivers' units.
func (s *Scope) reckon(q Question, safety float64) Answer {
	none := unknown("this scope was measured by units: its bytes add up, and which of them stay is not told")
	a := Answer{End: none, ReversePeak: none, ReverseEnd: none, Expected: -1}
	sum, fits := s.Cost.Units.Fixed, true
	add := func(bytes int64) {
		if sum += bytes; sum < 0 {
			fits = false
		}
	}
	add(s.Cost.Units.AlignSlack)
	for _, driver := range s.Cost.Units.Drivers {
		units, given := q.units(driver.Name)
		if !given {
			units, given = s.expected(driver.Name, q, safety)
			if given {
				a.Expected = units
			}
		}
		if !given {
			a.Needs = append(a.Needs, dump.CleanText(driver.Name))
			continue
		}
		high, low := bits.Mul64(uint64(driver.Bytes), uint64(units))
		if high != 0 || low > 1<<62 || !fits {
			fits = false
			continue
		}
		add(int64(low))
	}
	switch {
	case len(a.Needs) > 0:
		a.Peak = unknown("it grows with " + strings.Join(a.Needs, ", ") + ": give " + plural(len(a.Needs), "its number of units", "their numbers of units"))
	case !fits:
		a.Peak = unknown("it comes to an uncountable number of bytes: give smaller numbers of units")
	default:
		a.Peak = known(sum)
	}
	return a
}

// expected is how many units of a driver the density leads to expect, where it
// is that driver's and all that it is counted for is known.
func (s *Scope) expected(name string, q Question, safety float64) (int64, bool) {
	d := s.Cost.Density
	if d == nil || d.Of != name || len(d.Per) == 0 || d.PerUnit <= 0 {
		return 0, false
	}
	units := d.PerUnit
	if safety > 0 {
		units *= safety
	}
	for _, per := range d.Per {
		count, given := q.units(per)
		if !given {
			return 0, false
		}
		units *= float64(count)
	}
	if units = math.Ceil(units); !(units < 1<<62) {
		return 0, false
	}
	return int64(units), true
}

// Drivers are the names of everything that can be given to a scope, each once.
func (s *Scope) Drivers() (names []string) {
	if s.Cost.Units == nil {
		return nil
	}
	for _, driver := range s.Cost.Units.Drivers {
		names = append(names, dump.CleanText(driver.Name))
	}
	return names
}

// Formula is how the bytes add up, in words; "" for a trace.
func (s *Scope) Formula() string {
	u := s.Cost.Units
	if u == nil {
		return ""
	}
	var parts []string
	for _, driver := range u.Drivers {
		parts = append(parts, fmt.Sprintf("%d × %s", driver.Bytes, dump.CleanText(driver.Name)))
	}
	if u.Fixed > 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprint(u.Fixed))
	}
	if u.AlignSlack > 0 {
		parts = append(parts, fmt.Sprintf("%d for alignment", u.AlignSlack))
	}
	return strings.Join(parts, " + ")
}

// DensityText is what is to be expected of a density's driver; "" without one.
func (s *Scope) DensityText(costs *recorder.Costs) string {
	d := s.Cost.Density
	if d == nil {
		return ""
	}
	text := fmt.Sprintf("%s for each of %s: %.4g", dump.CleanText(d.Of), dump.CleanText(strings.Join(d.Per, " × ")), d.PerUnit)
	if costs.DensityPercentile > 0 {
		text += fmt.Sprintf(" at the %gth percentile", costs.DensityPercentile)
	}
	if costs.DensitySafety > 0 {
		text += fmt.Sprintf(", taken ×%g", costs.DensitySafety)
	}
	return text + fmt.Sprintf(", largest %.4g of %d samples", d.Largest, d.Samples)
}

// String says where a peak falls.
func (f Fall) String() string {
	if f.Frames == 0 {
		return "nowhere"
	}
	return fmt.Sprintf("from %s at %d to %s at %d frames: a search for the most frames that fit cannot rely on it", dump.BytesText(f.Before), f.Frames-1, dump.BytesText(f.Then), f.Frames)
}

func plural(number int, one, more string) string {
	if number == 1 {
		return one
	}
	return more
}
