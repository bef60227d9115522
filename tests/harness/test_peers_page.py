"""tools/peers_page and tools/peers_ddp: tables from fabricated records, and real trainings of two ranks beside ours.

The programs are found in $GRADCOMP_BIN; without it, and without torch, real trainings are left out."""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import types

import numpy as np
import pytest

import page_files
from gradcomp.errors import ToolError
from gradcomp.links import cli
from gradcomp.pages import peers
from gradcomp.peers import cli as ddp
from gradcomp.peers import trainer
from test_schema import BIN, one_line, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
needs_torch = pytest.mark.skipif(not BIN or not importlib.util.find_spec("torch"), reason="needs GRADCOMP_BIN and torch")
TRAIN = ("--data", "shapetex10:train=64:test=32", "--model", "resnet8", "--batch", 4, "--lr", 0.002, "--steps", 6,
         "--methods", "fp32", "--no-controls")


def options(quick=False):
    return types.SimpleNamespace(quick=quick, folder=pathlib.Path("raw"))


def record(*rows):
    return types.SimpleNamespace(rows=rows)


def our_row(label, time, loss=2.0):
    """Six steps in three blocks, of which each has one time; the first block is slow and sends much."""
    return {"label": label, "step_times_ms": [900.0, time, time],
            "curve": {"wire_bytes": [5000.0, 6000.0, 7000.0], "loss": [9.0, 8.0, loss]}}


def their_row(label, time, **more):
    return {"label": label, "step_times_ms": [900.0, time, time], "losses": [9.0] * 4 + [1.0, 3.0], "wire_bytes": [9e3, 9e3, 640.0],
            "loss_error": 2e-5 if label == "dense" else None, "torch": "2.6", **more}


def test_the_first_block_is_left_out():
    assert peers.ours(our_row("fp32", 10.0), 6) == peers.Steps(10.0, 500.0, 2.0)
    assert peers.theirs(their_row("dense", 20.0), 6) == peers.Steps(20.0, 640.0, 2.0)
    assert peers.theirs(their_row("dense", 20.0, wire_bytes=None), 6).size is None
    assert peers.theirs({"label": "dense", "refused": "no bf16"}, 6) is None
    assert peers.ours({**our_row("fp32", 10.0), "diverged_at_step": 3}, 6) is None


def test_table_has_the_ratio_of_each_round():
    mine = [record(our_row("fp32", time), our_row("fp16", time), our_row("no_exchange", time)) for time in (10.0, 20.0)]
    others = [record(their_row("dense", 2 * time), {"label": "fp16_compress_hook", "refused": "why"}, their_row("no_exchange", time))
              for time in (10.0, 20.0)]
    (header, lines), counts = peers.table(mine, others, 6)
    assert header[4] == "ours / DDP's" and counts == {"shorter": 1, "longer": 0, "open": 0}
    found = {line[0]: line for line in lines}
    assert found["`fp32`"][4:] == ["0.500 (0.500 to 0.500) shorter", "500 B", "640 B", "2.000", "2.000"]
    assert found["`no_exchange`"][4] == "1.00 (1.00 to 1.00) open", "computation alone is no comparison of methods"
    dash = "\N{EN DASH}"
    assert found["`fp16`"][3:] == [dash, dash, "500 B", dash, "2.000", dash]
    assert peers.refusals(others) == {"fp16_compress_hook": "why"} and peers.dense_error(others) == 2e-5


def test_losses_that_differ_are_said():
    assert "agree in every step" in peers.agreement({"resnet20": 1e-5, "lstm_1x96": 9e-4})
    assert "**The dense losses of both programs do not agree**" in peers.agreement({"resnet20": 1e-5, "lstm_1x96": 2e-3})


def test_the_answer_counts_comparisons():
    said, (_, lines) = peers.answer([("resnet20, 100 Mbit/s", {"shorter": 5, "longer": 1, "open": 1})])
    assert "shorter in 5 of 7 comparisons" in said and lines == [["resnet20, 100 Mbit/s", "5", "1", "1"]]
    assert peers.answer([]) == (peers.UNKNOWN,)


def test_both_programs_take_turns():
    jobs = {job.name: " ".join(map(str, job.words)) for job in peers.PAGE.jobs(options())}
    names = list(jobs)
    assert names[:3] == ["resnet20_batches", "resnet20_100mbit_ours_1", "resnet20_100mbit_ddp_1"] and len(names) == 2 + 2 * 2 * 4 * 2
    assert jobs["resnet20_batches"].endswith("--block 5 --methods fp32 --no-controls --dump-batches raw/resnet20")
    assert jobs["resnet20_100mbit_ddp_1"] == (
        "tools/shaped-links --nodes 2 --threads 1 --rate 100mbit -- tools/peers_ddp raw/resnet20/rank0/model.json --meet raw/meet "
        "--block 5")
    assert all(case.steps % peers.BLOCKS == 0 for case in (*peers.FULL, *peers.QUICK))


def test_sent_bytes_are_those_of_one_interface():
    text = "Inter-| Receive\n face |bytes\n  eth0: 1 2 0 0 0 0 0 0 1000 3 0 0 0 0 0 0\n    lo: 0 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0\n"
    assert trainer.sent_bytes("eth0", text) == 1000 - 3 * trainer.HEADERS and trainer.sent_bytes("lo", text) == 7
    with pytest.raises(ToolError, match="no network interface 'eth1'"):
        trainer.sent_bytes("eth1", text)


class Gloo:
    """torch.distributed for meet() on one rank: init_process_group() fails so many times, and other ranks say what they are told."""

    def __init__(self, failures, others=()):
        self.failures, self.others, self.said, self.destroyed = failures, dict(others), {}, 0

    def FileStore(self, path, ranks):  # pylint: disable=invalid-name
        assert path == "file" and ranks == 2
        return self

    def PrefixStore(self, prefix, store):  # pylint: disable=invalid-name
        assert store is self
        return prefix

    def set(self, key, value):
        self.said[key] = value

    def get(self, key):
        return (self.said | self.others).get(key, ddp.JOINED).encode()

    def init_process_group(self, _backend, *, store, rank, world_size, timeout):
        assert rank == 0 and world_size == 2 and timeout.total_seconds() == 60
        if int(store) < self.failures:
            raise RuntimeError("Gloo connectFullMesh failed\nwith no error")

    def destroy_process_group(self):
        self.destroyed += 1


def test_ranks_that_gloo_does_not_connect_try_again():
    own = Gloo(failures=2)
    ddp.meet(own, "file", 0, 2)
    assert own.said == {f"said/{n}/0": "Gloo connectFullMesh failed with no error" for n in (0, 1)} | {"said/2/0": ddp.JOINED}
    other = Gloo(failures=0, others={"said/0/1": "no"})
    ddp.meet(other, "file", 0, 2)
    assert other.destroyed == 1 and len(other.said) == 2, "this rank had joined a group that lacks the other"
    with pytest.raises(ToolError, match="gloo does not connect the ranks: Gloo connectFullMesh failed with no error"):
        ddp.meet(Gloo(failures=ddp.ATTEMPTS), "file", 0, 2)


def train_in_torch(*arguments, ranks=2):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    start = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks else []
    return subprocess.run([*start, str(ROOT / "tools/peers_ddp"), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=environment, timeout=280)


@pytest.mark.parametrize("arguments, reason", [
    (["--methods", "dense,no_such"], "unknown method 'no_such'; allowed: dense"), (["--block", "0"], "--block 0 is not allowed"),
    (["--block", "x"], "invalid int value"), (["--meet", "no_such"], "is not a folder"), ([], "start it with mpirun")])
def test_wrong_calls_are_one_line(arguments, reason, tmp_path, monkeypatch):
    monkeypatch.delenv(ddp.RANK, raising=False)
    done = train_in_torch(tmp_path / "rank0/model.json", "--meet", tmp_path, *arguments, ranks=0)
    one_line("peers_ddp", done)
    assert reason in done.stderr


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
@pytest.mark.parametrize("change, reason", [
    (["--seeds", 2], "--seeds 2 is not allowed with --dump-batches"), (["--sampler", "importance"], "with sampler importance"),
    (["--resume", "c"], "--resume is not allowed")])
def test_wrong_dumps_are_one_line(change, reason, tmp_path):
    done = run("gradcomp-train", *TRAIN, "--dump-batches", tmp_path / "d", *change)
    one_line("gradcomp-train", done)
    assert reason in done.stderr and not (tmp_path / "d").exists()


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("gradcomp-train", *TRAIN, "--dump-batches", tmp_path / "file")
    one_line("gradcomp-train", done)
    assert str(tmp_path / "file") in done.stderr


TEXT = ("--data", "hmm:test=400", "--model", "lstm_1x96", "--length", 8, "--batch", 4, "--steps", 6, "--lr", 2, "--clip", 1,
        "--nesterov=on", "--methods", "fp32", "--no-controls")


@needs_torch
@pytest.mark.parametrize("train", [TRAIN, TEXT], ids=["images", "text"])
def test_ddp_has_our_losses(train, tmp_path):
    """All hooks, two ranks. The barrier has no bytes of its own here: the ranks share an interface."""
    words = ["mpirun", "--oversubscribe", "-n", "2", str(pathlib.Path(BIN) / "gradcomp-train"), *map(str, train), "--dump-batches",
             str(tmp_path / "dumped")]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment, timeout=280)
    assert done.returncode == 0, done.stderr
    known = [json.loads((tmp_path / f"dumped/rank{rank}/model.json").read_text(encoding="utf-8")) for rank in (0, 1)]
    assert known[0]["losses"] != known[1]["losses"] and known[0]["steps"] == 6 and known[0]["method"] == "fp32"
    both = [np.load(tmp_path / f"dumped/rank{rank}/parameters.npy") for rank in (0, 1)]
    np.testing.assert_array_equal(*both)
    (tmp_path / "meet").mkdir()
    done = train_in_torch(tmp_path / "dumped/rank0/model.json", "--meet", tmp_path / "meet", "--block", 2, "--output", tmp_path / "F")
    assert done.returncode == 0, done.stderr
    rows = {row["label"]: row for row in json.loads((tmp_path / "F").read_text(encoding="utf-8"))["rows"]}
    assert list(rows) == list(ddp.METHODS)
    assert rows["dense"]["loss_error"] < peers.TOLERANCE
    means = np.mean([one["losses"] for one in known], axis=0)
    np.testing.assert_allclose(rows["dense"]["losses"], means, rtol=peers.TOLERANCE)
    for row in rows.values():
        if "refused" not in row:
            assert len(row["losses"]) == 6 and len(row["step_times_ms"]) == 3 and row["wire_bytes"] is None
            assert row["losses"][0] == pytest.approx(means[0], rel=peers.TOLERANCE), "equal weights and batches"
    assert rows["no_exchange"]["losses"] != rows["dense"]["losses"]
    assert {name for name, row in rows.items() if "refused" in row} <= {"bf16_compress_hook"}


@needs_torch
def test_another_number_of_ranks_is_refused(tmp_path):
    assert run("gradcomp-train", *TRAIN, "--dump-batches", tmp_path / "dumped").returncode == 0
    shutil.copytree(tmp_path / "dumped/rank0", tmp_path / "dumped/rank1")
    done = train_in_torch(tmp_path / "dumped/rank0/model.json", "--meet", tmp_path)
    assert done.returncode == 2 and "is of 1 ranks, not of 2" in done.stderr


@pytest.mark.skipif(not BIN or not importlib.util.find_spec("torch") or bool(cli.why_not()),
                    reason=f"no torch, no GRADCOMP_BIN, or no shaped links on this machine: {cli.why_not()}")
def test_quick_page(tmp_path):
    source, lines = page_files.quick(ROOT / "tools/peers_page", tmp_path)
    assert set(lines) >= {ours for ours, _ in peers.PAIRS} and "## resnet8, 1000 Mbit/s, throughput only" in source
    assert "dense losses of both programs agree in every step" in source
