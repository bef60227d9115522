"""Whether the tests notice one mutant."""
import contextlib
import dataclasses
import hashlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from gradcomp.errors import ToolError
from gradcomp.guarded import child

from .mutants import same_program

KILLED, SURVIVED, UNBUILDABLE, EQUIVALENT = "killed", "survived", "does not build", "equivalent"
# Limits, since a mutant may allocate or write without end: KiB of address space, and blocks of 1 KiB in one file.
LIMITS = "ulimit -v 33554432; ulimit -f 4194304; "


@dataclasses.dataclass
class Bench:
    """A folder in a tree, whose tests pass without a mutant."""
    tree: pathlib.Path
    folder: object
    limits: list     # seconds for the tests of each stage
    library: bytes   # digest of the library
    objects: bytes   # digest of all object files


def _run(command, tree, limit=None, **environment):
    """(exit status, or None after `limit` seconds; the last line with FAILED in it, or the last line)."""
    with tempfile.TemporaryDirectory(prefix="mut", ignore_cleanup_errors=True) as scratch, \
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        environment = os.environ | {"TMPDIR": scratch, "GRADCOMP_BIN": str(tree / "build/openmp/bin"),
                                    "PYTHONPATH": ""} | environment
        with child(["bash", "-c", LIMITS + command], cwd=tree, env=environment, stdout=said, stderr=said) as process:
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            for number in (signal.SIGTERM, signal.SIGKILL):  # mpirun ends its ranks if it is asked to end
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
        said.seek(0)
        lines = said.read().strip().splitlines() or ["it said nothing"]
        return status, ([line for line in lines if "FAILED" in line] or lines)[-1]


def _build(folder, stage, tree):
    """(exit status, last line) of the build of a stage's targets. Programs hold the commit that they are built from. Here they must
    not: the user may commit while mutants are tested, and then all of them would differ."""
    if not stage.targets:
        return 0, ""
    return _run(f"{folder.build} {' '.join(stage.targets)}", tree, GIT_CEILING_DIRECTORIES=str(tree.parent))


def _digest(tree, pattern):
    """A digest of the files that match, or of nothing without a pattern."""
    found = hashlib.sha256()
    for path in sorted(tree.glob(pattern)) if pattern else []:
        found.update(f"{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.digest()


def prepare(tree, folder, factor, say):
    """Builds and tests the tree without a mutant. Later a test may take `factor` times as long, plus a minute. Throws
    ToolError if a test fails."""
    limits = []
    for stage in folder.stages:
        status, said = _build(folder, stage, tree)
        if status != 0:
            raise ToolError(f"'{folder.path}' does not build without a mutant: {said}")
        began = time.monotonic()
        status, said = _run(stage.run, tree)
        if status != 0:
            raise ToolError(f"the tests of '{folder.path}' fail without a mutant: {stage.run}: {said}")
        limits.append(60 + factor * (time.monotonic() - began))
        say(f"{stage.run.split()[0]}: passes without a mutant in {time.monotonic() - began:.0f} s")
    return Bench(tree, folder, limits, _digest(tree, folder.library), _digest(tree, folder.objects))


def _tried(bench, mutant, before, after):
    if mutant.file.endswith(".py"):
        try:
            if same_program(before, after):
                return EQUIVALENT, ""
        except SyntaxError:
            return UNBUILDABLE, ""
    for number, (stage, limit) in enumerate(zip(bench.folder.stages, bench.limits, strict=True)):
        status, said = _build(bench.folder, stage, bench.tree)
        if status != 0:
            return UNBUILDABLE, said
        # A change of a header may affect other libraries, so that more must be built before it is known to do nothing.
        if number == 0 and mutant.file.endswith(".cpp") and _digest(bench.tree, bench.folder.library) == bench.library:
            return EQUIVALENT, ""
        status, said = _run(stage.run, bench.tree, limit)
        if status != 0:
            return KILLED, f"stage {number + 1}: {'time limit' if status is None else said}"
    if mutant.file.endswith(".hpp") and _digest(bench.tree, bench.folder.objects) == bench.objects:
        return EQUIVALENT, ""
    return SURVIVED, ""


def judge(bench, mutant):
    """(KILLED, SURVIVED, UNBUILDABLE or EQUIVALENT; cause). The source is restored in every case."""
    path = bench.tree / mutant.file
    before = path.read_text(encoding="utf-8")
    after = mutant.apply(before)
    try:
        path.write_text(after, encoding="utf-8")
        return _tried(bench, mutant, before, after)
    finally:
        path.write_text(before, encoding="utf-8")
