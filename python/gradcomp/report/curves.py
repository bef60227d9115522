"""The curves of trainings: loss and quality against time, steps and bytes, a line and a band per method."""
import numpy as np

from gradcomp.output import text

from . import canvas
from .canvas import plt

ACROSS = {"time_s": ("training time (s)", 1), "step": ("steps", 1), "wire_bytes": ("sent by one rank (MB)", 1e-6)}
WORDS = {"time_s": "time", "step": "steps", "wire_bytes": "bytes"}


def seeds(methods):
    """Which seeds a figure of curves shows, in words."""
    found = list(dict.fromkeys(row["seed"] for one in methods for row in one.rows))
    return f"lines: seed {found[0]}; bands: all {len(found)} seeds" if len(found) > 1 else f"seed {found[0]}"


class Quantity:
    """What an axis shows: loss or quality, with the values of all methods and seeds."""

    def __init__(self, key, methods):
        metric = methods[0].rows[0]["metric"]
        self.key, self.name = key, "loss" if key == "loss" else metric
        accuracy, self.logarithmic = self.name == "accuracy", self.name == "perplexity"
        self.factor = 100 if accuracy else 1
        self.axis_name = "training loss" if key == "loss" else f"validation {metric}{' (%)' if accuracy else ''}"
        values = {one.label: [some for row in one.rows if len(some := self._finite(row))] for one in methods}
        self.without = [one for one in methods if not len(self._finite(one.rows[0]))]
        followed = ([one for one in methods if one.matched] or [one for one in methods if not one.diverged] or methods)
        wanted = [some for one in followed for some in values[one.label]]
        everything = [some for found in values.values() for some in found]
        squashes = everything and not accuracy  # whose values have bounds
        self.limits = canvas.view(everything, wanted or everything, self.logarithmic) if squashes else None

    def of(self, row):
        """The values of a row; NaN where nothing was measured."""
        return np.array(row["curve"][self.key], float) * self.factor

    def _finite(self, row):
        return (found := self.of(row))[np.isfinite(found)]

    def beyond(self, values):
        """Which of the values are worse than what the axis shows."""
        return values > (self.limits[1] if self.limits else np.inf)

    def leaves(self, one):
        """How far the line of a method goes beyond the edge, in words; empty if it stays inside."""
        values = self._finite(one.rows[0])
        gone = values[self.beyond(values)]
        return f"▲ {self.name} to {text.number(gone.max())}".replace(" ", "\N{NO-BREAK SPACE}") if len(gone) else ""

    def band(self, one):
        """The lowest and the highest value of all seeds at each point of the first one."""
        at = {step: [] for step in one.rows[0]["curve"]["step"]}
        for row in one.rows:
            for step, value in zip(row["curve"]["step"], self.of(row), strict=True):
                at.get(step, []).append(value)
        return np.array([(np.min(values), np.max(values)) for values in at.values()]).reshape(-1, 2).T


def _line(axis, one, quantity, key, label, look):
    """Draws a method. Returns whether there was anything to draw."""
    first = one.rows[0]
    x, y = np.array(first["curve"][key], float) * ACROSS[key][1], quantity.of(first)
    shown = np.isfinite(x) & np.isfinite(y) & ((x > 0) | (key != "wire_bytes"))  # bytes are on a logarithmic axis
    if not shown.any():
        return False
    x, y = x[shown], y[shown]
    axis.plot(x, y, label=label, markersize=4, linewidth=1.4, **look)
    if len(one.rows) > 1:
        low, high = quantity.band(one)[:, shown]
        axis.fill_between(x, low, high, color=look["color"], alpha=0.13, linewidth=0)
    gone = quantity.beyond(y)
    if gone.any():
        axis.plot(x[gone], np.full(gone.sum(), quantity.limits[1]), "^", color=look["color"], markersize=6, clip_on=False, zorder=5)
    return True


def curves(methods, style, title, of=("loss", "quality"), across=("time_s", "wire_bytes")):
    """Loss or quality, or both, against time, steps or bytes: a row of panels for each of `of`, a column for each of `across`.
    `methods`: verdicts.Trained. Returns (figure, alternative text)."""
    found = [Quantity(key, methods) for key in of]
    figure, axes = plt.subplots(len(of), len(across), figsize=(5 * len(across) if len(across) < 3 else 12, 2.9 * len(of) + 1),
                                sharey="row", sharex="col", squeeze=False, layout="constrained")
    names = {one.label: ", ".join(filter(None, [one.label, *(quantity.leaves(one) for quantity in found), one.diverged]))
             for one in methods}
    silent = []
    for row, quantity in zip(axes, found, strict=True):
        row[0].set_ylabel(quantity.axis_name)
        for axis, key in zip(row, across, strict=True):
            for one in methods:
                drawn = _line(axis, one, quantity, key, names[one.label], style[one.label])
                if not drawn and one not in quantity.without and one.label not in silent:
                    silent.append(one.label)
            if key == "wire_bytes":
                axis.set_xscale("log")
            if quantity.logarithmic:
                canvas.logarithmic_y(axis)
        if quantity.limits:
            row[0].set_ylim(quantity.limits)
    for axis, key in zip(axes[-1], across, strict=True):
        axis.set_xlabel(ACROSS[key][0])
    left_out = [f"Not drawn, because no {quantity.axis_name.removesuffix(' (%)')} was measured with seed {methods[0].rows[0]['seed']}: "
                f"{', '.join(' '.join(filter(None, [one.label, one.diverged])) for one in quantity.without)}."
                for quantity in found if quantity.without]
    left_out += [f"Not drawn against bytes, because nothing was sent: {', '.join(silent)}."] if silent else []
    canvas.finish(figure, f"{title}; {seeds(methods)}", left_out)
    what = " and ".join(quantity.axis_name.removesuffix(" (%)") for quantity in found)
    against = text.listed([WORDS[key] for key in across])
    return figure, f"{title}: {what} of each method against {against}, {seeds(methods)}"
