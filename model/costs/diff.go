package costs

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"vramscope/model/dump"
	"vramscope/recorder"
)

// Diff is what two calibration files say differently, as `vramscope diff --json`
// prints it.
type Diff struct {
	A        DiffSide      `json:"a"`
	B        DiffSide      `json:"b"`
	Stale    *bool         `json:"stale"` // the fingerprints differ; null where one is not told
	Verdict  string        `json:"verdict"`
	Head     []HeadChange  `json:"head"`
	Frames   []int64       `json:"frames"`
	Scopes   []ScopeChange `json:"scopes"` // those that differ, by how much at the last number of frames
	Same     int           `json:"same"`   // scopes on routes that do not differ
	NonArena []RatioChange `json:"nonarena"`
}

// DiffSide is one of the files.
type DiffSide struct {
	Name string `json:"name"`
	Head
	Scopes int `json:"scopes"`
}

// HeadChange is something that the files say differently of themselves.
type HeadChange struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// ScopeChange is a scope on a route that differs.
type ScopeChange struct {
	Scope  string       `json:"scope"`
	Route  []Pair       `json:"route"`
	Change dump.Change  `json:"change"`
	At     []PeakChange `json:"at"`
	Units  []UnitChange `json:"units"` // bytes that differ of drivers, of "fixed" and of "align_slack"
	Other  []HeadChange `json:"other"` // densities, and events
	peak   int64        // bytes by which it changed
	route  string
}

// PeakChange is the peaks for so many frames; null is not known, or not there.
type PeakChange struct {
	Frames int64  `json:"frames"`
	A      *int64 `json:"a"`
	B      *int64 `json:"b"`
}

// UnitChange is the bytes of a driver's unit; null is not there.
type UnitChange struct {
	Name string `json:"name"`
	A    *int64 `json:"a"`
	B    *int64 `json:"b"`
}

// RatioChange is a transient outside the arena; null is not there.
type RatioChange struct {
	Name string   `json:"name"`
	A    *float64 `json:"a"`
	B    *float64 `json:"b"`
}

// Side is a file that is compared.
type Side struct {
	Index *Index
	Name  string
}

// ChangeOther is a scope whose peaks, as far as they are known, are the same
// though something else of it differs.
const ChangeOther dump.Change = "changed"

// NewDiff compares two files for some numbers of frames and with the same
// drivers. Of a probe only its own scope is compared.
func NewDiff(a, b Side, frames []int64, drivers map[string]int64) *Diff {
	d := &Diff{Frames: frames, Head: []HeadChange{}, Scopes: []ScopeChange{}, NonArena: []RatioChange{}}
	d.A, d.B = a.side(), b.side()
	d.judge(a.Index.Costs, b.Index.Costs)
	d.compareHeads(a.Index.Costs, b.Index.Costs)
	d.compareScopes(a.Index, b.Index, drivers)
	if !a.Index.Costs.Probe && !b.Index.Costs.Probe {
		d.compareRatios(a.Index.Costs.Ratios, b.Index.Costs.Ratios)
	}
	return d
}

func (s *Side) side() DiffSide {
	return DiffSide{Name: dump.CleanText(s.Name), Head: headOf(s.Index.Costs), Scopes: len(s.Index.Scopes)}
}

// judge says whether one file makes the other stale.
func (d *Diff) judge(a, b *recorder.Costs) {
	if a.Fingerprint == "" || b.Fingerprint == "" {
		d.Verdict = "a fingerprint is missing: whether one of them is stale cannot be told"
		return
	}
	stale := a.Fingerprint != b.Fingerprint
	d.Stale = &stale
	switch {
	case !stale:
		d.Verdict = "the fingerprints agree: neither is stale"
	case a.Probe || b.Probe:
		d.Verdict = "the fingerprints differ: with the other file's tables algan takes the probe for stale and measures anew"
	default:
		d.Verdict = "the fingerprints differ: the older one is stale, and so are probes that were taken with it"
	}
}

func (d *Diff) compareHeads(a, b *recorder.Costs) {
	add := func(what, a, b string) {
		if a != b {
			d.Head = append(d.Head, HeadChange{what, a, b})
		}
	}
	add("fingerprint", d.A.Fingerprint, d.B.Fingerprint)
	if a.Probe || b.Probe {
		return // a probe tells nothing else of itself
	}
	add("version", d.A.Version, d.B.Version)
	add("commit", d.A.Commit, d.B.Commit)
	add("generated", d.A.Generated, d.B.Generated)
	others := map[string]string{}
	for _, pair := range d.B.Environment {
		others[pair.Name] = pair.Value
	}
	for _, pair := range d.A.Environment {
		add(pair.Name, pair.Value, others[pair.Name])
		delete(others, pair.Name)
	}
	for _, pair := range d.B.Environment {
		if _, left := others[pair.Name]; left {
			add(pair.Name, "", pair.Value)
		}
	}
}

// compareScopes finds each scope on each route in both files.
func (d *Diff) compareScopes(a, b *Index, drivers map[string]int64) {
	inB := map[string]*Scope{}
	for i := range b.Scopes {
		inB[b.Scopes[i].title()] = &b.Scopes[i]
	}
	for i := range a.Scopes {
		s := &a.Scopes[i]
		other := inB[s.title()]
		delete(inB, s.title())
		if other != nil || !b.Costs.Probe {
			d.compareScope(a, b, s, other, drivers)
		}
	}
	for i := range b.Scopes {
		if s := &b.Scopes[i]; inB[s.title()] == s && !a.Costs.Probe {
			d.compareScope(a, b, nil, s, drivers)
		}
	}
	slices.SortStableFunc(d.Scopes, func(a, b ScopeChange) int {
		return cmp.Or(cmp.Compare(magnitude(b.peak), magnitude(a.peak)), strings.Compare(a.Scope, b.Scope))
	})
}

func magnitude(n int64) int64 { return max(n, -n) }

// compareScope compares a scope; one of the two may be nil.
func (d *Diff) compareScope(a, b *Index, inA, inB *Scope, drivers map[string]int64) {
	either := inA
	if either == nil {
		either = inB
	}
	change := ScopeChange{
		Scope: either.Name, Route: pairsOf(either.Cost.Route), At: []PeakChange{}, Units: []UnitChange{}, Other: []HeadChange{}, Change: dump.ChangeSame, route: either.Route,
	}
	for _, frames := range d.Frames {
		q := Question{frames, drivers}
		at := PeakChange{Frames: frames}
		if inA != nil {
			at.A = inA.At(q, a.Costs.DensitySafety).Peak.orNull()
		}
		if inB != nil {
			at.B = inB.At(q, b.Costs.DensitySafety).Peak.orNull()
		}
		change.At = append(change.At, at)
		if at.A != nil && at.B != nil {
			change.peak = *at.B - *at.A
		}
		if change.Change == dump.ChangeSame && change.peak != 0 {
			change.Change = dump.ChangeGrown
			if change.peak < 0 {
				change.Change = dump.ChangeShrunk
			}
		}
	}
	last := change.At[len(change.At)-1]
	switch {
	case inA == nil:
		change.Change, change.peak = dump.ChangeNew, valueOf(last.B)
	case inB == nil:
		change.Change, change.peak = dump.ChangeGone, valueOf(last.A)
	default:
		change.compareInside(inA, inB)
	}
	if change.Change == dump.ChangeSame {
		d.Same++
		return
	}
	d.Scopes = append(d.Scopes, change)
}

func valueOf(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// compareInside finds what differs besides the peaks.
func (c *ScopeChange) compareInside(a, b *Scope) {
	if a.Model() != b.Model() {
		c.Other = append(c.Other, HeadChange{"model", string(a.Model()), string(b.Model())})
	}
	c.compareEvents(a.Cost.Trace, b.Cost.Trace)
	c.compareUnits(a.Cost.Units, b.Cost.Units)
	if da, db := a.Cost.Density, b.Cost.Density; da != nil && db != nil {
		for _, number := range [...]struct {
			name string
			a, b float64
		}{{"density", da.PerUnit, db.PerUnit}, {"largest density", da.Largest, db.Largest}} {
			if number.a != number.b {
				c.Other = append(c.Other, HeadChange{number.name, fmt.Sprintf("%.4g", number.a), fmt.Sprintf("%.4g", number.b)})
			}
		}
	}
	if c.Change == dump.ChangeSame && len(c.Units)+len(c.Other) > 0 {
		c.Change = ChangeOther
	}
}

// compareEvents says how many events there are, and the first one that differs.
func (c *ScopeChange) compareEvents(a, b recorder.CostTrace) {
	if len(a) != len(b) {
		c.Other = append(c.Other, HeadChange{"events", countText(int64(len(a))), countText(int64(len(b)))})
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			c.Other = append(c.Other, HeadChange{fmt.Sprintf("first at event %d", i), EventText(&a[i]), EventText(&b[i])})
			return
		}
	}
}

func (c *ScopeChange) compareUnits(a, b *recorder.UnitCost) {
	if a == nil || b == nil {
		return
	}
	add := func(name string, a, b *int64) {
		if a == nil || b == nil || *a != *b {
			c.Units = append(c.Units, UnitChange{dump.CleanText(name), a, b})
		}
	}
	find := func(u *recorder.UnitCost, name string) *int64 {
		for i := range u.Drivers {
			if u.Drivers[i].Name == name {
				return &u.Drivers[i].Bytes
			}
		}
		return nil
	}
	for i := range a.Drivers {
		add(a.Drivers[i].Name, &a.Drivers[i].Bytes, find(b, a.Drivers[i].Name))
	}
	for i := range b.Drivers {
		if find(a, b.Drivers[i].Name) == nil {
			add(b.Drivers[i].Name, nil, &b.Drivers[i].Bytes)
		}
	}
	add("fixed", &a.Fixed, &b.Fixed)
	add("align_slack", &a.AlignSlack, &b.AlignSlack)
}

func (d *Diff) compareRatios(a, b []recorder.RatioCost) {
	inB := map[string]*float64{}
	for i := range b {
		inB[b[i].Name] = &b[i].Ratio
	}
	for i := range a {
		other := inB[a[i].Name]
		delete(inB, a[i].Name)
		if other == nil || *other != a[i].Ratio {
			d.NonArena = append(d.NonArena, RatioChange{dump.CleanText(a[i].Name), &a[i].Ratio, other})
		}
	}
	for i := range b {
		if inB[b[i].Name] == &b[i].Ratio {
			d.NonArena = append(d.NonArena, RatioChange{dump.CleanText(b[i].Name), nil, &b[i].Ratio})
		}
	}
}

// WriteText writes the comparison for people, without control characters but
// line ends.
func (d *Diff) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "a  %s: %s, %d scopes and routes\n", d.A.Name, d.A.Text(), d.A.Scopes)
	fmt.Fprintf(out, "b  %s: %s, %d scopes and routes\n", d.B.Name, d.B.Text(), d.B.Scopes)
	fmt.Fprintln(out, d.Verdict)
	for _, change := range d.Head {
		fmt.Fprintf(out, "  %-14s %s → %s\n", change.What, cmp.Or(change.A, "not told"), cmp.Or(change.B, "not told"))
	}
	fmt.Fprintf(out, "\n%d differ, %d are the same\n", len(d.Scopes), d.Same)
	for i := range d.Scopes {
		d.Scopes[i].write(out)
	}
	for _, change := range d.NonArena {
		fmt.Fprintf(out, "  outside the arena, %s: %s → %s\n", change.Name, ratioText(change.A), ratioText(change.B))
	}
	return out.Flush()
}

func (c *ScopeChange) write(out io.Writer) {
	fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("  %-8s %s %s", c.Change, c.Scope, c.route), " "))
	for _, at := range c.At {
		if (at.A == nil) != (at.B == nil) || at.A != nil && *at.A != *at.B {
			fmt.Fprintf(out, "           peak at %s: %s → %s%s\n", countText(at.Frames), amountText(at.A), amountText(at.B), deltaText(at.A, at.B))
		}
	}
	for _, unit := range c.Units {
		fmt.Fprintf(out, "           %s: %s → %s\n", unit.Name, amountText(unit.A), amountText(unit.B))
	}
	for _, other := range c.Other {
		fmt.Fprintf(out, "           %s: %s → %s\n", other.What, other.A, other.B)
	}
}

// deltaText is by how much bytes changed, where both are known.
func deltaText(a, b *int64) string {
	if a == nil || b == nil {
		return ""
	}
	sign := "+"
	if *b < *a {
		sign = ""
	}
	return fmt.Sprintf(" (%s%s)", sign, dump.BytesText(*b-*a))
}

func ratioText(ratio *float64) string {
	if ratio == nil {
		return "–"
	}
	return fmt.Sprintf("×%g", *ratio)
}
