"""The other plots. Each function draws one figure and returns (figure, alternative text). A figure names what it does not draw."""
import textwrap

import matplotlib
import numpy as np

from gradcomp.output import text

from . import canvas, frames
from .canvas import plt

STAGE_COLOURS = {
    "data": "#D9D9D9", "importance": "#BCBDDC", "forward": "#A6BDDB", "backward": "#5B8DB8", "compress": "#E69F00",
    "transfer": "#D55E00", "waiting": "#F4A582", "exposed": "#B35806", "decompress": "#F0C987", "update": "#7F7F7F", "rest": "#F2F2F2",
}
STAGE_NAMES = {"transfer": "exchange: transfer", "waiting": "exchange: waiting for other ranks", "exposed": "exchange: exposed"}


def stages(methods, title):
    """Stacked times of the stages of a step, a bar per method; with the rest they are as long as the step. `methods`:
    verdicts.Trained, of which the first seed is drawn."""
    found = [(one.label, frames.parts(one.rows[0]), one.rows[0]["step_time_ms"]["median"]) for one in methods]
    labels = [canvas.wrapped(label, 40) for label, _, _ in found]
    lines = sum(1 + label.count("\n") for label in labels)
    figure, axis = plt.subplots(figsize=(10, 1.5 + 0.12 * lines + 0.24 * len(found)), layout="constrained")
    positions = np.arange(len(found))[::-1]
    left = np.zeros(len(found))
    for stage in frames.STACK:
        if not any(stage in parts for _, parts, _ in found):
            continue
        values = np.array([max(0, parts.get(stage) or 0) for _, parts, _ in found])
        axis.barh(positions, values, left=left, height=0.66, color=STAGE_COLOURS[stage], label=STAGE_NAMES.get(stage, stage),
                  edgecolor="#AAAAAA" if stage == "rest" else "white", linewidth=0.5)
        left += values
    twice = np.array([max(0, -parts["rest"]) for _, parts, _ in found])
    if twice.any():
        axis.barh(positions, twice, left=left - twice, height=0.66, fill=False, hatch="////", edgecolor="#444444", linewidth=0,
                  label="counted twice (negative rest)")
    axis.plot([step for _, _, step in found], positions, "|", color="black", markersize=15, label="median step")
    axis.set_yticks(positions, labels)
    axis.set_xlabel("time per step (ms), median of each stage")
    axis.grid(axis="y", visible=False)
    seed = f"seed {methods[0].rows[0]['seed']}"
    canvas.finish(figure, f"{title}, {seed}")
    return figure, f"{title}: time of each stage of a step, stacked, per method, {seed}"


def allreduce(panels, style):
    """Time against size, one panel per (title, frame). A ring marks where a method starts to beat the best dense control."""
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(10, 0.6 + 3.9 * rows), sharey=True, squeeze=False, layout="constrained")
    marked = False
    for axis in grid.flat[len(panels):]:
        axis.remove()
    for axis, (title, frame) in zip(grid.flat, panels, strict=False):
        dense = frames.best_dense(frame)
        crossings = frames.crossovers(frame)
        for label, group in frame.groupby("label", sort=False):
            axis.plot(group["dense_bytes"], group["time_ms"], label=label, markersize=4, linewidth=1.4, **style[label])
            at = crossings.get(label)
            if at:
                y = np.exp(np.interp(np.log(at), np.log(dense.index.to_numpy(float)), np.log(dense.to_numpy(float))))
                axis.plot([at], [y], "o", markersize=12, markerfacecolor="none", markeredgewidth=1.8,
                          color=style[label]["color"], label=None if marked else "crossover with the best dense")
                marked = True
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: text.size(value)))
        axis.tick_params(axis="x", labelrotation=30)
        axis.set_xlabel("dense gradient (float32)")
        axis.set_title(textwrap.fill(title, canvas.characters(figure, 12) // columns - 8))
    for axis in grid[:, 0]:
        axis.set_ylabel("compress + exchange + decompress (ms)")
    canvas.finish(figure)
    return figure, f"Time of one reduction against gradient size, per method, on: {text.listed([title for title, _ in panels])}"


def quality(methods, style, title):
    """Test quality against payload per step, a point per method and seed. `methods`: verdicts.Trained."""
    first = methods[0].rows[0]
    accuracy = first["metric"] == "accuracy"
    points = {one.label: [(row["payload_bytes"], row["test_quality"] * (100 if accuracy else 1)) for row in one.rows
                          if row["payload_bytes"] > 0 and not text.missing(row["test_quality"])] for one in methods}
    figure, axis = plt.subplots(figsize=(10, 4.2), layout="constrained")
    values = {label: np.array(found, float).T[1] for label, found in points.items() if found}
    followed = [values[one.label] for one in methods if one.matched and one.label in values] or list(values.values())
    limits = canvas.view(list(values.values()), followed, logarithmic=True) if values and not accuracy else None
    for one in methods:
        for number, (bytes_sent, value) in enumerate(points[one.label]):
            look = dict(style[one.label], linestyle="none", marker=style[one.label]["marker"].replace(".", "o"), markersize=9)
            label = one.label if number == 0 else None
            if limits and value > limits[1]:  # a mark at the edge, with the value in the legend
                label, value = f"{one.label}, ▲ {text.number(value)}", limits[1]
                look |= {"marker": "^", "clip_on": False}
            axis.plot([bytes_sent], [value], label=label, **look, markerfacecolor=None if one.matched else "white")
    axis.set_xscale("log")
    if not accuracy:
        canvas.logarithmic_y(axis)
    if limits:
        axis.set_ylim(limits)
    axis.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: text.size(value)))
    axis.tick_params(axis="x", labelrotation=30)
    axis.set_xlabel("payload per step and rank")
    axis.set_ylabel(f"test {first['metric']}{' (%)' if accuracy else ''}")
    unsent = [one.label for one in methods if not one.rows[0]["payload_bytes"] > 0]
    broken = [f"{one.label} {one.diverged}".strip() for one in methods if one.label not in unsent and not points[one.label]]
    canvas.finish(figure, title, [f"Not drawn, because {why}: {', '.join(some)}." for why, some in (
        ("nothing is sent", unsent), ("there is no test quality", broken)) if some])
    return figure, f"{title}: test {first['metric']} against payload bytes per step, a point per method and seed"


def links(panels):
    """Speed-ups against the best dense control by the rate of the link. `panels`: [(title, {label: verdicts.Trained})]."""
    every = {label: one.compresses for _, methods in panels for label, one in methods.items()}
    style = canvas.styles(label for label in every if every[label])
    figure, axes = plt.subplots(1, len(panels), figsize=(max(8, 4 * len(panels)), 3.6), sharey=True, squeeze=False,
                                layout="constrained")
    drawn = set()
    for axis, (title, methods) in zip(axes[0], panels, strict=True):
        for label, one in methods.items():
            known = [(rate, gain["mean"], gain["low"] or gain["mean"]) for rate, _, gain in one.links() if gain and one.compresses]
            if known:
                rates, means, lows = np.array(known, float).T
                axis.errorbar(rates, means, yerr=means - lows, label=label, capsize=2, markersize=4, linewidth=1.4, **style[label])
                drawn.add(label)
        axis.axhline(1, color="0.5", linewidth=0.8)
        axis.set(xscale="log", xlabel="rate of the link (Mbit/s)", title=title)
        axis.set_yscale("log", base=2)
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.yaxis.set_major_formatter("{x:g}\N{MULTIPLICATION SIGN}")
    axes[0][0].set_ylabel("speed-up against the best dense")
    others = [label for label in every if not every[label]]
    missed = [label for label in every if every[label] and label not in drawn]
    canvas.finish(figure, left_out=[f"Not drawn, because {why}: {', '.join(some)}." for why, some in (
        ("these do not compress", others), ("no run shows the quality of fp32", missed)) if some])
    return figure, "Speed-up against the best dense control by the rate of the link, a panel per number of ranks, a line per method"


FIT_STYLE = (("#D55E00", "--"), ("#009E73", "-."), ("#CC79A7", ":"))


def distributions(title, gradients, kinds):
    """Density and complementary distribution function of |g|, with the fits; a column per gradient."""
    figure, axes = plt.subplots(2, len(gradients), figsize=(5 * len(gradients) + 0.6, 7.6), squeeze=False, sharex="col",
                                layout="constrained")
    for column, gradient in enumerate(gradients):
        density, tail = axes[0][column], axes[1][column]
        low, high = gradient.span
        density.plot(*gradient.density, ".", color="black", markersize=4)
        tail.plot(*gradient.tail, ".", color="black", markersize=4, label="measured")
        for fit, (colour, line) in zip(gradient.fits, FIT_STYLE, strict=True):
            if fit.frozen is None:
                tail.plot([], [], line, color=colour, label=f"{fit.name}: no fit")
                continue
            x = np.geomspace(low, high, 120)
            label = f"{fit.name}, KS {text.number(fit.distance)}"
            density.plot(x, _positive(fit.frozen.pdf(x)), line, color=colour, linewidth=1.4)
            tail.plot(x, _positive(fit.frozen.sf(x)), line, color=colour, linewidth=1.4, label=label)
        density.set_ylim(_decades(np.array(gradient.density[1])))
        tail.set_ylim(0.3 / gradient.nonzeros, 1.5)
        for axis in (density, tail):
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.minorticks_off()
            axis.set_xlim(low / 1.2, high * 1.3)
        density.set_title(kinds[gradient.kind])
        tail.set_xlabel("|g|, nonzeros")
        tail.legend(fontsize=8, loc="lower left")
    axes[0][0].set_ylabel("probability density")
    axes[1][0].set_ylabel("share that is larger (1 - CDF)")
    canvas.entitle(figure, title)
    names = " and ".join(kinds[gradient.kind] for gradient in gradients)
    return figure, f"{title}: density and tail of the magnitudes ({names}) beside three fitted distributions"


def _positive(values):
    """Leaves out zeros and values below the plots, because the axes are logarithmic."""
    return np.where(values > 1e-300, values, np.nan)


def _decades(values):
    """Sets the limits to one decade around the values, so that a fit with a pole at zero does not flatten them."""
    return values.min() / 10, values.max() * 10
