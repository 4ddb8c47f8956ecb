package costs

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"vramscope/model/dump"
)

// WriteText writes the report for people. Whatever the file holds, no control
// character but line ends comes out.
func (r *Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	r.Head.write(out)
	r.writeCorpus(out)
	for from := 0; from < len(r.Scopes); {
		to := from + 1
		for to < len(r.Scopes) && r.Scopes[to].Scope == r.Scopes[from].Scope && (r.Scopes[to].Model == ModelTrace) == (r.Scopes[from].Model == ModelTrace) {
			to++
		}
		r.writeScope(out, r.Scopes[from:to])
		from = to
	}
	r.writeRatios(out)
	if len(r.Extras) > 0 {
		fmt.Fprintf(out, "\nkept aside: %s\n", strings.Join(r.Extras, ", "))
	}
	if len(r.Problems) > 0 {
		fmt.Fprintf(out, "\nproblems\n")
		for _, problem := range r.Problems {
			fmt.Fprintf(out, "  ! %s\n", problem)
		}
	}
	return out.Flush()
}

// Text is the head in one line.
func (h *Head) Text() string {
	text := h.Format
	for _, part := range [...]Pair{{" ", h.Version}, {", commit ", h.Commit}, {", generated ", h.Generated}} {
		if part.Value != "" {
			text += part.Name + part.Value
		}
	}
	return text
}

// EnvironmentText is what it was measured with, in one line; "" where the file
// does not tell.
func (h *Head) EnvironmentText() string { return pairsText(h.Environment, " ", ", ") }

func (h *Head) write(out io.Writer) {
	fmt.Fprintln(out, h.Text())
	fmt.Fprintf(out, "  %-14s %s\n", "fingerprint", cmp.Or(h.Fingerprint, "not told"))
	if text := h.EnvironmentText(); text != "" {
		fmt.Fprintf(out, "  %-14s %s\n", "measured with", text)
	}
}

// textCorpus is how many runs a list names in text.
const textCorpus = 4

func (r *Report) writeCorpus(out io.Writer) {
	if n := len(r.Corpus); n > 0 {
		text := strings.Join(r.Corpus[:min(n, textCorpus)], ", ")
		if n > textCorpus {
			text += fmt.Sprintf(" and %d more", n-textCorpus)
		}
		fmt.Fprintf(out, "  %-14s %s: %s\n", "corpus", plural(n, "1 run", countText(int64(n))+" runs"), text)
	}
	if len(r.Drivers) > 0 {
		fmt.Fprintf(out, "  %-14s %s\n", "drivers", pairsText(r.Drivers, "=", " "))
	}
}

// writeScope writes the routes of one scope as a table.
func (r *Report) writeScope(out io.Writer, routes []ScopeReport) {
	fmt.Fprintf(out, "\n%s, %s", routes[0].Scope, modelTexts[routes[0].Model])
	if common := routes[0].common; common != "" && len(routes) > 1 {
		fmt.Fprintf(out, ", on every route %s", common)
	}
	fmt.Fprintln(out)
	if routes[0].density != "" {
		fmt.Fprintf(out, "  %s\n", routes[0].density)
	}
	replayed := routes[0].Model == ModelTrace
	var table textTable
	shown := r.Frames
	if !growsWithFrames(routes) {
		shown = shown[:1]
	}
	for _, n := range shown {
		title := "peak at " + countText(n)
		if len(shown) < len(r.Frames) {
			title = "peak"
		}
		table.column(title, true)
	}
	if replayed {
		at := " at " + countText(r.Frames[len(r.Frames)-1])
		table.column("end"+at, true)
		table.column("reverse peak"+at, true)
		table.column("allocs", true)
	} else {
		table.column("bytes", false)
	}
	table.column("route", false)
	for i := range routes {
		table.add(routes[i].cells(len(shown), replayed, len(routes) > 1)...)
	}
	table.write(out)
	if replayed && hasReverse(routes) {
		fmt.Fprintln(out, "  reverse peaks are charged the most padding that they can need: it depends on the arena's length")
	}
	for _, line := range uncountable(routes) {
		fmt.Fprintf(out, "  %s\n", line)
	}
	if needs := needsOf(routes); len(needs) > 0 {
		fmt.Fprintf(out, "  not known without %s\n", "--driver "+strings.Join(needs, "=N --driver ")+"=N")
	}
	if per := routes[0].unitsToExpectFrom(); len(per) > 0 {
		fmt.Fprintf(out, "  %s is expected from %s, where it is not given\n", routes[0].Density.Of, "--driver "+strings.Join(per, "=N --driver ")+"=N")
	}
}

var modelTexts = map[Model]string{
	ModelTrace: "replayed along frames", ModelUnits: "by units of its drivers", ModelDensity: "by units of its drivers, which depend on what is rendered",
}

// growsWithFrames says whether a table needs a column for each number of frames.
func growsWithFrames(routes []ScopeReport) bool {
	for i := range routes {
		for j := range routes[i].At {
			first, at := routes[i].At[0].Peak, routes[i].At[j].Peak
			if (first == nil) != (at == nil) || at != nil && *at != *first {
				return true
			}
		}
	}
	return routes[0].Model == ModelTrace
}

func hasReverse(routes []ScopeReport) bool {
	for i := range routes {
		for j := range routes[i].At {
			if peak := routes[i].At[j].ReversePeak; peak != nil && *peak > 0 {
				return true
			}
		}
	}
	return false
}

// unitsToExpectFrom are the drivers that a density's driver follows from and
// that have to be given.
func (r *ScopeReport) unitsToExpectFrom() (names []string) {
	if r.Density == nil {
		return nil
	}
	for _, per := range r.Density.Per {
		if per != FramesDriver {
			names = append(names, per)
		}
	}
	return names
}

// cells are the cells of a row with so many peaks, of several rows or one.
func (r *ScopeReport) cells(peaks int, replayed, several bool) (cells []string) {
	for i := range r.At[:peaks] {
		cells = append(cells, amountText(r.At[i].Peak))
	}
	if replayed {
		last := &r.At[len(r.At)-1]
		cells = append(cells, amountText(last.End), amountText(last.ReversePeak), countText(*r.Allocations))
	} else {
		cells = append(cells, r.formula)
	}
	route := cmp.Or(r.varies, "(no other parameter)")
	if !several {
		route = cmp.Or(r.common, "(every one)")
	}
	return append(cells, route)
}

// uncountable says why peaks are not known that no driver would make known: each
// reason once, with the first number of frames that has it.
func uncountable(routes []ScopeReport) (lines []string) {
	seen := map[string]bool{}
	for i := range routes {
		for j := range routes[i].At {
			at := &routes[i].At[j]
			if at.Peak != nil || len(at.Needs) > 0 || seen[at.Why] {
				continue
			}
			seen[at.Why] = true
			lines = append(lines, fmt.Sprintf("not known at %s: %s", countText(at.Frames), at.Why))
		}
	}
	return lines
}

func needsOf(routes []ScopeReport) (needs []string) {
	seen := map[string]bool{}
	for i := range routes {
		for _, need := range routes[i].At[0].Needs {
			if !seen[need] {
				seen[need] = true
				needs = append(needs, need)
			}
		}
	}
	return needs
}

func (r *Report) writeRatios(out io.Writer) {
	fmt.Fprintf(out, "\ntransients outside the arena\n")
	switch {
	case !r.NonArenaKnown:
		fmt.Fprintln(out, "  the file has no table of them")
	case len(r.NonArena) == 0:
		fmt.Fprintln(out, "  none was measured")
	}
	for _, ratio := range r.NonArena {
		fmt.Fprintf(out, "  %-20s peak ×%g of its input, ×%g at the 95th percentile, %d samples\n", ratio.Name, ratio.Ratio, ratio.P95, ratio.Samples)
	}
}

func pairsText(pairs []Pair, between, separator string) string {
	texts := make([]string, len(pairs))
	for i, pair := range pairs {
		texts[i] = pair.Name + between + pair.Value
	}
	return strings.Join(texts, separator)
}

func amountText(bytes *int64) string {
	if bytes == nil {
		return "–"
	}
	return dump.BytesText(*bytes)
}

// countText writes a number with commas between its thousands.
func countText(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
