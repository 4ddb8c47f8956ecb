package costs

import (
	"slices"
	"strings"

	"vramscope/model/dump"
	"vramscope/recorder"
)

// Report is what a calibration file holds, as `vramscope report --json` prints
// it. A number that is not known is null, with the reason beside it.
type Report struct {
	Head
	Corpus            []string      `json:"corpus"`
	DensityPercentile *float64      `json:"density_percentile"`
	DensitySafety     *float64      `json:"density_safety"`
	Frames            []int64       `json:"frames"`
	Drivers           []Pair        `json:"drivers"`
	Scopes            []ScopeReport `json:"scopes"` // largest peaks first within a scope
	NonArena          []RatioReport `json:"nonarena"`
	NonArenaKnown     bool          `json:"nonarena_known"` // the file has a table of them, though it may be empty
	Extras            []string      `json:"extras"`
	Problems          []string      `json:"problems"`
}

// Head is what a file says of itself. An empty text is not known.
type Head struct {
	Format      string `json:"format"`
	Version     string `json:"version"`
	Commit      string `json:"commit"`
	Generated   string `json:"generated"`
	Fingerprint string `json:"fingerprint"`
	Environment []Pair `json:"environment"`
}

// Pair is a name with its value.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ScopeReport is a scope on one route.
type ScopeReport struct {
	Scope       string         `json:"scope"`
	Route       []Pair         `json:"route"`
	Model       Model          `json:"model"`
	Allocations *int64         `json:"allocations"`
	At          []AtReport     `json:"at"`
	Drivers     []DriverReport `json:"drivers"`
	Fixed       *int64         `json:"fixed"`
	AlignSlack  *int64         `json:"align_slack"`
	Density     *DensityReport `json:"density"`
	PeakFalls   string         `json:"peak_falls"` // "" where it never does, or was not looked at

	varies, common, formula, density string
}

// AtReport is a scope for so many frames, in bytes above its entry.
type AtReport struct {
	Frames      int64    `json:"frames"`
	Peak        *int64   `json:"peak"`
	End         *int64   `json:"end"`
	ReversePeak *int64   `json:"reverse_peak"`
	ReverseEnd  *int64   `json:"reverse_end"`
	Expected    *int64   `json:"expected_units"` // of a density's driver
	Needs       []string `json:"needs"`          // drivers that nobody gave
	Why         string   `json:"why"`            // why the peak is not known
}

// DriverReport is bytes for each unit of a driver.
type DriverReport struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// DensityReport is how many units of a driver are to be expected.
type DensityReport struct {
	Of      string   `json:"of"`
	Per     []string `json:"per"`
	PerUnit float64  `json:"per_unit"`
	Largest float64  `json:"largest"`
	Samples int64    `json:"samples"`
}

// RatioReport bounds a transient outside the arena.
type RatioReport struct {
	Name    string  `json:"name"`
	Ratio   float64 `json:"ratio"`
	P95     float64 `json:"ratio_p95"`
	Samples int64   `json:"samples"`
}

// DefaultFrames are the numbers of frames that are shown where none is asked for.
var DefaultFrames = []int64{1, 8, 64}

// Report answers for some numbers of frames, each with the same drivers.
func (x *Index) Report(frames []int64, drivers map[string]int64) *Report {
	c := x.Costs
	r := &Report{
		Head: headOf(c), Corpus: cleaned(c.Corpus), Frames: frames, Drivers: []Pair{}, Scopes: []ScopeReport{}, NonArena: []RatioReport{},
		NonArenaKnown: c.RatiosKnown, Extras: cleaned(c.Extras), Problems: append(x.strangeDrivers(drivers), x.Problems...),
		DensityPercentile: positive(c.DensityPercentile), DensitySafety: positive(c.DensitySafety),
	}
	for name, units := range drivers {
		r.Drivers = append(r.Drivers, Pair{dump.CleanText(name), countText(units)})
	}
	slices.SortFunc(r.Drivers, func(a, b Pair) int { return strings.Compare(a.Name, b.Name) })
	for _, i := range x.byPeak(Question{frames[len(frames)-1], drivers}) {
		r.Scopes = append(r.Scopes, x.scopeReport(&x.Scopes[i], frames, drivers))
	}
	for _, ratio := range c.Ratios {
		r.NonArena = append(r.NonArena, RatioReport{dump.CleanText(ratio.Name), ratio.Ratio, ratio.P95, ratio.Samples})
	}
	if r.Problems == nil {
		r.Problems = []string{}
	}
	return r
}

// byPeak is the scopes' numbers: scopes in the file's order, and the routes of
// each by peak, the largest first.
func (x *Index) byPeak(q Question) []int {
	order, place := make([]int, len(x.Scopes)), map[string]int{}
	peaks := make([]Amount, len(x.Scopes))
	for i := range x.Scopes {
		order[i] = i
		if _, seen := place[x.Scopes[i].Name]; !seen {
			place[x.Scopes[i].Name] = len(place)
		}
		peaks[i] = x.Scopes[i].At(q, x.Costs.DensitySafety).Peak
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if by := place[x.Scopes[a].Name] - place[x.Scopes[b].Name]; by != 0 {
			return by
		}
		return peaks[b].Compare(peaks[a])
	})
	return order
}

func (x *Index) scopeReport(s *Scope, frames []int64, drivers map[string]int64) ScopeReport {
	r := ScopeReport{
		Scope: s.Name, Route: pairsOf(s.Cost.Route), Model: s.Model(), At: []AtReport{}, Drivers: []DriverReport{},
		varies: s.Varies, common: x.Common(s.Name), formula: s.Formula(), density: s.DensityText(x.Costs),
	}
	if s.Allocs >= 0 {
		r.Allocations = &s.Allocs
	}
	if s.Falls.Frames > 0 {
		r.PeakFalls = s.Falls.String()
	}
	if u := s.Cost.Units; u != nil {
		r.Fixed, r.AlignSlack = &u.Fixed, &u.AlignSlack
		for _, driver := range u.Drivers {
			r.Drivers = append(r.Drivers, DriverReport{dump.CleanText(driver.Name), driver.Bytes})
		}
	}
	if d := s.Cost.Density; d != nil {
		r.Density = &DensityReport{dump.CleanText(d.Of), cleaned(d.Per), d.PerUnit, d.Largest, d.Samples}
	}
	for _, n := range frames {
		a := s.At(Question{n, drivers}, x.Costs.DensitySafety)
		at := AtReport{Frames: n, Peak: a.Peak.orNull(), End: a.End.orNull(), ReversePeak: a.ReversePeak.orNull(), ReverseEnd: a.ReverseEnd.orNull(), Needs: append([]string{}, a.Needs...), Why: a.Peak.Why}
		if a.Expected >= 0 {
			at.Expected = &a.Expected
		}
		r.At = append(r.At, at)
	}
	return r
}

func headOf(c *recorder.Costs) Head {
	return Head{
		Format: dump.CleanText(c.Format), Version: dump.CleanText(c.Version), Commit: dump.CleanText(c.Commit),
		Generated: dump.CleanText(c.Generated), Fingerprint: dump.CleanText(c.Fingerprint), Environment: pairsOf(c.Environment),
	}
}

func pairsOf(settings []recorder.DumpSetting) []Pair {
	pairs := make([]Pair, len(settings))
	for i, setting := range settings {
		pairs[i] = Pair{dump.CleanText(setting.Key), dump.CleanText(setting.Value)}
	}
	return pairs
}

func cleaned(texts []string) []string {
	clean := make([]string, len(texts))
	for i, text := range texts {
		clean[i] = dump.CleanText(text)
	}
	return clean
}

func (a Amount) orNull() *int64 {
	if !a.Known {
		return nil
	}
	return &a.Bytes
}

func positive(f float64) *float64 {
	if f <= 0 {
		return nil
	}
	return &f
}
