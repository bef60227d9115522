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
    words = list(map(str, words))
    os.sched_setaffinity(0, CPUS)
    try:
        child = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        raise Failed(f"cannot start {words[0]}: {error.strerror}") from error
    try:
        printed, _ = child.communicate()
    except KeyboardInterrupt:
        child.terminate()  # a killed mpirun would leave its ranks behind
        child.wait()
        raise
    if child.returncode:
        raise Failed(f"status {child.returncode} of: {shlex.join(words)}")
    return printed


def require_programs(tool, *programs):
    """Fails unless the programs are on PATH."""
    for program in programs:
        if not shutil.which(program):
            raise Failed(f"{program} is not on PATH; start with ./run exec -- tools/{tool}")


def command_lines(commands, start=""):
    """The commands as a section of the page; `start`: what sets the environment of ./run."""
    lines = ["## Commands", "",
             "<!-- not run: measurements of minutes to hours; this page shows what they found -->", "```sh"]
    for words, purpose in commands:
        lines += [f"# {purpose}", f"{start}./run exec -- " + shlex.join(map(str, words))]
    return [*lines, "```"]


def machines(records):
    """What ran where, a part for each machine and build."""
    found = {}
    for record in records:
        known = record.gradcomp
        start = f"{known['cpu_model']}, {record.context['num_cpus']} CPUs, threads: "
        end = f"; {known['compiler']}, Kokkos {known['kokkos_version']} ({known['kokkos_backend']}); {commit(record)}, "
        threads, days = found.setdefault((start, end), (set(), set()))
        threads.add(known["threads"])
        days.add(record.context["date"][:10])
    return "; and ".join(start + ", ".join(map(str, sorted(threads))) + end + " to ".join(sorted({min(days), max(days)}))
                         for (start, end), (threads, days) in found.items()) + "."


def commit(record):
    """What was built."""
    known = record.gradcomp
    return f"commit {known['git_hash'][:12]}{' with changes' if known['git_dirty'] else ''}"


def machine(record):
    """One sentence on what ran where."""
    known = record.gradcomp
    return (f"{known['cpu_model']}, {record.context['num_cpus']} CPUs, threads: {known['threads']}; {known['compiler']}, "
            f"Kokkos {known['kokkos_version']} ({known['kokkos_backend']}); {commit(record)}, {record.context['date'][:10]}.")
