package model

import "strings"

// figureSum adds figures up without making a text for each step. What is missing
// leaves the sum unknown, for the first reason; the known part of it stays a
// lower bound.
type figureSum struct {
	first   Figure // the first that is known
	value   int64  // of those that are known
	known   int
	missing int
	why     string // of the first that is missing
	origins [sumOrigins]string
	told    int // origins: of those that are known, each once
}

// sumOrigins is how many origins a sum names.
const sumOrigins = 6

func (s *figureSum) add(f Figure) {
	if !f.Known {
		if s.missing++; s.missing == 1 {
			s.why = f.Why
		}
		return
	}
	if s.known++; s.known == 1 {
		s.first = f
	}
	s.value += f.Value
	for _, origin := range s.origins[:s.told] {
		if origin == f.Origin {
			return
		}
	}
	if s.told < sumOrigins {
		s.origins[s.told] = f.Origin
		s.told++
	}
}

// total is the sum where every part is known; none is what it is without parts.
func (s *figureSum) total(none Figure) Figure {
	switch {
	case s.missing > 0:
		return missing(s.why)
	case s.known == 0:
		return none
	}
	return s.atLeast(none)
}

// atLeast is the sum of the parts that are known; none is what it is without
// any.
func (s *figureSum) atLeast(none Figure) Figure {
	if s.known == 0 {
		return none
	}
	sum := s.first
	sum.Value = s.value
	if s.told > 1 {
		sum.Origin = strings.Join(s.origins[:s.told], " + ")
	}
	return sum
}
