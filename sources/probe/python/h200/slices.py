"""Tells what a thread costs a loop, down to a few thousandths, on a machine whose
speed wanders by several hundredths.

The loop runs in slices, in turns with the thread and without it. A slice is timed
in chunks of about 2.5 ms, and three things are told of it.

What the thread took is how much longer the chunks in which it ran, and the one
after each, lasted than the chunks around them usually do (the median of a
twentieth of a second). A drift of the clocks, or another mode of the whole loop,
is in the chunks around as well, and so comes off. Which chunks those are, its
processor time says, which is read at the end of each. The machine's own
interruptions fall into these chunks, too, and rather into long ones: so the same
is told of the slices without the thread, for the chunks at the moments at which
the thread ran in the slices with it, and comes off. Nothing is clipped.

Interruptions are the same for all chunks, wherever the thread ran: coarser,
since all of the machine's own are in it.

The usual chunk, the median, is what shows a cost that slows every chunk down,
which neither of the others could. The machine's drift is in it.

The ratio of the whole times is nearly the product of the last two.
"""
import bisect
import gc
import itertools
import random
import statistics
import sys
import time

PAIRS = 30  # of a condition at least
SECONDS = 0.4  # of a slice: four samples at 10 Hz
CHUNK = 0.0025  # seconds
AROUND = 10  # chunks to either side, among which a chunk is held against the median
LEAD = 0.05  # of a slice, that long the loop runs before it is timed


class Loop:
    """Times run, which does so many rounds of something, in slices. wait is what
    the loop waits for at the end of a slice: what it gave the device to do."""

    def __init__(self, run, wait=lambda: None):
        self._run, self._wait = run, wait
        self.rounds = 100  # of a chunk
        for _ in range(3):
            usual = statistics.median(self.slice(count=20).chunks)
            self.rounds = max(1, int(self.rounds * CHUNK / usual))

    def slice(self, clock=None, count=int(SECONDS / CHUNK), meanwhile=lambda: None):
        """One Slice. clock is that of the thread that is measured, if there is
        one; a clock is read in either case, so that it costs both the same.
        meanwhile is called in every chunk."""
        run, rounds, now, ran = self._run, self.rounds, time.perf_counter, time.clock_gettime_ns
        measured, clock = clock is not None, time.CLOCK_THREAD_CPUTIME_ID if clock is None else clock
        self._wait()
        run(int(count * LEAD) * rounds)
        moments, clocks = [now()], [ran(clock)]
        for _ in range(count):
            run(rounds)
            meanwhile()
            moments.append(now())
            clocks.append(ran(clock))
        self._wait()
        return Slice(moments, clocks if measured else ())


class Slice:
    """What was timed of the loop: chunks are their seconds. clocks are the
    processor times of the thread at the moments, none where there was none."""

    def __init__(self, moments, clocks):
        self.began = moments[0]  # as time.perf_counter() has it
        self._ends = [moment - moments[0] for moment in moments[1:]]
        self.chunks = [end - begin for begin, end in itertools.pairwise(moments)]
        self._ran = [at for at, (before, after) in enumerate(itertools.pairwise(clocks)) if after != before]

    def usual(self):
        """Seconds of the usual chunk."""
        return statistics.median(self.chunks)

    def moments(self):
        """Seconds since the beginning, one within each chunk in which the thread
        ran."""
        return [self._ends[at] - random.random() * self.chunks[at] for at in self._ran]

    def made_up(self, moments):
        """The slice as if a thread had run at these moments, seconds since the
        beginning."""
        self._ran = sorted({bisect.bisect_left(self._ends, moment) for moment in moments if 0 <= moment <= self._ends[-1]})
        return self

    def interruptions(self):
        """How much longer the slice took than its usual chunks would, as a part
        of it."""
        return sum(self.chunks) / sum(self._usual_around(())) - 1

    def taken(self, moments):
        """The same for the chunks of these moments, seconds since the beginning,
        and the one after each, beyond what the other chunks have of it."""
        touched = set()
        for moment in moments:
            at = bisect.bisect_left(self._ends, moment)
            touched.update(range(at, min(at + 2, len(self.chunks))))
        usual = self._usual_around(touched)
        others = [at for at in range(len(usual)) if at not in touched]
        if not others:
            return self.interruptions()
        elsewhere = sum(self.chunks[at] for at in others) / sum(usual[at] for at in others)
        return sum(self.chunks[at] - elsewhere * usual[at] for at in touched) / (elsewhere * sum(usual))

    def _usual_around(self, left_out):
        """For each chunk the median of those around it."""
        usual = []
        for at in range(len(self.chunks)):
            around = range(max(0, at - AROUND), min(at + AROUND + 1, len(self.chunks)))
            kept = [self.chunks[i] for i in around if i not in left_out]
            usual.append(statistics.median(kept) if kept else self.usual())
        return usual


class Pair:
    """Four slices, with-without-without-with, so that an even drift of the
    machine cancels. on(loop) is a slice of the first kind."""

    def __init__(self, loop, on):
        gc.collect()
        first = on(loop)
        without = [loop.slice(), loop.slice()]
        self._with, self._without = [first, on(loop)], without
        moments = [slice.moments() for slice in self._with]
        self.touched = any(moments)  # a thread ran
        self.taken = self._apart(lambda slice, at: slice.taken(moments[at]))
        self.interruptions = self._apart(lambda slice, at: slice.interruptions())
        self.chunk = tuple(statistics.fmean(slice.usual() for slice in slices) for slices in (self._with, without))
        self.usual = self.chunk[0] / self.chunk[1]
        self.whole = sum(sum(slice.chunks) for slice in self._with) / sum(sum(slice.chunks) for slice in without)

    def _apart(self, of):
        return statistics.fmean(of(slice, at) for at, slice in enumerate(self._with)) - statistics.fmean(
            of(slice, at) for at, slice in enumerate(self._without))


class Estimate:
    """The mean of what pairs say, and its 95 % bootstrap interval."""

    def __init__(self, values, rounds=4000):
        drawn = random.Random(1)
        found = sorted(statistics.fmean(drawn.choices(values, k=len(values))) for _ in range(rounds))
        self.mean, self.low, self.high = statistics.fmean(values), found[int(rounds * 0.025)], found[int(rounds * 0.975)]

    def percent(self):
        return "%+.3f %% (%+.3f to %+.3f)" % (100 * self.mean, 100 * self.low, 100 * self.high)

    def ratio(self):
        return "x %.4f (%.4f to %.4f)" % (self.mean, self.low, self.high)


class Cost:
    """What pairs of slices tell together."""

    def __init__(self, pairs):
        self.taken, self.interruptions, self.usual, self.whole = (
            Estimate([getattr(pair, name) for pair in pairs]) for name in ("taken", "interruptions", "usual", "whole"))
        self.chunk = [statistics.fmean(pair.chunk[i] for pair in pairs) for i in (0, 1)]


def measured(name, loop, on, count=PAIRS, seconds=0.0, note=lambda: ""):
    """Times count pairs, and more until that long has passed, prints what they
    tell and is the Cost. note() is a line that is printed beside."""
    pairs, end = [], time.monotonic() + seconds
    while len(pairs) < count or time.monotonic() < end:
        pairs.append(Pair(loop, on))
    cost = Cost(pairs)
    print("%s, %d pairs" % (name, len(pairs)))
    if any(pair.touched for pair in pairs):
        print("    the thread took %s" % cost.taken.percent())
    print("    interruptions %s, usual chunk %s, whole time %s" % (
        cost.interruptions.percent(), cost.usual.ratio(), cost.whole.ratio()))
    print("    a usual round: %.3f us, %.3f us without" % tuple(1e6 * chunk / loop.rounds for chunk in cost.chunk))
    if note():
        print("    " + note())
    sys.stdout.flush()
    return cost
