"""slurm/submit against a real Slurm of two nodes, with gradcomp's real programs: killed, requeued, cancelled, out of time."""
import json
import shutil

import pytest
from machine import BIN, GATHER, SUBMIT, Cluster, why_not

SYSTEM = f"""
PARTITION=debug
RANKS_PER_NODE=1
MAX_JOBS=2
WARN_SECONDS=40
FABRIC='virtual Ethernet'
LAUNCHER='srun --mpi=pmix --nodes={{nodes}} --ntasks={{ranks}} --ntasks-per-node={{ranks_per_node}} --cpus-per-task={{cpus}} --cpu-bind=cores --kill-on-bad-exit=1'
SETUP='
export PATH={BIN}:$PATH OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,tcp OMPI_MCA_btl_tcp_if_include=eth0
export OMPI_MCA_btl_tcp_flags=send OMPI_MCA_mpi_yield_when_idle=1 KOKKOS_DISABLE_WARNINGS=1
'
"""
SHORT = """
nodes = 2
model = "resnet8"
data = "shapetex10:train=64:test=32"
batch = 4
"""
LONG = SHORT + """
steps = 600
block = 5
evaluate_every = 300
checkpoint_every = 5
"""
TWELVE = f"""
title = "Twelve points on two nodes"
time = "00:01:00"
preflight_sizes = "1024,65536"
[[sweep]] # three long ones
{LONG}
methods = ["top_k:ratio=0.01", "qsgd:bits=4", "powersgd:rank=2"]
[[sweep]] # fails until its text is there
nodes = 2
model = "lstm_1x96"
data = "text:TEXT"
batch = 2
length = 8
steps = 4
methods = "top_k:ratio=0.05"
[[sweep]] # seven short ones
{SHORT}
steps = 4
block = 2
methods = ["top_k:ratio=0.01", "sign", "qsgd:bits=4", "powersgd:rank=2", "random_k:ratio=0.1", "natural", "terngrad"]
"""


class Sweep:
    """A sweep's folder, as a user sees it."""

    def __init__(self, cluster, base, name, system, experiment):
        base.mkdir()
        self.cluster, self.path = cluster, base / "out"
        self.system, self.experiment = base / f"{name}.env", base / f"{name}.toml"
        self.system.write_text(system, encoding="utf-8")
        self.experiment.write_text(experiment, encoding="utf-8")

    def submit(self):
        done = self.cluster.run(SUBMIT, self.system, self.experiment, "--output", self.path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def points(self):
        return json.loads((self.path / "plan.json").read_text(encoding="utf-8"))["points"]

    def history(self, index):
        path = self.path / "points" / self.points()[index]["id"] / "history.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []

    def events(self, index):
        return [line["event"] for line in self.history(index)]

    def arrays(self):
        lines = (self.path / "jobs" / "submitted.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def checkpoint(self, index):
        return any((self.path / "points" / self.points()[index]["id"] / "checkpoints").glob("seed*/checkpoint.json"))

    def ended(self):
        self.cluster.wait("all jobs ended", lambda: not self.cluster.queue(), 600)

    def gathered(self):
        """(exit state of the last gather, its log)"""
        log = max(self.path.glob("jobs/gather_*.log"), key=lambda path: int(path.stem.removeprefix("gather_")))
        return self.cluster.states()[log.stem.removeprefix("gather_")], log.read_text(encoding="utf-8")


@pytest.fixture(scope="module", name="cluster")
def fixture_cluster(tmp_path_factory):
    reason = why_not()
    if reason:
        pytest.skip(reason)
    started = Cluster(tmp_path_factory.mktemp("slurm") / "cluster")
    yield started
    started.close()


def test_twelve_points_killed_and_requeued_end_complete(cluster, tmp_path):
    sweep = Sweep(cluster, tmp_path / "s", "twelve", SYSTEM, TWELVE.replace("TEXT", str(tmp_path / "corpus.txt")))
    sweep.submit()
    assert len(sweep.points()) == 12
    job = sweep.arrays()[0]["job"]
    requeued, cancelled, out_of_time, failing = 1, 2, 3, 4

    # A second submission while all of it is queued or runs submits nothing but another gathering.
    assert "12 were queued before" in sweep.submit() and len(sweep.arrays()) == 1
    cluster.wait("two long points train", lambda: sweep.checkpoint(requeued) and sweep.checkpoint(cancelled))
    assert cluster.run("scontrol", "requeue", f"{job}_{requeued}").returncode == 0
    assert cluster.run("scancel", f"{job}_{cancelled}").returncode == 0
    sweep.ended()

    state, log = sweep.gathered()
    assert state == "FAILED" and "10 of 12 points" in log, log
    missing = [line for line in log.splitlines() if "missing:" in line]
    assert len(missing) == 2 and f"point {cancelled}," in missing[0] and f"point {failing}," in missing[1]
    assert "failed: status" in missing[1] and "corpus.txt" in missing[1], missing
    assert not sweep.checkpoint(requeued), "checkpoints of finished points go"
    assert sweep.checkpoint(cancelled), "those of a cancelled one stay"
    assert "requeued" in sweep.events(out_of_time) and "warned" in sweep.events(out_of_time), sweep.history(out_of_time)
    before = {path.name: path.stat().st_mtime_ns for path in sweep.path.glob("records/*.json")}

    (tmp_path / "corpus.txt").write_text("the quick brown fox jumps over the lazy dog . \n" * 400, encoding="utf-8")
    sweep.submit()
    assert sweep.arrays()[-1]["points"] == [cancelled, failing], "only what is missing"
    sweep.ended()
    state, log = sweep.gathered()
    assert state == "COMPLETED" and "12 of 12 points" in log, log

    after = {path.name: path.stat().st_mtime_ns for path in sweep.path.glob("records/*.json")}
    assert before.items() <= after.items() and len(after) == 12, "finished points were not run again"
    for index, point in enumerate(sweep.points()):
        starts = [line for line in sweep.history(index) if line["event"] == "start"]
        assert sweep.events(index).count("finished") == 1, sweep.history(index)
        assert all(line["resumed"] for line in starts[1:]) or index == failing, sweep.history(index)
        assert len(starts) == 1 or index in (requeued, cancelled, out_of_time, failing), sweep.history(index)
        rows = json.loads((sweep.path / "records" / f"{point['id']}.json").read_text(encoding="utf-8"))["benchmarks"]
        if point["program"] == "gradcomp-train":
            assert {"fp32", "fp16", "bf16", "none"} < {row["label"] for row in rows}, "controls are in every point"
    page = (sweep.path / "report" / "sweep.md").read_text(encoding="utf-8")
    assert page.count("virtual Ethernet: ") > 12 and "Missing" not in page
    assert (sweep.path / "report" / "report.html").is_file()

    assert sweep.submit().startswith("12 points are finished") and len(sweep.arrays()) == 2, "nothing is left to run"
    sweep.ended()
    full_disk(cluster, sweep, tmp_path / "small")


def full_disk(cluster, sweep, place):
    """Gathering on a full disk: one line, no report that looks whole; with room it works."""
    place.mkdir()
    assert cluster.run("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", place).returncode == 0
    for part in ("plan.json", "records"):
        cluster.run("cp", "-r", sweep.path / part, place)
    cluster.run("bash", "-c", f"head -c 100m /dev/zero >{place}/filler")
    done = cluster.run(GATHER, place)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "No space left" in done.stderr, done.stderr
    assert cluster.run("ls", "-A", place).stdout.split() == ["filler", "gather.lock", "plan.json", "records"]
    cluster.run("rm", place / "filler")
    assert cluster.run(GATHER, place).returncode == 0


def test_ranks_devices_and_cores(cluster, tmp_path):
    system = SYSTEM.replace("RANKS_PER_NODE=1", "RANKS_PER_NODE=2\nGPUS_PER_NODE=2")
    system = system.replace("--cpu-bind", "--gpu-bind=none --cpu-bind")
    experiment = 'title = "Map"\ntime = "00:05:00"\npreflight_sizes = "1024"\n[[sweep]]\nprogram = "gradcomp-allreduce"\n' \
                 'nodes = 2\nsizes = "1024"\nrepetitions = 2\nmethods = "sign"\n'
    sweep = Sweep(cluster, tmp_path / "s", "map", system, experiment)
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


def test_time_limit_without_a_warning(cluster, tmp_path):
    experiment = f'title = "Too long"\ntime = "00:01:00"\npreflight_sizes = "1024"\n[[sweep]]\n{LONG}\nmethods = "sign"\n'
    system = SYSTEM.replace("WARN_SECONDS=40", "WARN_SECONDS=0")
    sweep = Sweep(cluster, tmp_path / "s", "limit", system, experiment.replace("steps = 600", "steps = 100000"))
    sweep.submit()
    sweep.ended()
    state, log = sweep.gathered()
    assert state == "FAILED" and "1 of 2 points" in log and "point 1," in log, log
    assert "TIMEOUT" in cluster.states().values()
    sweep.submit()
    cluster.wait("it goes on", lambda: len(sweep.history(1)) > 1 and sweep.history(1)[-1]["event"] == "start")
    assert sweep.history(1)[-1]["resumed"]
    cluster.run("scancel", "--me")
    sweep.ended()
    shutil.rmtree(sweep.path)
