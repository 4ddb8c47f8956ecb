package recorder

import "slices"

// Clone is a tree that goes on from this moment on its own, for a view of
// another moment. The two share what neither of them changes. A tree that is
// itself a clone and was not changed since may be cloned by several goroutines
// at a time.
func (t *ScopeTree) Clone() *ScopeTree {
	c := *t
	c.rows, c.abandoned = t.rows.clone(), t.abandoned.clone()
	c.stack = slices.Clone(t.stack)
	c.shadows, c.shadowOf = slices.Clone(t.shadows), slices.Clone(t.shadowOf)
	return &c
}

// clone is rows of their own over chunks that are shared: taking a view makes
// both sides copy a chunk before they change it.
func (t *scopeRows) clone() scopeRows {
	t.view()
	c := *t
	c.chunks, c.index, c.merged = slices.Clone(t.chunks), slices.Clone(t.index), nil
	return c
}
