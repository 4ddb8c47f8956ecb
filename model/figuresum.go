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
	why     string   // of the first that is missing
	origins []string // of those that are known, each once
	room    [4]string
}

func (s *figureSum) add(f Figure) {
	if !f.Known {
		if s.missing++; s.missing == 1 {
			s.why = f.Why
		}
		return
	}
	if s.known++; s.known == 1 {
		s.first, s.origins = f, s.room[:0]
	}
	s.value += f.Value
	for _, origin := range s.origins {
		if origin == f.Origin {
			return
		}
	}
	s.origins = append(s.origins, f.Origin)
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
	if len(s.origins) > 1 {
		sum.Origin = strings.Join(s.origins, " + ")
	}
	return sum
}
