"""Which methods pay: the speed-ups against the best dense control over all seeds, without and with several emulated links."""
import dataclasses

from gradcomp.output import text

from . import crossover
from .frames import CONTROLS, registry_name

MATCHED, OPEN, MISSED, DIVERGED = "quality of fp32", "quality open", "misses the quality of fp32", "diverged"


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
    def diverged(self):
        """That it diverged, in words; empty if it did not."""
        return text.diverged(self.rows)

    def quality(self):
        """Whether it has the quality of fp32, in words. That is open if the interval of what the method lacks reaches from within
        what is allowed to beyond it."""
        row = self.total or self.rows[0]
        if self.diverged:
            return self.diverged if self.total else DIVERGED
        if row["quality_matched"]:
            return MATCHED
        lack = row.get("lack_over_seeds")
        return OPEN if lack and lack["low"] <= self.rows[0]["lack_allowed"] < lack["high"] else MISSED

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
    if not gain or gain["low"] is None:
        return show(gain and gain["mean"])
    return f"{show(gain['mean'])} ({text.number(gain['low'])} to {text.number(gain['high'])})"


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


def _count(gains):
    return "1 method" if len(gains) == 1 else f"{len(gains)} methods"


def _pays(gains):
    """Says whether compression pays, from [(label, gain())] of the methods whose speed-up is known."""
    label, largest = max(gains, key=lambda pair: pair[1]["mean"])
    if largest["low"] is None:
        return (f"one seed, no interval. Of {_count(gains)} at the quality of fp32, {label} has the largest speed-up against the "
                f"best dense control: {text.ratio(largest['mean'])}.")
    faster = sorted((pair for pair in gains if is_faster(pair[1])), key=lambda pair: -pair[1]["mean"])
    if faster:
        listed = ", ".join(f"{name} {shown(gain)}" for name, gain in faster)
        return ("compression pays, because the whole 95 % interval of the speed-up against the best dense control is above 1 for: "
                f"{listed}. {_count(gains)} at the quality of fp32 compared, without a correction for their number.")
    if all(gain["high"] < 1 for _, gain in gains):
        return ("compression does not pay. All methods at the quality of fp32 are slower than the best dense control with their "
                f"whole 95 % interval. The largest mean is {shown(largest)}, of {label}.")
    return ("not told apart. No method at the quality of fp32 is faster than the best dense control with its whole 95 % interval. "
            f"The largest mean is {shown(largest)}, of {label}.")


def findings(record):
    """Sentences that answer the question of the run: does compression pay?"""
    compressing = [one for one in trained(record) if one.compresses]
    matched = [one for one in compressing if one.matched]
    for one in trained(record):
        if one.rows[0]["method"] == "fp32" and not one.matched:
            return [f"{record.link}: nothing says whether compression pays, because fp32 itself "
                    f"{one.diverged or 'learned too little or missed the target in this run'}."]
    if not matched:
        return [f"{record.link}: no compressing method reached the quality of fp32 for certain in this run."] if compressing else []
    out = []
    rates = [rate for rate, _, _ in matched[0].links()]
    cases = {f"{record.link}, {text.number(rate)} Mbit/s": [(one.label, one.links()[place][2]) for one in matched]
             for place, rate in enumerate(rates)} or {record.link: [(one.label, one.gain()) for one in matched]}
    for where, gains in cases.items():
        known = [pair for pair in gains if pair[1]]
        if known:
            out.append(f"{where}: {_pays(known)}")
    if not out:
        return [f"{record.link}: methods reached the quality of fp32, but nothing says whether they pay: that needs fp32, fp16 and "
                "bf16 at their best bucket sizes (gradcomp-tune)."]
    answers = [f"{one.label} {words}" for one in matched if (words := one.pays()) != text.DASH]
    if answers:
        out.append(f"Against the best dense control: {'; '.join(answers)}.")
    for word, said in ((OPEN, "It is open whether these have the quality of fp32"), (MISSED, "Missed the quality of fp32")):
        labels = [one.label for one in compressing if one.quality() == word]
        if labels:
            out.append(f"{said}, so no speed-up is shown: {', '.join(labels)}.")
    elsewhere = next((row["bucket_sweep"] for row in record.rows if "bucket_sweep" in row), None)
    if elsewhere:
        out.append(f"Bucket sizes of the dense controls were timed elsewhere ({elsewhere}); others may be faster here.")
    return out + [f"{one.label} {one.diverged}." for one in compressing if one.diverged]


def over_seeds(methods):
    """The table over seeds, of those methods that have several; None if no method has."""
    def interval(over, show):
        return text.DASH if not over else f"{show(over['mean'])} ({show(over['low'])} to {show(over['high'])})"
    lines = []
    for one in methods:
        if not one.total:
            continue
        metric = one.total["metric"]
        lines.append([one.label, str(len(one.rows)),
                      one.diverged or interval(one.total["test_quality_over_seeds"],
                                               lambda value, metric=metric: text.quality(metric, value)),
                      interval(one.total["step_time_ms_over_seeds"], text.number), shown(one.gain())])
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
