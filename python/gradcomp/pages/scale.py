"""docs/results/scale.md: over which links compression pays, with 2, 4 and 8 ranks."""
from gradcomp.output import text

from . import training_verdicts
from .training import Training


def _pays(one):
    """Below which rate in Mbit/s a method pays, by the mean over seeds, or what its quality is."""
    found = (one.total or one.rows[0]).get("pays")
    if not one.matched:
        return f"quality {training_verdicts.short(one)}"
    return text.DASH if not found else text.number(found["rate_mbit_s"]) if found["where"] == "below" else found["where"]


class Scale(Training):
    name, tool, title = "scale", "scale_page", "links and ranks"
    about = "Trains with 2, 4 and 8 ranks over five emulated links: from which rate down does each method pay?"

    def answer(self, found):
        swept, labels = training_verdicts.by_ranks(found)
        row = found[0].rows[0]
        return ("Over links slower than these rates in Mbit/s, a method is faster than the best dense one and keeps the quality of "
                f"`fp32` (`{row['model']}`, {row['parameters']:,} parameters; by the mean, intervals follow below).",
                (["method", *swept], [[f"`{label}`", *(_pays(methods[label]) for methods in swept.values())] for label in labels]))


PAGE = Scale()
