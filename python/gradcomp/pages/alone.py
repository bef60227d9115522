"""One measurement at a time on this machine: two at once share its cores and make the times of both wrong."""
import contextlib
import fcntl
import os
import pathlib
import tempfile

from gradcomp.errors import ToolError

_held = False


def lock_file():
    """The file that a measurement locks. Tests set GRADCOMP_MEASURING to have one of their own."""
    return pathlib.Path(os.environ.get("GRADCOMP_MEASURING") or pathlib.Path(tempfile.gettempdir(), "gradcomp-measuring.lock"))


@contextlib.contextmanager
def alone():
    """Holds the lock until the block ends. Throws ToolError if another process holds it. Calls may be nested."""
    global _held  # pylint: disable=global-statement
    if _held:
        yield
        return
    with open(lock_file(), "a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ToolError(f"another measurement is running on this machine; it holds '{file.name}'") from error
        _held = True
        try:
            yield
        finally:
            _held = False
