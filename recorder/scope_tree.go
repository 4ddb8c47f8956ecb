package recorder

import "vramscope/arena"

// TreeLimits bounds what a scope tree takes, however hostile its events are.
// A zero field stands for its default.
type TreeLimits struct {
	Rows       int   // merged scopes; further ones are counted in rows named FoldedName, at most as many again. Default 131,072
	Depth      int   // rows above one another; deeper scopes are counted in a row named FoldedName. Default 512
	ParamBytes int64 // memory of all parameters, bytes. Default 8 MiB
}

func (l TreeLimits) orDefault() TreeLimits {
	if l.Rows <= 0 {
		l.Rows = 1 << 17
	}
	if l.Depth <= 0 {
		l.Depth = 512
	}
	if l.ParamBytes <= 0 {
		l.ParamBytes = 8 << 20
	}
	return l
}

// ScopeTree is the merged scope tree of one arena: siblings of one name are one
// row, in which counts and bytes add up and peaks have their maximum. Scopes
// that were open when the arena was reset are kept apart. It is built from the
// arena's events, in the watched process and in the dashboard alike.
//
// It belongs to one goroutine; Snapshot gives out immutable pictures of it.
//
// The meaning of the numbers is that of algan's ScopeRecord (see
// AllocationRecorder, which keeps every scope apart), with the simultaneous
// peak besides.
type ScopeTree struct {
	limits    TreeLimits
	rows      scopeRows
	abandoned scopeRows
	stack     []openScope // open scopes, outermost first; the root is in front of them
	settled   bool        // nothing was counted since the last settle
	folded    int64
	root      rowRoot
	length    int64
	forward   int64
	reverse   int64
	highWater int64

	// What the tree was before the outermost open scope began, for rows that
	// it has changed since: a reset gives it back.
	epochRows int   // rows at its beginning
	epochTop  int32 // last row under the root at its beginning
	shadows   []rowShadow
	shadowOf  []int32 // by row: place in shadows, valid if that is a shadow of the row
}

// rowRoot is what the root has counted.
type rowRoot struct {
	sums  rowSums
	peaks rowPeaks
}

// rowShadow is a row as it was before the outermost open scope, and the peaks
// of what has been counted in it since.
type rowShadow struct {
	row       int32
	lastChild int32
	rows      int32 // of the tree when the shadow was taken
	sums      rowSums
	peaks     rowPeaks
	since     rowPeaks
}

// NewScopeTree returns the empty tree of an arena that nothing is known of.
func NewScopeTree(limits TreeLimits) *ScopeTree {
	limits = limits.orDefault()
	t := &ScopeTree{limits: limits, rows: newScopeRows(limits), abandoned: newScopeRows(limits), epochTop: -1}
	t.root.peaks.frame = -1
	t.stack = make([]openScope, 1, 16)
	t.stack[0].begin(0, -1, 0, 0, 0)
	return t
}

// ObserveBatch takes a batch of the arena's events in.
func (t *ScopeTree) ObserveBatch(batch *ArenaEvents) {
	for _, event := range batch.All() {
		t.Observe(event)
	}
}

// Observe takes one event in. It keeps nothing of the event but the strings of
// its parameters.
func (t *ScopeTree) Observe(event *ArenaEvent) {
	switch event.Op {
	case arena.OpAlloc, arena.OpPersist:
		t.stack[len(t.stack)-1].count(event)
		t.settled = false
		t.highWater = max(t.highWater, event.Forward+t.length-event.Reverse)
	case arena.OpScopeOpen:
		t.open(event)
	case arena.OpScopeClose:
		t.close(event.Scope)
	case arena.OpParams:
		if row := t.stack[len(t.stack)-1].row; row >= 0 {
			t.rows.mergeParams(row, event.Params)
		}
	case arena.OpUnseen:
		t.stack[len(t.stack)-1].unseen(event.Bytes, t.length)
		t.settled = false
	case arena.OpReset:
		t.abandon()
		t.highWater = 0
	case arena.OpNew:
		t.setLength(event.Bytes)
	}
	t.forward, t.reverse = event.Forward, event.Reverse
}

// setLength says how long the arena is. Its end is where the root's reverse
// side begins.
func (t *ScopeTree) setLength(length int64) {
	t.length = length
	t.stack[0].entryReverse = length
}

// open begins a scope inside the innermost open one.
func (t *ScopeTree) open(event *ArenaEvent) {
	if len(t.stack) > t.limits.Depth+1 {
		// Nobody can look this deep; the row of folded scopes counts it.
		row := t.stack[len(t.stack)-1].row
		chunk, at := t.rows.write(row)
		chunk.sums[at].count++
		chunk.sums[at].unclosed++
		t.folded++
		return
	}
	row, folded := t.rows.child(t.stack[len(t.stack)-1].row, event.Text)
	if folded {
		t.folded++
	}
	t.shadow(row)
	chunk, at := t.rows.write(row)
	chunk.sums[at].count++
	chunk.open[at]++
	t.rows.mergeParams(row, event.Params)
	t.stack = pushOpen(t.stack, event, row)
}

// close ends the scope of that number and, implicitly, every scope opened after
// it. A scope that is not open is ignored.
func (t *ScopeTree) close(number uint64) {
	target := findOpen(t.stack, number)
	if target == 0 {
		return
	}
	for top := len(t.stack) - 1; top >= target; top-- {
		t.settleScope(top)
		chunk, at := t.rows.write(t.stack[top].row)
		chunk.open[at]--
		if top > target {
			chunk.sums[at].unclosed++
		}
	}
	t.stack = t.stack[:target]
	if target == 1 {
		t.beginEpoch()
	}
}

// End ends every open scope of an arena that is gone: where their pointers ended
// is not known.
func (t *ScopeTree) End() {
	if len(t.stack) == 1 {
		return
	}
	outermost := &t.stack[1]
	row := outermost.row
	t.close(outermost.number)
	chunk, at := t.rows.write(row)
	chunk.sums[at].unclosed++
}

// settle brings the rows up to what the open scopes have counted.
func (t *ScopeTree) settle() {
	if t.settled {
		return
	}
	for top := len(t.stack) - 1; top >= 0; top-- {
		t.settleScope(top)
	}
	t.settled = true
}

// settleScope brings the row of an open scope up to date and hands what it
// counted on to the scope around it.
func (t *ScopeTree) settleScope(place int) {
	scope := &t.stack[place]
	if place == 0 {
		t.root.sums.add(scope.sums())
		t.root.peaks.raise(scope.peaks())
		scope.clearSums()
		return
	}
	outer := &t.stack[place-1]
	outer.absorb(scope)
	peaks := scope.peaks()
	sums := scope.sums()
	if outer.row == scope.row {
		// Scopes folded into one row: the outer one will count it.
		sums.allocs, sums.total = 0, 0
	}
	chunk, at := t.rows.write(scope.row)
	chunk.sums[at].add(sums)
	chunk.peaks[at].raise(peaks)
	if shadow := t.shadowOfRow(scope.row); shadow != nil {
		shadow.since.raise(peaks)
	}
	scope.clearSums()
}

// beginEpoch says that no scope is open: what is in the tree stays there.
func (t *ScopeTree) beginEpoch() {
	t.epochRows, t.epochTop = t.rows.rows, t.rows.lastTop
	t.shadows = t.shadows[:0]
}

// shadow keeps a row as it is before the outermost open scope changes it. A row
// that it made itself needs no shadow.
func (t *ScopeTree) shadow(row int32) {
	if int(row) >= t.epochRows || t.shadowOfRow(row) != nil {
		return
	}
	if missing := t.epochRows - len(t.shadowOf); missing > 0 {
		t.shadowOf = append(t.shadowOf, make([]int32, missing)...)
	}
	chunk, at := t.rows.read(row)
	t.shadowOf[row] = int32(len(t.shadows))
	t.shadows = append(t.shadows, rowShadow{
		row: row, lastChild: chunk.lastChild[at], rows: int32(t.rows.rows), sums: chunk.sums[at], peaks: chunk.peaks[at],
		since: rowPeaks{frame: -1},
	})
}

// shadowOfRow is the shadow of a row, nil if it has none.
func (t *ScopeTree) shadowOfRow(row int32) *rowShadow {
	if int(row) >= t.epochRows || int(row) >= len(t.shadowOf) {
		return nil
	}
	at := t.shadowOf[row]
	if int(at) >= len(t.shadows) || t.shadows[at].row != row {
		return nil
	}
	return &t.shadows[at]
}

// abandon moves everything that the outermost open scope counted to the tree of
// abandoned scopes, as algan's recorder does when it is cleared: a stream that
// breaks off must not be averaged with whole ones. The root keeps its numbers.
func (t *ScopeTree) abandon() {
	if len(t.stack) == 1 {
		return
	}
	t.settle()
	for _, scope := range t.stack[1:] {
		chunk, at := t.rows.write(scope.row)
		chunk.open[at]--
		chunk.sums[at].unclosed++
	}
	t.stack = t.stack[:1]
	t.moveToAbandoned()
	t.rows.truncate(t.epochRows)
	t.rows.unlink(-1, t.epochTop)
	for i := range t.shadows {
		shadow := &t.shadows[i]
		chunk, at := t.rows.write(shadow.row)
		chunk.sums[at], chunk.peaks[at] = shadow.sums, shadow.peaks
		t.rows.unlink(shadow.row, shadow.lastChild)
	}
	t.beginEpoch()
}

// moveToAbandoned moves what was counted since the epoch began, rows in the
// order in which they were first touched.
func (t *ScopeTree) moveToAbandoned() {
	moved := make(map[int32]int32, len(t.shadows)+t.rows.rows-t.epochRows)
	next := int32(t.epochRows)
	moveNew := func(end int32) {
		for ; next < end; next++ {
			chunk, at := t.rows.read(next)
			t.moveRow(moved, next, chunk.sums[at], chunk.peaks[at])
		}
	}
	for i := range t.shadows {
		shadow := &t.shadows[i]
		moveNew(shadow.rows)
		chunk, at := t.rows.read(shadow.row)
		t.moveRow(moved, shadow.row, chunk.sums[at].minus(shadow.sums), shadow.since)
	}
	moveNew(int32(t.rows.rows))
}

// moveRow adds a row's share to the tree of abandoned scopes. moved says where
// the rows before it went.
func (t *ScopeTree) moveRow(moved map[int32]int32, row int32, sums rowSums, peaks rowPeaks) {
	chunk, at := t.rows.read(row)
	parent := int32(-1)
	if target, known := moved[chunk.parent[at]]; known {
		parent = target
	}
	target, folded := t.abandoned.child(parent, chunk.name[at])
	if folded {
		t.folded += sums.count
		if target == parent {
			// The row above counts it already.
			sums.allocs, sums.total = 0, 0
		}
	}
	moved[row] = target
	into, place := t.abandoned.write(target)
	into.sums[place].add(sums)
	into.peaks[place].raise(peaks)
	if block := chunk.params[at]; block != nil {
		t.abandoned.mergeParams(target, block.params)
	}
}
