"""slurm/submit with a real Slurm of two nodes (and a separate third one), and with gradcomp's real programs: jobs are killed,
requeued and cancelled, run out of time, and meet a full disk."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from machine import HERE, Cluster, mentions, why_not
from real_sweep import SRUN, Sweep
from twelve import (
    CANCELLED,
    FAILING,
    KILLED,
    LONG,
    REQUEUED,
    TWELVE,
    WARNED,
    check_complete,
    check_dry_run,
    check_full_disk,
    kill,
)

REDUCTION = 'title = "Map"\ntime = "00:05:00"\npreflight_sizes = "1024"\n[[sweep]]\nprogram = "gradcomp-allreduce"\n' \
            'nodes = 2\nsizes = "1024"\nrepetitions = 2\nmethods = "sign"\n'


@pytest.fixture(scope="module", name="cluster")
def fixture_cluster(tmp_path_factory):
    reason = why_not()
    if reason:
        pytest.skip(reason)
    started = Cluster(tmp_path_factory.mktemp("slurm") / "cluster")
    yield started
    started.close()


@pytest.fixture(scope="module", name="too_long", autouse=True)
def fixture_too_long(cluster, tmp_path_factory):
    """A job that takes its time limit of a minute and up to 30 s more. It runs on a separate node beside the other tests."""
    experiment = f'title = "Too long"\ntime = "00:01:00"\npreflight_sizes = "1024"\n[[sweep]]\n{LONG}\nsteps = 100000\n' \
                 'methods = "sign"\n'
    sweep = Sweep(cluster, tmp_path_factory.mktemp("limit") / "s", experiment, PARTITION="single", RANKS_PER_NODE=2,
                  WARN_SECONDS=0)
    sweep.submit()
    return sweep


def test_twelve_points_killed_and_requeued_end_complete(cluster, tmp_path):
    corpus = tmp_path / "corpus.txt"
    sweep = Sweep(cluster, tmp_path / "s", TWELVE.replace("TEXT", str(corpus)))
    check_dry_run(cluster, sweep)
    sweep.submit()
    assert len(sweep.points()) == 12
    job = sweep.arrays()[0]["job"]

    # If everything is queued or runs, or has ended already, a second submission submits only another gathering.
    counts = re.search(r"(\d+) points are finished, (\d+) were queued before", sweep.submit())
    assert int(counts[1]) + int(counts[2]) == 12 and len(sweep.arrays()) == 1
    for index, act in ((REQUEUED, lambda: cluster.run("scontrol", "requeue", f"{job}_{REQUEUED}").returncode == 0),
                       (CANCELLED, lambda: cluster.run("scancel", f"{job}_{CANCELLED}").returncode == 0),
                       (KILLED, lambda: kill(f"{sweep.path}\0{KILLED}\0"))):  # kills run_point, which cannot write anything then
        cluster.wait(f"point {index} is half-way and was met",
                     lambda i=index, do=act: sweep.checkpoint(i) and (f"{job}_{i}", "R") in cluster.queue() and do())
    sweep.ended()

    state, log = sweep.gathered()
    assert state == "FAILED" and "9 of 12 points" in log, f"{log}\n{sweep.story()}"
    missing = [line for line in log.splitlines() if "missing:" in line]
    assert len(missing) == 3 and all(f"point {i}," in line for i, line in zip((CANCELLED, KILLED, FAILING), missing, strict=True)), log
    assert "killed or still runs" in missing[1] and sweep.events(KILLED)[-1] in ("start", "warned")
    assert "failed: status" in missing[2] and "corpus.txt" in missing[2], missing
    assert not sweep.checkpoint(REQUEUED), "checkpoints of finished points must be removed"
    assert sweep.checkpoint(CANCELLED) and sweep.checkpoint(KILLED), "checkpoints of other points must stay"
    assert "requeued" in sweep.events(WARNED) and "warned" in sweep.events(WARNED), sweep.history(WARNED)
    before = sweep.records()

    corpus.write_text("the quick brown fox jumps over the lazy dog . \n" * 400, encoding="utf-8")
    (sweep.base / "report_wanted").touch()
    sweep.submit()
    assert sweep.arrays()[-1]["points"] == [CANCELLED, KILLED, FAILING], "only what is missing"
    sweep.ended()
    state, log = sweep.gathered()
    assert state == "COMPLETED" and "12 of 12 points" in log, f"{log}\n{sweep.story()}"
    assert (sweep.path / "report" / "report.html").is_file()
    (sweep.base / "report_wanted").unlink()
    check_complete(sweep, before)

    assert sweep.submit().startswith("12 points are finished") and len(sweep.arrays()) == 2, "nothing is left to run"
    sweep.ended()
    check_full_disk(cluster, sweep, tmp_path / "small")


@pytest.mark.parametrize("launcher", [SRUN, "mpirun -n {ranks} --map-by ppr:{ranks_per_node}:node --bind-to core"],
                         ids=["srun", "mpirun"])
def test_ranks_devices_and_cores(cluster, tmp_path, launcher):
    """The same job scripts work with srun and with mpirun; only the launcher line differs."""
    sweep = Sweep(cluster, tmp_path / "s", REDUCTION, launcher=launcher, RANKS_PER_NODE=2, GPUS_PER_NODE=2)
    sweep.submit()
    sweep.ended()
    assert sweep.gathered()[0] == "COMPLETED", sweep.gathered()
    log = next(sweep.path.glob("jobs/*_0.log")).read_text(encoding="utf-8")
    rows = [line.split()[1:] for line in log.splitlines() if line.startswith("rank_map: ")]
    assert [row[:4] for row in rows[1:]] == [["0", "0", "n1", "0"], ["1", "1", "n1", "1"], ["2", "0", "n2", "0"],
                                             ["3", "1", "n2", "1"]], log
    assert [row[4] for row in rows[1:]] == ["0", "1", "0", "1"] and "warning" not in log, log
    record = json.loads(next(sweep.path.glob("records/allreduce*")).read_text(encoding="utf-8"))
    environment = record["context"]["gradcomp"]["environment"]
    assert environment["KOKKOS_MAP_DEVICE_ID_BY"] == "mpi_rank" and environment["SLURM_JOB_NUM_NODES"] == "2"


def test_time_limit_without_a_warning(cluster, too_long):
    sweep = too_long
    sweep.ended()
    state, log = sweep.gathered()
    assert state == "FAILED" and "1 of 2 points" in log and "point 1," in log, log
    assert "TIMEOUT" in cluster.states().values(), sweep.story()
    sweep.submit()
    cluster.wait("it goes on", lambda: len(sweep.history(1)) > 1 and sweep.history(1)[-1]["event"] == "start")
    assert sweep.history(1)[-1]["resumed"]
    cluster.run("scancel", *sweep.jobs())
    sweep.ended()


def test_shared_memory_is_the_nodes_own(cluster):
    """Otherwise ranks of two such clusters would map each other's files, because hosts and jobs have the same names."""
    name = f"gradcomp_{os.getpid()}"
    found = cluster.run("srun", "--nodelist=n1", "bash", "-c", f"touch /dev/shm/{name} && ls /dev/shm")
    assert name in found.stdout and not pathlib.Path("/dev/shm", name).exists(), found


def test_nothing_is_left_when_the_tests_are_killed(cluster, tmp_path):
    """Starts a second cluster, whose owner dies and cannot clean up."""
    assert mentions(str(cluster.folder)), "the search must find running processes"
    folder = tmp_path / "doomed"
    code = f"import machine, pathlib, signal\nc = machine.Cluster(pathlib.Path('{folder}'))\nprint('up', flush=True)\n" \
           "signal.pause()"
    with subprocess.Popen([sys.executable, "-B", "-c", code], cwd=HERE, stdout=subprocess.PIPE, text=True,
                          env=os.environ) as owner:
        assert owner.stdout.readline() == "up\n" and mentions(str(folder))
        owner.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while mentions(str(folder)):
        assert time.monotonic() < end, mentions(str(folder))
        time.sleep(0.1)
    mounts = pathlib.Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    assert not [line for line in mounts if "netns" in line or str(tmp_path) in line]
