"""gradcomp-train is killed while it trains, resumed, and refuses wrong checkpoints. Learning rates go through their file."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

BIN = os.environ.get("GRADCOMP_BIN")
pytestmark = pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
ARGUMENTS = ("--data shapetex10:train=64:test=32 --batch 4 --steps 30 --block 5 --evaluate-every 10 "
             "--methods fp32,top_k:ratio=0.01 --no-controls").split()


TUNE = ARGUMENTS[:4] + ARGUMENTS[-3:]  # without what only results need


def start(*arguments, program="gradcomp-train"):
    """One process as the only rank."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}
    return subprocess.Popen([str(pathlib.Path(BIN) / program), *map(str, arguments)], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(*arguments, **more):
    """The exit status, and the lines of standard error."""
    process = start(*arguments, **more)
    _, errors = process.communicate(timeout=300)
    return process.returncode, errors


def outcome(path):
    """The columns that must not depend on an interruption."""
    rows = json.loads(path.read_text(encoding="utf-8"))["benchmarks"]
    return [(row["label"], row["parameters_hash"], row["curve"]["loss"], row["curve"]["accuracy"],
             row["curve"]["wire_bytes"]) for row in rows]


def test_a_killed_run_goes_on_as_if_nothing_had_been(tmp_path):
    assert run(*ARGUMENTS, "--output", tmp_path / "whole.json") == (0, "")
    folder = tmp_path / "checkpoints"
    process = start(*ARGUMENTS, "--checkpoint", folder, "--checkpoint-every", 5, "--output", tmp_path / "killed.json")
    manifest = folder / "seed1" / "checkpoint.json"
    while not manifest.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "killed.json").exists() or process.returncode == 0
    assert run(*ARGUMENTS, "--resume", folder, "--output", tmp_path / "resumed.json") == (0, "")
    assert outcome(tmp_path / "resumed.json") == outcome(tmp_path / "whole.json")

    status, errors = run(*ARGUMENTS, "--resume", folder, "--lr", 0.1)
    assert status != 0 and "was made with" in errors and len(errors.splitlines()) == 1
    status, errors = run(*ARGUMENTS, "--resume", tmp_path)
    assert status != 0 and "there is no checkpoint" in errors and len(errors.splitlines()) == 1


def test_rates_are_found_once_and_used(tmp_path):
    rates = tmp_path / "rates.json"
    tune = [*TUNE, "--rates", rates, "--tune-steps", 2]
    process = start(*tune, program="gradcomp-tune")
    while not rates.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    begun = json.loads(rates.read_text(encoding="utf-8"))["methods"]
    assert run(*tune, program="gradcomp-tune") == (0, "")
    first = rates.read_text(encoding="utf-8")
    for method, entry in begun.items():
        done = json.loads(first)["methods"][method]["trials"]
        assert done[:len(entry["trials"])] == entry["trials"], "the trials before the signal stay"
    assert run(*tune, program="gradcomp-tune") == (0, "")
    assert rates.read_text(encoding="utf-8") == first, "nothing was left to do: the seconds would differ"
    assert run(*ARGUMENTS, "--rates", rates, "--output", tmp_path / "out.json") == (0, "")
    chosen = [entry["lr"] for entry in json.loads(first)["methods"].values()]
    rows = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["benchmarks"]
    assert sorted(row["learning_rate"] for row in rows) == sorted(chosen)
    assert all(row["tuning_steps"] == 36 for row in rows)
    status, errors = run(*ARGUMENTS, "--rates", rates, "--clip", 1)
    assert status != 0 and "tuned for clip 0.0, but this job has 1.0" in errors and len(errors.splitlines()) == 1
