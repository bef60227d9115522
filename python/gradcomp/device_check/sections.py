"""Tables of the page as (header, rows) of text, from records of gradcomp-bench and gradcomp-train."""
from gradcomp.output import text


def rows_of(found, *operations):
    """Rows of all records, in order."""
    return [row for record in found.values() for row in record["benchmarks"] if row["operation"] in operations]


def bandwidth_fraction(row):
    """The fraction of the read bandwidth; None if the kernel does not declare its bytes."""
    passes, ratio = row.get("passes"), row.get("read_limit_ratio")
    return passes / ratio if passes and ratio else None


def limits_table(found):
    """The limits of the device at the largest size, and the share that a training step reaches."""
    rows, limits = [], rows_of(found, "read", "copy", "triad")
    largest = max((row["elements"] for row in limits), default=0)
    for row in limits:
        if row["elements"] == largest:
            rows.append([f"{row['operation']}, {largest:,} floats", f"{text.number(row['gb_per_second'])} GB/s", ""])
    for row in rows_of(found, "sgemm", "train_step"):
        share = row.get("sgemm_peak_ratio")
        rows.append([row["name"], f"{text.number(row['gflop_per_second'])} GFLOP/s",
                     "" if share is None else f"{text.percent(share)} of sgemm"])
    return ["limit", "rate", ""], rows


def kernel_table(found):
    """Every kernel at its largest size."""
    largest = {}
    for row in rows_of(found, "kernel"):
        if row["elements"] >= largest.get(row["kernel"], row)["elements"]:
            largest[row["kernel"]] = row
    return ["kernel", "elements", "ms", "GB/s", "fraction of read bandwidth", "x read"], [
        [name, f"{row['elements']:,}", text.number(row["real_time"]), text.number(row["gb_per_second"]),
         text.percent(bandwidth_fraction(row)), text.ratio(row["read_limit_ratio"])] for name, row in largest.items()]


def method_table(found):
    """Compress and decompress of every method at each size."""
    pairs = {}
    for row in rows_of(found, "pair"):
        pairs.setdefault(row["method"], {})[row["elements"]] = row
    shown = sorted({elements for rows in pairs.values() for elements in rows})
    header = ["method", *(f"{size:,}: {unit}" for size in shown for unit in ("ms", "x read"))]
    rows = []
    for method, by_size in sorted(pairs.items()):
        cells = [f"`{method}`"]
        for size in shown:
            row = by_size.get(size)
            cells += [text.DASH] * 2 if row is None else [text.number(row["real_time"]),
                                                          text.ratio(row["read_limit_ratio"])]
        rows.append(cells)
    return header, rows


def training_table(rows):
    """A line per method. A method that misses the quality or diverged has no speed-up."""
    header = ["method", "payload per step", "step, median (ms)", "samples/s", "exposed exchange (ms)", "GFLOP/s",
              f"test {rows[0]['metric']}", "speed-up vs fp32", "joules per step"]
    return header, [[f"`{row['label']}`", text.size(row["payload_bytes"]), text.number(row["step_time_ms"]["median"]),
                     text.number(row["samples_per_second"]), text.number(row["stages_ms"]["exposed"]),
                     text.number(row.get("gflop_per_second")), text.quality_of(row),
                     text.ratio(row["speedup_vs_fp32"]), text.number(row.get("joules_per_step"))] for row in rows]
