"""tools/training_hashes: its cases are those that the program lists, a refused one takes no other with it, and equal builds write
equal files."""
import os
import pathlib
import shutil
import subprocess

import pytest

from gradcomp.gate import training_hashes

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = os.environ.get("GRADCOMP_BIN")
pytestmark = pytest.mark.skipif(not BIN or not shutil.which("mpirun"), reason="GRADCOMP_BIN or mpirun is missing")


def lines(path, *arguments):
    words = [ROOT / "tools" / "training_hashes", path, "--build", pathlib.Path(BIN).parent, *arguments]
    environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                "PRTE_MCA_rmaps_default_mapping_policy": ":OVERSUBSCRIBE"}
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return path.read_text(encoding="utf-8").splitlines()


def test_every_method_has_each_of_its_reducers():
    methods, strategies = training_hashes.listed(f"{BIN}/gradcomp-train")
    assert {"fp32:reducer=ring", "sign:reducer=vote", "top_k:reducer=ok_topk", "no_exchange:reducer=local"} <= set(methods)
    assert len(set(methods)) == len(methods) and not any(method.startswith("top_k:reducer=ring") for method in methods)
    assert {"accumulate", "local:period=4", "overlapped", "servers", "synchronous"} <= set(strategies)


def test_equal_builds_write_equal_files(tmp_path):
    arguments = ("--ranks", 1, 2, "--strategies", "servers", "--methods", "fp32:reducer=ring", "sign:reducer=vote", "qsgd:lr=1e6")
    found = lines(tmp_path / "once", *arguments)
    assert found == sorted(found) == lines(tmp_path / "again", *arguments) and len(found) == 6
    for ranks in (1, 2):
        trained, ended, refused = (line.removeprefix(f"ranks={ranks} strategy=servers ") for line in found[3 * ranks - 3:3 * ranks])
        assert trained.startswith("fp32:reducer=ring hash=") and " wire_bytes=" in trained and trained.count(",") == 4
        assert ended.startswith("qsgd:lr=1e6 diverged at step ")
        assert refused.startswith("sign:reducer=vote refused: ") and "sends votes" in refused


def test_a_build_without_the_program_is_one_line(tmp_path):
    done = subprocess.run([ROOT / "tools" / "training_hashes", tmp_path / "out", "--build", tmp_path], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2 and done.stderr.startswith("training_hashes: error: ") and done.stderr.count("\n") == 1
