"""Asks git for commits: their subjects, those between two nights, and work trees in which they are built."""
import contextlib
import pathlib
import shutil
import subprocess

from gradcomp.errors import ToolError


def git(repository, *words):
    """The output of git. Throws ToolError with the first line of its error."""
    try:
        done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolError(f"cannot start git: {error.strerror}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        raise ToolError(f"git {words[0]} in '{repository}': {said[0]}")
    return done.stdout


def between(repository, good, bad):
    """[(commit, subject)] after `good` up to `bad`, oldest first, along first parents. Throws ToolError if a commit is unknown
    or if `bad` does not follow `good`."""
    git(repository, "rev-parse", "--verify", "--quiet", f"{good}^{{commit}}")
    ancestors = git(repository, "rev-list", "--first-parent", f"{bad}").split()
    start = git(repository, "rev-parse", f"{good}^{{commit}}").strip()
    if start not in ancestors:
        raise ToolError(f"commit {good} is not among the ancestors (first parents) of {bad} in '{repository}'")
    lines = git(repository, "log", "--first-parent", "--reverse", "--format=%H %s", f"{good}..{bad}").splitlines()
    return [tuple(line.split(" ", 1)) for line in lines]


def between_or_none(repository, good, bad):
    """between(), or None if git does not know the commits."""
    try:
        return between(repository, good, bad)
    except ToolError:
        return None


@contextlib.contextmanager
def work_trees(repository, folder, names, commit):
    """{name: path} of work trees below `folder`. They are removed from the repository and the disk in every case."""
    repository = pathlib.Path(repository).resolve()
    paths = {name: pathlib.Path(folder) / name for name in names}
    try:
        for path in paths.values():
            git(repository, "worktree", "add", "--detach", "--force", str(path), commit)
        yield paths
    finally:
        for path in paths.values():
            shutil.rmtree(path, ignore_errors=True)
        subprocess.run(["git", "-C", str(repository), "worktree", "prune"], capture_output=True, check=False)
