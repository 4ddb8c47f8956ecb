"""Where this process's socket is, and who may be there: the same rules as the
dashboard's side (place.go, listen.go, peer.go).
"""
import errno
import os
import socket
import stat
import struct

from .descriptors import open_socket, read_file

DIRECTORY_VARIABLE = "VRAMSCOPE_SOCKET_DIR"
MAX_PATH = 107  # bytes of a Unix socket's path: sun_path has 108 with its zero
LISTEN_QUEUE = 64  # connections that wait to be accepted


class PlaceError(Exception):
    """Why no socket could be made, as one sentence that says what to do."""


def socket_directory(environment=os.environ, temporary="/tmp"):
    """The folder of this user's sockets, made where it is missing. Raises
    PlaceError where others could reach it."""
    named = environment.get(DIRECTORY_VARIABLE)
    if named:
        return _ensured(named)
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    # One that is not as its specification says is ignored, not refused: it is
    # often unset, or left over from another user.
    if os.path.isabs(runtime) and not _fault(runtime):
        return _ensured(os.path.join(runtime, "vramscope"))
    return _ensured(os.path.join(temporary, "vramscope-%d" % os.getuid()))


def start_time(pid="self"):
    """When a process started, in clock ticks after boot (field 22 of its stat
    file)."""
    text = read_file("/proc/%s/stat" % pid)
    # The second field is a name in parentheses, which may hold anything.
    return int(text[text.rindex(b")") + 1:].split()[19])


def open_listener(path):
    """A listening Descriptor that only this user can connect to. A file that a
    dead process left in its place is replaced. Raises PlaceError or OSError."""
    if len(os.fsencode(path)) > MAX_PATH:
        raise PlaceError("the socket path %s has %d bytes and the kernel takes %d: set %s to a shorter directory"
                         % (path, len(os.fsencode(path)), MAX_PATH, DIRECTORY_VARIABLE))
    try:
        return _bound(path)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
    if not _refuses(path):
        raise PlaceError("something listens on %s already: only one part of a program may offer it to be watched" % path)
    _remove_socket(path)
    return _bound(path)


def peer_fault(connection):
    """Why the process at the other end may not come in, "" if it may: it is this
    user's, or root's."""
    size = struct.calcsize("iII")
    pid, uid, _ = struct.unpack("iII", connection.lent(lambda lent: lent.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)))
    own = os.getuid()
    if uid in (own, 0):
        return ""
    return ("process %d at the other end of the socket runs as user %d and this one as user %d: run both as the same user"
            % (pid, uid, own))


def _ensured(directory):
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise _refusal(directory, "cannot be made (%s)" % os.strerror(error.errno or 0)) from None
    fault = _fault(directory)
    if fault:
        raise _refusal(directory, fault)
    return directory


def _refusal(directory, fault):
    return PlaceError("%s %s, so no socket is made there: make it a directory of your own with mode 0700, or set %s to one"
                      % (directory, fault, DIRECTORY_VARIABLE))


def _fault(directory):
    """What is wrong with a folder, looking at the path itself and not at what a
    link points to."""
    try:
        found = os.lstat(directory)
    except OSError as error:
        return "cannot be looked at (%s)" % os.strerror(error.errno or 0)
    if stat.S_ISLNK(found.st_mode):
        return "is a symbolic link"
    if not stat.S_ISDIR(found.st_mode):
        return "is not a directory"
    if found.st_uid != os.getuid():
        return "belongs to user %d, not to %d" % (found.st_uid, os.getuid())
    if stat.S_IMODE(found.st_mode) & 0o077:
        return "is open to others (mode %04o)" % stat.S_IMODE(found.st_mode)
    return ""


def _bound(path):
    listener = open_socket()

    def bind(lent):
        # The file gets the mode that the socket has before it is bound. The
        # process's mask, which the render's own files obey, is left alone.
        os.fchmod(lent.fileno(), 0o600)
        lent.bind(path)
        os.chmod(path, 0o600)
        lent.listen(LISTEN_QUEUE)

    try:
        listener.lent(bind)
    except BaseException:
        listener.close()
        raise
    return listener


def _refuses(path):
    """Whether nobody listens behind a socket's file."""
    probe = open_socket()
    try:
        return probe.lent(lambda lent: lent.connect_ex(path)) == errno.ECONNREFUSED
    finally:
        probe.close()


def file_identity(path):
    """(device, inode) of the file itself, None where there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove_socket(path):
    """Removes the file if it is a socket, and nothing else."""
    try:
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise PlaceError("%s is in the way and is not a socket: move it away" % path)
        os.unlink(path)
    except FileNotFoundError:
        pass
