package pool

import "sync"

// The rungs of the failure callback's ladder, as vibespatial's raster memory
// pool has them.
const (
	// LadderCollections is how many retries only collect.
	LadderCollections = 3
	// LadderRetries is how many retries there are in all: the last two rebuild
	// the pool besides.
	LadderRetries = 5
	// LadderCooldown is how long after the last granted retry, in nanoseconds,
	// the ladder is whole again (strictly more than this).
	LadderCooldown int64 = 1_000_000_000
)

// Ladder counts the retries that failing allocations are granted. The count is
// one for all allocations of a process, and time-gated, exactly as in the
// original: more than a second after the last granted retry it starts over, and
// a refusal does not put that moment off.
//
// A Ladder may be used from any goroutine.
type Ladder struct {
	mutex     sync.Mutex
	clock     func() int64
	last      int64 // when the last retry was granted
	count     int   // retries granted since the ladder was last whole
	exhausted int64
	asked     int64
	actions   [LadderRetries]LadderAction
	latest    LadderAction
	done      [ActionReleaseFreeSegments + 1]int64 // by action
}

// LadderState is where a ladder stands, for the screen.
type LadderState struct {
	Used         int                         // retries spent of this cooldown, 0 to LadderRetries
	Actions      [LadderRetries]LadderAction // what each spent retry did; ActionNone for the others
	Cooldown     int64                       // nanoseconds until the ladder is whole again, 0 when it is
	Exhausted    int64                       // allocations that failed because no retry was left
	LastFailed   int64                       // bytes of the last allocation that failed; Unknown before the first
	LastAction   LadderAction                // of the last retry
	Collections  int64                       // retries that only collected
	Rebuilds     int64                       // retries that rebuilt the pool
	SegmentFrees int64                       // retries that released free segments in place of a rebuild
}

// LadderAction is what a retry does first.
type LadderAction uint8

// The actions. Their words are those of the records.
const (
	ActionNone                LadderAction = iota
	ActionCollect                          // run the collection hook
	ActionRebuild                          // collect, then tear the pool down and build it again
	ActionReleaseFreeSegments              // collect, then give whole free segments back: live blocks forbid a rebuild
)

// String is the action as the records name it.
func (a LadderAction) String() string {
	return [...]string{"", "collect", "rebuild", "release free segments"}[a]
}

// NewLadder makes a ladder. clock gives monotonic nanoseconds; nil takes the
// process's own.
func NewLadder(clock func() int64) *Ladder {
	return &Ladder{clock: clockOr(clock), asked: Unknown}
}

// Grant asks for a retry of an allocation of bytes. It is the original's
// out-of-memory callback without its work: attempt is the rung, 1 to
// LadderRetries; granted is false when all are spent. The moment is taken here,
// before the work that the retry does.
func (l *Ladder) Grant(bytes int64) (attempt int, granted bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.asked = bytes
	now := l.clock()
	if now-l.last > LadderCooldown {
		l.count, l.actions = 0, [LadderRetries]LadderAction{}
	}
	if l.count >= LadderRetries {
		l.exhausted++
		return l.count, false
	}
	l.count++
	l.last = now
	return l.count, true
}

// State reads the ladder as it stands now, without moving it.
func (l *Ladder) State() LadderState {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	state := LadderState{
		Exhausted: l.exhausted, LastFailed: l.asked, LastAction: l.latest,
		Collections: l.done[ActionCollect], Rebuilds: l.done[ActionRebuild],
		SegmentFrees: l.done[ActionReleaseFreeSegments],
	}
	if since := l.clock() - l.last; l.count > 0 && since <= LadderCooldown {
		state.Used, state.Actions = l.count, l.actions
		state.Cooldown = LadderCooldown - since
	}
	return state
}

// note says what the retry on a rung did.
func (l *Ladder) note(attempt int, action LadderAction) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.actions[attempt-1] = action
	l.latest = action
	l.done[action]++
}

// noteGivenUp counts an allocation that had all its own retries while the
// ladder would have granted more.
func (l *Ladder) noteGivenUp() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.exhausted++
}
