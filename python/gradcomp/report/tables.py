"""The tables as (header, rows) of text; rows keep a note on what to emphasise."""
from gradcomp.output import text

from . import frames

TICK, CROSS = "\N{CHECK MARK} yes", "\N{MULTIPLICATION X} no"


def methods(frame):
    """The main table: what each method sent, how long it took and what quality it reached."""
    header = ["method", "payload per step", "compression ratio", "step, median (ms)", "step, p95 (ms)", "samples/s",
              f"test {frame['metric'].iloc[0]}", "quality of fp32", "speed-up vs fp32", "speed-up vs best dense"]
    share = frame["gap_share"].notna().any()
    if share:
        header.insert(8, "share of the gap")
    energy = frame["joules_per_step"].notna().any()  # many machines cannot count energy
    if energy:
        header.append("joules per step")
    rows = []
    for entry in frame.itertuples():
        rows.append([
            entry.label, text.size(entry.payload_bytes), text.ratio(entry.compression_ratio), text.number(entry.step_ms),
            text.number(entry.step_p95_ms), text.number(entry.samples_per_second),
            entry.diverged or text.quality(entry.metric, entry.test_quality),
            "diverged" if entry.diverged else "not told" if not entry.tells else TICK if entry.quality_matched else CROSS,
            *([text.percent(entry.gap_share)] if share else []),
            text.ratio(entry.speedup_vs_fp32), text.ratio(entry.speedup_vs_best_dense)])
        if energy:
            rows[-1].append(text.number(entry.joules_per_step))
    return header, rows


def breakdown(frame):
    """Median milliseconds per stage. All but the last column add up to the step."""
    stages = [stage for stage in frames.STACK if any(stage in parts for parts in frame["stages"])]
    return ["method", *stages, "step", "exchange, hidden"], [
        [entry.label, *(text.number(entry.stages.get(stage)) for stage in stages), text.number(entry.step_ms), text.number(entry.hidden)]
        for entry in frame.itertuples()]


def reductions(frame):
    """Median milliseconds per method and size, and the gradient's error at the largest size. The fastest method of a size,
    except the bound, gets a star."""
    sizes = sorted(frame["dense_bytes"].unique())
    fastest = frame[frame["registry"] != "no_exchange"].groupby("dense_bytes")["time_ms"].min()
    header = ["method"] + [f"{text.size(size)} (ms)" for size in sizes] + [f"NMSE, {text.size(sizes[-1])}"]
    rows = []
    for label, group in frame.groupby("label", sort=False):
        times = group.set_index("dense_bytes")["time_ms"]
        bound = (group["registry"] == "no_exchange").all()
        rows.append([label] + [_cell(times.get(size), not bound and times.get(size) == fastest[size]) for size in sizes]
                    + [text.number(group.set_index("dense_bytes")["nmse"].get(sizes[-1]))])
    return header, rows


def _cell(value, best):
    return text.number(value) + (" \N{BLACK STAR}" if best else "")


def kernels(frame):
    """Time / time to read the gradient once, per method, operation and size, and the gradient's error at the largest size."""
    cases = sorted({(row.operation, row.elements) for row in frame.itertuples()})
    most = max(elements for _, elements in cases)
    header = ["method"] + [f"{operation}, {elements:,}" for operation, elements in cases] + [f"NMSE, {most:,}"]
    errors = {row.label: row.nmse for row in frame.itertuples() if row.elements == most}
    lookup = {(row.label, row.operation, row.elements): row.read_limit_ratio for row in frame.itertuples()}
    labels = list(dict.fromkeys(frame["label"]))
    return header, [[label] + [text.ratio(lookup.get((label, *case))) for case in cases] + [text.number(errors.get(label))]
                    for label in labels]


def evaluations(rows):
    """What each method kept, sent and lost on each gradient, and how long it took."""
    header = ["method", "gradient", "steps", "target density", "achieved / target", "std", "rms of - 1", "payload per step",
              "bits per entry", "index entropy", "relative error", "compress / read"]
    shown = []
    for row in rows:
        cells = [text.number(row.get(column)) for column in (
            "target_density", "density_ratio_mean", "density_ratio_std", "density_ratio_rms")]
        loop = "" if row["loop"] == "open" else ", with feedback"
        shown.append([row["label"], row["stream"] + loop, str(row["steps"]), *cells, text.size(row["payload_bytes"]),
                      text.number(row.get("payload_bits_per_kept")), text.number(row.get("entropy_bits_per_kept")),
                      text.number(row["relative_l2_error"]), text.ratio(row["read_limit_ratio"])])
    return header, shown


def broken(frame):
    """A warning in a list if replicas differ between ranks, else an empty list."""
    labels = list(frame.loc[frame["replica_hash_equal"].map(lambda equal: equal is False), "label"])
    return [f"WARNING: replicas differ between ranks: {', '.join(labels)}."] if labels else []
