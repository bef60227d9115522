"""slurm/submit against a real Slurm of two nodes (and one for itself), with gradcomp's real programs: killed, requeued,
cancelled, out of time, with a full disk."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from machine import GATHER, HERE, Cluster, why_not
from real_sweep import SRUN, Sweep

SHORT = """
model = "resnet8"
data = "shapetex10:train=64:test=32"
batch = 4
block = 2
"""
# A slow link makes these long, half a second for a step of all methods, whatever else the machine computes meanwhile.
LONG = SHORT + 'link = "10Mbit/s,1ms"\nevaluate_every = 1000\ncheckpoint_every = 2\n'
TWELVE = f"""
title = "Twelve points on two nodes"
time = "00:01:00"
preflight_sizes = "1024,65536"
[[sweep]] # runs when Slurm looks for jobs near their limit, which it does every 30 s
{LONG}
nodes = 2
steps = 66
methods = "top_k:ratio=0.01"
[[sweep]] # long enough to be met half-way
{LONG}
nodes = 2
steps = 20
methods = ["qsgd:bits=4", "powersgd:rank=2", "sign"]
[[sweep]] # fails until its text is there
nodes = 2
model = "lstm_1x96"
data = "text:TEXT"
batch = 2
length = 8
steps = 4
methods = "top_k:ratio=0.05"
[[sweep]] # six short ones
{SHORT}
nodes = 2
steps = 4
methods = ["top_k:ratio=0.01", "sign", "qsgd:bits=4", "powersgd:rank=2", "random_k:ratio=0.1", "natural"]
"""
WARNED, REQUEUED, CANCELLED, KILLED, FAILING = 1, 2, 3, 4, 5  # points of TWELVE
REDUCTION = 'title = "Map"\ntime = "00:05:00"\npreflight_sizes = "1024"\n[[sweep]]\nprogram = "gradcomp-allreduce"\n' \
            'nodes = 2\nsizes = "1024"\nrepetitions = 2\nmethods = "sign"\n'


def mentions(text):
    """Processes of the machine with a text on their command line."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:  # it has just ended
            pass
    return found


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
    """Needs its time limit of a minute and up to 30 s more: it runs on a node of its own, beside the other tests."""
    experiment = f'title = "Too long"\ntime = "00:01:00"\npreflight_sizes = "1024"\n[[sweep]]\n{LONG}\nsteps = 100000\n' \
                 'methods = "sign"\n'
    sweep = Sweep(cluster, tmp_path_factory.mktemp("limit") / "s", experiment, PARTITION="single", RANKS_PER_NODE=2,
                  WARN_SECONDS=0)
    sweep.submit()
    return sweep


def test_twelve_points_killed_and_requeued_end_complete(cluster, tmp_path):
    corpus = tmp_path / "corpus.txt"
    sweep = Sweep(cluster, tmp_path / "s", TWELVE.replace("TEXT", str(corpus)))
    dry_run(cluster, sweep)
    sweep.submit()
    assert len(sweep.points()) == 12
    job = sweep.arrays()[0]["job"]

    # A second submission while all of it is queued or runs submits nothing but another gathering.
    assert "12 were queued before" in sweep.submit() and len(sweep.arrays()) == 1
    for index, act in ((REQUEUED, lambda: cluster.run("scontrol", "requeue", f"{job}_{REQUEUED}").returncode),
                       (CANCELLED, lambda: cluster.run("scancel", f"{job}_{CANCELLED}").returncode),
                       (KILLED, lambda: kill(f"{sweep.path}\0{KILLED}\0"))):  # run_point, with no time for a word
        cluster.wait(f"point {index} is half-way",
                     lambda i=index: sweep.checkpoint(i) and (f"{job}_{i}", "R") in cluster.queue())
        assert not act(), f"point {index}"
    sweep.ended()

    state, log = sweep.gathered()
    assert state == "FAILED" and "9 of 12 points" in log, log
    missing = [line for line in log.splitlines() if "missing:" in line]
    assert len(missing) == 3 and all(f"point {i}," in line for i, line in zip((CANCELLED, KILLED, FAILING), missing)), log
    assert "killed or still runs" in missing[1] and sweep.events(KILLED)[-1] in ("start", "warned")
    assert "failed: status" in missing[2] and "corpus.txt" in missing[2], missing
    assert not sweep.checkpoint(REQUEUED), "checkpoints of finished points go"
    assert sweep.checkpoint(CANCELLED) and sweep.checkpoint(KILLED), "those of others stay"
    assert "requeued" in sweep.events(WARNED) and "warned" in sweep.events(WARNED), sweep.history(WARNED)
    before = sweep.records()

    corpus.write_text("the quick brown fox jumps over the lazy dog . \n" * 400, encoding="utf-8")
    (sweep.base / "report_wanted").touch()
    sweep.submit()
    assert sweep.arrays()[-1]["points"] == [CANCELLED, KILLED, FAILING], "only what is missing"
    sweep.ended()
    state, log = sweep.gathered()
    assert state == "COMPLETED" and "12 of 12 points" in log, log
    assert (sweep.path / "report" / "report.html").is_file()
    (sweep.base / "report_wanted").unlink()
    complete(sweep, before)

    assert sweep.submit().startswith("12 points are finished") and len(sweep.arrays()) == 2, "nothing is left to run"
    sweep.ended()
    full_disk(cluster, sweep, tmp_path / "small")


def kill(text):
    """Kills the one process with a text on its command line, as the kernel does for want of memory."""
    (found,) = mentions(text)
    os.kill(int(found), signal.SIGKILL)


def dry_run(cluster, sweep):
    """It writes nothing, and what it prints is what Slurm takes."""
    said = sweep.submit("--dry-run")
    assert not sweep.path.exists() and "sbatch --parsable --array=0-11%2 " in said
    script = sweep.base / "printed.sbatch"
    script.write_text(said[said.index("#!/bin/bash"):said.index("\n\nsbatch ")], encoding="utf-8")
    tested = cluster.run("sbatch", "--test-only", script)
    assert tested.returncode == 0 and "on nodes n[1-2] in partition debug" in tested.stderr, tested.stderr


def complete(sweep, before):
    """Nothing ran twice, nothing is lost."""
    after = sweep.records()
    assert before.items() <= after.items() and len(after) == 12, "finished points were not run again"
    for index, point in enumerate(sweep.points()):
        starts = [line for line in sweep.history(index) if line["event"] == "start"]
        assert sweep.events(index).count("finished") == 1, sweep.history(index)
        assert all(line["resumed"] for line in starts[1:]) or index == FAILING, sweep.history(index)
        if WARNED <= index <= FAILING:
            assert len(starts) > 1, sweep.history(index)
        else:  # Slurm may warn any of them, whenever it looks
            assert len(starts) <= 1 + sweep.events(index).count("requeued"), sweep.history(index)
        rows = json.loads((sweep.path / "records" / f"{point['id']}.json").read_text(encoding="utf-8"))["benchmarks"]
        if point["program"] == "gradcomp-train":
            assert {"fp32", "fp16", "bf16", "none"} < {row["label"] for row in rows}, "controls are in every point"
            assert all(len(row["step_times_ms"]) <= row["steps"] == point["options"]["steps"] for row in rows)
    page = (sweep.path / "report" / "sweep.md").read_text(encoding="utf-8")
    assert page.count("virtual Ethernet: ") > 12 and page.count("emulated 10Mbit/s,1ms over virtual") and "Missing" not in page


def full_disk(cluster, sweep, place):
    """Gathering on a full disk: one line, no report that looks whole; with room it works."""
    place.mkdir()
    assert cluster.run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place).returncode == 0
    for part in ("plan.json", "records"):
        cluster.run("cp", "-r", sweep.path / part, place)
    cluster.run("bash", "-c", f"head -c 20m /dev/zero >{place}/filler")
    gather = ("env", "GRADCOMP_REPORT=true", GATHER, place)
    done = cluster.run(*gather)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "No space left" in done.stderr, done.stderr
    assert cluster.run("ls", "-A", place).stdout.split() == ["filler", "gather.lock", "plan.json", "records"]
    cluster.run("rm", place / "filler")
    assert cluster.run(*gather).returncode == 0


@pytest.mark.parametrize("launcher", [SRUN, "mpirun -n {ranks} --map-by ppr:{ranks_per_node}:node --bind-to core"],
                         ids=["srun", "mpirun"])
def test_ranks_devices_and_cores(cluster, tmp_path, launcher):
    """The same job scripts under srun and under mpirun, by the launcher line alone."""
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
    assert "TIMEOUT" in cluster.states().values()
    sweep.submit()
    cluster.wait("it goes on", lambda: len(sweep.history(1)) > 1 and sweep.history(1)[-1]["event"] == "start")
    assert sweep.history(1)[-1]["resumed"]
    cluster.run("scancel", *sweep.jobs())
    sweep.ended()


def test_nothing_is_left_when_the_tests_are_killed(cluster, tmp_path):
    """A second cluster, whose owner dies without a chance to clean up."""
    assert mentions(str(cluster.folder)), "the search finds those that run"
    folder, mounts = tmp_path / "doomed", pathlib.Path("/proc/mounts").read_text(encoding="utf-8")
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
    assert pathlib.Path("/proc/mounts").read_text(encoding="utf-8") == mounts
