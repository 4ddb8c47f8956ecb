package ui

import (
	"slices"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// allocatorPane is everything about the line that is selected in the table of
// allocators: each of its numbers with the call that it came from, and each that
// is missing with the reason.
type allocatorPane struct {
	table  *allocatorsPane
	offset int
	rows   []origin
	of     accountLine // what the rows were made of
	view   *model.SourceView
}

func (p *allocatorPane) title(s *scene) (string, string) {
	if line := p.table.selected(s); line != nil {
		return line.label, "where its numbers come from"
	}
	return "Allocator", ""
}

func (*allocatorPane) keys() keymap.Context { return keymap.List }

func (p *allocatorPane) do(action keymap.Action, _ *scene) bool {
	switch action {
	case keymap.Up:
		p.offset--
	case keymap.Down:
		p.offset++
	case keymap.PageUp:
		p.offset -= 10
	case keymap.PageDown:
		p.offset += 10
	case keymap.Top:
		p.offset = 0
	case keymap.Bottom:
		p.offset = len(p.rows)
	default:
		return false
	}
	p.offset = min(max(p.offset, 0), max(len(p.rows)-1, 0))
	return true
}

// collect makes the rows of the selected line anew if it is another one.
func (p *allocatorPane) collect(s *scene) bool {
	line := p.table.selected(s)
	if line == nil {
		return false
	}
	if p.view != s.view || p.of.set != line.set || p.of.label != line.label || p.of.device != line.device {
		if p.of.label != line.label || p.of.device != line.device {
			p.offset = 0
		}
		p.view, p.of, p.rows = s.view, *line, line.origins(s.view)
	}
	return true
}

// originLabel is the columns of a number's name, and originNumber those of the
// number to the byte.
const (
	originLabel  = 20
	originNumber = 19
)

func (p *allocatorPane) draw(r grid.Region, s *scene, _ bool) {
	if !p.collect(s) {
		nothing(r, "The numbers of the selected allocator fill this.")
		return
	}
	dim := grid.Of(themes.Dim)
	p.offset = min(p.offset, max(len(p.rows)-r.Height(), 0))
	y := 0
	for i := p.offset; i < len(p.rows) && y < r.Height(); i++ {
		row := &p.rows[i]
		r.Fit(0, y, originLabel, grid.Of(themes.Text), row.name, grid.Left)
		pen := r.Pen(originLabel+1, y)
		switch {
		case !row.figure.Known:
			pen.Bytes(dim, grid.Missing, originNumber)
		case row.count:
			pen.Count(grid.Of(themes.Text), row.figure.Value, originNumber)
		default:
			pen.Exact(grid.Of(themes.Text), row.figure.Value, originNumber)
		}
		from := row.figure.Origin
		if !row.figure.Known {
			from = row.figure.Why
		}
		x := originLabel + originNumber + 3
		y += max(widget.Paragraph(r.Sub(x, y, r.Width()-x, r.Height()-y), dim, from), 1)
	}
}

func (p *allocatorPane) origins(s *scene) []origin {
	if !p.collect(s) {
		return nil
	}
	return p.rows
}

// origins are a line's numbers with where they come from.
func (l *accountLine) origins(view *model.SourceView) []origin {
	if l.set == nil {
		return []origin{{name: l.label, figure: l.figure}}
	}
	var all []origin
	shown := allocatorCounters[:]
	if l.set.Of == recorder.OfArena {
		shown = arenaFacts[:]
	}
	for _, counter := range shown {
		all = appendOrigin(all, view, l.set, counter.name, counter.counter)
	}
	if l.told != nil { // what is reckoned from its numbers is no better than they are
		return l.furtherOrigins(all, view, shown)
	}
	if cached := l.cached(); cached != grid.Missing {
		all = append(all, origin{name: "cached", figure: model.Figure{Value: cached, Known: true, Origin: "reserved − allocated"}})
	}
	if l.sampled && !l.set.Values.Known(recorder.PeakAllocated) {
		all = append(all, origin{name: "peak, sampled", figure: model.Figure{Value: l.peak, Known: true,
			Origin: "the largest of the samples that were seen: the true peak is that or more"}})
	}
	return l.furtherOrigins(all, view, shown)
}

// furtherOrigins adds the counters that not every allocator has, where it tells
// them or says why it does not.
func (l *accountLine) furtherOrigins(all []origin, view *model.SourceView, shown []namedCounter) []origin {
	for c := range recorder.NumCounters {
		counter := recorder.Counter(c)
		if _, why := l.set.Why[counter.String()]; !why && !l.shown().Values.Known(counter) || isNamed(shown, counter) {
			continue
		}
		all = appendOrigin(all, view, l.set, counterName(counter), counter)
	}
	return all
}

// appendOrigin adds where a counter comes from. Of those that an allocator tells no
// more, each says what it was, and the first why it is not told.
func appendOrigin(all []origin, view *model.SourceView, set *recorder.CounterSet, name string, counter recorder.Counter) []origin {
	o := origin{name: name, figure: view.Figure(set, counter), count: isCount(counter)}
	if o.figure.Known || o.figure.LastNs == 0 {
		return append(all, o)
	}
	was := grid.AppendExact
	if o.count {
		was = grid.AppendCount
	}
	text := "it was " + string(was(nil, o.figure.Last)) + ", " + string(grid.AppendDuration(nil, view.Now-o.figure.LastNs)) + " ago"
	if !slices.ContainsFunc(all, func(o origin) bool { return o.figure.LastNs != 0 }) {
		text += "; " + o.figure.Why
	}
	o.figure.Why = text
	return append(all, o)
}

// counterName is a counter's name in words.
func counterName(counter recorder.Counter) string {
	return strings.ReplaceAll(counter.String(), "_", " ")
}

func isNamed(shown []namedCounter, counter recorder.Counter) bool {
	for _, known := range shown {
		if known.counter == counter {
			return true
		}
	}
	return false
}

// allocatorCounters are what one asks of every allocator, and arenaFacts what
// one asks of an arena: those that are missing are named too.
var (
	allocatorCounters = [...]namedCounter{
		{"reserved", recorder.Reserved}, {"allocated", recorder.Allocated}, {"active", recorder.Active}, {"requested", recorder.Requested},
		{"releasable", recorder.Releasable}, {"largest free block", recorder.LargestFree}, {"peak allocated", recorder.PeakAllocated},
		{"peak reserved", recorder.PeakReserved}, {"retries", recorder.Retries}, {"out of memory", recorder.OOMs},
		{"segments", recorder.Segments}, {"live blocks", recorder.LiveBlocks},
	}
	arenaFacts = [...]namedCounter{{"length", recorder.Length}, {"forward", recorder.Forward}, {"reverse", recorder.Reverse}, {"high-water", recorder.HighWater}}
)

// isCount says whether a counter is a number of things and not of bytes.
func isCount(counter recorder.Counter) bool {
	switch counter {
	case recorder.FreeBlocks, recorder.LiveBlocks, recorder.Segments, recorder.LifetimeCount, recorder.Retries, recorder.OOMs,
		recorder.Generation, recorder.LadderUsed, recorder.LadderExhausted, recorder.OpenScopes, recorder.LadderCooldown:
		return true
	}
	return false
}
