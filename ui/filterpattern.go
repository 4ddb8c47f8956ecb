package ui

import (
	"fmt"
	"regexp"
	"strings"
)

// filterPattern is what is typed after "/": a regular expression, and before
// it "!" for what does not match. Small letters alone match capitals too.
type filterPattern struct {
	text    string
	pattern *regexp.Regexp
	invert  bool
}

// set takes a pattern; one that does not compile leaves what was there.
func (f *filterPattern) set(text string) error {
	body, invert := strings.CutPrefix(text, "!")
	if body == "" {
		*f = filterPattern{}
		return nil
	}
	flags := ""
	if body == strings.ToLower(body) {
		flags = "(?i)"
	}
	pattern, err := regexp.Compile(flags + body)
	if err != nil {
		return fmt.Errorf("%q is no regular expression: escape special characters with \\", body)
	}
	*f = filterPattern{text: text, pattern: pattern, invert: invert}
	return nil
}

// matches says whether a row with that text stays.
func (f *filterPattern) matches(text string) bool {
	return f.pattern == nil || f.pattern.MatchString(text) != f.invert
}
