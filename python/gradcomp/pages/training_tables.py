"""Tables and figures of docs/results/training.md, from result files of gradcomp-train."""
import functools
import math

import matplotlib.pyplot as plt
import numpy as np

from gradcomp.errors import ReportError
from gradcomp.output import text
from gradcomp.report import frames, plots, verdicts

STEPS_PER_EPOCH = 24  # floor(50000 / 16 ranks / 128)
# Vogels et al. 2019, tables 1, 2 and 4: MB an epoch of ResNet-18 on CIFAR-10, 16 workers; theirs are MiB.
PUBLISHED = {"fp32": 1023, "powersgd:rank=1": 4, "powersgd:rank=2": 8, "powersgd:rank=4": 14, "signum": 32,
             "atomo:rank=2": 113, "powersgd:rank=1:variant=unbiased": 3, "powersgd:rank=2:variant=unbiased": 4}
# How far behind fp32 a method may end, or without feedback must end: points of accuracy, share of perplexity.
NEAR, FAR = ("at most", {"accuracy": 0.05, "perplexity": 0.1}), ("at least", {"accuracy": 0.15, "perplexity": 0.1})
CLOSE = ("at most", {"accuracy": 0.03})
SEPARATIONS = {"top_k:ratio=0.01": NEAR, "powersgd:rank=2": NEAR, "qsgd:bits=4": CLOSE, "sign": CLOSE,
               "top_k:ratio=0.01:feedback=none": FAR, "powersgd:rank=2:feedback=none": FAR}
BOUNDS = ("atomo:rank=2",)  # its rank is random
OTHERS = (*BOUNDS, "powersgd:rank=1:variant=unbiased", "powersgd:rank=2:variant=unbiased")  # not schemes of the authors


def trained(record):
    """{label without a rate: (row of the first seed, row over the seeds or None)}"""
    found = {}
    for row in record.rows:
        label = row["label"].split(":lr=")[0]
        if "step_time_ms" in row:
            found.setdefault(label, (row, None))
        elif row["run_type"] == "aggregate" and label in found:
            found[label] = (found[label][0], row)
    if not found:
        raise ReportError(f"'{record.path}' holds no training")
    return found


def _value(row, total, key):
    """The value of one seed, or the mean of all; None if a seed has no value."""
    return (total[f"{key}_over_seeds"] or {}).get("mean") if total else row[key]


def _shown(value, total, key, show):
    """A value of one seed, or the mean of all with its interval."""
    if total:
        over = total[f"{key}_over_seeds"]
        return f"{show(over['mean'])} ({show(over['low'])} to {show(over['high'])})" if over else text.DASH
    return text.DASH if value is None else show(value)


def _to_target(row, total):
    """Cells of steps, seconds and bytes until the target."""
    shows = {"steps_to_target": lambda steps: f"{steps:,.0f}", "time_to_target_s": text.number,
             "wire_bytes_to_target": text.size}
    if total and 0 < total["seeds_at_target"] < len(total["seeds"]):
        return [f"{total['seeds_at_target']} of {len(total['seeds'])} seeds", text.DASH, text.DASH]
    return [_shown(row.get(key), total, key, show) for key, show in shows.items()]


def judges(found):
    """Whether the reference of a run reached the quality with which methods are compared; True if there is no reference."""
    row, total = found.get("fp32", (None, None))
    return row is None or (total or row)["quality_matched"]


def verdict(row, total, tolerance, judged=True):
    """The conclusion of a line in words. `tolerance`: what a method may lack; `judged`: judges() of its run."""
    if row["method"] == "no_exchange":
        return "bound"
    if not judged:
        return "none: fp32 misses the target" if "target" in row else "none: fp32 learned nothing"
    found = verdicts.quality(total or row, tolerance)
    if found != verdicts.MATCHED:
        return found
    if "target" in row and _value(row, total, "steps_to_target") is None:
        return "misses the target"
    return found + _gain(row, total)


def tolerance_of(record):
    """What a method of a run may lack of the quality of fp32: a difference of accuracies, or a share of perplexity."""
    return record.gradcomp["options"].get("quality_tolerance")


def _lack(total):
    """(mean, low, high) of what a method lacks of the quality of fp32 with the same seed: a difference of accuracies, or a share of
    perplexity; None if it is unknown."""
    lack = (total or {}).get("lack_over_seeds")
    if not lack or text.missing(lack["low"]):
        return None
    return [lack[end] if total["metric"] == "accuracy" else math.expm1(lack[end]) for end in ("mean", "low", "high")]


def _unit(metric):
    return "points" if metric == "accuracy" else "%"


def _behind(total):
    """The cell of _lack()."""
    lack = _lack(total)
    if lack is None:
        return text.DASH
    mean, low, high = (round(100 * end, 1) + 0.0 for end in lack)  # no -0.0
    return f"{mean:.1f} ({low:.1f} to {high:.1f}) {_unit(total['metric'])}"


def _gain(row, total):
    """The speed relative to the best dense control. Over seeds it is faster or slower only if the whole interval is."""
    over = total["speedup_vs_best_dense_over_seeds"] if total else None
    if over and over["low"] is not None:
        word = "faster than" if over["low"] > 1 else "slower than" if over["high"] < 1 else "as fast as"
        return (f", {word} the best dense: {text.ratio(over['mean'])} ({text.number(over['low'])} to "
                f"{text.number(over['high'])})")
    gain = row["speedup_vs_best_dense"]
    return "" if total or text.missing(gain) else f", {text.ratio(gain)} the best dense with one seed"


def at_edge(rates):
    """The methods of {method: (its rate, all rates that were tried)} whose best rate is at the edge, so that one beyond may be
    better."""
    return {method for method, (rate, tried) in rates.items() if rate in (min(tried), max(tried))}


def methods(record, edges=()):
    """The main table of a run, a line per method. `edges`: methods whose tuned rates are marked."""
    lines, found, tolerance = [], trained(record), tolerance_of(record)
    with_target = any("target" in row for row, _ in found.values())
    with_seeds = any(total for _, total in found.values())
    one_link = not any("over_links" in row for row, _ in found.values())  # a step over several links is none of any link
    metric, judged = next(iter(found.values()))[0]["metric"], judges(found)
    for label, (row, total) in found.items():
        def show(value):
            return text.quality(metric, value)
        mark = " edge" if row["method_canonical"] in edges else " tuned"
        cells = [f"`{label}`", f"{row['learning_rate']:g}{mark if 'tuning_steps' in row else ''}",
                 _shown(row["test_quality"], total, "test_quality", show)]
        if with_seeds:
            cells.append(text.DASH if label == "fp32" else _behind(total))
        if with_target:
            cells += _to_target(row, total)
        cells += [text.size(_value(row, total, "wire_bytes")), text.number(row.get("state_bytes_per_parameter")),
                  *([_shown(row["step_time_ms"]["median"], total, "step_time_ms", text.number)] if one_link else []),
                  verdict(row, total, tolerance, judged)]
        lines.append(cells)
    target = ["steps to target", "seconds to target", "bytes to target"] if with_target else []
    behind = ["behind `fp32`"] if with_seeds else []
    return ["method", "rate", f"test {metric}", *behind, *target, "sent by a rank per step", "state (bytes per parameter)",
            *(["step (ms)"] if one_link else []), "verdict"], lines


def throughputs(record):
    """Sparsifiers: throughput relative to dense, top-k and DGC if both have the quality of fp32, and the achieved density."""
    found = trained(record)
    matched = {label: row["step_time_ms"]["mean"] for label, (row, total) in found.items()
               if (total or row)["quality_matched"]}

    def of(name):
        return next((time for label, time in matched.items()
                     if frames.registry_name(found[label][0]["method"]) == name), None)
    lines = []
    for label, (row, _) in found.items():
        over = [text.ratio(of(name) / matched[label] if of(name) and label in matched else None)
                for name in ("fp32", "top_k", "dgc")]
        lines.append([f"`{label}`", text.number(row["samples_per_second"]), *over, text.number(row.get("density_ratio_mean"))])
    return ["method", "samples/s", "over `fp32`", "over `top_k`", "over `dgc`", "achieved / target density"], lines


def epochs(record):
    """Bytes of an epoch of ResNet-18, compared with the published table."""
    lines = []
    for row in record.rows:
        label, mebibytes = row["label"], row["payload_bytes"] * STEPS_PER_EPOCH / 2**20
        published = PUBLISHED.get(label)
        comparable = published is not None and label not in OTHERS
        equal = text.DASH if not comparable else "equal" if round(mebibytes) == published else "differs"
        lines.append([f"`{label}`", ("at most " if label in BOUNDS else "") + f"{row['payload_bytes']:,}", f"{mebibytes:.2f}",
                      text.DASH if published is None else str(published), equal])
    return ["method", "bytes a step", f"MiB in {STEPS_PER_EPOCH} steps", "published", ""], lines


def bars(records, limits):
    """Whether fp32 meets the bars, from {run: record} and {run: (metric, bar, source of the bar)}."""
    lines = []
    for name, (metric, limit, what) in limits.items():
        if name in records:
            row, total = trained(records[name])["fp32"]
            over = (total or {}).get("test_quality_over_seeds") or {"mean": None, "low": None, "high": None}
            low, high = (over["low"], over["high"]) if metric == "accuracy" else (over["high"], over["low"])  # worst, best
            reaches = [value is not None and (value >= limit if metric == "accuracy" else value <= limit) for value in (low, high)]
            lines.append([what, text.quality(metric, limit),
                          _shown(row["test_quality"], total, "test_quality", functools.partial(text.quality, metric)),
                          "holds" if all(reaches) else "open" if any(reaches) else "missed"])
    return ["reference", "bar", "measured", ""], lines


def separations(record):
    """Whether the task separates methods: how far the methods of SEPARATIONS end behind fp32 with the same seed, compared with
    the bars. A bar is met or missed only if the whole interval is on that side."""
    lines, found = [], trained(record)
    metric = found["fp32"][0]["metric"]
    for label, (bound, limits) in SEPARATIONS.items():
        total = found.get(label, (None, None))[1]
        lack = _lack(total)
        if lack is None or metric not in limits:
            continue
        _, low, high = lack
        below, above = high <= limits[metric], low >= limits[metric]
        if bound == "at least":
            below, above = above, below
        lines.append([f"`{label}`", _behind(total), f"{bound} {100 * limits[metric]:.0f} {_unit(metric)}",
                      "holds" if below else "missed" if above else "open"])
    return ["method", "behind `fp32`", "bar", ""], lines


def curves(record):
    """Quality against time, steps and bytes. Returns (figure, alternative text)."""
    frame = frames.training(record)
    if frame["seed"].nunique() > 1:  # one line per method
        frame = frame[frame["seed"] == frame["seed"].min()].assign(label=lambda kept: kept["method"])
    style = plots.styles(zip(frame["label"], frame["registry"], strict=True))
    metric = frame["metric"].iloc[0]
    factor = 100 if metric == "accuracy" else 1
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.8), sharey=True, layout="constrained")
    for axis, (key, name, scale) in zip(axes, (("time_s", "training time (s)", 1), ("step", "steps", 1),
                                               ("wire_bytes", "sent by one rank (MB)", 1e-6)),
                                       strict=True):
        for entry in frame.itertuples():
            x, y = np.array(entry.curve[key], float) * scale, np.array(entry.curve["quality"], float) * factor
            shown = np.isfinite(x) & np.isfinite(y) & ((x > 0) | (key != "wire_bytes"))
            if shown.any():
                axis.plot(x[shown], y[shown], label=entry.label, markersize=4, linewidth=1.4, **style[entry.label])
        axis.set_xlabel(name)
        if key == "wire_bytes":
            axis.set_xscale("log")
        if metric == "perplexity":
            axis.set_yscale("log")
    axes[0].set_ylabel("validation accuracy (%)" if metric == "accuracy" else "validation perplexity")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle(record.link)
    return figure, f"Validation {metric} against time, steps and bytes, a line per method, {record.link}"
