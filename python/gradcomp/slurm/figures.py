"""Reads from a record whether the program's own verification passed, and the figures that a check judges."""
import re

from gradcomp.errors import ToolError, complete, taking
from gradcomp.json_files import read_json

DENSE = ("fp32", "fp16", "bf16")
UNFIT = "the program wrote a record without what is judged"


def read_record(path, said, program):
    """The record of a program that ended well and verified every row; `said` is the output of its job."""
    status = re.findall(r"^gradcomp exit status (\d+)$", said, re.MULTILINE)
    if len(status) != 1 or not complete([program], int(status[0])):
        raise ToolError(f"exit status {status[-1]} of the program" if status else "the job ended before its program did")
    record = read_json(path)
    with taking(f"the program wrote no '{path.name}' with results"):
        rows = record["benchmarks"]
        failures = record["context"]["gradcomp"].get("failures", [])
        if not rows:
            raise ToolError(f"'{path.name}' has no rows")
        for row in rows:
            if row.get("verified") is False or row.get("wrong") or row.get("replica_hash_equal") is False:
                raise ToolError(f"the program's own verification rejected the answer of {row['name']}")
    if failures:
        raise ToolError(f"the program missed a limit: {failures[0]}")
    return record


def tag(label):
    """A method's label as a name for ReFrame: top_k:ratio=0.01 becomes top_k_ratio_0_01."""
    return re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_")


def _against_best_dense(rows, time):
    """{NAME: (ratio, unit)}: each method's time / time of the fastest dense control of the same job."""
    dense = min(time(row) for row in rows if row["label"] in DENSE)
    return {f"{tag(row['label'])}_time": (time(row) / dense, "of the best dense") for row in rows
            if row["label"] not in (*DENSE, "no_exchange")}


@taking(UNFIT)
def allreduce(record):
    """At the largest size: the bandwidth of a dense control, and the ratio of each method to it."""
    largest = max(row["elements"] for row in record["benchmarks"])
    rows = [row for row in record["benchmarks"] if row["elements"] == largest]
    bandwidth = next(row["bus_bw_gb_s"] for row in rows if row["label"] == "fp32")
    return {"fp32_bus_bandwidth": (bandwidth, "GB/s")} | _against_best_dense(rows, lambda row: row["time_ms"]["median"])


@taking(UNFIT)
def compress(record):
    """At the largest size: throughput as a fraction of the rate of only reading the same bytes."""
    rows = [row for row in record["benchmarks"] if row.get("operation") == "compress"]
    largest = max(row["elements"] for row in rows)
    return {f"{tag(row['label'])}_throughput": (1 / row["read_limit_ratio"], "of the read limit") for row in rows
            if row["elements"] == largest}


@taking(UNFIT)
def step(record):
    """Whole training steps. There are no speed-ups: a check is too short to judge the quality."""
    for row in record["benchmarks"]:
        if "diverged_at_step" in row:
            raise ToolError(f"{row['label']} diverged at step {row['diverged_at_step']}")
    return _against_best_dense(record["benchmarks"], lambda row: row["step_time_ms"]["median"])
