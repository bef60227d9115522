"""Runs shell blocks in a copy of the sources that has this build's programs, so that nothing is written into a clone."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

from blocks import ROOT

LIMIT = 180  # seconds for one block; the limit of ctest is that of all blocks
RAN = []     # (seconds, place) of each block that ran with success
MARKED = []  # the reason of each block that does not run


class BlockError(Exception):
    """Says where the block is, how it ended, and what its last lines are."""


def _left_out(folder, names):
    """The `names` in `folder` that are not copied: what was made in a clone, and its history."""
    top = {".git", "build", "results"} if pathlib.Path(folder) == ROOT else set()
    return (top | {"__pycache__", ".pytest_cache"}) & set(names)


def project(folder):
    """A copy of the sources in `folder`; build/openmp/bin has the programs of the build under test."""
    programs = pathlib.Path(os.environ.get("GRADCOMP_BIN", ROOT / "build" / "openmp" / "bin")).resolve()
    shutil.copytree(ROOT, folder, ignore=_left_out, symlinks=True)
    (folder / "build" / "openmp").mkdir(parents=True)
    (folder / "build" / "openmp" / "bin").symlink_to(programs)
    return folder


def environment():
    """The environment of a user's shell, without what ctest or a launcher has set for its tests. Inside a toolchain, `./run`
    stays in it. If these tests are started without `./run`, a toolchain is on PATH already."""
    ours = ("OMP_", "OMPI_", "PRTE_", "PMIX_", "KOKKOS_", "PYTEST_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    clean.pop("GRADCOMP_BIN", None)
    clean["GRADCOMP_TOOLCHAIN_ACTIVE"] = os.environ.get("GRADCOMP_TOOLCHAIN_ACTIVE", "debian")
    clean["GRADCOMP_PRESET"] = "openmp"
    return clean


def run(block, folder, limit=LIMIT):
    """Runs a block and returns its output. Throws BlockError if a command fails, which ends the block, or at the time limit."""
    began = time.monotonic()
    shell = subprocess.Popen(["bash", "-euo", "pipefail", "-c", block.code], cwd=folder, env=environment(), text=True,
                             errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = shell.communicate(timeout=limit)
        how = "" if shell.returncode in block.statuses else f"ended with status {shell.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, signal.SIGKILL)
        output, _ = shell.communicate()
        how = f"took more than {limit} s"
    if how:
        raise BlockError(f"{block.place}: the block {how}:\n{block.code}--- its last lines:\n{output[-3000:]}")
    RAN.append((time.monotonic() - began, block.place))
    return output
