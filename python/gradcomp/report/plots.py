"""The plots. Each function draws one figure and returns (figure, alternative text).

A method keeps its colour, marker and line style in all figures; the controls are grey, so that the eye finds what is
being tested. Colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from gradcomp.output import text

from . import frames

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B", "#7A4FB5")
MARKERS = "osD^vPX*"
CONTROL_STYLE = {
    "fp32": {"color": "#000000", "linestyle": "-", "marker": "."},
    "fp16": {"color": "#5A5A5A", "linestyle": "--", "marker": "."},
    "bf16": {"color": "#7F7F7F", "linestyle": "-.", "marker": "."},
    "no_exchange": {"color": "#A0A0A0", "linestyle": ":", "marker": "."},
}
STAGE_COLOURS = {
    "data": "#D9D9D9", "forward": "#A6BDDB", "backward": "#5B8DB8", "compress": "#E69F00", "exposed": "#D55E00",
    "decompress": "#F0C987", "update": "#7F7F7F",
}
plt.rcParams.update({
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#E6E6E6",
    "svg.hashsalt": "gradcomp",  # the same results give the same bytes
    "axes.axisbelow": True, "legend.frameon": False, "figure.dpi": 100, "savefig.dpi": 150, "axes.titlesize": 11,
})


def styles(labels):
    """{label: line style} for all (label, registry name) pairs of a report."""
    result = {}
    for label, registry in labels:
        if label in result:
            continue
        if registry in CONTROL_STYLE and label == registry:
            result[label] = CONTROL_STYLE[registry]
        else:
            used = sum(1 for name in result if name not in CONTROL_STYLE)
            result[label] = {"color": COLOURS[used % len(COLOURS)], "marker": MARKERS[used % len(MARKERS)],
                             "linestyle": "-" if used < len(COLOURS) else "--"}
    return result


def _legend(figure, axes, columns=5):
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(columns, max(1, len(labels))), fontsize=9)


def _scale(metric):
    """The factor and the name of the axis of a quality."""
    return (100, f"test {metric} (%)") if metric == "accuracy" else (1, f"test {metric}")


def curves(frame, style, title):
    """Loss and quality against time and against bytes."""
    metric = frame["metric"].iloc[0]
    factor, axis_name = _scale(metric)
    figure, axes = plt.subplots(2, 2, figsize=(10, 6.6), sharey="row", sharex="col",
                                layout="constrained")
    for row, (key, name) in enumerate((("loss", "training loss"), ("quality", axis_name))):
        axes[row][0].set_ylabel(name)
        for column, (x_key, x_name) in enumerate((("time_s", "training time (s)"),
                                                  ("wire_bytes", "sent by one rank (MB)"))):
            axis = axes[row][column]
            for entry in frame.itertuples():
                x = np.array(entry.curve[x_key], float) / (1e6 if x_key == "wire_bytes" else 1)
                values = entry.curve[key]
                y = np.array(values, float) * (factor if key == "quality" else 1)
                shown = np.isfinite(x) & np.isfinite(y)
                if x_key == "wire_bytes":
                    shown &= x > 0  # logarithmic: "no_exchange" sends nothing
                if shown.any():
                    axis.plot(x[shown], y[shown], label=entry.label, markersize=4, linewidth=1.4, **style[entry.label])
            if x_key == "wire_bytes":
                axis.set_xscale("log")
            if row == 1:
                axis.set_xlabel(x_name)
                if metric == "perplexity":
                    axis.set_yscale("log")
    figure.suptitle(title)
    _legend(figure, axes[0][0])
    return figure, f"{title}: training loss and test {metric} of each method, against time and against bytes sent"


def stages(frame, title):
    """Stacked stage times per method, with the median step as a mark."""
    figure, axis = plt.subplots(figsize=(10, 1.6 + 0.36 * len(frame)), layout="constrained")
    positions = np.arange(len(frame))[::-1]
    left = np.zeros(len(frame))
    for stage in frames.STACK:
        values = np.array([entry.get(stage) or 0.0 for entry in frame["stages"]])
        name = "exposed exchange" if stage == "exposed" else stage
        axis.barh(positions, values, left=left, height=0.66, color=STAGE_COLOURS[stage], label=name, edgecolor="white",
                  linewidth=0.5)
        left += values
    axis.plot(frame["step_ms"], positions, "|", color="black", markersize=15, label="median step")
    axis.set_yticks(positions, frame["label"])
    axis.set_xlabel("time per step (ms), median of each stage")
    axis.grid(axis="y", visible=False)
    axis.set_title(title)
    _legend(figure, axis, columns=8)
    return figure, f"{title}: time of each stage of a step, stacked, per method"


def allreduce(panels, style):
    """Time against size, one panel per (title, frame). A ring marks where a method starts to beat the best dense control."""
    figure, grid = plt.subplots(1, len(panels), figsize=(10 if len(panels) > 1 else 6.5, 5.2), sharey=True,
                                squeeze=False, layout="constrained")
    marked = False
    for axis, (title, frame) in zip(grid[0], panels, strict=True):
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
        axis.set_title(title)
    grid[0][0].set_ylabel("compress + exchange + decompress (ms)")
    entries = {}
    for axis in grid[0]:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=5, fontsize=9)
    names = " and ".join(title for title, _ in panels)
    return figure, f"Time of one reduction against gradient size, per method, on: {names}"


def quality(frame, style, title):
    """Test quality against payload per step."""
    metric = frame["metric"].iloc[0]
    factor, axis_name = _scale(metric)
    figure, axis = plt.subplots(figsize=(10, 4.6), layout="constrained")
    for entry in frame.itertuples():
        if entry.payload_bytes > 0 and not text.missing(entry.test_quality):
            marker = style[entry.label]["marker"].replace(".", "o")
            chosen = dict(style[entry.label], linestyle="none", marker=marker, markersize=9)
            axis.plot([entry.payload_bytes], [factor * entry.test_quality], label=entry.label, **chosen,
                      markerfacecolor=None if entry.quality_matched else "white")
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: text.size(value)))
    axis.set_xlabel("payload per step and rank")
    axis.set_ylabel(axis_name)
    axis.set_title(title)
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize=9)
    return figure, f"{title}: test {metric} against payload bytes per step, a point per method"


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
    figure.suptitle(title)
    names = " and ".join(kinds[gradient.kind] for gradient in gradients)
    return figure, f"{title}: density and tail of the magnitudes ({names}) beside three fitted distributions"


def _positive(values):
    """Leaves out zeros and values below the plots, because the axes are logarithmic."""
    return np.where(values > 1e-300, values, np.nan)


def _decades(values):
    """Sets the limits to one decade around the values, so that a fit with a pole at zero does not flatten them."""
    return values.min() / 10, values.max() * 10
