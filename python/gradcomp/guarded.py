"""How the tools end: bad input gives one line, and an interrupt also ends everything that was started."""
import contextlib
import os
import signal
import subprocess
import sys
import traceback

from gradcomp.errors import ToolError


def _said(error):
    """An error in one line; what nobody foresaw with its place."""
    if isinstance(error, ToolError):
        return str(error)
    if isinstance(error, BrokenPipeError):
        return "cannot write to the standard output: its reader has closed it"
    if isinstance(error, OSError):
        return f"cannot use '{error.filename}': {error.strerror}" if error.filename else f"{error.strerror or error}"
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"unforeseen {type(error).__name__}: {error} ({os.path.basename(at.filename)}:{at.lineno}); PYTHONDEVMODE=1 shows all of it"


def guarded(program, work):
    """The exit status of `work()`: 2 with one line on standard error if it throws, also if what it printed cannot be written; 130
    if interrupted or terminated. In the development mode of Python, errors that are none of ours pass."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        status = work()
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        if sys.flags.dev_mode and not isinstance(error, (ToolError, OSError)):
            raise
        with contextlib.suppress(OSError):
            print(f"{program}: error: {' '.join(_said(error).split())}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:  # what is left in the buffer must not fail once more at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 2


@contextlib.contextmanager
def child(words, **options):
    """Starts a process without input. If the block ends early, the process and all that it started are killed."""
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True, **options)
    try:
        yield process
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
