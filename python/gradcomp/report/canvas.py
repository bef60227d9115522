"""What all figures share: colours, legends inside the canvas, edges of axes that follow the methods that learn, and files.

A method keeps its colour, marker and line style in all figures; the controls are grey, so that the eye finds what is being tested.
Colours are those of Okabe and Ito, which colour-blind readers can tell apart."""
import io
import re
import textwrap

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C564B", "#7A4FB5")
MARKERS = "osD^vPX*"
LINES = ("-", "--", "-.", ":")
CONTROL_STYLE = {
    "fp32": {"color": "#000000", "linestyle": "-", "marker": "."},
    "fp16": {"color": "#5A5A5A", "linestyle": "--", "marker": "."},
    "bf16": {"color": "#7F7F7F", "linestyle": "-.", "marker": "."},
    "no_exchange": {"color": "#A0A0A0", "linestyle": ":", "marker": "."},
}
SMALL = 8  # points, of legends
MOST_COLUMNS = 6
plt.rcParams.update({
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#E6E6E6",
    "svg.hashsalt": "gradcomp",  # the same results give the same bytes
    "axes.axisbelow": True, "legend.frameon": False, "figure.dpi": 100, "savefig.dpi": 150, "axes.titlesize": 11,
})


def styles(labels):
    """{label: line style} for all labels of a report."""
    result = {}
    for label in labels:
        if label in CONTROL_STYLE:
            result[label] = CONTROL_STYLE[label]
        elif label not in result:
            used = sum(1 for name in result if name not in CONTROL_STYLE)
            result[label] = {"color": COLOURS[used % len(COLOURS)], "marker": MARKERS[used % len(MARKERS)],
                             "linestyle": LINES[used // len(COLOURS) % len(LINES)]}
    return result


def wrapped(label, width):
    """The label of a method in lines of at most `width` characters, which end at options if they can."""
    lines = [""]
    for part in re.findall(rf"[^:+, ]{{1,{width - 1}}}[:+, ]?|[:+, ]", label):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def characters(figure, size=SMALL):
    """The number of characters of `size` points that fit the width of a figure, about."""
    return int(72 * figure.get_figwidth() / (0.62 * size))


def entitle(figure, title):
    """The title over all axes, in as many lines as it needs."""
    figure.suptitle(textwrap.fill(title, characters(figure, 12)))


def finish(figure, title="", left_out=()):
    """Puts the title over the axes, and the legend of all of them below, with the `left_out` sentences over it. The legend has the
    columns with which it is lowest and inside the canvas. The figure grows by its height."""
    if title:
        entitle(figure, title)
    entries = {}
    for axis in figure.axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    width = characters(figure)
    note = "\n".join(textwrap.fill(sentence, width - 4) for sentence in left_out)
    if not entries and not note:
        return

    def legend(columns):
        labels = [wrapped(label, max(24, width // columns - 8)) for label in entries]
        made = figure.legend(entries.values(), labels, loc="outside lower center", ncols=columns, fontsize=SMALL, title=note or None,
                             title_fontsize=SMALL, alignment="left")
        return made, made.get_window_extent(figure.canvas.get_renderer())
    heights = {}
    for columns in range(1, max(1, min(MOST_COLUMNS, len(entries))) + 1):
        made, box = legend(columns)
        made.remove()
        if columns == 1 or box.width <= 0.98 * figure.bbox.width:
            heights[columns] = box.height
    _, box = legend(min(heights, key=heights.__getitem__))
    figure.set_figheight(figure.get_figheight() + box.height / figure.dpi)


def view(curves, followed, logarithmic=False):
    """The limits of an axis on which low is better, (low, high); None if all values are equal. It shows what half of the `followed`
    curves need, and half of that length more, or up to three times it so far as curves end there: one bad curve does not squash the
    others. A logarithmic axis has at least a factor of two to follow. `curves`: arrays of finite values; `followed`: some of them."""
    if logarithmic:
        curves, followed = [np.log(curve) for curve in curves], [np.log(curve) for curve in followed]
    low, worst, last = min(map(np.min, curves)), max(map(np.max, curves)), max(curve[-1] for curve in curves)
    enough = np.median([np.max(curve) for curve in followed])
    length = max(enough - low, np.log(2) if logarithmic else 0)
    high = min(worst, max(enough + length / 2, min(last, enough + 3 * length)))
    if not high > low:
        return None
    margin = 0.04 * (high - low)
    ends = low - margin, high + margin
    return tuple(float(np.exp(end) if logarithmic else end) for end in ends)


def logarithmic_y(axes):
    """Makes the axis of y logarithmic, with plain numbers also between powers of ten."""
    axes.set_yscale("log")
    for setter in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        setter(matplotlib.ticker.LogFormatter(minor_thresholds=(2, 0.6)))


def saved(figure, kind):
    """The bytes of a figure, which is closed: "png" or "svg". Files hold no dates or versions: the same results give the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, metadata={"Software": None} if kind == "png" else {"Date": None, "Creator": None})
    plt.close(figure)
    return buffer.getvalue()
