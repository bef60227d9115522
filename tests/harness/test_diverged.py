"""gradcomp-train on two ranks with different replicas: one line, status 1 on every rank, and no hang."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import zlib

import pytest

BIN = os.environ.get("GRADCOMP_BIN")
pytestmark = pytest.mark.skipif(not BIN or not shutil.which("mpirun"), reason="GRADCOMP_BIN or mpirun is missing")
ARGUMENTS = ("--data shapetex10:train=64:test=32 --batch 4 --block 2 --evaluate-every 2 --no-controls "
             "--methods fp32,top_k:ratio=0.01").split()


def train(tmp_path, *arguments):
    """The status of each rank, and the lines of the program on standard error."""
    for old in tmp_path.glob("status*"):
        old.unlink()
    script = (f'{pathlib.Path(BIN) / "gradcomp-train"} "$@"; status=$?; '
              f'echo $status > {tmp_path}/status${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; exit $status')
    environment = os.environ | {
        "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false", "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":OVERSUBSCRIBE",
        "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    done = subprocess.run(["mpirun", "-n", "2", "sh", "-c", script, "sh", *map(str, [*ARGUMENTS, *arguments])],
                          env=environment, capture_output=True, text=True, timeout=120)
    statuses = [int(path.read_text()) for path in sorted(tmp_path.glob("status*"))]
    return statuses, [line for line in done.stderr.splitlines() if line.startswith("gradcomp-train: ")]


def perturb(path, array):
    """Changes the first float of an array of a checkpoint (src/gradcomp/train/snapshot.hpp) by its last bit."""
    data = bytearray(path.read_bytes()[:-4])
    at = 8
    while True:
        name_bytes, size = struct.unpack_from("<QQ", data, at)
        name = data[at + 16:at + 16 + name_bytes].decode()
        at += 16 + name_bytes
        if name.endswith(array):
            break
        at += size
    data[at] ^= 1
    path.write_bytes(data + struct.pack("<I", zlib.crc32(data)))


def test_replicas_that_differ_fail_the_job(tmp_path):
    folder = tmp_path / "checkpoints"
    assert train(tmp_path, "--steps", 2, "--checkpoint", folder) == ([0, 0], [])
    manifest = folder / "seed1" / "checkpoint.json"
    made = json.loads(manifest.read_text(encoding="utf-8"))
    made["settings"]["steps"] = 4  # as if the run was interrupted after half of its steps
    manifest.write_text(json.dumps(made), encoding="utf-8")
    assert train(tmp_path, "--steps", 4, "--resume", folder) == ([0, 0], [])

    perturb(folder / "seed1" / "rank1_step2.ckpt", "/parameters")
    output = tmp_path / "out.json"
    statuses, lines = train(tmp_path, "--steps", 4, "--resume", folder, "--output", output)
    assert set(statuses) == {1}, "mpirun may end the other rank before it has said so"
    assert lines == ["gradcomp-train: error: replicas differ between ranks; see replica_hash_equal"]
    rows = json.loads(output.read_text(encoding="utf-8"))["benchmarks"]
    assert {row["label"]: row["replica_hash_equal"] for row in rows} == {"fp32": False, "top_k:ratio=0.01": True}
