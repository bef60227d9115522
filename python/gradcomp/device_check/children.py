"""Runs the programs of a step. Their output goes to a log, they end at a time limit, and they end when this program ends."""
import contextlib
import os
import shlex
import signal
import subprocess

SECONDS_TO_END = 10


class StepFailed(Exception):
    """The reason why a step has no result, in one line."""


def _end(process):
    """Ends the process and all processes that it started; mpirun gets the time to end its ranks."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS_TO_END)
    with contextlib.suppress(ProcessLookupError):  # processes that the first signal did not end
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _reason(log):
    """The line of the log that says most about the failure."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines[-1:]
    return telling[0][:300] if telling else "it said nothing"


def shown(words):
    """The command as a page shows it: without what starts the program, and without the places of this machine."""
    words = words[words.index("--") + 1:] if "--" in words else words
    if "--output" in words:
        at = words.index("--output")
        words = words[:at] + words[at + 2:]
    return shlex.join([os.path.basename(word) if os.path.isabs(word) else word for word in words])


def run(words, log, limit=None, environment=None, expected=(0,)):
    """Runs a command and returns its exit status, one of `expected`. Throws StepFailed for any other status, and after `limit`
    seconds."""
    words = list(map(str, words))
    with log.open("w", encoding="utf-8") as file:
        try:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                       start_new_session=True, env=os.environ | (environment or {}))
        except OSError as error:
            raise StepFailed(f"cannot start {words[0]}: {error.strerror}") from error
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired as error:
            _end(process)
            raise StepFailed(f"ended after {limit:.0f} s, its share of the time: {shown(words)}") from error
        except BaseException:
            _end(process)
            raise
    if status not in expected:
        raise StepFailed(f"status {status} of '{shown(words)}': {_reason(log)}")
    return status
