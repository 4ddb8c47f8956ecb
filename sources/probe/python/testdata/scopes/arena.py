"""A bump arena of the program's own, for the scripts of the scope tests."""
import vramscope_probe as probe


class Arena:
    """A bump arena in host memory with the rules of the specification: it
    moves pointers and notes each step."""

    def __init__(self, length, name="arena"):
        self.length = length
        self.current_pointer, self.current_reverse_pointer, self.max_pointer = 0, length, 0
        self.marks = []
        self.handle = probe.arena(name, self)

    def alloc(self, size, item=1, dtype="", caller=""):
        end = -(-self.current_pointer // item) * item + size
        if end > self.current_reverse_pointer:
            self.handle.fail(size, item, reason="full")
            return
        self.current_pointer = end
        self._peak()
        self.handle.alloc(size, item, dtype=dtype, caller=caller)

    def persist(self, size, item=1, dtype="", caller=""):
        start = self.current_reverse_pointer // item * item - size
        if start < self.current_pointer:
            self.handle.fail(size, item, persist=True, reason="full")
            return
        self.current_reverse_pointer = start
        self._peak()
        self.handle.alloc(size, item, persist=True, dtype=dtype, caller=caller)

    def _peak(self):
        self.max_pointer = max(self.max_pointer, self.current_pointer + self.length - self.current_reverse_pointer)

    def push(self, clear=False):
        self.handle.temp_push(clear)
        return (self.current_pointer, self.current_reverse_pointer, clear)

    def pop(self, saved):
        self.current_pointer = saved[0]
        if saved[2]:
            self.current_reverse_pointer = saved[1]
        self.handle.temp_pop()

    def mark(self):
        self.marks.append(self.current_pointer)
        self.handle.mark()

    def restore(self):
        if self.marks:
            self.current_pointer = self.marks.pop()
            self.handle.restore()

    def reset(self, reason=""):
        self.current_pointer, self.current_reverse_pointer, self.max_pointer = 0, self.length, 0
        self.marks = []
        self.handle.reset(reason)
