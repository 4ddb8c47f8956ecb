"""The merged scope tree of one arena, as the record format has it.

Scopes of one name under one parent are one row: counts and bytes add up, peaks
take the maximum. Scopes that were open when the arena was reset are kept apart
(abandoned), because a stream that breaks off must not be averaged with whole
ones. It means to the number what recorder's ScopeTree means, so that a reader
that folds the events gets the same tree.

For the probe's thread alone.
"""
from .names import FOLDED_NAME, MAX_PARAMS

#: Op codes of an arena's events, as the record format numbers them.
OP_NEW, OP_ALLOC, OP_PERSIST, OP_TEMP_PUSH, OP_TEMP_POP, OP_OPEN, OP_CLOSE = 1, 2, 3, 4, 5, 6, 7
OP_PARAMS, OP_MARK, OP_RESTORE, OP_SET, OP_RESET, OP_RELEASE, OP_FAIL, OP_UNSEEN = 8, 9, 10, 11, 12, 13, 14, 15

#: The peak of a scope in which nothing was allocated yet. A real one can be
#: negative: a mark from outside may be restored inside the scope.
NO_PEAK = -(1 << 63)


class OpenScope:
    """A scope under way. An allocation counts in the innermost one alone; what
    it counted goes to its row and to the scope around it when it ends or when
    somebody looks, at a cost that does not grow with the depth."""

    __slots__ = (
        "number", "row", "entry_forward", "entry_reverse", "opened",
        "peak_forward", "peak_reverse", "peak", "peak_ns", "peak_frame", "bound", "allocs", "self_bytes",
    )

    def __init__(self, number, row, forward, reverse, ns):
        self.number, self.row = number, row
        self.entry_forward, self.entry_reverse, self.opened = forward, reverse, ns
        self.peak_forward = self.peak_reverse = self.peak = NO_PEAK
        self.bound = NO_PEAK  # of the peak, where moves were not seen
        self.peak_ns, self.peak_frame = 0, -1
        self.allocs = self.self_bytes = 0

    def count(self, size, forward, reverse, ns, frame):
        """Takes an allocation in: size bytes, pointers after it."""
        self.allocs += 1
        self.self_bytes += size
        self.raise_to(forward - self.entry_forward, self.entry_reverse - reverse,
                      forward - self.entry_forward + self.entry_reverse - reverse, ns, frame)

    def absorb(self, inner):
        """Takes in what a scope inside has counted since it was absorbed
        last."""
        self.allocs += inner.allocs
        forward = inner.entry_forward - self.entry_forward
        reverse = self.entry_reverse - inner.entry_reverse
        if inner.bound != NO_PEAK:
            self.bound = max(self.bound, inner.bound + forward + reverse)
        if inner.peak == NO_PEAK:
            return
        self.raise_to(inner.peak_forward + forward, inner.peak_reverse + reverse,
                      inner.peak + forward + reverse, inner.peak_ns, inner.peak_frame)

    def raise_to(self, forward, reverse, both, ns, frame):
        """Raises the peaks, the earlier one staying where they are equal."""
        if forward > self.peak_forward:
            self.peak_forward = forward
        if reverse > self.peak_reverse:
            self.peak_reverse = reverse
        if both > self.peak:
            self.peak, self.peak_ns, self.peak_frame = both, ns, frame

    def peaks(self):
        """[both, forward, reverse, ns, frame, bound] so far, none below 0."""
        return [max(self.peak, 0), max(self.peak_forward, 0), max(self.peak_reverse, 0), self.peak_ns, self.peak_frame,
                max(self.bound, 0)]


def raise_peaks(peaks, other):
    """Takes other into peaks, both [both, forward, reverse, ns, frame, bound].
    bound is the most that both can have been, 0 where every move was seen."""
    if other[1] > peaks[1]:
        peaks[1] = other[1]
    if other[2] > peaks[2]:
        peaks[2] = other[2]
    if other[5] > peaks[5]:
        peaks[5] = other[5]
    if other[0] > peaks[0]:
        peaks[0], peaks[3], peaks[4] = other[0], other[3], other[4]


class ScopeRows:
    """A growing tree of merged scopes, parents before their children."""

    ROWS = 8192  # further scopes are counted in rows named FOLDED_NAME
    DEPTH = 256
    PARAM_BYTES = 1 << 20

    def __init__(self):
        self.up, self.name, self.depth, self.open = [], [], [], []
        self.sums = []  # [count, unclosed, allocs, self bytes] a row
        self.peaks = []  # [both, forward, reverse, ns, frame, bound] a row
        self.params = []  # {name: value} or None a row
        self._index = {}
        self._ordinary = 0
        self._param_bytes = 0

    def __len__(self):
        return len(self.up)

    def child(self, parent, name):
        """(row, folded): the row of scopes of that name under parent (-1 the
        root), made if there is none. Beyond the bounds it is a row named
        FOLDED_NAME, which is its own child."""
        if parent >= 0 and self.name[parent] == FOLDED_NAME:
            return parent, True
        row = self._index.get((parent, name))
        if row is not None:
            return row, name == FOLDED_NAME
        depth = self.depth[parent] if parent >= 0 else 0
        if name != FOLDED_NAME and self._ordinary < self.ROWS and depth < self.DEPTH:
            self._ordinary += 1
            return self._add(parent, depth + 1, name), False
        row = self._index.get((parent, FOLDED_NAME))
        return (self._add(parent, depth + 1, FOLDED_NAME) if row is None else row), True

    def _add(self, parent, depth, name):
        row = len(self.up)
        self.up.append(parent)
        self.name.append(name)
        self.depth.append(depth)
        self.open.append(0)
        self.sums.append([0, 0, 0, 0])
        self.peaks.append([0, 0, 0, 0, -1, 0])
        self.params.append(None)
        self._index[(parent, name)] = row
        return row

    def truncate(self, length):
        """Takes the rows from length on away."""
        for row in range(length, len(self.up)):
            del self._index[(self.up[row], self.name[row])]
            if self.name[row] != FOLDED_NAME:
                self._ordinary -= 1
            if self.params[row]:
                self._param_bytes -= params_size(self.params[row])
        for column in (self.up, self.name, self.depth, self.open, self.sums, self.peaks, self.params):
            del column[length:]

    def add(self, row, sums):
        """Adds sums to those of the row."""
        held = self.sums[row]
        for place in range(4):
            held[place] += sums[place]

    def merge_params(self, row, params):
        """Takes params into those last seen on a row: the last value of a name
        counts."""
        if not params:
            return
        held = self.params[row]
        if params == held:
            return
        merged = dict(held or ())
        for name, value in params.items():
            if name in merged or len(merged) < MAX_PARAMS:
                merged[name] = value
        if merged == held:
            return
        grown = params_size(merged) - params_size(held or {})
        if self._param_bytes + grown > self.PARAM_BYTES:
            return
        self._param_bytes += grown
        self.params[row] = merged

    def columns(self):
        """The rows as a state has them; columns of zeros are left out."""
        if not self.up:
            return {}
        tree = {"up": list(self.up)}
        columns = {"name": self.name, "open": self.open}
        for place, key in enumerate(("n", "un", "allocs", "self")):
            columns[key] = [sums[place] for sums in self.sums]
        for place, key in enumerate(("p", "pf", "pr", "at", "fr", "pm")):
            columns[key] = [peaks[place] for peaks in self.peaks]
        for key, column in columns.items():
            if any(column):
                tree[key] = list(column)
        params = [{"row": row, "p": held} for row, held in enumerate(self.params) if held]
        if params:
            tree["params"] = params
        return tree


def params_size(params):
    """The memory that parameters take, roughly, in bytes."""
    return sum(64 + len(name) + (len(value) if isinstance(value, str) else 0) for name, value in params.items())


class ScopeTree:
    """The merged scope tree of one arena, built from its events."""

    def __init__(self):
        self.rows = ScopeRows()
        self.abandoned = ScopeRows()
        self.length = self.forward = self.reverse = self.high_water = 0
        self.folded = 0
        self._root_sums = [0, 0]  # allocations, bytes outside every scope
        self._root_peaks = [0, 0, 0, 0, -1, 0]
        self._stack = [OpenScope(0, -1, 0, 0, 0)]  # the root, then the open scopes, outermost first
        # What rows were before the outermost open scope began: a reset gives it back.
        self._epoch_rows = 0
        self._shadows = {}  # row: [rows of the tree then, sums, peaks, peaks since]
        self._settled = True

    def set_length(self, length):
        """Says how long the arena is, in bytes. Its end is where the root's
        reverse side begins."""
        self.length = length
        self._stack[0].entry_reverse = length

    def observe(self, op, ns, frame, size, forward, reverse, number=0, name=0, params=None):
        """Takes one event in: see the table of op codes in the record format.
        size bytes, pointers after the event, number of the scope, name its
        string number."""
        if op == OP_ALLOC or op == OP_PERSIST:
            self._stack[-1].count(size, forward, reverse, ns, frame)
            self._settled = False
            used = forward + self.length - reverse
            if used > self.high_water:
                self.high_water = used
        elif op == OP_OPEN:
            self._open(ns, forward, reverse, number, name, params)
        elif op == OP_CLOSE:
            self._close(number)
        elif op == OP_PARAMS:
            if self._stack[-1].row >= 0:
                self.rows.merge_params(self._stack[-1].row, params)
        elif op == OP_UNSEEN:
            self._stack[-1].bound = max(self._stack[-1].bound, size - self.entry_used())
            self._settled = False
        elif op == OP_RESET:
            self._abandon()
            self.high_water = 0
        elif op == OP_NEW:
            self.set_length(size)
        self.forward, self.reverse = forward, reverse

    def used(self):
        """Bytes in use after the last event, both sides."""
        return self.forward + self.length - self.reverse

    def entry_used(self):
        """Bytes that were in use when the innermost open scope began."""
        top = self._stack[-1]
        return top.entry_forward + self.length - top.entry_reverse

    def bound_used(self):
        """The most bytes that may have been in use, as unseen moves have it so
        far for the innermost open scope."""
        return max(self._stack[-1].bound, 0) + self.entry_used()

    def innermost(self):
        """The number of the innermost open scope, 0 if none is open."""
        return self._stack[-1].number

    def opened_after(self, number):
        """The number of the outermost open scope that was opened after the one
        of that number, 0 if there is none."""
        for scope in self._stack:
            if scope.number > number:
                return scope.number
        return 0

    def counted(self, allocs, self_bytes, forward):
        """Takes over what somebody else has counted for the root: allocations
        in all, bytes outside every scope, the peak of the forward side."""
        self._settle()
        self._root_sums = [allocs, self_bytes]
        self._root_peaks[1] = forward
        self._root_peaks[0] = max(self._root_peaks[0], forward)

    def unwind(self):
        """Ends the open scopes, of which nothing more will be told."""
        self._settle()
        for scope in self._stack[1:]:
            self.rows.open[scope.row] -= 1
            self.rows.sums[scope.row][1] += 1
        del self._stack[1:]
        self._begin_epoch()

    def cut_off(self):
        """Takes note that the arena may go on and that nothing more will be told
        of it: what was counted is the least that it can have been."""
        self.unwind()
        for peaks in self.rows.peaks + [self._root_peaks]:
            peaks[5] = max(peaks[5], self.length)

    def fill(self, entry):
        """Writes the tree, the open and abandoned scopes and what the root
        counted into an arena's entry of a state."""
        self._settle()
        root = {"allocs": self._root_sums[0], "self": self._root_sums[1], "p": self._root_peaks[0],
                "pf": self._root_peaks[1], "at": self._root_peaks[3], "fr": self._root_peaks[4],
                "pm": self._root_peaks[5]}
        entry["root"] = {key: value for key, value in root.items() if value}
        entry["open"] = [self._open_entry(scope) for scope in self._stack[1:]]
        entry["tree"], entry["abandoned"] = self.rows.columns(), self.abandoned.columns()
        if self.folded:
            entry["folded"] = self.folded
        return entry

    @staticmethod
    def _open_entry(scope):
        both, forward, reverse, _, _, bound = scope.peaks()
        entry = {"n": scope.number, "node": scope.row, "f": scope.entry_forward, "r": scope.entry_reverse,
                 "pf": forward, "pr": reverse, "p": both, "ns": scope.opened}
        if bound:
            entry["pm"] = bound
        return entry

    def _open(self, ns, forward, reverse, number, name, params):
        if len(self._stack) > self.rows.DEPTH + 1:
            # Nobody can look this deep; the row of folded scopes counts it.
            self.rows.add(self._stack[-1].row, (1, 1, 0, 0))
            self.folded += 1
            return
        row, folded = self.rows.child(self._stack[-1].row, name)
        self.folded += folded
        self._shadow(row)
        self.rows.sums[row][0] += 1
        self.rows.open[row] += 1
        self.rows.merge_params(row, params)
        self._stack.append(OpenScope(number, row, forward, reverse, ns))

    def _close(self, number):
        """Ends the scope of that number and every scope opened after it; one
        that is not open is ignored."""
        stack = self._stack
        target = len(stack) - 1
        while target > 0 and stack[target].number > number:
            target -= 1
        if target == 0 or stack[target].number != number:
            return
        for top in range(len(stack) - 1, target - 1, -1):
            self._settle_scope(top)
            row = stack[top].row
            self.rows.open[row] -= 1
            if top > target:
                self.rows.sums[row][1] += 1
        del stack[target:]
        if target == 1:
            self._begin_epoch()

    def _settle(self):
        if self._settled:
            return
        for top in range(len(self._stack) - 1, -1, -1):
            self._settle_scope(top)
        self._settled = True

    def _settle_scope(self, place):
        """Brings the row of an open scope up to date and hands what it counted
        on to the scope around it."""
        scope = self._stack[place]
        if place == 0:
            self._root_sums[0] += scope.allocs
            self._root_sums[1] += scope.self_bytes
            raise_peaks(self._root_peaks, scope.peaks())
        else:
            if scope.peak == NO_PEAK and scope.bound == NO_PEAK:
                return  # nothing was allocated in it
            outer = self._stack[place - 1]
            outer.absorb(scope)
            peaks = scope.peaks()
            # Scopes folded into one row: the outer one will count it.
            sums = self.rows.sums[scope.row]
            if outer.row != scope.row:
                sums[2] += scope.allocs
            sums[3] += scope.self_bytes
            raise_peaks(self.rows.peaks[scope.row], peaks)
            shadow = self._shadows.get(scope.row)
            if shadow is not None:
                raise_peaks(shadow[3], peaks)
        scope.allocs = scope.self_bytes = 0

    def _begin_epoch(self):
        self._epoch_rows = len(self.rows)
        if self._shadows:
            self._shadows = {}

    def _shadow(self, row):
        """Keeps a row as it is before the outermost open scope changes it. A
        row that it made itself needs no shadow."""
        if row < self._epoch_rows and row not in self._shadows:
            self._shadows[row] = [len(self.rows), list(self.rows.sums[row]), list(self.rows.peaks[row]), [0, 0, 0, 0, -1, 0]]

    def _abandon(self):
        """Moves everything that the outermost open scope counted to the
        abandoned scopes. The root keeps its numbers."""
        if len(self._stack) == 1:
            return
        self._settle()
        for scope in self._stack[1:]:
            self.rows.open[scope.row] -= 1
            self.rows.sums[scope.row][1] += 1
        del self._stack[1:]
        self._move_to_abandoned()
        self.rows.truncate(self._epoch_rows)
        for row, (_, sums, peaks, _) in self._shadows.items():
            self.rows.sums[row], self.rows.peaks[row] = sums, peaks
        self._begin_epoch()

    def _move_to_abandoned(self):
        """Moves what was counted since the epoch began, rows in the order in
        which they were first touched."""
        moved = {}
        following = self._epoch_rows
        for row, (rows, sums, _, since) in self._shadows.items():
            for new in range(following, rows):
                self._move_row(moved, new, self.rows.sums[new], self.rows.peaks[new])
            following = max(following, rows)
            share = [now - before for now, before in zip(self.rows.sums[row], sums)]
            self._move_row(moved, row, share, since)
        for new in range(following, len(self.rows)):
            self._move_row(moved, new, self.rows.sums[new], self.rows.peaks[new])

    def _move_row(self, moved, row, sums, peaks):
        parent = moved.get(self.rows.up[row], -1)
        target, folded = self.abandoned.child(parent, self.rows.name[row])
        sums = list(sums)
        if folded:
            self.folded += sums[0]
            if target == parent:
                sums[2] = 0  # the row above counts it already
        moved[row] = target
        self.abandoned.add(target, sums)
        raise_peaks(self.abandoned.peaks[target], peaks)
        self.abandoned.merge_params(target, self.rows.params[row])
