"""Scaling efficiency in the tables of a sweep, from fabricated records."""
import pathlib

import pytest

from gradcomp.slurm import tables
from gradcomp.slurm.folder import Folder
from gradcomp.slurm.system import DEFAULTS, System


def sweep(*points):
    """A folder and its records, from (nodes, batch of a rank, {method: step in ms}, more options)."""
    folder = Folder(pathlib.Path("unused"), system=System("site", DEFAULTS | {"RANKS_PER_NODE": "2"}))
    found = {}
    for index, (nodes, batch, steps, more) in enumerate(points):
        folder.points.append({"id": f"p{index}", "program": "gradcomp-train", "nodes": nodes, "ranks_per_node": 2,
                              "options": {"model": "resnet8", "batch": batch} | more})
        found[index] = {"context": {"gradcomp": {"link": {"kind": "real"}}},
                        "benchmarks": [{"label": label, "batch_per_rank": batch, "step_time_ms": {"median": ms}}
                                       for label, ms in steps.items()]}
    return {name: rows for name, _, rows in tables.tables(folder, found)}


def efficiencies(rows, method):
    names = ("scaling", "nodes", "against nodes", "efficiency", "efficiency vs fp32")
    return [tuple(row[name] for name in names) for row in rows if row["method"] == method]


def test_weak_scaling_keeps_the_batch_of_a_rank():
    rows = sweep((4, 8, {"fp32": 40, "sign": 10}, {}), (1, 8, {"fp32": 10, "sign": 8}, {}),
                 (2, 8, {"fp32": 20, "sign": 8}, {}))["scaling"]
    assert efficiencies(rows, "fp32") == [("weak", 1, 1, 1, 1), ("weak", 2, 1, 0.5, 0.5), ("weak", 4, 1, 0.25, 0.25)]
    assert efficiencies(rows, "sign") == [("weak", 1, 1, 1, 1.25), ("weak", 2, 1, 1, 1.25), ("weak", 4, 1, 0.8, 1)]
    assert {row["batch"] for row in rows} == {"8 a rank"} and [row["ranks"] for row in rows[:3]] == [2, 4, 8]


def test_strong_scaling_keeps_the_batch_over_all_ranks():
    rows = sweep((2, 16, {"fp32": 40, "sign": 20}, {}), (8, 4, {"fp32": 20, "sign": 5}, {}))["scaling"]
    assert efficiencies(rows, "fp32") == [("strong", 2, 2, 1, 1), ("strong", 8, 2, 0.5, 0.5)]
    assert efficiencies(rows, "sign") == [("strong", 2, 2, 1, 2), ("strong", 8, 2, 1, 2)]
    assert {row["batch"] for row in rows} == {"64 in all"}


def test_over_seeds_the_table_says_how_many_diverged():
    row = {"label": "sign", "batch_per_rank": 8, "step_time_ms": {"median": 9}, "test_quality": 0.5}
    total = {"label": "sign", "run_type": "aggregate", "step_time_ms_over_seeds": {"mean": 9}, "test_quality_over_seeds": None,
             "speedup_vs_fp32_over_seeds": None}  # as of every method that missed the quality of fp32
    folder = Folder(pathlib.Path("unused"), system=System("site", DEFAULTS | {"RANKS_PER_NODE": "2"}))
    folder.points.append({"id": "p", "program": "gradcomp-train", "nodes": 1, "ranks_per_node": 2, "options": {}})
    record = {"context": {"gradcomp": {"link": {"kind": "real"}}},
              "benchmarks": [row, row | {"test_quality": None, "diverged_at_step": 7}, total]}
    [(_, _, rows)] = tables.tables(folder, {0: record})
    assert [found["test quality"] for found in rows] == ["diverged with 1 of 2 seeds"]
    assert rows[0]["speed-up vs fp32"] is None


@pytest.mark.parametrize("more", [{"link": "1Gbit/s"}, {"bucket_kib": 64}, {"strategy": "synchronous"}, {"model": "vgg11"}])
def test_points_that_differ_in_more_than_nodes_are_not_compared(more):
    assert "scaling" not in sweep((1, 8, {"fp32": 10}, {}), (2, 8, {"fp32": 10}, more), (2, 8, {"fp32": 9}, more))


def test_what_was_not_measured_has_no_efficiency():
    rows = sweep((1, 8, {"sign": 10}, {}), (2, 8, {"sign": None}, {}), (4, 8, {"sign": 20, "natural": 1}, {}))["scaling"]
    assert efficiencies(rows, "sign") == [("weak", 1, 1, 1, None), ("weak", 2, 1, None, None), ("weak", 4, 1, 0.5, None)]
    assert not efficiencies(rows, "natural"), "it did not run on the fewest nodes"
