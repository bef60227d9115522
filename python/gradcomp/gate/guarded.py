"""How the tools end: bad input gives one line, and an interrupt also ends everything that was started."""
import contextlib
import os
import signal
import subprocess
import sys

from gradcomp.errors import ReportError


def guarded(program, work):
    """The exit status of `work()`: 2 for bad input, with one line on stderr; 130 if interrupted or terminated."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        return work()
    except ReportError as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{program}: error: cannot use '{error.filename}': {error.strerror}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 130


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
