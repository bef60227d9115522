"""Runs the user's build commands."""
import pathlib
import subprocess

from gradcomp.gate.guarded import child


class Unbuildable(Exception):
    """A commit that does not build or whose program fails: it says nothing on the case."""


def _complaint(log):
    """The first line with an error in it (a compiler's, CMake's), or the last line of all."""
    lines = pathlib.Path(log).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return ([line for line in lines if "error:" in line] or lines[-1:] or ["it said nothing"])[0].strip()


def build(command, folder, log):
    """Runs a command of the shell in a folder, with what it says in the file `log`; it ends with us. Throws Unbuildable."""
    with open(log, "w", encoding="utf-8") as file, \
            child(["bash", "-c", command], cwd=folder, stdout=file, stderr=subprocess.STDOUT) as process:
        status = process.wait()
    if status:
        raise Unbuildable(f"status {status} of the build: {_complaint(log)}")
