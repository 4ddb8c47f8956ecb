package local

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"vramscope/arena"
	"vramscope/pool"
	"vramscope/recorder"
)

// Sizes of the demo's work.
const (
	jobFrames  = 48       // frames of a job, each of which has an arena of its own
	jobPause   = 10       // frames' time between two jobs, in which the pool can be rebuilt
	tiles      = 64       // of a frame, which a window is a range of
	arenaShare = 0.4      // of what is available, as algan's rendering_memory_fraction
	width      = 960      // of a frame, in pixels
	height     = 540      // of a frame, in pixels
	reserve    = 1.0 / 32 // of the device, held back from headroom
)

// Render is a program to watch: a frame loop over an arena and a pool.
type Render struct {
	options  Options
	random   *rand.Rand
	schedule schedule
	clock    clock
	stream   *recorder.Stream
	hello    recorder.Hello
	identity Identity // of the device
	memory   *memory
	pools    *recorder.PoolFeed
	policy   *pool.ReleasePolicy
	queued   *queuedEffects // of the policy; nil where nothing is in flight
	gauges   gauges

	// boundary is called between frames, where commands run; work has a value
	// when something waits for it.
	boundary func()
	work     <-chan struct{}

	arena    *arena.Arena // of the job under way, nil between jobs
	feed     *recorder.ArenaFeed
	buffer   tenant      // the arena's, taken from the device itself
	anchor   arena.Block // of the scene, which stays where it is until the job ends
	path     []string    // of open scopes
	job      int64
	scene    float64 // how large the job's scene is
	frame    int64   // under way, from 0
	begun    int64   // ns, of the frame
	length   int64   // ns that the frame is to take
	started  int64   // ns, of the render
	sampled  int64   // ns, when the next sample is due
	sequence int64
	rescue   bool          // a rescued out-of-memory is still to come
	failures []failure     // not yet told
	shared   []sharedBlock // of the device's default pool, oldest first
	opened   *openedFrame  // the frame whose windows are rendered
}

// newRender makes a render in a time, which hands its records to emit.
func newRender(options Options, clock clock, hello recorder.Hello, gauges gauges, emit func(recorder.Record)) (*Render, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Render{
		options: options,
		random:  rand.New(rand.NewPCG(uint64(options.Seed), 0x766d73636f7065)),
		clock:   clock,
		gauges:  gauges,
		frame:   -1,
	}
	device := options.Device
	if device == nil {
		if device, err = newPlayedDevice(options.Memory); err != nil {
			return nil, err
		}
	}
	r.identity = device.Identity()
	r.schedule = newSchedule(r.random, options)
	r.hello = r.introduce(hello)
	r.stream = recorder.NewStream(recorder.StreamOptions{
		Source: hello.Src, Program: r.hello.Name, Clock: clock.now, Emit: emit,
	})
	r.pools = r.stream.WatchPool()
	r.memory, err = newMemory(device, options.Tier, pool.Options{
		Clock: clock.now, Observer: r.pools,
		ObserveOutOfMemory: func(report pool.OutOfMemoryReport) { r.failed(r.poolID(), report) },
	})
	if err != nil {
		return nil, err
	}
	r.pools.Changed()
	r.policy = pool.NewReleasePolicy(r.effects(), clock.now)
	r.boundary = func() {}
	return r, nil
}

// introduce completes the hello with what every render says of itself.
func (r *Render) introduce(hello recorder.Hello) recorder.Hello {
	hello.Proto, hello.Min = recorder.Protocol, recorder.MinimumProtocol
	hello.Kind, hello.Name = recorder.KindProcess, r.identity.Program
	hello.GPUs = r.identity.GPUs
	hello.Have = []string{"arena", "pool"}
	hello.Commands = obeyed
	hello.Refuses = map[string]string{
		recorder.CommandSnapshot: r.identity.Called + " has no snapshot beyond its state, which comes every 10 s: record it instead",
	}
	hello.Safe, hello.Hz = "poll", r.options.Hz
	hello.Reserve = r.identity.Reserve
	if r.identity.Seeded {
		seed := r.options.Seed
		hello.Seed = &seed
	}
	return hello
}

// run renders job after job until it is done or ctx ends, and closes the device.
func (r *Render) run(ctx context.Context) error {
	err := r.renderJobs(ctx)
	if err == nil {
		err = r.memory.broken
	}
	if err != nil {
		_ = r.memory.device.Close() // err is why
		return err
	}
	return r.memory.close()
}

func (r *Render) renderJobs(ctx context.Context) error {
	r.started = r.clock.now()
	r.sampled = r.started
	for ; !r.done(ctx); r.job++ {
		if err := r.renderJob(ctx); err != nil {
			return err
		}
		r.atBoundary()
		r.pause(ctx)
	}
	return nil
}

// done says whether no further frame is to begin.
func (r *Render) done(ctx context.Context) bool {
	return ctx.Err() != nil || r.memory.broken != nil ||
		r.options.Frames > 0 && r.frame+1 >= r.options.Frames ||
		r.options.For > 0 && r.clock.now()-r.started >= int64(r.options.For)
}

// renderJob renders the frames of a job in an arena of its own.
func (r *Render) renderJob(ctx context.Context) error {
	err := r.makeArena()
	switch {
	case errors.Is(err, errNoRoom):
		r.note("warning", fmt.Sprintf("no job begins: %v; it is tried again in a second", err))
		r.waitUntil(ctx, r.clock.now()+1e9, true)
		return nil
	case err != nil:
		return err
	}
	defer r.releaseArena()
	if err := r.uploadScene(); err != nil {
		return fmt.Errorf("the scene does not fit into the arena: %w", err)
	}
	for range jobFrames {
		if r.done(ctx) {
			break
		}
		r.renderFrame(ctx)
		r.atBoundary()
	}
	r.memory.empty()
	r.freeShared(func(sharedBlock) bool { return true })
	return nil
}

// renderFrame is one frame, from its beginning to its end in time.
func (r *Render) renderFrame(ctx context.Context) {
	r.frame++
	r.memory.frame = r.frame
	r.stream.BeginFrame(r.frame)
	r.begun = r.clock.now()
	r.length = r.frameLength()
	r.rescue = r.rescue || r.schedule.rescued.due(r.frame)
	r.moveNeighbour()
	r.memory.expire()

	r.useSharedPool()
	for _, stage := range []func(context.Context){r.check, r.streamTextures, r.project, r.renderWindows, r.postprocess} {
		if r.memory.broken == nil {
			stage(ctx)
		}
	}
	r.pace(ctx, 1)
	if r.feed != nil {
		r.feed.Update(r.arena.State())
	}
}

// check reads a part of what frames before this one left in memory back. Only
// this waits for the device: at the frame's end its work is still in flight.
func (r *Render) check(context.Context) {
	r.memory.check()
	if r.memory.broken == nil {
		r.memory.breaks(r.memory.device.Check(pool.Address(r.arena.Address(r.anchor)), r.anchor.Bytes(), 0))
	}
}

// frameLength is how long the frame takes: they differ, as in any render.
func (r *Render) frameLength() int64 {
	chance := 0.7 + 0.6*r.random.Float64()
	if r.options.Speed == Fastest {
		return 0
	}
	return int64(chance * 1e9 / r.options.Speed)
}

// moveNeighbour lets the other programs on the device take more or less.
func (r *Render) moveNeighbour() {
	if r.random.IntN(7) != 0 {
		return
	}
	share := 0.04 + 0.06*r.random.Float64()
	// Where there is no room the neighbour does not get it, either.
	if played, ok := r.memory.device.(neighbour); ok {
		_ = played.SetForeign(int64(share * float64(r.options.Memory)))
	}
}

// pace waits until a share of the frame's time has passed, as for a kernel,
// and samples meanwhile.
func (r *Render) pace(ctx context.Context, share float64) {
	r.waitUntil(ctx, r.begun+int64(share*float64(r.length)), false)
}

// pause is the time between two jobs, in which nothing is alive.
func (r *Render) pause(ctx context.Context) {
	if r.options.Speed == Fastest || r.done(ctx) {
		return
	}
	r.waitUntil(ctx, r.clock.now()+int64(jobPause*1e9/r.options.Speed), true)
}

// waitUntil passes time. Between frames it does what readers wait for.
func (r *Render) waitUntil(ctx context.Context, moment int64, betweenFrames bool) {
	for ctx.Err() == nil {
		now := r.clock.now()
		if now >= r.sampled {
			r.sample()
			continue
		}
		if now >= moment {
			return
		}
		r.clock.sleep(ctx, min(moment, r.sampled), r.work)
		if betweenFrames {
			r.atBoundary()
		}
	}
}

// atBoundary is the safe point between two frames.
func (r *Render) atBoundary() {
	r.boundary()
	if r.stream.StateDue() {
		r.stream.EmitState(r.poolStates())
	}
}
