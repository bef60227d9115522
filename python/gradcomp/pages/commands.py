"""Functions that all tools for pages of docs/results share."""
import os
import shlex
import shutil
import subprocess

from gradcomp import CPUS
from gradcomp.results.records import ROOT


class Failed(Exception):
    """An error message of one line for the user."""


def command(*words):
    """Runs a program on all CPUs and returns its output."""
    line = list(map(str, words))
    os.sched_setaffinity(0, CPUS)
    try:
        child = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        raise Failed(f"cannot start {line[0]}: {error.strerror}") from error
    try:
        printed, _ = child.communicate()
    except KeyboardInterrupt:
        child.terminate()  # a killed mpirun would leave its ranks behind
        child.wait()
        raise
    if child.returncode:
        raise Failed(f"status {child.returncode} of: {shlex.join(line)}")
    return printed


def require_programs(tool, *programs):
    """Throws Failed unless the programs are on PATH."""
    for program in programs:
        if not shutil.which(program):
            raise Failed(f"{program} is not on PATH; start with ./run exec -- tools/{tool}")
