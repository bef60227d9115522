"""gradcomp-train --link with several rates, gradcomp-tune --buckets-only, and what both refuse."""
import json
import os
import subprocess

import pytest

from gradcomp.results import judge
from test_schema import BIN, VALIDATOR

pytestmark = pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
SMALL = ("--data hmm:tokens=6000:test=700 --model lstm_1x96 --batch 4 --length 8 --lr 1 --momentum 0 --weight-decay 0 "
         "--clip 0.25").split()


def tune(*arguments):
    """Runs gradcomp-tune on one rank with one thread."""
    return train(*arguments, program="gradcomp-tune")


def train(*arguments, program="gradcomp-train", **variables):
    """Runs gradcomp-train on one rank, with one thread unless `variables` of the environment say otherwise."""
    done = subprocess.run([os.path.join(BIN, program), *SMALL, *map(str, arguments)], capture_output=True,
                          text=True, check=False, timeout=300, env=os.environ | {"OMP_NUM_THREADS": "1"} | variables)
    return done.returncode, done.stdout, done.stderr


def test_links_take_turns_and_all_have_as_many_steps(tmp_path):
    output, shared = tmp_path / "out.json", ("--link", "1Gbit/s,100Mbit/s,10Gbit/s,20us", "--rates", tmp_path / "rates.json")
    status, printed, errors = tune(*shared, "--buckets-only")
    assert status == 0 and "bf16: fastest in buckets of" in printed and "chosen" not in printed, errors
    status, printed, errors = train(*shared, "--steps", 12, "--block", 2, "--seeds", 2, "--methods", "top_k", "--output", output)
    assert status == 0, errors
    document = json.loads(output.read_text(encoding="utf-8"))
    VALIDATOR.validate(document)
    link = document["context"]["gradcomp"]["link"]
    assert link["kind"] == "emulated" and link["text"] == "1Gbit/s,100Mbit/s,10Gbit/s"
    assert link["rate_mbit_s"] is None and link["latency_us"] == pytest.approx(20) and link["slowed_by"] == 1
    seeds = document["benchmarks"]
    assert len(seeds) == 2 * 5
    for row in seeds:
        assert [one["rate_mbit_s"] for one in row["over_links"]] == [1000, 100, 10000]
        assert [one["step_time_ms"]["count"] for one in row["over_links"]] == [2, 2, 2], "12 steps, the first of a block not timed"
        assert "bucket_kib" in row or row["label"] in ("no_exchange", "top_k")
        assert row["learning_rate"] == 1 and "tuning_steps" not in row and "bucket_sweep" not in row
    totals = [row for row in judge.judged(document) if row["run_type"] == "aggregate"]
    assert len(totals) == 5 and all(len(row["over_links_over_seeds"]) == 3 for row in totals)
    hashes = {row["seed"]: row["parameters_hash"] for row in seeds if row["label"] == "fp32"}
    assert set(hashes) == {1, 2} and len(set(hashes.values())) == 2, "every seed is a training of its own"
    assert "over each link" in printed and "100Mbit/s" in printed


def test_a_link_is_as_much_slower_as_threads_share_a_core(tmp_path):
    output, threads = tmp_path / "out.json", 2 * os.cpu_count()
    status, _, errors = train("--link", "1Gbit/s,50us", "--steps", 1, "--methods", "top_k", "--output", output,
                              OMP_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive")
    assert status == 0, errors
    context = json.loads(output.read_text(encoding="utf-8"))["context"]["gradcomp"]
    if context["kokkos_backend"] != "OpenMP":
        pytest.skip("the ranks of this build have one thread each, or compute on devices")
    assert context["threads"] == threads and context["link"]["slowed_by"] == 2


def test_rows_name_the_link_over_which_buckets_were_timed_if_it_is_another_one(tmp_path):
    rates, output = tmp_path / "rates.json", tmp_path / "out.json"
    status, _, errors = tune("--tune-steps", 2, "--tune-trials", 3, "--rates", rates, "--methods", "top_k")
    assert status == 0, errors
    assert json.loads(rates.read_text(encoding="utf-8"))["bucket_sweep"] == {"link": "", "strategy": "overlapped"}
    for link, said in (((), None), (("--link", "1Gbit/s,20us"), "real link, strategy overlapped")):
        status, _, errors = train("--steps", 2, *link, "--rates", rates, "--methods", "top_k", "--output", output)
        assert status == 0, errors
        document = json.loads(output.read_text(encoding="utf-8"))
        VALIDATOR.validate(document)
        found = {row["label"]: row.get("bucket_sweep") for row in document["benchmarks"]}
        assert found["top_k"] is None and {found[label] for label in ("fp32", "fp16", "bf16")} == {said}


@pytest.mark.parametrize("arguments, said", [
    (("--link", "1Gbit/s,2Gbit/s", "--steps", 12, "--block", 5),
     "--steps 12 is not allowed with the 2 links of --link 1Gbit/s,2Gbit/s; allowed: multiples of 10"),
    (("--link", "1Gbit/s,2Gbit/s", "--steps", 12, "--block", 2, "--target", "perplexity=60"),
     "--target is not allowed with the several links of --link"),
    (("--link", "1Gbit/s,fast"), "is not allowed; allowed: RATE,...[,LATENCY]"),
    (("--link", "1Gbit/s,1Gbit/s"), "is given twice"),
    (("--quality-tolerance", 0.06), "a number in [0, 0.05]"),
    (("--seed", 999999999, "--seeds", 2), "are those of gradcomp-tune"),
    (("--methods", "none"), "method 'none' is now called 'no_exchange'")])
def test_wrong_arguments_are_one_line(arguments, said):
    status, _, errors = train(*arguments)
    assert status != 0 and said in errors and len(errors.splitlines()) == 1, errors


@pytest.mark.parametrize("arguments, said", [
    ((), "--rates is missing"), (("--rates", "r.json", "--tune-seeds", 1), "at least 2"),
    (("--rates", "r.json", "--tune-trials", 2), "at least 3"),
    (("--rates", "r.json", "--output", "o.json"), "not expected"),
    (("--rates", "r.json", "--strategy", "servers"), "bucket sizes cannot be timed with --strategy servers"),
    (("--rates", "/no/such/folder/r.json"), "/no/such/folder"),
    (("--rates", "r.json", "--buckets-only", "--no-controls"), "--buckets-only is not allowed with --no-controls")])
def test_wrong_arguments_of_a_tuning_are_one_line(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, errors = tune(*arguments)
    assert status != 0 and said in errors and len(errors.splitlines()) == 1, errors
    assert not list(tmp_path.iterdir())


def test_a_reference_at_chance_shows_no_speed_up(tmp_path):
    output = tmp_path / "out.json"
    status, printed, errors = train("--steps", 1, "--methods", "top_k", "--output", output)
    assert status == 0 and f"\n  gradcomp-report --text {output}\n" in printed, errors
    rows = judge.judged(json.loads(output.read_text(encoding="utf-8")))
    assert not any(row["quality_matched"] for row in rows) and not any(row["speedup_vs_fp32"] for row in rows)
