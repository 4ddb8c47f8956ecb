"""What a program says to the probe: scopes, arenas of its own, and peaks
outside of them.

    with vramscope_probe.scope("shade", frames=8):
        ...

The render's side only appends to the outlet, and while nobody watches and
nothing is recorded it does not even that: scope() then costs one test of an
attribute and gives out one shared object that does nothing. Nothing here ever
raises into the program.
"""
import functools
import threading
import time
import weakref

from .names import ARENA_NUMBERS, plain_params, readable_text
from .outlet import OUTLET
from .scope_tree import OP_ALLOC, OP_FAIL, OP_NEW, OP_PERSIST, OP_TEMP_POP, OP_TEMP_PUSH
from .scope_tree import OP_CLOSE, OP_MARK, OP_OPEN, OP_RELEASE, OP_RESET, OP_RESTORE

#: Scopes of one arena that may be open at a time; further ones are not recorded.
MAX_OPEN_SCOPES = 4096

#: Events at which an arena's own high-water is read.
EDGES = frozenset((OP_OPEN, OP_CLOSE, OP_RESET, OP_RELEASE))

#: Arenas that may be registered at a time; further ones are not watched.
MAX_ARENAS = 256


class ScopeFaults:
    """What went wrong on the render's side, for the next sample to tell."""

    def __init__(self):
        self.count = 0
        self.last = ""

    def note(self, error):
        self.count += 1
        self.last = type(error).__name__


SCOPE_FAULTS = ScopeFaults()


class NullScope:
    """The scope of a program that nobody watches. It does nothing."""

    __slots__ = ()

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return False

    def __call__(self, function):
        return scoped_function(function, function.__qualname__, {})


NULL_SCOPE = NullScope()


class RecordedScope:
    """A scope that says when it is entered and left."""

    __slots__ = ("_name", "_arena", "_params", "_number")

    def __init__(self, name, arena, params):
        self._name, self._arena, self._params, self._number = name, arena, params, 0

    def __enter__(self):
        try:
            arena = self._arena
            if arena is None or arena.closed:
                arena = default_arena()
            if arena.belongs_to_another_thread():
                arena = own_scopes()
            if arena.closed:
                return None
            self._arena = arena
            self._number = arena.open_scope(self._name, self._params)
        except Exception as error:
            SCOPE_FAULTS.note(error)
        return None

    def __exit__(self, kind, error, trace):
        if self._number:
            try:
                self._arena.close_scope(self._number)
            except Exception as fault:
                SCOPE_FAULTS.note(fault)
        return False

    def __call__(self, function):
        return scoped_function(function, function.__qualname__, {})


def scope(name, /, arena=None, **params):
    """A named stretch of memory use, for `with`.

    Scopes nest in each thread. params are what its size depends on (frames=8);
    numbers, booleans and text. arena is the handle that arena() gave; without
    it the scope lies in the arena that this thread registered last, or, where
    there is none, in a tree of the thread's scopes that knows no bytes.

    As a decorator use `@scope` for a function's own name, and
    `@scope.over("name", frames=8)` for another one.
    """
    if not OUTLET.armed:
        return NULL_SCOPE if not callable(name) else scoped_function(name, name.__qualname__, {})
    if callable(name):
        return scoped_function(name, name.__qualname__, {})
    return RecordedScope(name, arena, params)


def scoped_function(function, name, given):
    """The function with a scope around each call. given are the arguments of
    scope()."""

    @functools.wraps(function)
    def inside(*args, **kwargs):
        with scope(name, **given):
            return function(*args, **kwargs)

    return inside


def scope_over(name, /, **given):
    """A decorator: every call of the function is a scope of that name."""
    return lambda function: scoped_function(function, name, given)


scope.over = scope_over


class ThreadScopes(threading.local):
    """What a thread has registered."""

    def __init__(self):
        self.arenas = []  # weak references to handles, oldest first
        self.own = None  # the handle of scopes that lie in no arena


THREAD_SCOPES = ThreadScopes()


def default_arena():
    """The handle of the arena that this thread registered last."""
    arenas = THREAD_SCOPES.arenas
    while arenas:
        handle = arenas[-1]()
        if handle is not None and not handle.closed:
            return handle
        arenas.pop()
    return own_scopes()


def own_scopes():
    """The handle of this thread's scopes that lie in no arena. It ends with
    the thread."""
    handle = THREAD_SCOPES.own
    if handle is None:
        handle = ArenaHandle("scopes of " + thread_name(), length=0, managed=False)
        THREAD_SCOPES.own = handle
        if ARENA_HANDLES.add(weakref.ref(handle)):
            handle.note(OP_NEW, text=handle.name)
        else:
            handle.closed = True
    return handle


def thread_name():
    """What the program calls this thread. One that it did not start through
    threading is not entered there."""
    own = threading.get_ident()
    return next((thread.name for thread in threading.enumerate() if thread.ident == own), "thread %d" % threading.get_native_id())


class ArenaHandles:
    """Every registered arena, each as a callable that gives its handle or
    None once it is gone."""

    def __init__(self):
        self._held = []

    def add(self, reference):
        """Adds a reference. False if there are MAX_ARENAS already: the arena is
        not watched then."""
        kept = [held for held in list(self._held) if not getattr(held(), "closed", True)]
        if len(kept) >= MAX_ARENAS:
            return False
        kept.append(reference)
        self._held = kept
        return True

    def living(self):
        """The handles of the arenas that are there, oldest first."""
        if not self._held:  # nearly always
            return ()
        handles = [held() for held in list(self._held)]
        return [handle for handle in handles if handle is not None and not handle.closed]


ARENA_HANDLES = ArenaHandles()


class ArenaHandle:
    """An arena of the program's own. arena() makes one.

    One thread uses it at a time. Its notes (alloc, mark, ...) are for arenas
    whose program wants every event seen; call them after the pointers moved.
    """

    def __init__(self, name, length=0, pointers=None, device="", inside="", job="", managed=True, call=""):
        self.number = next(ARENA_NUMBERS)
        self.name = readable_text(name, 256)
        self.device, self.inside, self.call, self.managed = device, inside, call, managed
        self.closed = False
        self.fault = ""  # why its pointers were not known the last time
        self.length_fault = ""  # the same of its length
        self._given_up = ""  # why neither is asked for any more
        self._were_known = False  # its pointers, once
        self.highest = None  # callable: the arena's own high-water, bytes
        self._job = job
        self._length, self._pointers = length, pointers
        self._known_length = 0
        self._last = (0, self.length())
        self._opened = 0  # scopes so far
        self._open = []  # numbers of the open ones, outermost first
        self._thread = 0  # that opened them

    def length(self):
        """Bytes of the arena; the last one known once it cannot tell, with the
        reason in length_fault, 0 where it never could."""
        if self._given_up:
            return self._known_length
        try:
            length = int(self._length() if callable(self._length) else self._length)
            if length >= 0:
                self._known_length, self.length_fault = length, ""
            else:
                self.length_fault = "the program's length cannot be: %d B" % length
        except Exception as error:
            self.length_fault = "the program's length cannot be read: %s" % type(error).__name__
            SCOPE_FAULTS.note(error)
        return self._known_length

    def pointers(self):
        """(forward, reverse) in bytes from the start, now; the last ones known
        where the arena cannot tell, with the reason in fault."""
        if self._pointers is not None and not self._given_up:
            try:
                pointers = self._read_pointers()
                if not self._can_be(*pointers):
                    pointers = self._read_pointers()  # the program may have been moving them
                if self._can_be(*pointers):
                    self._last, self.fault, self._were_known = pointers, "", True
                else:
                    self.fault = self.length_fault or "the program's pointers cannot be: forward %d, reverse %d of %d B" % (
                        pointers + (self._known_length,))
            except Exception as error:
                self.fault = "the program's pointers cannot be read: %s" % type(error).__name__
                SCOPE_FAULTS.note(error)
        return self._last

    def _read_pointers(self):
        forward, reverse = self._pointers()
        return int(forward), int(reverse)

    def _can_be(self, forward, reverse):
        """Whether pointers lie in the arena. Its length is asked for again where
        they lie beyond the one that is known."""
        return 0 <= forward <= reverse and (reverse <= self._known_length or reverse <= self.length()) and not self.length_fault

    def knows_no_bytes(self):
        """Whether the arena's pointers were never known."""
        return bool(self.fault) and not self._were_known

    def give_up(self, reason):
        """Asks for nothing any more: nothing is known of it, for that reason."""
        self._given_up = self.fault = self.length_fault = reason
        self._were_known = False

    def own_high_water(self):
        """The arena's own high-water in bytes; None where it tells none."""
        if self.highest is None:
            return None
        try:
            return self.highest()
        except Exception:
            return None  # its object has just gone

    def has_pointers(self):
        """Whether the arena tells where it stands."""
        return self._pointers is not None

    def open_count(self):
        """How many of its scopes are open."""
        return len(self._open)

    def facts(self):
        """What a state says of the arena and its events do not."""
        facts = {"managed": self.managed}
        if self._job:
            facts["job"] = self._job
        return facts

    def belongs_to_another_thread(self):
        """Whether another thread has scopes open in it: the stack of scopes of
        an arena is that of one thread."""
        return bool(self._open) and self._thread != threading.get_ident()

    def open_scope(self, name, params):
        """Opens a scope and returns its number, 0 if too many are open."""
        if len(self._open) >= MAX_OPEN_SCOPES:
            return 0
        text, plain = str(name), plain_params(params) if params else None
        parent = self._open[-1] if self._open else 0
        self._opened = number = self._opened + 1
        self._thread = threading.get_ident()
        self._open.append(number)
        self.note(OP_OPEN, scope=number, parent=parent, text=text, params=plain)
        return number

    def close_scope(self, number):
        """Closes a scope and all that were opened after it. One that an outer
        scope or a reset has ended already is ignored."""
        held = self._open
        if held and held[-1] == number:
            held.pop()
        elif number in held:
            del held[held.index(number):]
        else:
            return
        self.note(OP_CLOSE, scope=number)

    def note(self, op, size=0, item=0, flags=0, scope=0, parent=0, text="", dtype="", params=None):
        """Leaves an event for the probe's thread, with the pointers of now and,
        where scopes begin and end, the arena's own high-water."""
        forward, reverse = self.pointers()
        high = self.own_high_water() if op in EDGES else None
        OUTLET.put(("arena", self, time.monotonic_ns(), op, size, item, flags, forward, reverse, scope, parent,
                    str(text), str(dtype), params, high))

    def _tell(self, op, *values, **more):
        if OUTLET.armed and not self.closed:
            try:
                self.note(op, *values, **more)
            except Exception as error:
                SCOPE_FAULTS.note(error)

    def alloc(self, size, item=1, persist=False, dtype="", caller=""):
        """Notes an allocation: size bytes as asked for, item the alignment in
        bytes, persist the reverse side."""
        self._tell(OP_PERSIST if persist else OP_ALLOC, size, item, text=caller, dtype=dtype)

    def fail(self, size, item=1, persist=False, reason="", dtype=""):
        """Notes an allocation that did not fit. Nothing moved."""
        self._tell(OP_FAIL, size, item, 1 if persist else 0, text=reason, dtype=dtype)

    def temp_push(self, clear_persist=False):
        """Notes that a temporary context opens; clear_persist says that its
        end rewinds the reverse side too."""
        self._tell(OP_TEMP_PUSH, 0, 0, 2 if clear_persist else 0)

    def temp_pop(self):
        """Notes that the innermost temporary context has closed."""
        self._tell(OP_TEMP_POP)

    def mark(self):
        """Notes that the forward pointer was saved."""
        self._tell(OP_MARK)

    def restore(self):
        """Notes that the forward pointer is back at the last mark."""
        self._tell(OP_RESTORE)

    def reset(self, reason=""):
        """Notes that the arena was emptied. Scopes that are open are
        abandoned, whether anybody watches or not."""
        del self._open[:]
        self._tell(OP_RESET, text=reason)

    def close(self, reason=""):
        """Ends the registration: the arena's buffer is given back."""
        self._tell(OP_RELEASE, text=reason)
        self.closed = True
        del self._open[:]

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False


def arena(name, of=None, length=None, pointers=None, device="", inside="", job=""):
    """Registers an arena, and returns its handle.

    of is an object with current_pointer, current_reverse_pointer, length and,
    if it has one, max_pointer (all in bytes): it is held weakly, and the
    registration ends with it. Instead of it, length is the arena's size in
    bytes or a callable that tells it, and pointers a callable that returns
    (forward, reverse) in bytes from the start; it is called on the probe's
    thread too, and must only read. A bound method is held weakly with its
    object; for other callables keep the handle, whose end is that of the
    registration.

    device is the GPU's UUID, its ordinal, "cuda:1" or "host"; inside names the counter set that the
    arena's memory lies in ("torch:0"), so that it is not counted twice; job
    what it serves.
    """
    try:
        handle, strong = arena_handle(name, of, length, pointers, device, inside, job)
        if not ARENA_HANDLES.add((lambda: handle) if strong else weakref.ref(handle)):
            raise OverflowError
        THREAD_SCOPES.arenas.append(weakref.ref(handle))
        del THREAD_SCOPES.arenas[:-MAX_ARENAS]
        if OUTLET.armed:
            handle.note(OP_NEW, handle.length(), text=handle.name)
    except Exception as error:
        SCOPE_FAULTS.note(error)
        handle = ArenaHandle("an arena that could not be registered", managed=False)
        handle.closed = True
    return handle


def arena_handle(name, of, length, pointers, device, inside, job):
    """(handle, strong): strong says that the registry must hold the handle,
    since its arena is held weakly."""
    if of is not None:
        target = weakref.ref(of)
        handle = ArenaHandle(
            name, lambda: target().length if length is None else length,
            lambda: pointers_of(target()),
            device, inside, job, call="attributes of " + type(of).__name__)
        if hasattr(of, "max_pointer"):
            handle.highest = lambda: int(target().max_pointer)
        weakref.finalize(of, handle.close, "its object is gone").atexit = False
        return handle, True
    bound = getattr(pointers, "__self__", None) is not None and hasattr(pointers, "__func__")
    read = pointers
    handle_call = "pointers() of the program" if pointers is not None else ""
    if bound:
        method = weakref.WeakMethod(pointers)
        read = lambda: method()()
    handle = ArenaHandle(name, 0 if length is None else length, read, device, inside, job,
                         managed=pointers is not None, call=handle_call)
    if bound:
        weakref.finalize(pointers.__self__, handle.close, "its object is gone").atexit = False
    return handle, bound


def pointers_of(target):
    """(forward, reverse) of an object that has algan's names for them."""
    return target.current_pointer, target.current_reverse_pointer


def note_peak(name, input_bytes, peak_bytes):
    """Notes a transient outside every arena: peak_bytes at its highest, for
    input_bytes of input."""
    if OUTLET.armed:
        try:
            OUTLET.put(("peak", time.monotonic_ns(), readable_text(name, 4096), int(input_bytes), int(peak_bytes)))
        except Exception as error:
            SCOPE_FAULTS.note(error)
