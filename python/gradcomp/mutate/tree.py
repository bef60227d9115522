"""The copy of the work tree in which mutants are built. The work tree of the user is only read."""
import contextlib
import fcntl
import hashlib
import pathlib

from gradcomp.errors import ToolError
from gradcomp.history.repository import git


def _sources(project):
    """Files that git tracks or would track, relative to the project."""
    listed = git(project, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return sorted({name for name in listed if name and (project / name).is_file()})


def refresh(project, tree):
    """Makes the copy equal to the work tree again. Equal files keep their time, so that they are not built again."""
    names = _sources(project)
    wanted = {tree / name for name in names}
    for top in tree.iterdir():
        for old in [top, *top.rglob("*")] if top.name not in ("build", "results") else []:
            if not old.is_dir() and old not in wanted:
                old.unlink()
    for name in names:
        source, copy = project / name, tree / name
        if not copy.is_file() or copy.read_bytes() != source.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(source.read_bytes())
        copy.chmod(source.stat().st_mode)


def digest(project, below=""):
    """A digest of the names and contents of the sources below a folder, without pages."""
    found = hashlib.sha256()
    for name in _sources(project):
        if name.startswith(below) and not name.endswith(".md"):
            found.update(f"{name}\0".encode() + hashlib.sha256((project / name).read_bytes()).digest())
    return found.hexdigest()


@contextlib.contextmanager
def copied(project):
    """The path of the copy, build/mutation/tree, which is locked for this run while the block runs. Throws ToolError if it is
    in use."""
    home = pathlib.Path(project) / "build/mutation"
    tree = home / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    with open(home / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ToolError(f"another ./run mutate is using '{tree}'") from error
        refresh(pathlib.Path(project), tree)
        yield tree
