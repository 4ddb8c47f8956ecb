package layout

import "vramscope/ui/grid"

// node is a part of a plan: a pane, or several parts below or beside each
// other. Sizes are those of the contents, without frames.
type node struct {
	pane     Pane
	parts    []node
	beside   bool // the parts stand side by side
	min      int  // rows that a pane needs, or columns as a part of a row
	want     int  // rows that it gets before anything grows; 0 is min
	grow     int  // its share of what is left over
	drop     int  // 0 stays; of the others, the highest goes first where there is no room
	minWidth int  // as a part of a row: columns without which it is left out
}

// placer puts the parts of a plan into a layout.
type placer struct {
	layout     *Layout
	framed     bool
	arenas     int // bars in the arena pane
	allocators int // rows of the table of allocators
}

// place puts a node into a rectangle, with its frame if panes have frames.
func (p *placer) place(n *node, area grid.Rect) {
	switch {
	case area.Empty():
	case n.pane != NoPane:
		p.placePane(n.pane, area)
	case n.beside:
		p.placeBeside(n, area)
	default:
		p.placeBelow(n, area)
	}
}

func (p *placer) placePane(pane Pane, area grid.Rect) {
	place := Place{Pane: pane, Frame: area, Inner: area, Framed: p.framed}
	if p.framed {
		place.Inner = area.Inset(1)
	}
	if !place.Inner.Empty() && p.layout.count < maxPlaces {
		p.layout.places[p.layout.count] = place
		p.layout.count++
	}
}

// line is the rows or columns of a line between two parts: the side that
// their frames share.
func (p *placer) line() int {
	if p.framed {
		return 1
	}
	return 0
}

// least is the rows that the contents of a node need.
func (p *placer) least(n *node) int { return p.rows(n, func(pane *node) int { return pane.min }) }

// wish is the rows that they get before anything grows.
func (p *placer) wish(n *node) int {
	return p.rows(n, func(pane *node) int {
		if pane.pane == AllocatorsPane {
			return max(pane.min, min(pane.want, p.allocators+1)) // its titles have a row
		}
		return max(pane.min, pane.want)
	})
}

// rows sums up the rows of a node; of is the rows of a pane.
func (p *placer) rows(n *node, of func(*node) int) int {
	if n.pane == ArenaPane && p.arenas > 1 {
		return of(n) * p.arenas
	}
	if n.pane != NoPane {
		return of(n)
	}
	sum := -p.line()
	if n.beside {
		sum = 0
	}
	for i := range n.parts {
		rows := p.rows(&n.parts[i], of)
		if n.beside {
			sum = max(sum, rows)
		} else {
			sum += rows + p.line()
		}
	}
	return sum
}

// placeBelow puts the parts of a node one below the other.
func (p *placer) placeBelow(n *node, area grid.Rect) {
	var sizes, shares, limits [maxPlaces]int
	room := area.H - p.line() // each part takes its rows and a line below; one line is above all
	for i := range n.parts {
		part := &n.parts[i]
		sizes[i], shares[i] = p.least(part), part.grow
		limits[i] = p.wish(part)
	}
	divide(n.parts, sizes[:len(n.parts)], limits[:len(n.parts)], shares[:len(n.parts)], room, p.line())
	y := area.Y
	for i := range n.parts {
		if sizes[i] > 0 {
			p.place(&n.parts[i], grid.Rect{X: area.X, Y: y, W: area.W, H: sizes[i] + 2*p.line()})
			y += sizes[i] + p.line()
		}
	}
}

// placeBeside puts the parts of a node side by side.
func (p *placer) placeBeside(n *node, area grid.Rect) {
	var sizes, shares, limits [maxPlaces]int
	for i := range n.parts {
		sizes[i], shares[i] = max(n.parts[i].minWidth, 1), n.parts[i].grow
		limits[i] = sizes[i]
	}
	gap := 1 // a line, or a blank where there are no frames
	before := p.line()
	divide(n.parts, sizes[:len(n.parts)], limits[:len(n.parts)], shares[:len(n.parts)], area.W-2*before+gap, gap)
	x := area.X
	for i := range n.parts {
		if sizes[i] > 0 {
			p.place(&n.parts[i], grid.Rect{X: x, Y: area.Y, W: sizes[i] + 2*before, H: area.H})
			x += sizes[i] + gap
		}
	}
}

// divide gives each part its size, so that with a gap after each they fill the
// room. What does not fit gets 0: first the parts that may be left out, then
// the last. What is over goes to those below their limit, then by share.
func divide(parts []node, sizes, limits, shares []int, room, gap int) {
	needed := 0
	for i := range sizes {
		sizes[i] = max(sizes[i], 1)
		needed += sizes[i] + gap
	}
	for needed > room {
		last := -1
		for i := range sizes {
			if sizes[i] > 0 && parts[i].drop > 0 && (last < 0 || parts[i].drop >= parts[last].drop) {
				last = i
			}
		}
		if last < 0 {
			break
		}
		needed -= sizes[last] + gap
		sizes[last] = 0
	}
	for i := len(sizes) - 1; i >= 0 && needed > room; i-- {
		if sizes[i] == 0 {
			continue
		}
		over := min(needed-room, sizes[i])
		if sizes[i] -= over; sizes[i] == 0 && i > 0 {
			over += gap
		} else if sizes[i] == 0 {
			sizes[i], over = max(1, room-gap), 0
		}
		needed -= over
	}
	left := room - needed
	for i := range sizes {
		if sizes[i] > 0 && left > 0 {
			more := min(left, max(0, limits[i]-sizes[i]))
			sizes[i] += more
			left -= more
		}
	}
	share(sizes, shares, left)
}

// share gives what is left to the parts by their shares; where none takes any,
// to the last.
func share(sizes, shares []int, left int) {
	if left <= 0 {
		return
	}
	all, last := 0, -1
	for i := range sizes {
		if sizes[i] > 0 {
			all += shares[i]
			last = i
		}
	}
	if all == 0 {
		if last >= 0 {
			sizes[last] += left
		}
		return
	}
	for i := range sizes {
		if sizes[i] > 0 && shares[i] > 0 {
			part := left * shares[i] / all
			sizes[i] += part
			left -= part
			all -= shares[i]
		}
	}
}
