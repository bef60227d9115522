"""Tables and the figure of trainings over several emulated links, which take turns in a run: from which link down does a method
pay?"""
import matplotlib.pyplot as plt
import numpy as np

from gradcomp.report import frames, plots, verdicts

from .training_verdicts import trained


def table(record):
    """The steps over each link, and from which link down each method pays; None if there is one link."""
    found = verdicts.links(trained(record).values())
    return found and (found[0], [[f"`{label}`", *cells] for label, (_, *cells) in zip(trained(record), found[1], strict=True)])


def answers(swept):
    """From which link down each compressing method pays, with the number of ranks of each record."""
    found = {f"{record.gradcomp['ranks']} ranks": trained(record) for record in swept}
    labels = [label for label, one in next(iter(found.values())).items() if one.compresses]
    lines = [[f"`{label}`", *(methods[label].pays() if methods[label].matched else methods[label].quality()
                              for methods in found.values())] for label in labels]
    return ["method", *found], lines


def figure(swept):
    """Speed-ups by the rate of the link, one panel per record. Returns (figure, alternative text)."""
    style = plots.styles((label, frames.registry_name(one.rows[0]["method"])) for label, one in trained(swept[0]).items())
    drawn, axes = plt.subplots(1, len(swept), figsize=(4 * len(swept), 4.2), sharey=True, squeeze=False, layout="constrained")
    for axis, record in zip(axes[0], swept, strict=True):
        for label, one in trained(record).items():
            known = [(rate, gain["mean"], gain["low"] or gain["mean"]) for rate, _, gain in one.links() if gain and one.compresses]
            if known:
                rates, means, lows = np.array(known, float).T
                axis.errorbar(rates, means, yerr=means - lows, label=label, capsize=2, markersize=4, linewidth=1.4, **style[label])
        axis.axhline(1, color="0.5", linewidth=0.8)
        axis.set(xscale="log", xlabel="rate of the link (Mbit/s)", title=f"{record.gradcomp['ranks']} ranks")
        axis.set_yscale("log", base=2)
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.yaxis.set_major_formatter("{x:g}\N{MULTIPLICATION SIGN}")
    axes[0][0].set_ylabel("speed-up against the best dense")
    handles, labels = max((axis.get_legend_handles_labels() for axis in axes[0]), key=lambda found: len(found[1]))
    drawn.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    return drawn, "Speed-up against the best dense control by the rate of the link, a panel per number of ranks, a line per method"
