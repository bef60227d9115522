"""What the judged rows of a training say of its methods: quality and speed-ups over all seeds, without and with several emulated
links."""
import dataclasses
import functools

from gradcomp.output import text

from . import crossover
from .frames import CONTROLS, registry_name

MATCHED, OPEN, MISSED, DIVERGED = "quality of fp32", "quality open", "misses the quality of fp32", "diverged"
SAYS_NOTHING = "the task does not tell"


@dataclasses.dataclass
class Trained:
    """A method of a run: the rows of its seeds, and its aggregate over them if there are several."""

    label: str
    rows: list
    total: dict | None = None

    @property
    def matched(self):
        return bool((self.total or self.rows[0])["quality_matched"])

    @property
    def tells(self):
        """False if ranks that never exchange do as well as fp32, as far as the seeds show: then no quality of this task says anything
        about a method."""
        return self.rows[0].get("task_tells") is not False

    @property
    def diverged(self):
        """That it diverged, in words; empty if it did not."""
        return text.diverged(self.rows)

    def quality(self):
        """Whether it has the quality of fp32, in words. That is open if the interval of what the method lacks, or of its share of
        the gap, reaches from what is allowed to what is not."""
        row = self.total or self.rows[0]
        if self.diverged:
            return self.diverged if self.total else DIVERGED
        if not self.tells:
            return SAYS_NOTHING
        if row["quality_matched"]:
            return MATCHED
        lack, share, allowed = row.get("lack_over_seeds"), row.get("gap_share_over_seeds"), self.rows[0]["lack_allowed"]
        if not lack or lack["low"] > allowed or (share and share["high"] <= 0.5):
            return MISSED
        return OPEN if lack["high"] > allowed or (share and share["low"] <= 0.5) else MISSED

    @property
    def compresses(self):
        return registry_name(self.rows[0]["method"]) not in CONTROLS

    def gain(self):
        """The speed-up against the best dense control as mean, low and high; low is None with one seed. None if it is unknown or
        the quality of fp32 was missed."""
        if self.total:
            return self._interval(self.total["speedup_vs_best_dense_over_seeds"])
        return self._interval(self.rows[0]["speedup_vs_best_dense"]) if len(self.rows) == 1 else None

    def links(self):
        """[(rate in Mbit/s, step in ms, gain())] of several emulated links, else []. The step has the form of gain(): over seeds the
        mean with low and high, of one seed the median."""
        if self.total:
            return [(one["rate_mbit_s"], one["step_time_ms"], self._interval(one["speedup_vs_best_dense"]))
                    for one in self.total.get("over_links_over_seeds", ())]
        return [(one["rate_mbit_s"], _alone(one["step_time_ms"]["median"]), self._interval(one["speedup_vs_best_dense"]))
                for one in self.rows[0].get("over_links", ())]

    def pays(self):
        """The answer of several links in words, or that the method diverged; a dash if there is none."""
        found = (self.total or self.rows[0]).get("pays")
        if not found or not self.matched:
            return self.diverged or text.DASH
        return crossover.words(found, [(rate, gain) for rate, _, gain in self.links()],
                               "no interval" if self.total else "one seed, no interval")

    def _interval(self, over):
        if not self.matched or text.missing(over):
            return None
        return over if isinstance(over, dict) else _alone(over)


def _alone(value):
    """A value without an interval."""
    return {"mean": value, "low": None, "high": None}


def is_faster(gain):
    """Whether the whole interval of a gain() is above 1."""
    return bool(gain) and gain["low"] is not None and gain["low"] > 1


def shown(gain, show=text.ratio):
    """A gain(), or another mean with low and high, as text."""
    return text.measured(**gain, show=show) if gain else text.DASH


def trained(record):
    """The methods of a run, in its order."""
    found = {}
    for row in record.rows:
        if "step_time_ms" in row:
            found.setdefault(row["label"], Trained(row["label"], [])).rows.append(row)
    for row in record.rows:
        if row.get("run_type") == "aggregate" and row["label"] in found:
            found[row["label"]].total = row
    return list(found.values())


def over_seeds(methods):
    """The table over seeds, of those methods that have several; None if no method has."""
    lines = []
    for one in methods:
        if not one.total:
            continue
        metric = one.total["metric"]
        lines.append([one.label, str(len(one.rows)),
                      one.diverged or shown(one.total["test_quality_over_seeds"], functools.partial(text.quality, metric)),
                      shown(one.total["step_time_ms_over_seeds"], text.number), shown(one.gain())])
    return (["method", "seeds", "test quality", "step (ms)", "speed-up vs best dense"], lines) if lines else None


def links(methods):
    """The table over several emulated links; None if there is only one link."""
    rates = next(([rate for rate, _, _ in one.links()] for one in methods if one.links()), None)
    if not rates:
        return None
    header = ["method", *(cell for rate in rates for cell in (f"step, {text.number(rate)} Mbit/s (ms)", "speed-up vs best dense")),
              "against the best dense"]
    return header, [[one.label, *(cell for _, step, gain in one.links() for cell in (shown(step, text.number), shown(gain))),
                     one.pays()] for one in methods]
