package model

import "math"

// unknownValue stands in a series where a counter was not known. It is no
// value that a counter of bytes or times can have.
const unknownValue = math.MinInt64

// span is the smallest and the largest known value of a stretch.
type span struct{ min, max int64 }

// noSpan is the span of a stretch in which nothing is known: min > max.
var noSpan = span{min: math.MaxInt64, max: math.MinInt64}

func (s span) known() bool { return s.min <= s.max }

// join widens the span by another one.
func (s *span) join(other span) {
	s.min = min(s.min, other.min)
	s.max = max(s.max, other.max)
}

// add widens the span by a value, unless it is unknown.
func (s *span) add(value int64) {
	if value == unknownValue {
		return
	}
	s.min = min(s.min, value)
	s.max = max(s.max, value)
}

// fan is how many nodes of a level of a pyramid lie under one of the next.
const (
	fan     = 1 << fanBits
	fanBits = 5
)

// pyramidLevels is enough for a level of about ten nodes above ten million
// elements.
const pyramidLevels = 4

// pyramid answers the span of any stretch of a growing row of elements by
// looking at a number of nodes that grows with the logarithm of the stretch.
// The elements themselves are kept by whoever owns it. Like a vector, a copy of
// it is a reader's view.
type pyramid struct {
	levels [pyramidLevels]vector[span] // levels[k] has a node for each fan^(k+1) elements, complete ones only
	open   [pyramidLevels]span         // the node of each level that is not complete
	count  int                         // elements so far
}

// add appends an element's span. It says for how many nodes memory was taken.
func (p *pyramid) add(element span) (grown int) {
	if p.count == 0 {
		for k := range p.open {
			p.open[k], p.levels[k].bits = noSpan, fanBits
		}
	}
	p.count++
	under := 1
	for k := range p.levels {
		p.open[k].join(element)
		under *= fan
		if p.count%under != 0 {
			// The levels above take the element in when this node is complete.
			return grown
		}
		element = p.open[k]
		p.open[k] = noSpan
		grown += p.levels[k].append(element)
	}
	return grown
}

// drop gives up nodes in front of the element of that number and says how many
// nodes.
func (p *pyramid) drop(number int) (nodes int) {
	for k := range p.levels {
		number /= fan
		nodes += p.levels[k].drop(number)
	}
	return nodes
}

// room is for how many nodes memory is taken.
func (p *pyramid) room() (nodes int) {
	for k := range p.levels {
		nodes += p.levels[k].room()
	}
	return nodes
}

// span is the span of the elements [from, to); leaf gives that of a stretch
// that is shorter than two nodes of the lowest level. Elements that were
// dropped must not be asked for.
func (p *pyramid) span(from, to int, leaf func(from, to int) span) span {
	result := noSpan
	first, last := (from+fan-1)/fan, to/fan
	if first >= last {
		return leaf(from, to)
	}
	if from < first*fan {
		result.join(leaf(from, first*fan))
	}
	if last*fan < to {
		result.join(leaf(last*fan, to))
	}
	// Climb as long as whole nodes of the next level fit between.
	for k := range p.levels {
		level := &p.levels[k]
		upFirst, upLast := (first+fan-1)/fan, last/fan
		if k+1 == pyramidLevels || upFirst >= upLast {
			result.join(joinNodes(level, first, last))
			return result
		}
		result.join(joinNodes(level, first, upFirst*fan))
		result.join(joinNodes(level, upLast*fan, last))
		first, last = upFirst, upLast
	}
	return result
}

// joinNodes is the span of the nodes [from, to) of a level.
func joinNodes(level *vector[span], from, to int) span {
	result := noSpan
	for from < to {
		run := level.run(from, to)
		for _, node := range run {
			result.join(node)
		}
		from += len(run)
	}
	return result
}
