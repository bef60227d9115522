"""Draws one figure per case: its throughput and instructions per night, with the gate's verdicts as marks."""
from gradcomp.gate.decide import FASTER, INCONCLUSIVE, NOT_JUDGED, OK, REGRESSION
from gradcomp.report import canvas
from gradcomp.report.canvas import matplotlib, plt

from .series import ACCEPTED, FIRST, GOOD, INSTRUCTIONS, NOT_COMPARABLE

# Shape and colour both show the verdict: (marker, face, edge).
STYLES = {
    GOOD: ("o", "#0072B2", "#0072B2"), OK: ("o", "#0072B2", "#0072B2"), FASTER: ("^", "#009E73", "#009E73"),
    REGRESSION: ("v", "#D55E00", "#D55E00"), INCONCLUSIVE: ("o", "white", "#7F7F7F"), NOT_JUDGED: (".", "#7F7F7F", "#7F7F7F"),
    FIRST: ("s", "#000000", "#000000"), ACCEPTED: ("s", "#000000", "#000000"), NOT_COMPARABLE: ("x", "#7F7F7F", "#7F7F7F"),
}
NAMES = {GOOD: "ok"}
LABELS = 24  # largest number of commits written along the axis


def _panel(axis, unit, points):
    axis.plot([point.night for point in points], [point.value for point in points], "-", color="#B0B0B0", linewidth=1, zorder=1)
    for point in points:
        marker, face, edge = STYLES[point.state]
        spread = [[max(0, point.value - point.low)], [max(0, point.high - point.value)]]
        if point.high > point.low:
            axis.errorbar([point.night], [point.value], yerr=spread, fmt="none", ecolor=edge, elinewidth=1, capsize=2, zorder=2)
        axis.plot([point.night], [point.value], marker, markersize=7, markerfacecolor=face, markeredgecolor=edge,
                  linestyle="none", label=NAMES.get(point.state, point.state), zorder=3)
    axis.set_ylim(bottom=0, top=1.15 * max(point.high for point in points))
    axis.set_ylabel(unit)
    if unit == INSTRUCTIONS:
        axis.yaxis.set_major_formatter(matplotlib.ticker.EngFormatter())


def draw(name, panels, nights, regressions):
    """(figure, alternative text). `panels`: {(measure, unit): [Point]}; `regressions`: the open ones of this case."""
    figure, axes = plt.subplots(len(panels), 1, figsize=(10, 0.9 + 1.9 * len(panels)), sharex=True, squeeze=False,
                                layout="constrained")
    for (axis,), ((_, unit), points) in zip(axes, panels.items(), strict=True):
        _panel(axis, unit, points)
        for one in regressions:
            axis.axvline(nights.index(one.first) - 0.5, color="#D55E00", linewidth=1, linestyle="--")
    step = -(-len(nights) // LABELS)
    shown = range(len(nights) - 1, -1, -step)
    labels = [f"{nights[place].date[5:]}\n{nights[place].commit[:7]}" for place in shown]
    axes[-1][0].set_xticks(list(shown), labels, fontsize=8)
    axes[-1][0].set_xlim(-0.6, len(nights) - 0.4)
    canvas.finish(figure, name)
    words = "; ".join(f"slower since {one.suspects}" for one in regressions) or "no open regression"
    measured = " and ".join(measure for measure, _ in panels)
    return figure, f"{name}: {measured} of {len(nights)} nights; {words}"
