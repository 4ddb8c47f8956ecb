"""What algan's recorder holds of an arena, as events and as a scope tree.

algan keeps a tree of scopes, each with its own allocations in order, its entry
and exit pointers and both peaks; it keeps no times, no pointers of a single
event and not where among its own events a scope's inner scopes began. So the
events are replayed: pointers move by the arena's rules from each scope's entry,
inner scopes are put where their entry fits, and at a scope's ends the pointers
are set to what algan has noted. Counts, bytes and the peaks of either side are
algan's own; the moment-by-moment peak of both sides is the replay's.
"""
from .names import plain_params
from .scope_tree import OP_ALLOC, OP_CLOSE, OP_NEW, OP_OPEN, OP_PERSIST, OP_RESET, OP_SET, OP_TEMP_POP, OP_TEMP_PUSH
from .scope_tree import ScopeRows, ScopeTree, raise_peaks

#: Scopes inside one another that a replay follows; deeper ones are left out.
ALGAN_DEPTH = 200


class AlganReplay:
    """One recorder's events. Iterating gives (op, bytes, item, flags, forward,
    reverse, scope, text, dtype, params); the render may go on meanwhile."""

    def __init__(self, recorder, length, limit):
        self.cut = 0  # events that the limit left out
        self.taken = 0  # events that it did not
        self._recorder, self._length, self._limit = recorder, length, limit
        self._forward, self._reverse = 0, length
        self._scopes = 0
        self._open = {id(record) for record in list(recorder._stack)[1:]}

    def __iter__(self):
        yield self._event(OP_NEW, self._length)
        for record in list(self._recorder.abandoned):
            yield from self._scope(record, 1, abandoned=True)
            self._forward, self._reverse = 0, self._length
            yield self._event(OP_RESET)
        yield from self._inside(self._recorder.root, 0)

    def _event(self, op, size=0, item=0, flags=0, scope=0, text="", dtype="", params=None):
        return (op, size, item, flags, self._forward, self._reverse, scope, text, dtype, params)

    def _scope(self, record, depth, abandoned=False):
        """A scope from its beginning to its end; one that is still open, or was
        when the arena was reset, has none."""
        if depth > ALGAN_DEPTH:
            self.cut += 1
            return
        yield from self._move_to(record.entry_forward, record.entry_reverse)
        self._scopes += 1
        number = self._scopes
        yield self._event(OP_OPEN, scope=number, text=record.name, params=plain_params(dict(record.params)))
        yield from self._inside(record, depth)
        if id(record) not in self._open and not abandoned:
            if (record.exit_forward, record.exit_reverse) != (record.entry_forward, record.entry_reverse):
                yield from self._move_to(record.exit_forward, record.exit_reverse)
            yield self._event(OP_CLOSE, scope=number)

    def _move_to(self, forward, reverse):
        if (forward, reverse) != (self._forward, self._reverse):
            self._forward, self._reverse = forward, reverse
            yield self._event(OP_SET)

    def _inside(self, record, depth):
        """A scope's own events with the inner scopes among them."""
        events, children, saved = list(record.events), list(record.children), []
        at = 0
        for event in events:
            # A context is mostly opened around a scope, so a scope that fits on
            # both sides of its beginning goes inside.
            while at < len(children) and event[0] != "temp_push" and self._fits(children[at]):
                yield from self._scope(children[at], depth + 1)
                at += 1
            if self.taken >= self._limit:
                self.cut += 1
                continue
            self.taken += 1
            yield self._own(event, saved)
        for child in children[at:]:
            yield from self._scope(child, depth + 1)

    def _fits(self, child):
        return (child.entry_forward, child.entry_reverse) == (self._forward, self._reverse)

    def _own(self, event, saved):
        """One of algan's events, with the pointers after it."""
        kind = event[0]
        if kind == "alloc":
            _, caller, dtype, persist, numel, item = event
            size, item = numel * item, max(item, 1)
            if persist:
                self._reverse = self._reverse // item * item - size
            else:
                self._forward = -(-self._forward // item) * item + size
            return self._event(OP_PERSIST if persist else OP_ALLOC, size, item, text=caller, dtype=dtype)
        if kind == "temp_push":
            saved.append((self._forward, self._reverse, event[1]))
            return self._event(OP_TEMP_PUSH, flags=2 if event[1] else 0)
        if saved:
            forward, reverse, clear = saved.pop()
            self._forward = forward
            if clear:
                self._reverse = reverse
        return self._event(OP_TEMP_POP)


def algan_tree(recorder, length, number_of, limit):
    """The ScopeTree of a recorder. Counts, bytes and the peaks of either side
    are algan's whatever the limit, which is how many events are replayed at
    most for the peak of both sides. number_of numbers a string."""
    replay, tree = AlganReplay(recorder, length, limit), ScopeTree()
    for op, size, _, _, forward, reverse, scope, text, _, params in replay:
        name = number_of(text) if op == OP_OPEN else 0
        tree.observe(op, 0, -1, size, forward, reverse, scope, name, params)
    settle_algan_peaks(tree, recorder, number_of)
    return tree


def settle_algan_peaks(tree, recorder, number_of):
    """Puts the peaks that algan has counted in place of the replayed ones."""
    root = recorder.root
    tree.counted(root.alloc_count, algan_bytes(root), root.peak_forward)
    for rows, records in ((tree.rows, recorder.root.children), (tree.abandoned, recorder.abandoned)):
        counted = ScopeRows()
        for record in list(records):
            count_algan_scope(counted, -1, record, number_of, 1)
        counted_rows = {}
        for row in range(len(rows)):
            parent = counted_rows.get(rows.up[row], -1)
            counted_rows[row] = twin = counted.child(parent, rows.name[row])[0]
            bring_algan_peaks(rows.peaks[row], counted.peaks[twin])
            rows.sums[row][2] = counted.sums[twin][2]
            rows.sums[row][3] = counted.sums[twin][3]


def count_algan_scope(rows, parent, record, number_of, depth):
    """Adds a scope and those inside to rows, by what algan has counted."""
    if depth > ALGAN_DEPTH:
        return
    row, _ = rows.child(parent, number_of(record.name))
    rows.add(row, (1, 0, record.alloc_count, algan_bytes(record)))
    raise_peaks(rows.peaks[row], [0, record.peak_forward, record.peak_reverse, 0, -1, 0])
    for child in list(record.children):
        count_algan_scope(rows, row, child, number_of, depth + 1)


def algan_bytes(record):
    """Bytes that were asked for in a scope itself, padding apart."""
    return sum(event[4] * event[5] for event in list(record.events) if event[0] == "alloc")


def bring_algan_peaks(peaks, counted):
    """Takes algan's peaks of either side in. The peak of both at one moment is
    at least the larger of them and at most their sum."""
    peaks[1], peaks[2] = counted[1], counted[2]
    peaks[0] = min(max(peaks[0], peaks[1], peaks[2]), peaks[1] + peaks[2])
