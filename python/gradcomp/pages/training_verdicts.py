"""What the rows of a training on a page say: qualities, what a method lacks of the quality of fp32, and verdicts."""
import math

from gradcomp.errors import ToolError
from gradcomp.output import text
from gradcomp.report import verdicts


def trained(record):
    """{label without a rate: verdicts.Trained}"""
    found = {one.label.split(":lr=")[0]: one for one in verdicts.trained(record)}
    if not found:
        raise ToolError(f"'{record.path}' holds no training")
    return found


def by_ranks(records):
    """({"2 ranks": trained()} of each record, the labels of compressing methods)"""
    found = {f"{record.gradcomp['ranks']} ranks": trained(record) for record in records}
    return found, [label for label, one in next(iter(found.values())).items() if one.compresses]


def value_of(row, total, key):
    """The value of one seed, or the mean of all; None if a seed has no value."""
    return (total[f"{key}_over_seeds"] or {}).get("mean") if total else row[key]


def shown(value, total, key, show):
    """A value of one seed, or the mean of all with its interval."""
    if total:
        over = total[f"{key}_over_seeds"]
        return text.measured(**over, show=show) if over else text.DASH
    return text.DASH if value is None else show(value)


def short(one):
    """The quality of a method in one word."""
    words = {verdicts.MATCHED: "kept", verdicts.OPEN: "open", verdicts.MISSED: "missed", verdicts.SAYS_NOTHING: "not told"}
    return words.get(one.quality(), verdicts.DIVERGED)


def without_reference(found):
    """The verdict on all methods of a run whose task does not tell, or whose reference did not reach the quality with which methods
    are compared; empty if there is none, and if there is no reference."""
    one = found.get("fp32")
    if one is None or one.matched:
        return ""
    if not one.tells:
        return f"none: {verdicts.SAYS_NOTHING}"
    return ("none: fp32 diverged" if one.diverged else "none: fp32 misses the target" if "target" in one.rows[0] else
            "none: fp32 learned nothing")


def verdict(one, without=""):
    """The conclusion of a line in words. `without`: without_reference() of its run."""
    if without and not one.diverged:
        return without
    found = one.quality()
    if one.rows[0]["role"] == "bound":
        return f"bound, {found}"
    if found != verdicts.MATCHED:
        return found
    reached, seeds = at_target(one)
    if not 2 * reached > seeds:
        return "misses the target"
    return found + (f", target reached with {reached} of {seeds} seeds" if reached < seeds else "") + _gain(one)


def at_target(one):
    """(number of seeds that reached the target, number of seeds). Without a target nothing is missed. A method reached the target
    if more than half of its seeds did."""
    if one.total:
        return one.total.get("seeds_at_target", len(one.total["seeds"])), len(one.total["seeds"])
    return int("target" not in one.rows[0] or one.rows[0]["steps_to_target"] is not None), 1


def tolerance_of(record):
    """What a method of a run may lack of the quality of fp32: a difference of accuracies, or a share of perplexity."""
    return record.gradcomp["options"].get("quality_tolerance")


def lack_of(total):
    """(mean, low, high) of what a method lacks of the quality of fp32 with the same seed: a difference of accuracies, or a share of
    perplexity; None if it is unknown."""
    lack = (total or {}).get("lack_over_seeds")
    if not lack or text.missing(lack["low"]):
        return None
    return [lack[end] if total["metric"] == "accuracy" else math.expm1(lack[end]) for end in ("mean", "low", "high")]


def unit(metric):
    return "points" if metric == "accuracy" else "%"


def behind(total):
    """The cell of lack_of()."""
    lack = lack_of(total)
    if lack is None:
        return text.DASH
    mean, low, high = (round(100 * end, 1) + 0.0 for end in lack)  # no -0.0
    return f"{mean:.1f} ({low:.1f} to {high:.1f}) {unit(total['metric'])}"


def gap_share(total):
    """The cell of a method's share of the gap between no_exchange and fp32."""
    share = (total or {}).get("gap_share_over_seeds")
    if not share or text.missing(share["low"]):
        return text.DASH
    return text.percent(share["mean"]) + text.within((share["low"], share["high"]), text.percent)


def _gain(one):
    """The speed relative to the best dense control. Over seeds it is faster or slower only if the whole interval is."""
    over = one.total["speedup_vs_best_dense_over_seeds"] if one.total else None
    if over and over["low"] is not None:
        word = "faster than" if over["low"] > 1 else "slower than" if over["high"] < 1 else "not told apart from"
        return f", {word} the best dense: {verdicts.shown(over)}"
    gain = one.rows[0]["speedup_vs_best_dense"]
    return "" if one.total or text.missing(gain) else f", {text.ratio(gain)} the best dense with one seed"
