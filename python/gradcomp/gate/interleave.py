"""Runs the gradcomp-bench of one or two builds, one process after the other."""
import os
import pathlib
import random
import shlex
import subprocess
import sys

from gradcomp.errors import ToolError
from gradcomp.guarded import child

from .samples import EVERY, PROGRAM, make_arm, read_process

OURS = ("--output", "--list", "--help", "--version")


def find_program(build):
    """Finds gradcomp-bench in a build folder or in its bin folder; `build` may also be the program itself."""
    path = pathlib.Path(build)
    for candidate in (path, path / "bin" / PROGRAM, path / PROGRAM):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate.resolve()
    raise ToolError(f"no {PROGRAM} in '{build}': name a build folder (./run build openmp {PROGRAM}) or the program")


def bench_arguments(text):
    """Splits --bench-args into words. Throws ToolError for options that the gate sets itself."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ToolError(f"--bench-args '{text}': {error}") from error
    for word in words:
        if word.split("=")[0] in OURS:
            raise ToolError(f"--bench-args: {word} is not allowed: the gate sets it itself")
    return words


def plan(processes, seed):
    """The arms in the order in which they run: every round has A1, A2 (the same build) and B once, in random order."""
    order, rounds = random.Random(seed), []
    for _ in range(processes):
        arms = ["A1", "A2", "B"]
        order.shuffle(arms)
        rounds += arms
    return rounds


def run_process(program, arguments, path, chosen=EVERY):
    """Runs one process, which ends when this program ends. Returns its result file. Throws ToolError."""
    words = [str(program), *arguments, "--output", str(path)]
    try:
        with child(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace") as process:
            errors = process.communicate()[1]
    except OSError as error:
        raise ToolError(f"cannot start '{program}': {error.strerror}") from error
    if process.returncode:
        said = errors.strip().splitlines()[-1:] or ["it said nothing"]
        raise ToolError(f"status {process.returncode} of '{shlex.join(words)}': {said[0]}")
    return read_process(path, chosen)


def run_arms(programs, processes, run, seed, check):
    """Runs A and B in turn; `run`(program, name of the result file) is one process. Returns (arm A, arm B); A has twice the
    processes. `check`(A, B) is called after the first process of each, so that builds that cannot be compared do not run for
    hours."""
    order, found = plan(processes, seed), {"A": [], "B": []}
    first_half, checked = [], False
    for number, label in enumerate(order, 1):
        print(f"[{number}/{len(order)}] {label}", file=sys.stderr, flush=True)
        arm = label[0]
        if label == "A1":
            first_half.append(len(found["A"]))
        found[arm].append(run(programs[arm], f"{number:03d}_{label}.json"))
        if found["A"] and found["B"] and not checked:
            checked = True
            check(make_arm("A", found["A"][:1]), make_arm("B", found["B"][:1]))
    return make_arm("A", found["A"], first_half), make_arm("B", found["B"])
