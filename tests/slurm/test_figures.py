"""Figures that the checks of slurm/reframe read from a record, without ReFrame."""
import copy
import json

import pytest

from gradcomp.errors import ToolError
from gradcomp.slurm import figures

REDUCTION = {"context": {"gradcomp": {}}, "benchmarks": [
    {"name": f"allreduce/{label}/{size}", "label": label, "elements": size, "wrong": 0, "bus_bw_gb_s": size / 10,
     "time_ms": {"median": time}}
    for size in (10, 100) for label, time in (("fp32", 8), ("bf16", 4), ("top_k:ratio=0.01", 2))]}
SAID = "a line\ngradcomp exit status 0\n"


def read(folder, record, said=SAID, program="gradcomp-allreduce"):
    (folder / "out.json").write_text(json.dumps(record), encoding="utf-8")
    return figures.read_record(folder / "out.json", said, program)


def test_figures_are_of_the_largest_size_and_against_the_fastest_control(tmp_path):
    found = figures.allreduce(read(tmp_path, REDUCTION))
    assert found == {"fp32_bus_bandwidth": (10, "GB/s"), "top_k_ratio_0_01_time": (0.5, "of the best dense")}
    rows = [{"label": label, "step_time_ms": {"median": time}} for label, time in (("fp32", 3), ("no_exchange", 1), ("sign", 6))]
    assert figures.step({"benchmarks": rows}) == {"sign_time": (2, "of the best dense")}, "it exchanges nothing"
    rows = [{"label": "sign", "operation": operation, "elements": size, "read_limit_ratio": ratio}
            for operation, size, ratio in (("compress", 1, 1), ("compress", 9, 4), ("decompress", 9, 2))]
    assert figures.compress({"benchmarks": rows}) == {"sign_throughput": (0.25, "of the read limit")}


@pytest.mark.parametrize("key, value", [("wrong", 1), ("verified", False), ("replica_hash_equal", False)])
def test_an_answer_that_was_refused_is_no_measurement(tmp_path, key, value):
    record = copy.deepcopy(REDUCTION)
    record["benchmarks"][3][key] = value
    with pytest.raises(ToolError, match="rejected the answer of allreduce/fp32/100"):
        read(tmp_path, record)


def test_a_step_of_a_method_that_diverged_is_no_figure(tmp_path):
    record = {"context": {"gradcomp": {}}, "benchmarks": [
        {"name": label, "label": label, "step_time_ms": {"median": 1}} for label in ("fp32", "sign")]}
    record["benchmarks"][1]["diverged_at_step"] = 12
    with pytest.raises(ToolError, match="sign diverged at step 12"):
        figures.step(read(tmp_path, record, "gradcomp exit status 3\n", "gradcomp-train"))
    with pytest.raises(ToolError, match="exit status 3"):
        read(tmp_path, record, "gradcomp exit status 3\n")


@pytest.mark.parametrize("said, record, why", [
    ("", REDUCTION, "the job ended before its program did"), ("gradcomp exit status 7\n", REDUCTION, "exit status 7"),
    (SAID, {"context": {"gradcomp": {"failures": ["density"]}}, "benchmarks": [{"name": "a"}]}, "missed a limit: density"),
    (SAID, {"context": {"gradcomp": {}}, "benchmarks": []}, "no rows"), (SAID, [], "no 'out.json' with results")])
def test_what_is_no_record(tmp_path, said, record, why):
    with pytest.raises(ToolError, match=why):
        read(tmp_path, record, said)
