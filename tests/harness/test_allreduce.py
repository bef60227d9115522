"""gradcomp-allreduce: sizes, reducers and columns in the manner of nccl-tests."""
import json

import pytest

from test_schema import BIN, one_line, run

pytestmark = pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")


def rows(tmp_path, *arguments):
    path = tmp_path / "a.json"
    done = run("gradcomp-allreduce", *arguments, "--repetitions", 5, "--output", path)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text(encoding="utf-8"))["benchmarks"], done.stdout


def test_sizes_from_bytes(tmp_path):
    found, _ = rows(tmp_path, "--minbytes", 8, "--maxbytes", "8K", "--stepfactor", 32, "--methods", "fp32")
    assert [row["elements"] for row in found] == [2, 64, 2048]


def test_every_reducer_that_can_carry_a_method(tmp_path):
    found, _ = rows(tmp_path, "--sizes", 64, "--methods", "fp32,qsgd", "--reducers", "all")
    names = [row["method"] for row in found]
    assert names[0] == "fp32:reducer=allreduce" and {"fp32:reducer=ring", "qsgd:reducer=two_phase"} < set(names)
    assert not {"fp32:reducer=two_phase", "qsgd:reducer=ring", "fp32:reducer=local"} & set(names)
    chosen, _ = rows(tmp_path, "--sizes", 64, "--methods", "fp32,qsgd", "--reducers", "tree,allgather")
    assert [row["method"] for row in chosen] == ["fp32:reducer=tree", "qsgd:reducer=allgather"]


def test_nothing_is_reduced_by_every_method(tmp_path):
    methods = [one["name"] for one in json.loads(run("gradcomp-methods", "--list=json").stdout)]
    found, _ = rows(tmp_path, "--sizes", "0,1", "--methods", ",".join(methods))
    assert [row["elements"] for row in found] == [0] * len(methods) + [1] * len(methods) and len(methods) >= 34
    assert not any(row["wrong"] for row in found)


def test_columns_agree_with_the_samples(tmp_path):
    found, shown = rows(tmp_path, "--sizes", "64,4096", "--methods", "fp32,top_k", "--raw")
    for row in found:
        ranks, median = row["rank_time_ms"], row["time_ms"]["median"]
        assert ranks["minimum"] <= ranks["maximum"] == median, "of one rank"
        assert ranks["mean"] == pytest.approx(median, abs=2e-6) and row["time_p99_ms"] >= median
        assert row["raw_mpi_ratio"] == pytest.approx(row["raw_mpi_ms"] / median)
    raw = {row["elements"]: row["raw_mpi_ms"] for row in found}
    assert [row["raw_mpi_ms"] for row in found] == [raw[64]] * 2 + [raw[4096]] * 2, "measured once for a size"
    assert "raw MPI / ours" in shown
    without, _ = rows(tmp_path, "--sizes", 64, "--methods", "fp32")
    assert without[0]["raw_mpi_ms"] is None and without[0]["raw_mpi_ratio"] is None


def test_the_numerics_card_has_the_dense_methods_at_the_largest_size(tmp_path):
    methods = "bf16:reducer=rank_order,bf16:reducer=ring,bf16,top_k"
    found, shown = rows(tmp_path, "--sizes", "4096,64", "--methods", methods, "--numerics")
    card = {(row["label"], row["elements"]): row["simulated_error"] for row in found if "simulated_error" in row}
    assert set(card) == {("bf16:reducer=rank_order", 4096), ("bf16:reducer=ring", 4096)}, "the order of a library is not known"
    assert all(list(errors) == ["2", "8", "32", "128", "512"] for errors in card.values())
    assert card["bf16:reducer=ring", 4096]["512"] > 5 * card["bf16:reducer=rank_order", 4096]["512"]
    assert any(line.split()[:1] == ["bf16"] and line.split()[2:] == ["-"] * 5 for line in shown.splitlines())
    assert "relative error of the mean: on these ranks, and by simulation" in shown and "these 1" in shown
    _, without = rows(tmp_path, "--sizes", 64, "--methods", "top_k", "--numerics")
    assert "simulation" not in without


@pytest.mark.parametrize("arguments, said", [
    (["--minbytes", "8"], "--maxbytes"), (["--stepfactor", "2"], "--minbytes"),
    (["--minbytes", "8", "--maxbytes", "64", "--sizes", "4"], "--sizes"),
    (["--minbytes", "64", "--maxbytes", "8"], "the smaller one"), (["--minbytes", "2", "--maxbytes", "8"], "from 4"),
    (["--minbytes", "8", "--maxbytes", "64", "--stepfactor", "1"], "at least 2"),
    (["--raw", "--link", "1Gbit/s"], "--raw measures MPI over the real link"),
    (["--sizes", "8,1,8"], "--sizes: 8 is given twice"), (["--timeout", "inf"], "--timeout"),
    (["--kokkos-num-threads=0"], "--kokkos-num-threads=0 is not allowed; allowed: 1 to 4096"),
    (["--reducers", "rings"], "unknown reducer 'rings'"), (["--methods", "qsgd", "--reducers", "ring"], "none of --reducers ring")])
def test_wrong_calls_are_one_line(arguments, said, tmp_path):
    done = run("gradcomp-allreduce", *arguments, "--output", tmp_path / "a.json")
    one_line("gradcomp-allreduce", done)
    assert said in done.stderr and not list(tmp_path.iterdir())
