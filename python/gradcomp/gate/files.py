"""Writes several files, all or none."""
import os
import pathlib
import tempfile

from .samples import GateError


def require_writable(paths):
    """Call it before any work is done. Throws GateError unless every path can become a file of its own."""
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise GateError("two outputs are one file")
    for path in map(pathlib.Path, paths):
        if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise GateError(f"cannot write '{path}': its folder is missing or not writable, or it is a folder itself")


def write_all(contents):
    """Writes {path: text}: first temporary files, then all of them are renamed."""
    made = []
    try:
        for path, text in contents.items():
            path = pathlib.Path(path)
            with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False,
                                             encoding="utf-8") as file:
                made.append((file.name, path))
                file.write(text)
            os.chmod(file.name, 0o644)
        while made:
            os.replace(*made[0])
            made.pop(0)
    except OSError as error:
        raise GateError(f"cannot write '{path}': {error.strerror}") from error
    finally:
        for name, _ in made:
            pathlib.Path(name).unlink(missing_ok=True)
