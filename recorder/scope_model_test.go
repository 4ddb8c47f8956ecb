package recorder

import (
	"slices"

	"pgregory.net/rapid"

	"vramscope/arena"
)

// The model of these tests: the rules of algan's recorder with pointers and
// lists, nothing clever. Everything faster is held against it.

type modelScope struct {
	name                                     uint32
	params                                   []arena.Param
	entryForward, entryReverse               int64
	exitForward, exitReverse                 int64
	events                                   []ArenaEvent
	children                                 []*modelScope
	allocs                                   int64
	peakForward, peakReverse, peak, bound    int64
	peakNs, peakFrame, opened, closed, frame int64
	number                                   uint64
	state                                    ScopeState
}

type modelRecorder struct {
	root      *modelScope
	abandoned []*modelScope
	stack     []*modelScope
	length    int64
}

func newModel() *modelRecorder {
	root := &modelScope{peakFrame: -1, frame: -1}
	return &modelRecorder{root: root, stack: []*modelScope{root}}
}

func (m *modelRecorder) observe(event ArenaEvent) {
	top := m.stack[len(m.stack)-1]
	switch event.Op {
	case arena.OpNew:
		m.length = event.Bytes
		top.events = append(top.events, event)
	case arena.OpAlloc, arena.OpPersist:
		top.events = append(top.events, event)
		for i, scope := range m.stack {
			scope.allocs++
			forward, reverse := event.Forward-scope.entryForward, scope.entryReverse-event.Reverse
			if i == 0 {
				scope.raise(forward+m.length-event.Reverse, event)
				reverse = 0
			} else {
				scope.raise(forward+reverse, event)
			}
			scope.peakForward = max(scope.peakForward, forward)
			scope.peakReverse = max(scope.peakReverse, reverse)
		}
	case arena.OpScopeOpen:
		scope := &modelScope{
			name: event.Text, params: modelMerge(nil, event.Params),
			entryForward: event.Forward, entryReverse: event.Reverse, exitForward: event.Forward, exitReverse: event.Reverse,
			peakFrame: -1, opened: event.Ns, frame: event.Frame, number: event.Scope,
		}
		top.children = append(top.children, scope)
		m.stack = append(m.stack, scope)
	case arena.OpScopeClose:
		at := slices.IndexFunc(m.stack[1:], func(s *modelScope) bool { return s.number == event.Scope }) + 1
		if at == 0 {
			return
		}
		for _, scope := range m.stack[at+1:] {
			scope.state, scope.closed = ScopeUnclosed, event.Ns
		}
		m.stack[at].state, m.stack[at].closed = ScopeClosed, event.Ns
		m.stack[at].exitForward, m.stack[at].exitReverse = event.Forward, event.Reverse
		m.stack = m.stack[:at]
	case arena.OpReset:
		if len(m.stack) > 1 {
			for _, scope := range m.stack[1:] {
				scope.state, scope.closed = ScopeAbandoned, event.Ns
			}
			m.abandoned = append(m.abandoned, m.stack[1])
			m.root.children = m.root.children[:len(m.root.children)-1]
			m.stack = m.stack[:1]
		}
		m.root.events = append(m.root.events, event)
	case arena.OpUnseen:
		for _, scope := range m.stack {
			entry := scope.entryForward + m.length - scope.entryReverse
			if scope == m.root {
				entry = 0
			}
			scope.bound = max(scope.bound, event.Bytes-entry)
		}
		top.events = append(top.events, event)
	case arena.OpParams:
		top.params = modelMerge(top.params, event.Params)
		top.events = append(top.events, event)
	default:
		top.events = append(top.events, event)
	}
}

func (s *modelScope) raise(both int64, event ArenaEvent) {
	if both > s.peak {
		s.peak, s.peakNs, s.peakFrame = both, event.Ns, event.Frame
	}
}

func (s *modelScope) self() int64 {
	bytes := int64(0)
	for i := range s.events {
		if s.events[i].IsAllocation() {
			bytes += s.events[i].Bytes
		}
	}
	return bytes
}

func (s *modelScope) total() int64 {
	bytes := s.self()
	for _, child := range s.children {
		bytes += child.total()
	}
	return bytes
}

func modelMerge(old, added []arena.Param) []arena.Param {
	merged := slices.Clone(old)
	for _, param := range added {
		known := false
		for i := range merged {
			if merged[i].Name == param.Name {
				merged[i], known = param, true
			}
		}
		if !known {
			merged = append(merged, param)
		}
	}
	return merged
}

// modelRow is a row of a merged tree.
type modelRow struct {
	name     uint32
	row      ScopeRow
	children []*modelRow
}

// merged is the scopes of one level with siblings of one name merged.
func merged(scopes []*modelScope) []*modelRow {
	var rows []*modelRow
	groups := map[uint32][]*modelScope{}
	for _, scope := range scopes {
		if len(groups[scope.name]) == 0 {
			rows = append(rows, &modelRow{name: scope.name})
		}
		groups[scope.name] = append(groups[scope.name], scope)
	}
	for _, row := range rows {
		row.row.Name, row.row.PeakFrame = row.name, -1
		var children []*modelScope
		for _, scope := range groups[row.name] {
			row.row.Count++
			if scope.state == ScopeUnclosed || scope.state == ScopeAbandoned {
				row.row.Unclosed++
			}
			if scope.state == ScopeOpen {
				row.row.Open++
			}
			row.row.AllocCount += scope.allocs
			row.row.SelfBytes += scope.self()
			row.row.TotalBytes += scope.total()
			row.row.PeakForward = max(row.row.PeakForward, scope.peakForward)
			row.row.PeakReverse = max(row.row.PeakReverse, scope.peakReverse)
			row.row.PeakBound = max(row.row.PeakBound, scope.bound)
			if scope.peak > row.row.Peak {
				row.row.Peak, row.row.PeakNs, row.row.PeakFrame = scope.peak, scope.peakNs, scope.peakFrame
			}
			children = append(children, scope.children...)
		}
		row.children = merged(children)
	}
	return rows
}

// bump is a bump arena of the simplest kind: it makes histories for the tests.
type bump struct {
	length, forward, reverse, high int64
	marks                          []int64
	temps                          [][3]int64
	open                           []uint64
	scopes                         uint64
	ns, frame                      int64
	observe                        func(ArenaEvent)
}

func newBump(length int64, observe func(ArenaEvent)) *bump {
	b := &bump{length: length, reverse: length, observe: observe}
	b.emit(ArenaEvent{Op: arena.OpNew, Bytes: length})
	return b
}

func (b *bump) emit(event ArenaEvent) {
	b.ns += 10
	event.Ns, event.Frame, event.Forward, event.Reverse = b.ns, b.frame, b.forward, b.reverse
	b.observe(event)
}

func (b *bump) alloc(bytes, item int64) bool {
	start := roundUp(b.forward, item)
	if start+bytes > b.reverse {
		b.emit(ArenaEvent{Op: arena.OpFail, Bytes: bytes, ItemSize: item})
		return false
	}
	b.forward = start + bytes
	b.high = max(b.high, b.forward+b.length-b.reverse)
	b.emit(ArenaEvent{Op: arena.OpAlloc, Bytes: bytes, ItemSize: item, Text: 90, DType: 91})
	return true
}

func (b *bump) persist(bytes, item int64) bool {
	start := b.reverse - mod(b.reverse, item) - bytes
	if start < b.forward {
		b.emit(ArenaEvent{Op: arena.OpFail, Flags: FlagPersist, Bytes: bytes, ItemSize: item})
		return false
	}
	b.reverse = start
	b.high = max(b.high, b.forward+b.length-b.reverse)
	b.emit(ArenaEvent{Op: arena.OpPersist, Bytes: bytes, ItemSize: item, Text: 90, DType: 91})
	return true
}

func (b *bump) push(clear bool) {
	saved := [3]int64{b.forward, b.reverse, 0}
	event := ArenaEvent{Op: arena.OpTempPush}
	if clear {
		saved[2] = 1
		event.Flags = FlagClear
	}
	b.temps = append(b.temps, saved)
	b.emit(event)
}

func (b *bump) pop() {
	last := b.temps[len(b.temps)-1]
	b.temps = b.temps[:len(b.temps)-1]
	b.forward = last[0]
	if last[2] != 0 {
		b.reverse = last[1]
	}
	b.emit(ArenaEvent{Op: arena.OpTempPop})
}

func (b *bump) scope(name uint32, params ...arena.Param) uint64 {
	b.scopes++
	b.open = append(b.open, b.scopes)
	b.emit(ArenaEvent{Op: arena.OpScopeOpen, Scope: b.scopes, Text: name, Params: params})
	return b.scopes
}

func (b *bump) close(number uint64) {
	b.open = closeNumber(b.open, number)
	b.emit(ArenaEvent{Op: arena.OpScopeClose, Scope: number})
}

func (b *bump) reset() {
	b.forward, b.reverse, b.high = 0, b.length, 0
	b.marks, b.temps, b.open = nil, nil, nil
	b.emit(ArenaEvent{Op: arena.OpReset, Text: 92})
}

// step does something at random.
func (b *bump) step(t *rapid.T) {
	switch rapid.IntRange(0, 20).Draw(t, "op") {
	case 0, 1, 2, 3, 4, 5:
		b.alloc(rapid.Int64Range(0, 64).Draw(t, "bytes"), rapid.SampledFrom([]int64{1, 2, 4, 8}).Draw(t, "item"))
	case 6, 7:
		b.persist(rapid.Int64Range(0, 32).Draw(t, "bytes"), rapid.SampledFrom([]int64{1, 4, 8}).Draw(t, "item"))
	case 8:
		b.push(rapid.Bool().Draw(t, "clear"))
	case 9:
		if len(b.temps) > 0 {
			b.pop()
		}
	case 10, 11, 12:
		var params []arena.Param
		if rapid.Bool().Draw(t, "has params") {
			params = append(params, arena.Int("frames", rapid.Int64Range(1, 3).Draw(t, "frames")))
		}
		b.scope(uint32(rapid.IntRange(1, 4).Draw(t, "name")), params...)
	case 13, 14:
		if len(b.open) > 0 {
			b.close(b.open[len(b.open)-1])
		}
	case 15:
		if len(b.open) > 0 {
			b.close(rapid.SampledFrom(b.open).Draw(t, "scope"))
		} else {
			b.close(b.scopes + 5) // not open: ignored
		}
	case 16:
		b.marks = append(b.marks, b.forward)
		b.emit(ArenaEvent{Op: arena.OpMark})
	case 17:
		if len(b.marks) > 0 {
			b.forward = b.marks[len(b.marks)-1]
			b.marks = b.marks[:len(b.marks)-1]
			b.emit(ArenaEvent{Op: arena.OpRestore})
		}
	case 18:
		b.emit(ArenaEvent{Op: arena.OpParams, Params: []arena.Param{arena.Float("scale", 0.5), arena.Int("frames", 9)}})
	case 19:
		switch rapid.IntRange(0, 3).Draw(t, "rare") {
		case 0:
			b.reset()
		case 1:
			b.forward = rapid.Int64Range(0, b.reverse).Draw(t, "forward")
			b.emit(ArenaEvent{Op: arena.OpSet})
		case 2:
			b.frame++
		}
	case 20:
		b.emit(ArenaEvent{Op: arena.OpUnseen, Bytes: rapid.Int64Range(0, b.length).Draw(t, "used")})
	}
}
