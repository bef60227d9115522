"""The files for this machine, slurm/systems/local.env and slurm/experiments/small.toml, with gradcomp's real programs."""
import json
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import ROOT

BIN = pathlib.Path(os.environ.get("GRADCOMP_BIN", "/nonexistent"))


def submit(folder, experiment):
    """Runs an experiment on this machine, with its output in FOLDER/out."""
    if not (BIN / "gradcomp-train").is_file() or not shutil.which("mpirun"):
        pytest.skip("the programs are not built (GRADCOMP_BIN), or there is no mpirun")
    variables = {"PATH": f"{BIN}:{os.environ['PATH']}", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                 "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_mpi_yield_when_idle": "1",
                 "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    words = [ROOT / "slurm" / "submit", "local", experiment, "--output", folder / "out"]
    return subprocess.run(words, capture_output=True, text=True, env=os.environ | variables, check=False)


def test_the_small_sweep_under_mpirun(tmp_path):
    done = submit(tmp_path, "small")
    assert done.returncode == 0 and "6 of 6 points" in done.stdout, done.stdout + done.stderr
    for path in tmp_path.glob("out/records/*.json"):
        gradcomp = json.loads(path.read_text(encoding="utf-8"))["context"]["gradcomp"]
        assert gradcomp["ranks"] == 2 and gradcomp["threads"] == 1
        assert gradcomp["environment"]["OMP_PROC_BIND"] == "false" and "OMP_PLACES" not in gradcomp["environment"]
    page = (tmp_path / "out" / "report" / "sweep.md").read_text(encoding="utf-8")
    assert "shared memory of one machine: " in page and "not measured" not in page
    log = next(tmp_path.glob("out/jobs/preflight*.log")).read_text(encoding="utf-8")
    assert "rank_map: 0 " in log and "rank_map: 1 " in log


def test_bucket_sizes_of_the_controls(tmp_path):
    experiment = tmp_path / "buckets.toml"
    experiment.write_text("""title = "Bucket sizes"
time = "00:05:00"
preflight_sizes = "1024"
[[sweep]]
model = "resnet8"
data = "shapetex10:train=64:test=32"
batch = 4
steps = 4
block = 2
sweep_buckets = true
methods = "sign"
""", encoding="utf-8")
    done = submit(tmp_path, experiment)
    assert done.returncode == 0 and "2 of 2 points" in done.stdout, done.stdout + done.stderr
    record = json.loads(next(tmp_path.glob("out/records/resnet8*.json")).read_text(encoding="utf-8"))
    assert {row["label"] for row in record["benchmarks"] if "bucket_kib" in row} >= {"fp32", "fp16", "bf16"}
