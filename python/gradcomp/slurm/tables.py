"""Tables of a sweep, one row for each point and method, with the fabric in every row."""
import csv
import io
import types

from gradcomp.output import text

from . import scaling
from .keys import ALLREDUCE

DASH = "-"


def _mean(row, name, *path):
    """A value of a row, or its mean over seeds."""
    value = (row.get(f"{name}_over_seeds") or {}).get("mean") if row.get("run_type") == "aggregate" else row.get(name)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else value
    return value


def fabrics(folder, found):
    """{(nodes, ranks per node): the result of the preflight there, in words}"""
    words = {}
    for index, record in found.items():
        point = folder.points[index]
        if point.get("preflight"):
            row = max(record["benchmarks"], key=lambda row: row["elements"])
            words[point["nodes"], point["ranks_per_node"]] = (
                f"{folder.system['FABRIC']}: {row['bus_bw_gb_s']:.3g} GB/s bus bandwidth at "
                f"{row['dense_bytes'] / 1e6:.3g} MB")
    return words


def _where(folder, point, record, words):
    link = record["context"]["gradcomp"]["link"]
    fabric = words.get((point["nodes"], point["ranks_per_node"]), f"{folder.system['FABRIC']}: not measured")
    emulated = f"emulated {link['text']} over " if link["kind"] == "emulated" else ""
    return {"point": point["id"], "nodes": point["nodes"], "ranks": point["nodes"] * point["ranks_per_node"],
            "link": emulated + fabric}


def _training(where, point, record):
    rows = record["benchmarks"]
    means = [row for row in rows if row.get("run_type") == "aggregate"]
    options = point["options"]
    for row in means or rows:
        seeds = [one for one in rows if one["label"] == row["label"] and one.get("run_type") != "aggregate"]
        yield where | {
            "model": options.get("model", row.get("model")), "strategy": options.get("strategy", "default"),
            "bucket KiB": options.get("bucket_kib", "auto"), "batch per rank": options.get("batch", "default"),
            "method": row["label"], "payload bytes": row.get("payload_bytes"),
            "step ms": _mean(row, "step_time_ms", "median"), "test quality": text.diverged(seeds) or _mean(row, "test_quality"),
            "quality matched": row.get("quality_matched"), "speed-up vs fp32": _mean(row, "speedup_vs_fp32"),
            "speed-up vs best dense": _mean(row, "speedup_vs_best_dense")}


def _preflight(where, record):
    for row in record["benchmarks"]:
        yield where | {"method": row["label"], "MB": row["dense_bytes"] / 1e6, "time ms": row["time_ms"]["median"],
                       "algorithm GB/s": row["alg_bw_gb_s"], "bus GB/s": row["bus_bw_gb_s"]}


def _reduction(where, record):
    """Throughput only, together with the error. There is no bus bandwidth, because it compares only dense methods."""
    for row in record["benchmarks"]:
        yield where | {"method": row["label"], "MB": row["dense_bytes"] / 1e6, "payload bytes": row["payload_bytes"],
                       "time ms": row["time_ms"]["median"], "algorithm GB/s": row["alg_bw_gb_s"],
                       "relative error": row.get("relative_error")}


def _rows(where, point, record):
    """(the table, its rows) of one point."""
    if point.get("preflight"):
        return "preflight", list(_preflight(where, record))
    if point["program"] == ALLREDUCE:
        return "reduction", list(_reduction(where, record))
    return "training", list(_training(where, point, record))


def check(folder, index, record):
    """Raises KeyError or a similar error if a record does not have what the tables need."""
    found = tables(folder, {index: record})
    if not found:
        raise KeyError("benchmarks")
    for row in found[0][2]:
        if not isinstance(row.get("step ms"), (int, float, types.NoneType)):
            raise TypeError(f"a step of {row['step ms']!r}")


def tables(folder, found):
    """[(file name, title, rows)] with rows as dictionaries. Tables without rows are left out."""
    parts = {"preflight": ("The link alone: dense allreduce of 32 bits", []), "training": ("Training", []),
             "scaling": ("Scaling efficiency of the step time, whatever the quality", []),
             "reduction": ("The reduction alone: throughput without training quality", [])}
    words = fabrics(folder, found)
    for index, record in sorted(found.items()):
        point = folder.points[index]
        name, rows = _rows(_where(folder, point, record, words), point, record)
        parts[name][1].extend(rows)
    parts["scaling"][1].extend(scaling.rows(folder, found, parts["training"][1]))
    return [(name, title, rows) for name, (title, rows) in parts.items() if rows]


def _cell(value):
    if value is None:
        return DASH
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", "\\|")


def csv_text(rows):
    """Comma-separated values; a missing value is empty."""
    made = io.StringIO()
    writer = csv.DictWriter(made, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return made.getvalue()


def markdown(folder, parts, missing):
    """The tables as one page."""
    lines = [f"# {folder.title}", "", f"System {folder.system.name}, experiment {folder.experiment}: "
             f"{len(folder.points) - len(missing)} of {len(folder.points)} points. A speed-up is shown only at matched "
             "quality.", ""]
    if missing:
        lines += ["## Missing points", "", *(f"- {folder.points[i]['id']}: {why}" for i, why in missing.items()), ""]
    for _, title, rows in parts:
        lines += [f"## {title}", "", "| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])]
        lines += ["| " + " | ".join(map(_cell, row.values())) + " |" for row in rows] + [""]
    return "\n".join(lines)
