"""Runs the programs of a step: what they say goes to a log, they end at a limit, and they end with us."""
import contextlib
import os
import shlex
import signal
import subprocess

SECONDS_TO_END = 10


class StepFailed(Exception):
    """One line: why a step has no result."""


def _end(process):
    """Ends the process and all that it started; mpirun is given the time to take its ranks along."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS_TO_END)
    with contextlib.suppress(ProcessLookupError):  # what the first signal did not end
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _reason(log):
    """The line of the log that tells most."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines[-1:]
    return telling[0][:300] if telling else "it said nothing"


def run(words, log, limit=None, environment=None, expected=(0,)):
    """The exit status of a command, one of `expected`. Throws StepFailed for any other, and after `limit` seconds."""
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
            raise StepFailed(f"ended after {limit:.0f} s, its share of the time: {shlex.join(words)}") from error
        except BaseException:
            _end(process)
            raise
    if status not in expected:
        raise StepFailed(f"status {status} of '{shlex.join(words)}': {_reason(log)}")
    return status
