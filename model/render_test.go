package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"vramscope/arena"
	"vramscope/pool"
	"vramscope/recorder"
)

// render is a program to be watched: real arenas and a real pool, whose events
// become records. It knows the truth that views are held against.
type render struct {
	t       testing.TB
	src     string
	ns      int64
	step    int64 // ns between two events
	frame   int64
	strings *recorder.Interner
	records []recorder.Record
	arenas  []*renderArena
	ended   []*renderArena // released; states tell of them for a while
	pools   []*renderPool
	nextID  int64

	generation int // of the pools
}

type renderArena struct {
	*arena.Arena
	id     int64
	render *render
	batch  *recorder.ArenaEvents
	tree   *recorder.ScopeTree
	scopes []arena.Scope
	temps  []arena.Temporary
	failed int64
	gone   int64 // ns of its release, 0 before
}

type renderPool struct {
	*pool.Pool
	id     int64
	render *render
	host   *pool.Host
	batch  *recorder.PoolEvents
	live   []renderBlock
}

type renderBlock struct {
	address pool.Address
	bytes   int64
	stream  pool.Stream
}

const renderSource = "pid:812-991234"

func newRender(t testing.TB) *render {
	r := &render{t: t, src: renderSource, ns: 1_000_000, step: 1000, frame: -1, strings: recorder.NewInterner()}
	r.emit(&recorder.Hello{Head: r.head(), Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess,
		Name: "render.py", PID: 812, Start: 991234, Wall: 1_790_000_000_000_000_000, Hz: 10,
		Commands: []string{recorder.CommandReclaim, recorder.CommandForceReclaim, recorder.CommandRebuild, recorder.CommandResetPeak,
			recorder.CommandHeadroom, recorder.CommandRecordOn, recorder.CommandRecordOff}})
	return r
}

func (r *render) head() recorder.Head { return recorder.Head{Src: r.src, Ns: r.ns} }

func (r *render) tick() int64 { r.ns += r.step; return r.ns }

// emit writes what has collected and then a record, with its time.
func (r *render) emit(record recorder.Record) {
	r.flush()
	r.records = append(r.records, record)
}

// flush writes the batches and the strings that they need.
func (r *render) flush() {
	if r.strings.Pending() {
		r.strings.Flush(recorder.Head{Src: r.src}, func(s *recorder.Strings) { r.records = append(r.records, s) })
	}
	for _, a := range slices.Concat(r.ended, r.arenas) {
		if a.batch.Len() > 0 {
			a.batch.Head.Src = r.src
			r.records = append(r.records, a.batch)
			a.batch = &recorder.ArenaEvents{Arena: a.id}
		}
	}
	for _, p := range r.pools {
		if p.batch.Len() > 0 {
			p.batch.Head.Src = r.src
			r.records = append(r.records, p.batch)
			p.batch = &recorder.PoolEvents{Pool: p.id}
		}
	}
}

func (r *render) newArena(bytes int64) *renderArena {
	r.nextID++
	a := &renderArena{id: r.nextID, render: r, tree: recorder.NewScopeTree(recorder.TreeLimits{}), batch: &recorder.ArenaEvents{Arena: r.nextID}}
	r.arenas = append(r.arenas, a)
	made, err := arena.New(arena.Config{Name: fmt.Sprintf("arena %d", a.id), Bytes: bytes, Base: 0x7f00_0000_0000, Observer: a})
	if err != nil {
		r.t.Fatal(err)
	}
	a.Arena = made
	return a
}

// ObserveArena makes a row of a record of what happened.
func (a *renderArena) ObserveArena(event arena.Event) {
	r := a.render
	row := recorder.ArenaEvent{Ns: r.tick(), Frame: r.frame, Op: event.Op, Bytes: event.Bytes, ItemSize: event.ItemSize,
		Forward: event.Forward, Reverse: event.Reverse, Scope: event.Scope, DType: r.strings.Number(event.DType), Params: event.Params}
	if event.Persist && event.Op == arena.OpFail {
		row.Flags |= recorder.FlagPersist
	}
	if event.Clear {
		row.Flags |= recorder.FlagClear
	}
	row.Text = r.strings.Number(event.Name + event.Caller + event.Reason)
	if event.Op == arena.OpRelease {
		a.gone = row.Ns
	}
	if event.Op == arena.OpFail {
		a.failed++
		row.Text = r.strings.Number(event.Reason)
	}
	if a.batch.Len() > 0 && a.batch.Frame != r.frame {
		r.flush()
	}
	a.batch.Append(&row)
	a.tree.Observe(&row)
}

func (a *renderArena) open(name string, params ...arena.Param) {
	a.scopes = append(a.scopes, a.Scope(name, params...))
}

func (a *renderArena) close() {
	if n := len(a.scopes); n > 0 {
		a.scopes[n-1].End()
		a.scopes = a.scopes[:n-1]
	}
}

func (a *renderArena) pushTemp(clear bool) { a.temps = append(a.temps, a.Temporary(clear, nil)) }

func (a *renderArena) popTemp() {
	if n := len(a.temps); n > 0 {
		a.temps[n-1].End()
		a.temps = a.temps[:n-1]
	}
}

// restart resets the arena. When that abandons scopes, a state says what went
// where.
func (a *renderArena) restart(reason string) {
	abandons := len(a.tree.Snapshot().Open()) > 0
	a.Reset(reason)
	a.scopes, a.temps = nil, nil
	if abandons {
		a.render.state()
	}
}

// end releases the arena. The last two that ended are still told of.
func (a *renderArena) end() {
	r := a.render
	for len(a.scopes) > 0 {
		a.close()
	}
	a.Release("the shot is done")
	r.arenas = slices.DeleteFunc(r.arenas, func(other *renderArena) bool { return other == a })
	r.ended = append(r.ended, a)
	r.flush()
	r.ended = r.ended[max(0, len(r.ended)-2):]
	r.state()
}

// state is the arena as its program tells it.
func (a *renderArena) state() recorder.ArenaState {
	s := a.State()
	state := recorder.ArenaState{ID: a.id, Name: s.Name, Base: "0x" + strconv.FormatUint(s.Base, 16), Managed: s.Managed,
		HasBuffer: s.HasBuffer, Marks: s.Marks, Released: a.gone}
	a.tree.Snapshot().FillState(&state)
	return state
}

func (r *render) newPool(capacity int64) *renderPool {
	r.nextID++
	p := &renderPool{id: r.nextID, render: r, batch: &recorder.PoolEvents{Pool: r.nextID}}
	r.pools = append(r.pools, p)
	host, err := pool.NewHost(pool.HostOptions{Capacity: capacity, Capabilities: pool.Capabilities{Pool: true}})
	if err != nil {
		r.t.Fatal(err)
	}
	p.host = host
	p.build(0)
	return p
}

func (p *renderPool) build(generation int) {
	made, err := pool.NewPool(p.host, pool.PoolOptions{Generation: generation, Observer: p})
	if err != nil {
		p.render.t.Fatal(err)
	}
	p.Pool, p.live = made, nil
}

// ObservePool makes a row of a record of what happened.
func (p *renderPool) ObservePool(event pool.Event) {
	r := p.render
	if p.batch.Len() > 0 && (p.batch.Frame != r.frame || p.batch.Generation != event.Generation) {
		r.flush()
	}
	p.batch.Append(recorder.PoolEvent{Ns: r.tick(), Frame: r.frame, Generation: event.Generation, Op: event.Op,
		Address: uint64(event.Address), Bytes: event.Bytes, Requested: event.Requested, Stream: uint32(event.Stream)})
}

func (p *renderPool) take(bytes int64, stream pool.Stream) {
	address, err := p.Allocate(bytes, stream)
	var full *pool.OutOfMemoryError
	switch {
	case errors.As(err, &full):
		r := p.render
		r.emit(&recorder.OOM{Head: recorder.Head{Src: r.src, Ns: r.tick()}, ID: fmt.Sprintf("pool:%d", p.id), Asked: bytes, Rule: "pool"})
	case err != nil:
		p.render.t.Fatal(err)
	case bytes > 0:
		p.live = append(p.live, renderBlock{address, bytes, stream})
	}
}

func (p *renderPool) give(i int, stream pool.Stream) {
	block := p.live[i]
	p.live = append(p.live[:i], p.live[i+1:]...)
	if err := p.Free(block.address, block.bytes, stream); err != nil {
		p.render.t.Fatal(err)
	}
}

// rebuild tears the pool down and builds it again.
func (p *renderPool) rebuild(generation int) {
	if err := p.CloseOverLive(); err != nil {
		p.render.t.Fatal(err)
	}
	p.build(generation)
	r := p.render
	p.ObservePool(pool.Event{Op: pool.OpRebuild, Generation: generation})
	r.flush()
}

func (p *renderPool) state(generation int) recorder.PoolState {
	state := recorder.PoolState{ID: p.id, Name: "device pool", Tier: "B", Generation: generation}
	segments, blocks := p.Layout()
	for _, s := range segments {
		state.Segments.Address = append(state.Segments.Address, hexAddress(uint64(s.Address)))
		state.Segments.Bytes = append(state.Segments.Bytes, s.Bytes)
	}
	for _, b := range blocks {
		columns := &state.Blocks
		columns.Address = append(columns.Address, hexAddress(uint64(b.Address)))
		columns.Bytes = append(columns.Bytes, b.Bytes)
		columns.Requested = append(columns.Requested, b.Requested)
		columns.Stream = append(columns.Stream, uint32(b.Stream))
		live := uint8(0)
		if b.Live {
			live = 1
		}
		columns.Live = append(columns.Live, live)
	}
	return state
}

func hexAddress(address uint64) string { return "0x" + strconv.FormatUint(address, 16) }

// beginFrame writes that the next frame begins.
func (r *render) beginFrame() {
	r.flush()
	r.frame++
	r.emit(&recorder.Frame{Head: recorder.Head{Src: r.src, Ns: r.tick()}, N: r.frame})
}

// state writes everything that a late reader needs.
func (r *render) state() {
	r.flush()
	frame := r.frame
	state := &recorder.State{Head: recorder.Head{Src: r.src, Ns: r.tick()}, Frame: &frame}
	for _, a := range slices.Concat(r.ended, r.arenas) {
		state.Arenas = append(state.Arenas, a.state())
	}
	for _, p := range r.pools {
		state.Pools = append(state.Pools, p.state(r.generation))
	}
	r.emit(state)
}

// sample writes counters of the arenas and pools.
func (r *render) sample() {
	r.flush()
	sample := &recorder.Sample{Head: recorder.Head{Src: r.src, Ns: r.tick()}}
	for _, a := range r.arenas {
		set := recorder.CounterSet{ID: fmt.Sprintf("arena:%d", a.id), Of: recorder.OfArena, Device: "host", Call: "arena.State"}
		forward, reverse := a.Pointers()
		set.Values.Set(recorder.Length, a.Length())
		set.Values.Set(recorder.Forward, forward)
		set.Values.Set(recorder.Reverse, reverse)
		set.Values.Set(recorder.HighWater, a.HighWater())
		sample.Sets = append(sample.Sets, set)
	}
	for _, p := range r.pools {
		set := recorder.CounterSet{ID: fmt.Sprintf("pool:%d", p.id), Of: recorder.OfPool, Device: "host", Call: "Tiered.Stats"}
		use := p.Usage()
		set.Values.Set(recorder.Reserved, use.Reserved)
		set.Values.Set(recorder.Allocated, use.Allocated)
		set.Values.Set(recorder.LargestFree, use.LargestFree)
		sample.Sets = append(sample.Sets, set)
	}
	r.emit(sample)
}

// keep folds records into a new keeper. Its stretches are short, so that even a
// short history has several.
func keep(records []recorder.Record, limits Limits) *keeper {
	k := newKeeper("test", "test", renderSource, limits, nil)
	k.tape.most = 40
	for _, record := range records {
		k.take(record)
	}
	return k
}
