"""Runs the programs of a step. Their output goes to a log, they end at a time limit, and they end when this program ends."""
import contextlib
import os
import shlex
import signal
import subprocess

from gradcomp.errors import complete

SECONDS_TO_END = 10
TIMED_OUT = "timed out"


class StepFailed(Exception):
    """The reason why a step has no result, in one line."""


_running: set = set()  # processes, of all threads


def _end(process):
    """Ends the process and all processes that it started; mpirun gets the time to end its ranks."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS_TO_END)
    with contextlib.suppress(ProcessLookupError):  # processes that the first signal did not end
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def telling(text):
    """The line of an output that says most about a failure."""
    text = text.replace("\0", "")  # mpirun ends its outputs with some
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("[ ")]
    errors = [line for line in lines if "error" in line.lower()] or lines[-1:]
    return errors[0][:300] if errors else "it said nothing"


def shown(words):
    """The command as a page shows it: without what starts the program, and without the places of this machine."""
    words = words[words.index("--") + 1:] if "--" in words else words
    if "--output" in words:
        at = words.index("--output")
        words = words[:at] + words[at + 2:]
    return shlex.join([os.path.basename(word) if os.path.isabs(word) else word for word in words])


def status(words, log, limit=None, environment=None):
    """Runs a command with its output in `log` and returns its exit status, or "timed out" after `limit` seconds. Throws
    StepFailed if it cannot start."""
    with log.open("w", encoding="utf-8") as file:
        try:
            process = subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                       start_new_session=True, env=os.environ | (environment or {}))
        except OSError as error:
            raise StepFailed(f"cannot start {words[0]}: {error.strerror}") from error
        _running.add(process)
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            _end(process)
            return TIMED_OUT
        except BaseException:
            _end(process)
            raise
        finally:
            _running.discard(process)


def end_all():
    """Ends what other threads wait for."""
    for process in list(_running):
        _end(process)


def run(words, log, limit=None):
    """Runs a command. Throws StepFailed unless it was complete, and after `limit` seconds."""
    words = list(map(str, words))
    ended = status(words, log, limit)
    if ended == TIMED_OUT:
        raise StepFailed(f"ended after {limit:.0f} s, its share of the time: {shown(words)}")
    if not complete(words, ended):
        said = telling(log.read_text(encoding="utf-8", errors="replace"))
        raise StepFailed(f"status {ended} of '{shown(words)}': {said}")
