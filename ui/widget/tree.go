package widget

import (
	"vramscope/themes"
	"vramscope/ui/grid"
)

// NodeState is how a node of a tree stands.
type NodeState uint8

// The states.
const (
	NodeLeaf   NodeState = iota // without children
	NodeOpen                    // its children are shown
	NodeClosed                  // its children are hidden
	NodeLost                    // a scope that was open when its arena was reset
)

// Node is a row of a tree.
type Node struct {
	Depth int // 0 is a root
	// Rails has bit d set where the ancestor at depth d, or for the last bit
	// the node itself, has a sibling further down.
	Rails     uint64
	State     NodeState
	Name      string // may be anything
	Style     grid.Style
	MatchFrom int // columns of the name that a filter matched, from
	MatchTo   int // to; the same as MatchFrom is none
}

// TreeName draws the lines of a tree, the node's mark and its name into the
// first row of a region; a name that is too long loses its middle. It returns
// the column where the name begins.
func TreeName(r grid.Region, n *Node) int {
	glyphs, guide := r.Glyphs(), grid.Of(themes.Guide)
	x := 0
	if 2*n.Depth > r.Width()/2 {
		// Too deep to be drawn: the depth as a number.
		p := r.Pen(0, 0)
		p.Rune(guide, glyphs.Ellipsis)
		p.Count(guide, int64(n.Depth), 0)
		p.Skip(1)
		x = p.X()
	} else {
		for d := 1; d <= n.Depth; d++ {
			r.Set(x, 0, rail(glyphs, n, d), guide)
			x += 2
		}
	}
	r.Set(x, 0, stateGlyph(glyphs, n.State), stateStyle(n.State))
	x += 2
	r.FitMiddle(x, 0, r.Width()-x, n.Style, n.Name)
	if n.MatchTo > n.MatchFrom {
		r.Sub(x, 0, r.Width()-x, 1).Highlight(n.MatchFrom, 0, n.MatchTo-n.MatchFrom)
	}
	return x
}

// rail is the line of a tree before depth d: a tee or a corner before the node
// itself, a line or nothing for its ancestors.
func rail(glyphs *themes.Glyphs, n *Node, d int) rune {
	goesOn := d < 64 && n.Rails&(1<<d) != 0
	switch {
	case d == n.Depth && goesOn:
		return glyphs.TreeTee
	case d == n.Depth:
		return glyphs.TreeCorner
	case goesOn:
		return glyphs.TreeLine
	default:
		return ' '
	}
}

func stateGlyph(glyphs *themes.Glyphs, state NodeState) rune {
	switch state {
	case NodeOpen:
		return glyphs.NodeOpen
	case NodeClosed:
		return glyphs.NodeClosed
	case NodeLost:
		return glyphs.Abandoned
	default:
		return glyphs.NodeLeaf
	}
}

func stateStyle(state NodeState) grid.Style {
	if state == NodeLost {
		return grid.Of(themes.Abandoned)
	}
	return grid.Of(themes.Accent)
}
