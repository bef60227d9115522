"""slurm/reframe with ReFrame: on this machine with gradcomp's real programs and one that fails, and through a real Slurm."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import ROOT
from machine import BIN, Cluster, why_not
from real_sweep import system_text

REFRAME = shutil.which("reframe", path=f"{os.environ['PATH']}:/opt/python/bin")
TINY = [word for name, value in {
    "Allreduce.sizes": "1024,4096", "Allreduce.repetitions": 3, "Compress.sizes": 4096, "Compress.samples": 3,
    "Step.model": "resnet8", "Step.data": "shapetex10:train=64:test=32", "Step.batch": 4, "Step.steps": 4,
    "methods": "top_k:ratio=0.01"}.items()
    for word in ("-S", f"{name}={value}")]
LOCAL = "SCHEDULER=none\nMAX_NODES=1\nRANKS_PER_NODE=2\nBINDING=none\nLAUNCHER='mpirun -n {ranks}'\n"
BROKEN = """#!/usr/bin/env python3
import json, pathlib
row = {"name": "compress/top_k", "operation": "compress", "label": "top_k", "elements": 1, "read_limit_ratio": 2,
       "verified": FALSE}
record = {"context": {"gradcomp": {}}, "benchmarks": [row]}
if STATUS == 0:
    pathlib.Path("out.json").write_text(json.dumps(record))
raise SystemExit(STATUS)
"""


class Site:
    """The two files of a system, and ReFrame for it."""

    def __init__(self, folder, system, checks=None):
        self.folder, self.system = folder, folder / "site.env"
        self.system.write_text(system, encoding="utf-8")
        if checks is not None:
            (folder / "site.checks.toml").write_text(checks, encoding="utf-8")

    def words(self, *arguments):
        """Calls ReFrame as the documentation says, with sizes that take seconds."""
        reframe = ROOT / "slurm" / "reframe"
        return ["env", f"GRADCOMP_SYSTEM={self.system}", "RFM_COLORIZE=n", f"PYTHONPATH={ROOT}/python", REFRAME, "-C",
                reframe / "settings.py", "-c", reframe / "checks.py", "--prefix", self.folder / "out",
                "--report-file", self.folder / "report.json", *TINY,
                *arguments]

    def run(self, *arguments, path=BIN):
        variables = {"PATH": f"{path}:{os.environ['PATH']}", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                     "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_mpi_yield_when_idle": "1",
                     "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return subprocess.run(list(map(str, self.words(*arguments))), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env=os.environ | variables, cwd=self.folder, check=False)

    def cases(self):
        """{check: its case in ReFrame's own report}"""
        report = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))
        return {case["name"].split()[0]: case for case in report["runs"][0]["testcases"]}


@pytest.fixture(autouse=True)
def fixture_needs():
    if not REFRAME:
        pytest.skip("there is no reframe on PATH (pip install reframe-hpc)")
    if not (BIN / "gradcomp-bench").is_file() or not shutil.which("mpirun"):
        pytest.skip("the programs are not built (GRADCOMP_BIN), or there is no mpirun")


def test_without_references_figures_are_reported_and_not_judged(tmp_path):
    done = Site(tmp_path, LOCAL).run("-r")
    assert done.returncode == 0 and "Ran 3/3 test case(s)" in done.stdout, done.stdout
    said = [line for line in done.stdout.splitlines() if "reported, not judged" in line]
    assert len(said) == 3 and "site.checks.toml: [Allreduce.n1] has no reference" in said[0], said
    for figure in ("fp32_bus_bandwidth", "top_k_ratio_0_01_time", "top_k_ratio_0_01_throughput"):
        assert f"P: {figure}: " in done.stdout and any(figure in line for line in said), done.stdout


def test_a_reference_that_is_not_met_fails_its_check_alone(tmp_path):
    checks = '[Allreduce.n1]\nfp32_bus_bandwidth = { value = 1e9, lower = -0.1, unit = "GB/s" }\n' \
             '[Compress.n1]\ntop_k_ratio_0_01_throughput = { value = 1e-6, lower = -0.1, unit = "of the read limit" }\n'
    site = Site(tmp_path, LOCAL, checks)
    done = site.run("-r", "-n", "Allreduce|Compress")
    assert done.returncode == 1 and "failed to meet reference(s): fp32_bus_bandwidth=" in done.stdout, done.stdout
    assert "FAILURE INFO for Allreduce" in done.stdout and "FAILURE INFO for Compress" not in done.stdout
    assert "[Compress.n1] has no reference" not in done.stdout
    cases = site.cases()
    assert (cases["Allreduce"]["result"], cases["Compress"]["result"]) == ("fail", "pass")
    assert cases["Allreduce"]["fail_phase"] == "performance"


@pytest.mark.parametrize("figure, why", [
    ('top_k_speed = { value = 1, lower = -0.1, unit = "of the read limit" }', "top_k_speed: no such figure: allowed are"),
    ('top_k_ratio_0_01_throughput = { value = 1, lower = -0.1, unit = "GB/s" }', "allowed is 'of the read limit'")])
def test_a_reference_that_would_judge_nothing_fails(tmp_path, figure, why):
    done = Site(tmp_path, LOCAL, f"[Compress.n1]\n{figure}\n").run("-r", "-n", "Compress")
    assert done.returncode == 1 and why in done.stdout and "FAILURE INFO for Compress" in done.stdout, done.stdout


@pytest.mark.parametrize("status, why", [
    (0, "the program's own verification rejected the answer of compress/top_k"), (3, "exit status 3 of the program")])
def test_what_fails_its_verification_is_not_measured(tmp_path, status, why):
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "gradcomp-bench"
    program.write_text(BROKEN.replace("FALSE", "False").replace("STATUS", str(status)), encoding="utf-8")
    program.chmod(0o755)
    system = LOCAL.replace("mpirun -n {ranks}", "env")
    site = Site(tmp_path, system)
    done = site.run("-r", "-n", "Compress", path=program.parent)
    assert done.returncode == 1 and why in done.stdout, done.stdout
    assert site.cases()["Compress"]["fail_phase"] == "sanity" and "P: " not in done.stdout
    program.write_text(BROKEN.replace("FALSE", "True").replace("STATUS", "0"), encoding="utf-8")
    assert site.run("-r", "-n", "Compress", path=program.parent).returncode == 0


@pytest.mark.parametrize("system, checks, why", [
    ("RANKS_PER_NODE=x\n", None, "RANKS_PER_NODE='x': allowed are whole numbers from 1"),
    (LOCAL + "REFRAME_SCHEDULER=pbs\n", None, "REFRAME_SCHEDULER='pbs': allowed are slurm, squeue"),
    (LOCAL, "nodes = [2]\n", "nodes = [2]: allowed is a list of whole numbers from 1 to 1 (MAX_NODES of system site)"),
    (LOCAL, "[Steps.n1]\n", "unknown key 'Steps': allowed are nodes, Allreduce, Compress, Step"),
    (LOCAL, "[Step.n4]\n", "[Step.n4]: allowed are tables [Step.n1]"),
    (LOCAL, "[Step.n1]\nx = 3\n", "[Step.n1] x = 3: allowed is a table such as { value = 11.8"),
    (LOCAL, '[Step.n1]\nx = { value = 1, unit = "x" }\n', "neither lower nor upper is given"),
    (LOCAL, '[Step.n1]\nx = { value = 1, lower = 0.1, unit = "x" }\n', "lower = 0.1: allowed is a fraction from -1 to 0"),
    (LOCAL, "[Step.n1\n", "not valid TOML")])
def test_a_wrong_file_is_refused_in_one_line(tmp_path, system, checks, why):
    done = Site(tmp_path, system, checks).run("-l")
    assert done.returncode == 1 and sum(why in line for line in done.stdout.splitlines()) == 1, done.stdout
    assert "Traceback" not in done.stdout and "Found" not in done.stdout


def test_through_a_real_slurm(tmp_path):
    reason = why_not()
    if reason:
        pytest.skip(reason)
    cluster = Cluster(tmp_path / "cluster")
    try:
        site = Site(tmp_path, system_text(tmp_path, RANKS_PER_NODE=2, GPUS_PER_NODE=2, REFRAME_SCHEDULER="squeue"),
                    'nodes = [2]\n[Step.n2]\n'
                    'top_k_ratio_0_01_time = { value = 1e-6, upper = 0.1, unit = "of the best dense" }\n')
        done = cluster.run(*site.words("-r"))
        assert done.returncode == 1 and "Ran 3/3 test case(s) from 3 check(s) (1 failure(s)" in done.stdout, done.stdout
        assert done.stdout.count("FAILURE INFO") == 1 and "top_k_ratio_0_01_time=" in done.stdout, done.stdout
        states = cluster.states()
        assert sorted(states.values()) == ["COMPLETED"] * 3, states
    finally:
        cluster.close()
    for check, nodes, ranks in (("Allreduce", 2, 4), ("Compress", 1, 1)):
        folder = next((tmp_path / "out" / "output").glob(f"*/*/*/{check}*"))
        gradcomp = json.loads((folder / "out.json").read_text(encoding="utf-8"))["context"]["gradcomp"]
        assert gradcomp["environment"]["SLURM_JOB_NUM_NODES"] == str(nodes) and gradcomp.get("ranks", 1) == ranks
        assert gradcomp["environment"]["KOKKOS_MAP_DEVICE_ID_BY"] == "mpi_rank"
    script = next(next((tmp_path / "out" / "output").glob("*/*/*/Allreduce*")).glob("*.sh")).read_text(encoding="utf-8")
    assert "#SBATCH --gpus-per-node=2\n" in script and "#SBATCH --partition=debug\n" in script
