"""The descriptors of the probe's thread, in a process whose program may close any number
and open files of its own under it: daemons do, in a loop over all numbers.

A number that the kernel has given to somebody else is not touched, neither read
nor written nor closed. So the probe holds numbers and no socket objects, which
close what they are collected with, and knows again what is behind each. The
numbers are high ones, where files of the program do not come by themselves.
"""
import ctypes
import fcntl
import os
import resource
import socket

#: The numbers begin here of so many that a process may have, and lower in
#: proportion where it may have fewer.
LOWEST, OF_LIMIT = 600, 1024

STAT_SIZE = 32  # of 64 bits each, more than any kernel's; device and inode come first
READ_AT_ONCE = 64 << 10  # bytes
SENT_HOLDING = 16 << 10  # bytes that are copied faster than the interpreter changes hands
READ_HOLDING = 4 << 10  # the same of a read

_FLAGS = getattr(socket, "MSG_NOSIGNAL", 0)
# These keep the interpreter: to change hands twice would cost the render more
# than to wait for them, and between two of them the program runs nothing.
_holding = ctypes.PyDLL(None, use_errno=True)
_send_holding = _holding.send
_send_holding.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int)
_send_holding.restype = ctypes.c_ssize_t
_read_holding = _holding.read
_read_holding.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
_read_holding.restype = ctypes.c_ssize_t
_accept_holding = _holding.accept4
_accept_holding.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
_socket_holding = _holding.socket
_socketpair_holding = _holding.socketpair
_open_holding = _holding.open
_close_holding = _holding.close
_duplicate_holding = _holding.fcntl
_send_giving_way = ctypes.CDLL(None, use_errno=True).send
_send_giving_way.argtypes = _send_holding.argtypes
_send_giving_way.restype = ctypes.c_ssize_t
_KIND = socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC


def _stat_function():
    """fstat of the C library, (number, buffer); None where it has none that is known."""
    if hasattr(_holding, "fstat"):
        return _holding.fstat
    if hasattr(_holding, "__fxstat"):  # glibc before 2.33; its first argument is a version
        older, version = getattr(_holding, "__fxstat"), 1 if os.uname().machine == "x86_64" else 0
        return lambda number, buffer: older(version, number, buffer)
    return None


_fstat = _stat_function()


class LostDescriptor(OSError):
    """The number is the program's now, or nobody's."""


class Descriptor:
    """A number of the probe's own: of a socket, which does not block, or of a
    file. Nothing closes it but close()."""

    __slots__ = ("number", "_file", "_stat")

    def __init__(self, number):
        self.number = number
        found = os.fstat(number)
        self._file = found.st_dev, found.st_ino  # which file it is
        self._stat = (ctypes.c_uint64 * STAT_SIZE)()
        if _fstat is None or _fstat(number, self._stat) != 0 or (self._stat[0], self._stat[1]) != self._file:
            self._stat = None  # a C library with another order of a stat: Python is asked, which costs more

    def is_own(self):
        """Whether the number still stands for what it stood for at the
        beginning."""
        if self._file is None:
            return False
        stat = self._stat
        if stat is not None:
            return _fstat(self.number, stat) == 0 and (stat[0], stat[1]) == self._file
        try:
            found = os.fstat(self.number)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self._file

    def close(self):
        """Closes it, where it is still the probe's own."""
        if self.is_own():
            self._file = None
            _close_holding(self.number)

    def send(self, data):
        """How many bytes the kernel took. The interpreter is not let go for a
        few lines. Raises OSError as a socket's own send does."""
        self._ensure()
        size = len(data)
        if type(data) is bytes and size <= SENT_HOLDING:
            sent = _send_holding(self.number, data, size, _FLAGS)
        else:
            sent = _send_giving_way(self.number, bytes(data), size, _FLAGS)
        return sent if sent >= 0 else _raise()

    def receive(self, size):
        """At most size bytes, b"" where the other end hung up. The interpreter is
        not let go for a few lines. Raises OSError."""
        self._ensure()
        if size > READ_HOLDING:
            return os.read(self.number, size)
        buffer = ctypes.create_string_buffer(size)
        got = _read_holding(self.number, buffer, size)
        return ctypes.string_at(buffer, got) if got >= 0 else _raise()

    def accept(self):
        """The next connection to a listener. Raises OSError."""
        self._ensure()
        number = _accept_holding(self.number, None, None, socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
        return _owned(number) if number >= 0 else _raise()

    def lent(self, use):
        """What use makes of the socket as Python has sockets."""
        self._ensure()
        lent = socket.socket(socket.AF_UNIX, _KIND, 0, fileno=self.number)
        try:
            return use(lent)
        finally:
            lent.detach()

    def _ensure(self):
        if not self.is_own():
            raise LostDescriptor(9, "a descriptor of the probe was closed by the program")


def open_socket():
    """A Unix socket that is neither bound nor connected. Raises OSError."""
    number = _socket_holding(socket.AF_UNIX, _KIND, 0)
    return _owned(number) if number >= 0 else _raise()


def open_pair():
    """Two Unix sockets that are connected with each other. Raises OSError."""
    numbers = (ctypes.c_int * 2)()
    if _socketpair_holding(socket.AF_UNIX, _KIND, 0, numbers) != 0:
        _raise()
    return _owned(numbers[0]), _owned(numbers[1])


def read_file(path, size=1 << 24):
    """What a file of the system holds, at most size bytes. Raises OSError."""
    number = _open_holding(os.fsencode(path), os.O_RDONLY | os.O_CLOEXEC)
    file, pieces = _owned(number) if number >= 0 else _raise(), []
    try:
        while size > 0:
            piece = file.receive(min(size, READ_AT_ONCE))
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
    finally:
        file.close()
    return b"".join(pieces)


def _owned(number):
    """The Descriptor of a number that was just opened, moved to the upper part;
    where that has no room it stays."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    allowed = OF_LIMIT if limit == resource.RLIM_INFINITY else min(limit, OF_LIMIT)
    moved = _duplicate_holding(number, fcntl.F_DUPFD_CLOEXEC, allowed * LOWEST // OF_LIMIT)
    if moved >= 0:
        _close_holding(number)
        number = moved
    return Descriptor(number)


def _raise():
    error = ctypes.get_errno()
    raise OSError(error, os.strerror(error))
