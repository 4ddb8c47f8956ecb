package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vramscope/model"
	"vramscope/ui"
)

// arenaChoice is which arena a frame is drawn of, as --arena and --all-arenas say.
type arenaChoice struct {
	id  string
	all bool
}

// none says why a file that has no arenas takes neither flag, nil where neither was
// given.
func (c *arenaChoice) none(what string) error {
	if c.id != "" || c.all {
		return usageError{what + ", which has no arenas: leave --arena and --all-arenas out"}
	}
	return nil
}

// choose has the options look at the arena of a source, at the moment that they
// look at.
func (c *arenaChoice) choose(options *ui.Options, view *model.SourceView) error {
	if c.id != "" && c.all {
		return usageError{"--arena looks at one arena and --all-arenas at all of them: leave one out"}
	}
	options.AllArenas = c.all
	if c.id == "" {
		return nil
	}
	var arenas []*model.ArenaView
	if view != nil {
		at := view
		if options.At > 0 {
			at = view.At(options.At)
		}
		arenas = slices.Concat(at.Gone, at.Arenas)
	}
	var known []string
	for _, arena := range arenas {
		number := strconv.FormatInt(arena.ID, 10)
		if number == c.id {
			options.Arena = arena.ID
			return nil
		}
		known = append(known, number)
	}
	if len(known) == 0 {
		return usageError{fmt.Sprintf("--arena %q: nothing is known of any arena at that moment of the file; vramscope report lists those it has", c.id)}
	}
	return usageError{fmt.Sprintf("--arena %q: choose the number of an arena that the file tells of at that moment: %s", c.id, strings.Join(known, ", "))}
}
