"""gradcomp-train on two ranks whose replicas differ: one line, status 1 on every rank, and no hang. A method that diverges ends
alone, with status 3 on every rank."""
import json
import math
import os
import re
import shutil
import struct
import subprocess
import zlib

import pytest

from test_schema import VALIDATOR

BIN = os.environ.get("GRADCOMP_BIN")
pytestmark = pytest.mark.skipif(not BIN or not shutil.which("mpirun"), reason="GRADCOMP_BIN or mpirun is missing")
ARGUMENTS = "--data shapetex10:train=64:test=32 --model resnet8 --batch 4 --block 2 --evaluate-every 2 --no-controls".split()
METHODS, WILD = "fp32,top_k:ratio=0.01", "qsgd:bits=4:lr=1e6"


def run(tmp_path, *arguments, methods=METHODS):
    """The status of each rank, the lines of the program on standard error, and what it printed."""
    for old in tmp_path.glob("status*"):
        old.unlink()
    script = (f'"{BIN}/gradcomp-train" "$@"; status=$?; '
              f'echo $status > "{tmp_path}/status${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}"; exit $status')
    environment = os.environ | {
        "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false", "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":OVERSUBSCRIBE",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    done = subprocess.run(["mpirun", "-n", "2", "sh", "-c", script, "sh",
                           *map(str, [*ARGUMENTS, "--methods", methods, *arguments])],
                          env=environment, capture_output=True, text=True, timeout=120)
    statuses = [int(path.read_text()) for path in sorted(tmp_path.glob("status*"))]
    return statuses, [line for line in done.stderr.splitlines() if line.startswith("gradcomp-train: ")], done.stdout


def train(tmp_path, *arguments):
    """The same without what it printed."""
    return run(tmp_path, *arguments)[:2]


def rows_of(path):
    """{label: row of the first seed} of a result file, which must follow the schema."""
    document = json.loads(path.read_text(encoding="utf-8"))
    VALIDATOR.validate(document)
    return {row["label"]: row for row in reversed(document["benchmarks"]) if row["run_type"] == "iteration"}


def go_on(folder, steps):
    """Makes the checkpoints those of a run of so many steps that was interrupted."""
    manifest = folder / "seed1" / "checkpoint.json"
    made = json.loads(manifest.read_text(encoding="utf-8"))
    made["settings"]["steps"] = steps
    manifest.write_text(json.dumps(made), encoding="utf-8")


def perturb(path, array, value=None):
    """Changes the first float of an array of a checkpoint (src/gradcomp/train/snapshot.hpp) to `value`, or by its last bit."""
    data = bytearray(path.read_bytes()[:-4])
    at = 8
    while True:
        name_bytes, size = struct.unpack_from("<QQ", data, at)
        name = data[at + 16:at + 16 + name_bytes].decode()
        at += 16 + name_bytes
        if name.endswith(array):
            break
        at += size
    if value is None:
        data[at] ^= 1
    else:
        struct.pack_into("<f", data, at, value)
    path.write_bytes(data + struct.pack("<I", zlib.crc32(data)))


def test_replicas_that_differ_fail_the_job(tmp_path):
    folder = tmp_path / "checkpoints"
    assert train(tmp_path, "--steps", 2, "--checkpoint", folder) == ([0, 0], [])
    go_on(folder, 4)
    assert train(tmp_path, "--steps", 4, "--resume", folder) == ([0, 0], [])

    perturb(folder / "seed1" / "rank1_step2.ckpt", "/parameters")
    output = tmp_path / "out.json"
    statuses, lines = train(tmp_path, "--steps", 4, "--resume", folder, "--output", output)
    assert set(statuses) == {1}, "mpirun may end the other rank before it has said so"
    assert lines == ["gradcomp-train: error: replicas differ between ranks; see replica_hash_equal"]
    rows = json.loads(output.read_text(encoding="utf-8"))["benchmarks"]
    assert {row["label"]: row["replica_hash_equal"] for row in rows} == {"fp32": False, "top_k:ratio=0.01": True}


def test_a_method_that_diverges_ends_and_stays_ended_while_the_others_go_on(tmp_path):
    folder, both, one, resumed = (tmp_path / name for name in ("checkpoints", "both.json", "one.json", "resumed.json"))
    constant = ("--decay", "constant")
    assert train(tmp_path, "--steps", 8, *constant, "--output", both) == ([0, 0], [])
    methods = f"{METHODS},{WILD}"
    statuses, lines, printed = run(tmp_path, "--steps", 4, *constant, "--checkpoint", folder, "--output", one, methods=methods)
    assert set(statuses) == {3} and lines == [], "mpirun may end the other rank before it has said so"
    row = rows_of(one)[WILD]
    step = row["diverged_at_step"]
    assert 1 <= step < 4 and row["test_quality"] is None and row["validation_loss"] is None and "parameters_hash" not in row
    assert all(at < step for at in row["curve"]["step"]) and "skipped_steps" not in row
    assert re.search(rf"\n{re.escape(WILD)}\s+\S.* diverged at step {step} +-\n", printed), printed

    go_on(folder, 8)
    statuses, lines, _ = run(tmp_path, "--steps", 8, *constant, "--resume", folder, "--output", resumed, methods=methods)
    assert set(statuses) == {3} and lines == []
    found, alone = rows_of(resumed), rows_of(both)
    assert found[WILD]["diverged_at_step"] == step
    for label, other in alone.items():
        assert found[label]["parameters_hash"] == other["parameters_hash"] and found[label]["curve"]["loss"] == other["curve"]["loss"]


def test_a_number_that_is_not_finite_on_one_rank_ends_the_method_on_all(tmp_path):
    folder, whole, output = (tmp_path / name for name in ("checkpoints", "whole.json", "out.json"))
    assert train(tmp_path, "--steps", 2, "--checkpoint", folder) == ([0, 0], [])
    go_on(folder, 4)
    assert train(tmp_path, "--steps", 4, "--resume", folder, "--output", whole) == ([0, 0], [])
    perturb(folder / "seed1" / "rank1_step2.ckpt", "/parameters", math.nan)
    statuses, lines, printed = run(tmp_path, "--steps", 4, "--resume", folder, "--output", output)
    assert set(statuses) == {3} and lines == []
    found = rows_of(output)
    assert found["fp32"]["diverged_at_step"] == 3 and re.search(r"fp32 .* diverged at step 3 +-\n", printed)
    assert found["top_k:ratio=0.01"]["parameters_hash"] == rows_of(whole)["top_k:ratio=0.01"]["parameters_hash"]


def test_a_rate_at_which_everything_diverges(tmp_path):
    output = tmp_path / "out.json"
    statuses, lines, printed = run(tmp_path, "--steps", 4, "--lr", 1e6, "--seeds", 2, "--output", output)
    assert set(statuses) == {3} and lines == []
    found = rows_of(output)
    assert set(found) == set(METHODS.split(",")) and all("diverged_at_step" in row for row in found.values())
    assert re.search(rf"fp32 .* diverged at step {found['fp32']['diverged_at_step']} +-\n", printed)
    assert printed.count("diverged at step") == 2 * len(found), "with both seeds"
