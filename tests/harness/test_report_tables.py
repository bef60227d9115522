"""The tables of a report, cell by cell, from the figures of example_results.py."""
import numpy as np
import pytest

import example_results
from example_records import record, training
from gradcomp.report import frames, tables

TIMES, DASH, STAR = "\N{MULTIPLICATION SIGN}", "\N{EN DASH}", " \N{BLACK STAR}"


def shown(table):
    """Header and rows as lines."""
    header, rows = table
    return [" | ".join(cells) for cells in (header, *rows)]


def test_methods():
    assert shown(tables.methods(training())) == [line.replace("x |", f"{TIMES} |").replace("~", DASH) for line in (
        "method | payload per step | compression ratio | step, median (ms) | step, p95 (ms) | samples/s | test accuracy | "
        "quality of fp32 | share of the gap | speed-up vs fp32 | speed-up vs best dense",
        f"fp32 | 1.08 MB | 1.00x | 92.0 | 94.0 | 696 | 95.0 % | {tables.TICK} | 100.0 % | 1.00x | 0.853{TIMES}",
        f"fp16 | 539 kB | 2.00x | 78.5 | 80.5 | 815 | 95.1 % | {tables.TICK} | 100.3 % | 1.17x | 1.00{TIMES}",
        f"bf16 | 539 kB | 2.00x | 78.8 | 80.8 | 813 | 94.8 % | {tables.TICK} | 99.4 % | 1.17x | 0.997{TIMES}",
        f"no_exchange | 0 B | ~ | 62.0 | 64.0 | 1,032 | 60.0 % | {tables.CROSS} | 0.0 % | ~ | ~",
        f"top_k:ratio=0.01 | 21.6 kB | 50.0x | 67.0 | 69.0 | 955 | 94.9 % | {tables.TICK} | 99.7 % | 1.37x | 1.17{TIMES}",
        f"powersgd:rank=2 | 56.8 kB | 19.0x | 71.0 | 73.0 | 901 | 70.0 % | {tables.CROSS} | 28.6 % | ~ | ~")]


def test_a_task_that_does_not_tell_has_no_verdict():
    document = example_results.train()
    for row in document["benchmarks"]:
        row |= {"task_tells": False, "gap_share": None, "quality_matched": False}
    header, *lines = shown(tables.methods(frames.training(record(document))))
    assert "share of the gap" not in header and all("| not told |" in line for line in lines)


def test_a_method_that_diverged_says_so_in_place_of_its_quality():
    document = example_results.train()
    example_results.diverge(document["benchmarks"][4], 12)
    assert shown(tables.methods(frames.training(record(document))))[5] == (
        f"top_k:ratio=0.01 | 21.6 kB | 50.0{TIMES} | 67.0 | 69.0 | 955 | diverged at step 12 | diverged | {DASH} | {DASH} | {DASH}")


def test_breakdown():
    lines = shown(tables.breakdown(training()))
    assert lines[0] == "method | data | forward | backward | compress | exposed | decompress | update | rest | step | exchange, hidden"
    assert lines[5] == "top_k:ratio=0.01 | 1.00 | 20.0 | 38.0 | 3.00 | 2.00 | 0.400 | 0.600 | 2.00 | 67.0 | 0"


def test_stages_and_rest_add_up_to_the_step():
    row = example_results.train()["benchmarks"][4]
    row["stages_ms"] |= {"transfer": 1.5, "waiting": 0.25, "importance": 9.0, "hidden": 5.0, "exchange": 7.0}
    found = frames.parts(row)
    assert list(found) == [
        "data", "importance", "forward", "backward", "compress", "transfer", "waiting", "decompress", "update", "rest"]
    assert sum(found.values()) == pytest.approx(row["step_time_ms"]["median"]) and found["rest"] == pytest.approx(-6.75)
    row["stages_ms"]["transfer"] = None
    assert frames.parts(row)["exposed"] == 2.0 and sum(frames.parts(row).values()) == pytest.approx(67)


def test_reductions_have_a_star_for_the_fastest_method_of_each_size():
    frame = frames.allreduce(record(example_results.allreduce()))
    assert shown(tables.reductions(frame)) == [
        "method | 4.10 kB (ms) | 65.5 kB (ms) | 1.05 MB (ms) | 16.8 MB (ms) | NMSE, 16.8 MB",
        f"fp32 | 0.0541{STAR} | 0.116 | 1.10 | 16.8 | 0", f"fp16 | 0.0631 | 0.109{STAR} | 0.846 | 12.6 | 0.250",
        "no_exchange | 0.00110 | 0.00264 | 0.0272 | 0.420 | 0.250",
        f"top_k:ratio=0.01 | 0.500 | 0.507 | 0.605{STAR} | 2.18{STAR} | 0.250",
        "powersgd:rank=2 | 1.01 | 1.15 | 3.36 | 38.7 | 0.250"]
    assert shown(tables.kernels(frames.bench(record(example_results.bench())))) == [
        "method | compress, 1,024 | decompress, 1,024 | NMSE, 1,024", f"top_k | 2.50{TIMES} | 2.50{TIMES} | 0.500"]


def test_evaluations():
    rows = example_results.evaluate()["benchmarks"] + example_results.evaluate("s", "closed")["benchmarks"]
    assert shown(tables.evaluations(rows)) == [line.replace("~", DASH) for line in (
        "method | gradient | steps | target density | achieved / target | std | rms of - 1 | payload per step | bits per entry | "
        "index entropy | relative error | compress / read",
        f"fp32 | laplace | 2 | ~ | ~ | ~ | ~ | 80 B | ~ | ~ | 0.900 | 5.00{TIMES}",
        f"top_k:ratio=0.01 | laplace | 2 | 0.0100 | 1.02 | 0.100 | 0.110 | 80 B | 64.0 | 8.10 | 0.900 | 5.00{TIMES}",
        f"fp32 | s, with feedback | 2 | ~ | ~ | ~ | ~ | 80 B | ~ | ~ | 0.900 | 5.00{TIMES}",
        f"top_k:ratio=0.01 | s, with feedback | 2 | 0.0100 | 1.02 | 0.100 | 0.110 | 80 B | 64.0 | 8.10 | 0.900 | 5.00{TIMES}")]


def test_replicas_that_differ_are_named():
    document = example_results.train()
    assert not tables.broken(frames.training(record(document)))
    for number in (1, 4):
        document["benchmarks"][number]["replica_hash_equal"] = False
    assert tables.broken(frames.training(record(document))) == [
        "WARNING: replicas differ between ranks: fp16, top_k:ratio=0.01."]


def test_seeds_are_told_apart_and_controls_come_first():
    document = example_results.train()
    rows = document["benchmarks"]
    document["benchmarks"] = [rows[4], rows[0], rows[0] | {"seed": 2}]
    frame = frames.training(record(document))
    assert list(frame["label"]) == ["fp32 (seed 1)", "fp32 (seed 2)", "top_k:ratio=0.01"]
    assert list(frame["registry"]) == ["fp32", "fp32", "top_k"]
    assert frames.registry_name("top_k+qsgd:bits=4") == "top_k"


def test_a_crossover_needs_a_size_at_which_the_method_loses():
    sizes = np.log([1.0, 10.0, 100.0])
    assert frames._last_crossing(sizes, np.array([-1.0, 0.0, -1.0])) == pytest.approx(10), "equal times are no gain"
    assert frames._last_crossing(sizes, np.array([1.0, 1.0, 0.0])) is None
    assert frames._last_crossing(sizes, np.array([1.0, 3.0, -1.0])) == pytest.approx(10**1.75)
