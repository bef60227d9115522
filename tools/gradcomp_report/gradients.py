"""Gradients in .npy files: their distributions beside the fits that threshold methods presume."""
import dataclasses
import pathlib
import re

import numpy as np

from . import fits, text
from .load import ReportError

KINDS = {"gradient": "gradient", "accumulated": "with error feedback"}


@dataclasses.dataclass
class Gradient:
    """One file: magnitudes of its nonzeros, ascending, and the fits to them."""

    kind: str  # gradient or accumulated
    count: int
    magnitudes: np.ndarray
    fits: list

    @property
    def zeros(self):
        return 1 - len(self.magnitudes) / self.count


def read(path):
    """The magnitudes of a file. Throws ReportError for anything but finite floats, some of them not zero."""
    path = pathlib.Path(path)
    try:
        with open(path, "rb") as file:
            values = np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise ReportError(f"cannot read '{path}': {error.strerror or error}") from error
    except ValueError as error:
        reason = str(error).splitlines()[0]
        raise ReportError(f"'{path}' is not a .npy file of numbers: {reason}") from error
    if values.dtype.kind != "f":
        raise ReportError(f"'{path}' holds {values.dtype}; allowed: floats")
    if not np.isfinite(values).all():
        raise ReportError(f"'{path}' holds values that are not finite")
    magnitudes = np.sort(np.abs(values[values != 0], dtype=np.float64))
    if not len(magnitudes):
        raise ReportError(f"'{path}' holds no value but zero")
    kind = "accumulated" if path.stem.endswith("_accumulated") else "gradient"
    return Gradient(kind, values.size, magnitudes, fits.fit_all(magnitudes))


def groups(paths):
    """{title: gradients}: files that differ in _gradient and _accumulated alone belong together, gradient first."""
    found = {}
    for path in map(pathlib.Path, paths):
        title = re.sub(r"_(gradient|accumulated)$", "", path.stem)
        members = found.setdefault(title, {})
        gradient = read(path)
        if gradient.kind in members:
            raise ReportError(f"'{path}': a second file called {path.name}")
        members[gradient.kind] = gradient
    return {title: [members[kind] for kind in KINDS if kind in members] for title, members in found.items()}


def table(found):
    """Kolmogorov-Smirnov distances of all gradients: (header, rows); the closest fit gets a star."""
    names = [fit.name for fit in next(iter(found.values()))[0].fits]
    rows = []
    for title, members in found.items():
        for gradient in members:
            closest = min(range(len(names)), key=lambda i: np.nan_to_num(gradient.fits[i].distance, nan=2))
            cells = [f"{text.number(fit.distance)} ({fit.parameters})" if fit.frozen else text.DASH
                     for fit in gradient.fits]
            cells[closest] += " \N{BLACK STAR}"
            rows.append([f"{title}, {KINDS[gradient.kind]}", f"{gradient.count:,}", text.percent(gradient.zeros), *cells])
    return ["gradient", "elements", "zeros", *names], rows
