"""What the records of scopes call things by: numbers for strings, and
parameters that fit a record.

A source has one table of strings. The probe's thread numbers them; a number
keeps its meaning until a new hello, so a reader that comes late gets all of
them (NAMES.everything) before its first state.
"""
import itertools
import os
import threading

#: The string number of rows in which scopes were folded together.
FOLDED_NAME = 4294967295


class FoldLock:
    """Held while trees are folded and while a calibration dump copies them. The
    render takes it in save_calibration alone."""

    def __init__(self):
        self._lock = threading.RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self):
        self._lock = threading.RLock()  # its holder is not in the child

    def __enter__(self):
        self._lock.acquire()

    def __exit__(self, kind, error, trace):
        try:
            self._lock.release()
        except RuntimeError:
            pass  # a fork came in between
        return False


FOLD_LOCK = FoldLock()

#: Numbers of arenas and of pools in this source.
ARENA_NUMBERS = itertools.count(1)
POOL_NUMBERS = itertools.count(1)

MAX_PARAMS = 64
MAX_PARAM_NAME = 128  # bytes of UTF-8
MAX_PARAM_TEXT = 512  # bytes of UTF-8


def readable_text(text, limit):
    """text as every reader can take it: valid UTF-8 of at most limit bytes, a
    longer one cut and ending in an ellipsis."""
    if type(text) is str and len(text) <= limit and text.isascii():
        return text
    raw = str(text).encode("utf-8", "replace")
    if len(raw) <= limit:
        return raw.decode("utf-8")
    return raw[: limit - 3].decode("utf-8", "ignore") + "\u2026"


class Names:
    """The strings of this source by number. For the probe's thread alone."""

    LIMIT = 1 << 16  # strings; further ones are FOLDED_NAME
    BYTES = 8 << 20  # of all strings
    LONGEST = 4096  # bytes of one string
    LINE = (1 << 20) - 4096  # bytes of a record that its strings may take

    def __init__(self):
        self._numbers = {}
        self._texts = []
        self._told = 0  # strings that take() has handed out
        self._bytes = 0

    def number(self, text):
        """The string's number, a new one for a new string, 0 for ""."""
        if not text:
            return 0
        number = self._numbers.get(text)
        return self._add(text) if number is None else number

    def _add(self, text):
        short = readable_text(text, self.LONGEST)
        number = self._numbers.get(short)
        if number is not None:
            return number
        size = len(short.encode("utf-8"))
        if len(self._texts) >= self.LIMIT or self._bytes + size > self.BYTES:
            return FOLDED_NAME
        self._texts.append(short)
        self._bytes += size
        self._numbers[short] = len(self._texts)
        return len(self._texts)

    def text(self, number):
        """The string of a number that number() returned."""
        if 0 < number <= len(self._texts):
            return self._texts[number - 1]
        return "\u2026" if number == FOLDED_NAME else ""

    def take(self):
        """The `str` records of the strings that no reader has seen yet. They
        must be published before a record that uses their numbers."""
        first, self._told = self._told, len(self._texts)
        return self._records(first)

    def everything(self):
        """The `str` records of all strings, for a reader that comes late."""
        return self._records(0)

    def _records(self, first):
        records = []
        end = len(self._texts)
        while first < end:
            size, last = 0, first
            while last < end:
                size += 6 * len(self._texts[last].encode("utf-8")) + 3
                if size > self.LINE and last > first:
                    break
                last += 1
            records.append({"t": "str", "first": first + 1, "s": self._texts[first:last]})
            first = last
        return records


NAMES = Names()


def plain_params(params):
    """The parameters of a scope as a record can carry them: numbers, booleans
    and text, at most MAX_PARAMS of them.

    It runs in the render, so it looks at types alone: a tensor is told by its
    type and never asked for its value, which could wait for the device.
    """
    plain = {}
    for name, value in params.items():
        if len(plain) >= MAX_PARAMS:
            break
        plain[readable_text(name, MAX_PARAM_NAME)] = plain_param(value)
    return plain


def plain_param(value):
    """One parameter's value: see plain_params."""
    if type(value) is int and -(1 << 63) <= value < 1 << 63:
        return value
    if isinstance(value, bool):
        return bool(value)
    if isinstance(value, int):
        value = int(value)
        return value if -(1 << 63) <= value < 1 << 63 else float(value) if abs(value) < 1 << 1000 else "too large a number"
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        return readable_text(value, MAX_PARAM_TEXT)
    if value is None:
        return "None"
    if isinstance(value, (tuple, list)) and len(value) <= 16:
        if all(isinstance(part, (bool, int, float, str)) for part in value):
            return readable_text(" ".join(str(part) for part in value), MAX_PARAM_TEXT)
    kind = type(value)
    if kind.__module__ == "numpy" and hasattr(value, "item") and not getattr(value, "shape", ()):
        return plain_param(value.item())
    return readable_text("<" + kind.__name__ + ">", MAX_PARAM_TEXT)
