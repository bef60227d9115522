"""The one way in which the tools write files: each completely or not at all."""
import contextlib
import errno
import itertools
import os
import signal
import stat

from gradcomp.errors import ToolError

_number = itertools.count()
STREAMS = ("/dev/fd/", "/dev/std", "/proc/")  # open files of processes, by name; what they are must not change


def _mode(path):
    """The mode of what the path leads to; None if there is nothing."""
    with contextlib.suppress(FileNotFoundError):
        return os.stat(path).st_mode
    return None


def _is_stream(path):
    """Whether the path leads to a device, a pipe or an open file, into which one writes; nothing may replace it."""
    mode = _mode(path)
    return mode is not None and not stat.S_ISDIR(mode) and (
        not stat.S_ISREG(mode) or os.path.abspath(path).startswith(STREAMS))


def _check(path):
    """Throws OSError unless a file can be made at the path, or the file there be replaced."""
    target, mode = os.path.realpath(path), _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if mode is not None and not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    os.stat(os.path.dirname(target))
    if not _is_stream(path) and not os.access(os.path.dirname(target), os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def require_writable(paths):
    """Call it before any work is done. Throws ToolError unless every path can become a file of its own."""
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise ToolError("two outputs are one file")
    for path in paths:
        try:
            _check(path)
        except OSError as error:
            raise ToolError(f"cannot write '{path}': {error.strerror}") from error


def _new(path, data):
    """Writes a temporary file beside the one that the path leads to, with its mode and owner. Returns both names."""
    target = os.path.realpath(path)
    made = os.path.join(os.path.dirname(target), f".gradcomp.{os.getpid()}.{next(_number)}.part")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(descriptor, "wb") as file, contextlib.ExitStack() as stack:
            stack.callback(os.fsync, descriptor)
            if os.path.exists(target):
                old = os.stat(target)
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, old.st_uid, old.st_gid)
                os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
            file.write(data)
            file.flush()
    except BaseException:
        os.unlink(made)
        raise
    return made, target


@contextlib.contextmanager
def _signals_later():
    """An interrupt that comes meanwhile takes effect afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def write_all(contents):
    """Writes {path: text or bytes}: first new files beside the old ones, then all of them take their names. Links stay links, an
    old file's mode stays, and a device, a pipe or /dev/stdout is written into. If anything fails or an interrupt comes before the
    last step, every old file is as it was; an interrupt in the last step waits for its end. Throws ToolError."""
    made = []
    path = None
    try:
        streams = {}
        for path, content in contents.items():
            data = content.encode() if isinstance(content, str) else content
            _check(path)
            if _is_stream(path):
                streams[path] = data
            else:
                made.append(_new(path, data))
        for path, data in streams.items():
            with open(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as file:
                file.write(data)
        with _signals_later():
            while made:
                os.replace(*made[-1])
                made.pop()
    except OSError as error:
        raise ToolError(f"cannot write '{path}': {error.strerror}") from error
    finally:
        for name, _ in made:
            with contextlib.suppress(OSError):
                os.unlink(name)


def write_whole(path, content):
    """Writes one file, as write_all does."""
    write_all({path: content})
