"""slurm/rank_map on every rank, and how its lines are read."""
import os
import subprocess

import pytest

from conftest import ROOT
from gradcomp.slurm import rank_map


def line(**variables):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMI", "SLURM_", "CUDA_"))}
    done = subprocess.run([ROOT / "slurm" / "rank_map"], capture_output=True, text=True, check=True, env=clean | variables)
    return done.stdout.split()


@pytest.mark.parametrize("variables, rank, device", [
    ({}, "0", "-"), ({"SLURM_PROCID": "3", "SLURM_LOCALID": "1", "CUDA_VISIBLE_DEVICES": "0,1"}, "3", "1"),
    ({"PMIX_RANK": "5", "SLURM_PROCID": "0", "SLURM_LOCALID": "3", "CUDA_VISIBLE_DEVICES": "4,6"}, "5", "6"),
    ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "2", "ROCR_VISIBLE_DEVICES": "0"}, "2", "0"),
    ({"FLUX_TASK_RANK": "1", "FLUX_TASK_LOCAL_ID": "1", "CUDA_VISIBLE_DEVICES": "0,1"}, "1", "0")])  # Kokkos knows no Flux
def test_rank_and_device(variables, rank, device):
    found = line(**variables)
    assert found[0] == "rank_map" and found[1] == rank and found[4].split("@")[0] == device and len(found) == 6


def test_masks():
    assert rank_map.cpus_of("0-2,5") == {0, 1, 2, 5} and rank_map.cpus_of("7") == {7}


def test_what_is_shared_is_said_once_a_host():
    said = "noise\nrank_map 1 1 a 0 0-1\nrank_map 0 0 a 0 1-2\nrank_map 2 0 b 0 0-1\nrank_map 3 1 b 1 2-3\n"
    text = rank_map.text(said, 4, True).splitlines()
    assert text[1].split() == ["rank_map:", "0", "0", "a", "0", "1-2"] and len(text) == 7
    assert "on a the ranks 0, 1 share cores" in text[5] and "on a the ranks 0, 1 share the device 0" in text[6]


def test_ranks_that_are_not_what_was_asked_for():
    assert "warning: 2 of 2 ranks answered" in rank_map.text("rank_map 0 0 a - 0\nrank_map 0 0 a - 1\n", 2, False)
    assert "warning: 0 of 2 ranks answered" in rank_map.text("", 2, False)
    assert "see no device" in rank_map.text("rank_map 0 0 a - 0\n", 1, True)
