"""Writes a file completely or not at all."""
import os
import pathlib
import tempfile

from gradcomp.errors import ReportError


def write_whole(path, text):
    """Writes under a temporary name in the same folder, then renames. Throws ReportError."""
    path = pathlib.Path(path)
    made = None
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False,
                                         encoding="utf-8") as file:
            made = file.name
            file.write(text)
        os.chmod(made, 0o644)
        os.replace(made, path)
    except OSError as error:
        if made:
            pathlib.Path(made).unlink(missing_ok=True)
        raise ReportError(f"cannot write '{path}': {error.strerror}") from error
