"""Functions that all tools for pages of docs/results share."""
import contextlib
import os
import shlex
import shutil
import signal
import subprocess

from gradcomp import CPUS
from gradcomp.errors import ToolError, complete
from gradcomp.results.records import ROOT


@contextlib.contextmanager
def _interrupted_later():
    """Signals that end the page and come meanwhile take effect afterwards."""
    came = []
    handlers = {number: signal.signal(number, lambda got, _: came.append(got)) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


def command(*words):
    """Runs a program on all CPUs and returns its output."""
    line, child = list(map(str, words)), None
    os.sched_setaffinity(0, CPUS)
    try:
        with _interrupted_later():  # until there is something to terminate
            child = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        printed, _ = child.communicate()
    except OSError as error:
        raise ToolError(f"cannot start {line[0]}: {error.strerror}") from error
    except KeyboardInterrupt:
        if child:
            child.terminate()  # a killed mpirun would leave its ranks behind
            child.wait()
        raise
    if not complete(line, child.returncode):
        raise ToolError(f"status {child.returncode} of: {shlex.join(line)}")
    return printed


def require_programs(tool, *programs):
    """Throws ToolError unless the programs are on PATH."""
    for program in programs:
        if not shutil.which(program):
            raise ToolError(f"{program} is not on PATH; start with ./run exec -- tools/{tool}")
