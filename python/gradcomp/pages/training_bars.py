"""Tables of docs/results/training.md that compare a training with what was expected of it, or with what authors published."""
import functools

from gradcomp.output import text
from gradcomp.report import verdicts

from .training_verdicts import behind, lack_of, shown, trained, unit

STEPS_PER_EPOCH = 24  # floor(50000 / 16 ranks / 128)
# Vogels et al. 2019, tables 1, 2 and 4: MB an epoch of ResNet-18 on CIFAR-10, 16 workers; theirs are MiB.
PUBLISHED = {"fp32": 1023, "powersgd:rank=1": 4, "powersgd:rank=2": 8, "powersgd:rank=4": 14, "signum": 32,
             "atomo:rank=2": 113, "powersgd:rank=1:variant=unbiased:matrix=authors:side=alternating": 3,
             "powersgd:rank=2:variant=unbiased:matrix=authors:side=alternating": 4}
IN_TURN = ":side=alternating"  # every second step sends the other factor: a step's mean is that of this row and the one without
# How far behind fp32 a method may end, or without feedback must end: points of accuracy, share of perplexity.
NEAR, FAR = ("at most", {"accuracy": 0.05, "perplexity": 0.1}), ("at least", {"accuracy": 0.15, "perplexity": 0.1})
CLOSE = ("at most", {"accuracy": 0.03})
SEPARATIONS = {"top_k:ratio=0.01": NEAR, "powersgd:rank=2": NEAR, "qsgd:bits=4": CLOSE, "sign": CLOSE,
               "top_k:ratio=0.01:feedback=none": FAR, "powersgd:rank=2:feedback=none": FAR}
BOUNDS = ("atomo:rank=2",)  # its rank is random


def epochs(record):
    """Bytes of an epoch of ResNet-18, compared with the published table."""
    lines, found = [], {row["label"]: row["payload_bytes"] for row in record.rows}
    for label, payload in found.items():
        sides = [found[label.removesuffix(IN_TURN)], payload] if label.endswith(IN_TURN) else [payload]
        mebibytes, published = sum(sides) / len(sides) * STEPS_PER_EPOCH / 2**20, PUBLISHED.get(label)
        comparable = published is not None and label not in BOUNDS
        equal = text.DASH if not comparable else "equal" if round(mebibytes) == published else "differs"
        lines.append([f"`{label}`", ("at most " if label in BOUNDS else "") + " or ".join(f"{side:,}" for side in sides),
                      f"{mebibytes:.2f}", text.DASH if published is None else str(published), equal])
    return ["method", "bytes a step", f"MiB in {STEPS_PER_EPOCH} steps", "published", ""], lines


def bars(records, limits):
    """Whether fp32 meets the bars, from {run: record} and {run: (metric, bar, source of the bar)}."""
    lines = []
    for name, (metric, limit, what) in limits.items():
        if name in records:
            one = trained(records[name])["fp32"]
            over = (one.total or {}).get("test_quality_over_seeds") or {"mean": None, "low": None, "high": None}
            low, high = (over["low"], over["high"]) if metric == "accuracy" else (over["high"], over["low"])  # worst, best
            reaches = [value is not None and (value >= limit if metric == "accuracy" else value <= limit) for value in (low, high)]
            lines.append([what, text.quality(metric, limit),
                          one.diverged or shown(one.rows[0]["test_quality"], one.total, "test_quality",
                                                functools.partial(text.quality, metric)),
                          "holds" if all(reaches) else "open" if any(reaches) else "missed"])
    return ["reference", "bar", "measured", ""], lines


def separations(record):
    """Whether the task separates methods: how far the methods of SEPARATIONS end behind fp32 with the same seed, compared with
    the bars. A bar is met or missed only if the whole interval is on that side."""
    lines, found = [], trained(record)
    metric = found["fp32"].rows[0]["metric"]
    for label, (bound, limits) in SEPARATIONS.items():
        one = found.get(label)
        if one is None or metric not in limits:
            continue
        bar = f"{bound} {100 * limits[metric]:.0f} {unit(metric)}"
        if one.diverged:
            lines.append([f"`{label}`", one.diverged, bar, verdicts.DIVERGED])
        lack = lack_of(one.total)
        if lack is None:
            continue
        _, low, high = lack
        below, above = high <= limits[metric], low >= limits[metric]
        if bound == "at least":
            below, above = above, below
        lines.append([f"`{label}`", behind(one.total), bar, "holds" if below else "missed" if above else "open"])
    return ["method", "behind `fp32`", "bar", ""], lines
