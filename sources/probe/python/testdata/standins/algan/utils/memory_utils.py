"""Stands in for algan 0.0.2's memory_utils: the arena, its recorder and the
registry, with the attributes and the order of steps of the real one, over a
buffer that is only a length. Written from what the real one does; tensors are
(start, end) pairs.
"""
import sys

_AUTO_RECORD = False
_RECORDED_ARENAS = []
_NONARENA_PEAKS = []
_PEAK_FLOOR = {}
RECLAIMED = []  # calls of what must not be polled


class InsufficientMemoryException(Exception):
    """The two pointers would cross. It carries no message."""


class Device:
    def __init__(self, kind, index):
        self.type, self.index = kind, index


class Buffer:
    def __init__(self, length, device):
        self.length, self.device = length, device

    def __len__(self):
        return self.length


class DType:
    def __init__(self, name, itemsize):
        self.name, self.itemsize = name, itemsize

    def __str__(self):
        return "torch." + self.name


uint8, float16, float32, float64 = DType("uint8", 1), DType("float16", 2), DType("float32", 4), DType("float64", 8)
CLAIM_FAILS = False  # the next buffers cannot be had


def get_num_available_bytes(device="cuda"):
    RECLAIMED.append("get_num_available_bytes")
    return 1 << 30


def set_auto_record(enabled):
    global _AUTO_RECORD
    _AUTO_RECORD = bool(enabled)
    if not enabled:
        del _RECORDED_ARENAS[:]


def auto_record_enabled():
    return _AUTO_RECORD


def recorded_arenas():
    return _RECORDED_ARENAS[:]


def recorded_nonarena_peaks():
    return _NONARENA_PEAKS[:]


def clear_recorded_arenas():
    del _RECORDED_ARENAS[:], _NONARENA_PEAKS[:]


def note_nonarena_peak(name, input_bytes, peak_bytes):
    if _AUTO_RECORD and int(input_bytes) > 0:
        _NONARENA_PEAKS.append((str(name), int(input_bytes), int(peak_bytes)))


class ScopeRecord:
    __slots__ = ("name", "params", "entry_forward", "entry_reverse", "exit_forward", "exit_reverse",
                 "events", "children", "alloc_count", "peak_forward", "peak_reverse")

    def __init__(self, name, entry_forward, entry_reverse, params=None):
        self.name, self.params = name, params or {}
        self.entry_forward = self.exit_forward = entry_forward
        self.entry_reverse = self.exit_reverse = entry_reverse
        self.events, self.children = [], []
        self.alloc_count = self.peak_forward = self.peak_reverse = 0


class AllocationRecorder:
    def __init__(self):
        self.root = ScopeRecord("<root>", 0, 0)
        self.abandoned, self._stack = [], [self.root]

    @property
    def current(self):
        return self._stack[-1]

    def push_scope(self, name, forward, reverse, params=None):
        record = ScopeRecord(name, forward, reverse, params)
        self.current.children.append(record)
        self._stack.append(record)
        return record

    def pop_scope(self, record, forward, reverse):
        if record in self._stack:
            del self._stack[self._stack.index(record):]
            record.exit_forward, record.exit_reverse = forward, reverse

    def note_alloc(self, dtype, persist, numel, itemsize, forward, reverse):
        caller = sys._getframe(2).f_code.co_name
        self.current.events.append(("alloc", "render." + caller, str(dtype), persist, numel, itemsize))
        for record in self._stack:
            record.alloc_count += 1
            record.peak_forward = max(record.peak_forward, forward - record.entry_forward)
            record.peak_reverse = max(record.peak_reverse, record.entry_reverse - reverse)

    def note_temp(self, kind, clear_persist=False):
        self.current.events.append(("temp_push", bool(clear_persist)) if kind == "push" else ("temp_pop",))

    def clear(self):
        if len(self._stack) > 1:
            outermost = self._stack[1]
            if outermost in self.root.children:
                self.root.children.remove(outermost)
            self.abandoned.append(outermost)
        self._stack = [self.root]


class Scope:
    def __init__(self, memory, name, params):
        self.memory, self.name, self.params, self.record = memory, name, params, None

    def __enter__(self):
        memory = self.memory
        if memory._recorder is not None:
            self.record = memory._recorder.push_scope(self.name, *memory.get_pointers(), self.params)
        return self.record

    def __exit__(self, kind, error, trace):
        if self.record is not None:
            self.memory._recorder.pop_scope(self.record, *self.memory.get_pointers())
        return False


class TempMemoryContext:
    def __init__(self, memory, clear_persist, persist_floor=None):
        self.memory, self.clear_persist, self.persist_floor = memory, clear_persist, persist_floor

    def __enter__(self):
        self.saved = self.memory.get_pointers()
        if self.memory._recorder is not None:
            self.memory._recorder.note_temp("push", self.clear_persist)
        return self.memory

    def __exit__(self, kind, error, trace):
        memory = self.memory
        if memory._recorder is not None:
            memory._recorder.note_temp("pop")
        memory.current_pointer = self.saved[0]
        if self.clear_persist:
            floor = self.persist_floor() if self.persist_floor is not None else None
            memory.current_reverse_pointer = self.saved[1] if floor is None else min(self.saved[1], floor)
        return False


class ManualMemory:
    def __init__(self, portion_of_available_memory_used, device=None, managed=True, *, num_bytes=None):
        self.current_pointer = self.max_pointer = 0
        self.last_launch_frames, self.stack, self.managed = None, [], managed
        self._poison, self._recorder = -1, None
        if managed and _AUTO_RECORD:
            self._recorder = AllocationRecorder()
            _RECORDED_ARENAS.append(self)
        if CLAIM_FAILS:
            raise RuntimeError("CUDA out of memory")
        length = num_bytes if num_bytes is not None else 1 if not managed else int((1 << 30) * portion_of_available_memory_used)
        self.data = Buffer(length, device or Device("cuda", 0))
        self.length = self.current_reverse_pointer = length

    def __len__(self):
        return self.length

    def get_pointers(self):
        return self.current_pointer, self.current_reverse_pointer

    def set_pointers(self, pointers):
        self.current_pointer, self.current_reverse_pointer = pointers

    def get_tensor(self, shape, dtype=float32, persist=False):
        if not self.managed:
            return None
        numel, item = 1, dtype.itemsize
        for extent in shape:
            numel *= extent
        if persist:
            end = self.current_reverse_pointer // item * item
            start = end - numel * item
            if start < self.current_pointer:
                raise InsufficientMemoryException
            self.current_reverse_pointer = start
        else:
            start = -(-self.current_pointer // item) * item
            end = start + numel * item
            if end > self.current_reverse_pointer:
                raise InsufficientMemoryException
            self.current_pointer = end
        self.max_pointer = max(self.max_pointer, self.current_pointer + self.length - self.current_reverse_pointer)
        if self._recorder is not None:
            self._recorder.note_alloc(dtype, persist, numel, item, self.current_pointer, self.current_reverse_pointer)
        return (start, end)

    def reset(self):
        self.current_pointer, self.current_reverse_pointer, self.max_pointer, self.stack = 0, self.length, 0, []
        if self._recorder is not None:
            self._recorder.clear()

    def save_pointer(self):
        self.stack.append(self.current_pointer)

    def reset_pointer(self):
        self.current_pointer = self.stack.pop()

    def temp(self, clear_persist=False, persist_floor=None):
        return TempMemoryContext(self, clear_persist, persist_floor)

    def scope(self, name, **params):
        return Scope(self, name, params)

    def note_scope_params(self, **params):
        if self._recorder is not None:
            self._recorder.current.params.update(params)
