"""Result rows as pandas frames, with the values that tables and plots share."""
import dataclasses

import numpy as np
import pandas as pd

from gradcomp.errors import ToolError
from gradcomp.output import text

CONTROLS = ("fp32", "fp16", "bf16", "no_exchange")
DENSE = ("fp32", "fp16", "bf16")
# The stages that add up to a step. Of the exchange only the exposed part counts, which overlap did not hide: bytes moved (transfer), or
# the rank waited for a slower one (waiting). Ranks that are not in step do not know this split.
STACK = ("data", "importance", "forward", "backward", "compress", "transfer", "waiting", "exposed", "decompress", "update", "rest")


def registry_name(spec):
    """The method's name without its options."""
    return spec.split(":")[0].split("+")[0]


def _frame(record, columns):
    try:
        frame = pd.DataFrame([{name: get(row) for name, get in columns.items()} for row in record.rows])
    except (KeyError, TypeError) as error:
        raise ToolError(f"'{record.path}': a row has no column {error}") from error
    frame["label"] = unique_labels(frame)
    frame["registry"] = frame["method"].map(registry_name)
    rank = {name: order for order, name in enumerate(CONTROLS)}  # controls first, then the order of the job
    return frame.sort_values("registry", key=lambda names: names.map(rank).fillna(len(rank)), kind="stable",
                             ignore_index=True)


def parts(row):
    """{stage: its median ms, in the order of STACK} of a training. With `rest` they add up to the median step. The rest is what no stage
    counts, and the difference between the slowest rank of each step and medians; where stages run at the same time it is negative."""
    known = {stage: value for stage, value in row["stages_ms"].items() if value is not None}
    if "transfer" in known:
        known.pop("exposed", None)
    found = {stage: known[stage] for stage in STACK if stage in known}
    return found | {"rest": row["step_time_ms"]["median"] - sum(found.values())}


def unique_labels(frame):
    """The labels; if there are several seeds, each with its seed."""
    labels = frame["label"]
    repeated = frame.duplicated(subset=[c for c in ("label", "elements") if c in frame], keep=False)
    if "seed" not in frame or not repeated.any():
        return labels
    return labels.where(~repeated, labels + frame["seed"].map(lambda seed: f" (seed {seed:g})"))


def training(record):
    """One row per trained method and seed; None if nothing was trained."""
    trained = [row for row in record.rows if "step_time_ms" in row]
    if not trained:
        return None
    columns = {
        "label": lambda row: row["label"],
        "method": lambda row: row["method"],
        "seed": lambda row: row.get("seed", np.nan),
        "payload_bytes": lambda row: row["payload_bytes"],
        "wire_bytes": lambda row: row["wire_bytes"],
        "compression_ratio": lambda row: row["compression_ratio"],
        "step_ms": lambda row: row["step_time_ms"]["median"],
        "step_p95_ms": lambda row: row["step_time_ms"]["p95"],
        "stages": parts,
        "hidden": lambda row: row["stages_ms"].get("hidden", np.nan),
        "samples_per_second": lambda row: row["samples_per_second"],
        "metric": lambda row: row["metric"],
        "test_quality": lambda row: row.get("test_quality", row["test_accuracy"]),
        "diverged": lambda row: text.diverged([row]),
        "joules_per_step": lambda row: row.get("joules_per_step", np.nan),
        "quality_matched": lambda row: row["quality_matched"],
        "tells": lambda row: row.get("task_tells") is not False,
        "gap_share": lambda row: row.get("gap_share", np.nan),
        "speedup_vs_fp32": lambda row: row["speedup_vs_fp32"],
        "speedup_vs_best_dense": lambda row: row["speedup_vs_best_dense"],
        "density_ratio": lambda row: row["density_ratio"],
        "replica_hash_equal": lambda row: row["replica_hash_equal"],
    }
    return _frame(dataclasses.replace(record, rows=trained), columns)


def allreduce(record):
    """One row per method and size."""
    columns = {
        "label": lambda row: row["label"],
        "method": lambda row: row["method"],
        "elements": lambda row: row["elements"],
        "dense_bytes": lambda row: row["dense_bytes"],
        "payload_bytes": lambda row: row["payload_bytes"],
        "time_ms": lambda row: row["time_ms"]["median"],
        "nmse": lambda row: np.nan if row.get("relative_error") is None else row["relative_error"]**2,
    }
    frame = _frame(record, columns).sort_values("dense_bytes", kind="stable")
    twice = frame[frame.duplicated(["label", "dense_bytes"])]
    if len(twice):
        raise ToolError(f"'{record.path}' holds {twice['label'].iloc[0]} with {twice['dense_bytes'].iloc[0]} bytes twice")
    return frame


def bench(record):
    """One row per kernel case that has a method."""
    methods = [row for row in record.rows if "method" in row]
    return pd.DataFrame(
        [{"label": row["label"], "operation": row["operation"], "elements": row["elements"],
          "read_limit_ratio": row.get("read_limit_ratio"), "nmse": row.get("nmse")} for row in methods])


def best_dense(frame):
    """Time of the fastest dense control per size."""
    return frame[frame["registry"].isin(DENSE)].groupby("dense_bytes")["time_ms"].min()


def crossovers(frame):
    """Where each compressing method starts to beat the fastest dense control, in dense bytes.

    Returns {label: bytes}, where bytes is 0 when it is faster at every size and None when at none. Between two sizes the
    ratio of the times is interpolated on logarithmic axes. The crossover is the last one: beyond it the method stays ahead.
    """
    dense = best_dense(frame)
    found = {}
    for label, group in frame[~frame["registry"].isin(CONTROLS)].groupby("label", sort=False):
        times = group.set_index("dense_bytes")["time_ms"].sort_index()
        gain = np.log((times / dense.reindex(times.index)).dropna().astype(float))
        found[label] = _last_crossing(np.log(gain.index.to_numpy(float)), gain.to_numpy())
    return found


def _last_crossing(log_size, log_ratio):
    if not len(log_ratio) or log_ratio[-1] >= 0:
        return None
    losing = np.flatnonzero(log_ratio >= 0)
    if not len(losing):
        return 0
    left = losing[-1]
    share = log_ratio[left] / (log_ratio[left] - log_ratio[left + 1])
    return float(np.exp(log_size[left] + share * (log_size[left + 1] - log_size[left])))
