"""What the tools that measure and write a page of docs/results have in common."""
import os
import shlex
import shutil
import subprocess

from gradcomp import CPUS
from gradcomp.results.records import ROOT


class Failed(Exception):
    """One line for the user."""


def command(*words):
    """Runs a program on all CPUs and returns what it printed."""
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
    """Fails unless the programs are on PATH."""
    for program in programs:
        if not shutil.which(program):
            raise Failed(f"{program} is not on PATH; start with ./run exec -- tools/{tool}")
