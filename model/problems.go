package model

import "fmt"

// maximumProblems is how many different inconsistencies of a source are kept.
const maximumProblems = 64

// problems counts what a source told that cannot be. The same inconsistency of
// the same thing is one problem with a count. It is copied when it changes after
// a reader got it.
type problems struct {
	list   []problem
	shared bool
	more   int64 // different ones that were not kept
}

type problem struct {
	of, what string
	count    int64
}

// add counts a problem of something, such as "pool 1" and "frees of blocks that
// were not in use".
func (p *problems) add(of, what string) {
	for i := range p.list {
		if p.list[i].of == of && p.list[i].what == what {
			p.unshare()
			p.list[i].count++
			return
		}
	}
	if len(p.list) == maximumProblems {
		p.more++
		return
	}
	p.unshare()
	p.list = append(p.list, problem{of: of, what: what, count: 1})
}

func (p *problems) unshare() {
	if p.shared {
		p.list = append(make([]problem, 0, len(p.list)+1), p.list...)
		p.shared = false
	}
}

// texts are the problems in words.
func (p *problems) texts() []string {
	if len(p.list) == 0 {
		return nil
	}
	texts := make([]string, 0, len(p.list)+1)
	for _, problem := range p.list {
		text := problem.of + ": " + problem.what
		if problem.count > 1 {
			text += fmt.Sprintf(" (%d times)", problem.count)
		}
		texts = append(texts, text)
	}
	if p.more > 0 {
		texts = append(texts, fmt.Sprintf("%s of other kinds", countOf(p.more, "problem")))
	}
	return texts
}
