"""Runs the user's build commands."""
import pathlib
import subprocess

from gradcomp.guarded import child


class Unbuildable(Exception):
    """A commit that does not build, or whose program fails: it cannot be judged."""


def _complaint(log):
    """The first line of the log with an error (of a compiler or of CMake), or the last line."""
    lines = pathlib.Path(log).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return ([line for line in lines if "error:" in line] or lines[-1:] or ["it said nothing"])[0].strip()


def build(command, folder, log):
    """Runs a shell command in a folder, with its output in the file `log`. It ends when this program ends. Throws
    Unbuildable."""
    with open(log, "w", encoding="utf-8") as file, \
            child(["bash", "-c", command], cwd=folder, stdout=file, stderr=subprocess.STDOUT) as process:
        status = process.wait()
    if status:
        raise Unbuildable(f"status {status} of the build: {_complaint(log)}")
