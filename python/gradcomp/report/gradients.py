"""Gradients in .npy files: their distributions, with the fits that threshold methods assume."""
import dataclasses
import pathlib
import re

import numpy as np
from scipy import stats

from gradcomp.errors import ToolError
from gradcomp.npy_files import read_array
from gradcomp.output import text

from . import fits

KINDS = {"gradient": "gradient", "accumulated": "with error feedback"}


@dataclasses.dataclass
class Gradient:
    """The data drawn for one file: magnitudes of its nonzeros and the fits to them."""

    kind: str  # gradient or accumulated
    count: int
    nonzeros: int
    span: list  # smallest and largest magnitude drawn
    density: list  # [magnitude, probability density]
    tail: list  # [magnitude, share of the nonzeros that is as large]
    fits: list

    @property
    def zeros(self):
        return 1 - self.nonzeros / self.count

    def row(self, title):
        """The values as a row of a record."""
        return {"name": f"{title}/{self.kind}", "title": title} | dataclasses.asdict(self) | {
            "fits": [{"name": fit.name, "parameters": fit.parameters, "distance": fit.distance if fit.frozen else None,
                      "family": fit.frozen and [fit.frozen.dist.name, fit.frozen.args, fit.frozen.kwds]} for fit in self.fits]}


def of_rows(rows):
    """{title: gradients} of the rows that Gradient.row() made."""
    found = {}
    for row in rows:
        known = []
        for fit in row["fits"]:
            family, arguments, named = fit["family"] or (None, (), {})
            frozen = getattr(stats, family)(*arguments, **named) if family else None
            known.append(fits.Fit(fit["name"], fit["parameters"], frozen, float("nan") if frozen is None else fit["distance"]))
        values = {field.name: row[field.name] for field in dataclasses.fields(Gradient)}
        found.setdefault(row["title"], []).append(Gradient(**values | {"fits": known}))
    return found


def summary(kind, count, a):
    """Makes a Gradient of `a`, the ascending magnitudes of the nonzeros of `count` elements."""
    # Quantiles set the range: a single denormal must not squeeze the rest into a corner.
    low, high = a[int(0.002 * len(a))], a[-1]
    edges = np.geomspace(low, high * 1.001, 61) if high > low else np.array([0.5, 2]) * high
    counts, _ = np.histogram(a, edges)
    middle, width, filled = np.sqrt(edges[1:] * edges[:-1]), np.diff(edges), counts > 0
    left = np.unique(np.geomspace(1, len(a), 120).astype(int))  # number of magnitudes that are at least as large
    return Gradient(kind, count, len(a), [float(edges[0]), float(edges[-1])],
                    [middle[filled].tolist(), (counts[filled] / width[filled] / len(a)).tolist()],
                    [a[len(a) - left].tolist(), (left / len(a)).tolist()], fits.fit_all(a))


def read(path):
    """The magnitudes of a file. Throws ToolError unless it holds finite floats that are not all zero."""
    path = pathlib.Path(path)
    values = read_array(path)
    if values.dtype.kind != "f":
        raise ToolError(f"'{path}' holds {values.dtype}; allowed: floats")
    if not np.isfinite(values).all():
        raise ToolError(f"'{path}' holds values that are not finite")
    magnitudes = np.sort(np.abs(values[values != 0], dtype=np.float64))
    if not len(magnitudes):
        raise ToolError(f"'{path}' holds no value other than zero")
    kind = "accumulated" if path.stem.endswith("_accumulated") else "gradient"
    return summary(kind, values.size, magnitudes)


def groups(paths):
    """{title: gradients}. Files whose names differ only in _gradient and _accumulated belong together, the gradient first."""
    found = {}
    for path in map(pathlib.Path, paths):
        title = re.sub(r"_(gradient|accumulated)$", "", path.stem)
        members = found.setdefault(title, {})
        gradient = read(path)
        if gradient.kind in members:
            raise ToolError(f"'{path}': there is a second file called {path.name}")
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
