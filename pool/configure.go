package pool

import "fmt"

// Configure chooses the tier and builds its stack, once: every later call
// returns the same tier and changes nothing. The error is the pool's that could
// not be built, or ErrClosed; nothing is configured then.
func (t *Tiered) Configure() (Tier, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if err := t.configure(); err != nil {
		return TierNone, err
	}
	return t.choice.Tier, nil
}

// Choice is the tier, why it was chosen, and its maximum; ok is false, and the
// tier TierNone, before it is configured.
func (t *Tiered) Choice() (choice TierChoice, ok bool) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.configured {
		return TierChoice{Reason: "not configured: the first allocation chooses", Free: Unknown, Total: Unknown}, false
	}
	return t.choice, true
}

// configure is Configure under the lock.
func (t *Tiered) configure() error {
	switch {
	case t.closed:
		return ErrClosed
	case t.configured:
		return nil
	}
	upstream := t.options.Upstream
	choice := ChooseTier(TierQuery{
		Asked: t.options.Tier, LookupEnv: t.options.LookupEnv, Name: upstream.Name(),
		Capabilities: upstream.Capabilities(), MemoryInfo: upstream.MemoryInfo,
	})
	if err := t.build(choice); err != nil {
		return fmt.Errorf("tier %s (%s) could not be built: %w", choice.Tier, choice.Reason, err)
	}
	t.choice, t.configured = choice, true
	return nil
}

// build makes the layers of a tier.
func (t *Tiered) build(choice TierChoice) error {
	switch choice.Tier {
	case TierFallback:
		caching, err := NewCachingPool(t.options.Upstream, CachingPoolOptions{
			Collect: t.collectForCaching, Generation: t.generation, Observer: t.options.Observer,
		})
		if err != nil {
			return err
		}
		t.carved, t.top = caching, caching
	case TierC:
		t.statistics = NewStatistics(NewManaged(t.options.Upstream, t.options.Observer))
		t.top = t.statistics
	default:
		pool, err := t.newPool(choice, t.generation)
		if err != nil {
			return err
		}
		t.carved = pool
		t.statistics = NewStatistics(t.overPool(choice.Tier, pool))
		t.top = t.statistics
	}
	return nil
}

// newPool makes the pool of a generation. It takes nothing before the first
// request, so that an idle program holds no memory.
func (t *Tiered) newPool(choice TierChoice, generation int) (*Pool, error) {
	return NewPool(t.options.Upstream, PoolOptions{
		MaximumSize: choice.Maximum, Generation: generation, Observer: t.options.Observer,
	})
}

// overPool puts the failure callback over tier B's pool.
func (t *Tiered) overPool(tier Tier, pool Resource) Resource {
	if tier != TierB {
		return pool
	}
	t.callback = NewFailureCallback(pool, FailureCallbackOptions{
		Ladder: t.ladder, Collect: t.options.Collect, MakeRoom: t.makeRoom, Facts: t.facts,
		Observe: t.options.ObserveOutOfMemory, Lock: &t.mutex, Clock: t.clock,
	})
	return t.callback
}

// collectForCaching runs the hook for the caching pool, which has opened its
// own lock: ours is opened too, so that the hook can free blocks.
func (t *Tiered) collectForCaching() {
	if hook := t.options.Collect; hook != nil {
		t.mutex.Unlock()
		defer t.mutex.Lock()
		hook()
	}
}
