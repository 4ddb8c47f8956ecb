package local

import "math/rand/v2"

// schedule says in which frames something goes wrong, as the seed has it.
type schedule struct {
	full    cycle // the arena fills
	rescued cycle // the pool runs out, and the callback makes room
	failed  cycle // the pool runs out, and nothing helps
}

// cycle comes round every so many frames, at first before half of them.
type cycle struct{ every, offset int64 }

func newSchedule(random *rand.Rand, options Options) schedule {
	return schedule{
		full:    newCycle(random, options.FullEvery),
		rescued: newCycle(random, options.RescuedEvery),
		failed:  newCycle(random, options.FailedEvery),
	}
}

func newCycle(random *rand.Rand, every int64) cycle {
	offset := random.Int64N(1 << 30) // drawn in any case, so that one interval does not change the others
	if every <= 0 {
		return cycle{}
	}
	return cycle{every: every, offset: every/4 + offset%(every/4+1)}
}

func (c cycle) due(frame int64) bool { return c.every > 0 && frame%c.every == c.offset }
