"""A sweep on the cluster of machine.py, as a user sees it: it is submitted, watched and gathered."""
import json

from machine import BIN, SUBMIT

SRUN = "srun --mpi=pmix --nodes={nodes} --ntasks={ranks} --ntasks-per-node={ranks_per_node} --cpus-per-task={cpus} " \
       "--cpu-bind=cores --gpu-bind=none --kill-on-bad-exit=1"


def system_text(folder, launcher=SRUN, **values):
    """The file of a system. Reports by the real tool take ten seconds, so its jobs write them only once FOLDER/report_wanted
    exists."""
    # Slurm warns up to 30 s early, that is, with a limit of 120 s, jobs that have run for 10 s. Jobs that a test kills or
    # cancels are younger, so that no warning comes at the same moment: the requeue after it would undo what the test did.
    values = {"PARTITION": "debug", "RANKS_PER_NODE": 1, "MAX_JOBS": 2, "WARN_SECONDS": 80} | values
    lines = [f"{name}={value}" for name, value in values.items()]
    setup = [f'export PATH="{BIN}:$PATH" OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,sm,tcp OMPI_MCA_btl_tcp_if_include=eth0',
             "export OMPI_MCA_btl_tcp_flags=send OMPI_MCA_mpi_yield_when_idle=1 KOKKOS_DISABLE_WARNINGS=1",
             "export TMPDIR=/run/gradcomp/node",  # each node has its own, see the script cluster
             f'[ -e "{folder}/report_wanted" ] || export GRADCOMP_REPORT=true']
    return "\n".join([*lines, "FABRIC='virtual Ethernet'", f"LAUNCHER='{launcher}'", "SETUP='", *setup, "'", ""])


class Sweep:
    """A sweep with its folder and its jobs."""

    def __init__(self, cluster, base, experiment, **system):
        base.mkdir()
        self.cluster, self.base, self.path = cluster, base, base / "out"
        self.system, self.experiment = base / "system.env", base / "experiment.toml"
        self.system.write_text(system_text(base, **system), encoding="utf-8")
        self.experiment.write_text(experiment, encoding="utf-8")

    def submit(self, *options):
        """Submits the sweep and returns what submit printed."""
        done = self.cluster.run(SUBMIT, self.system, self.experiment, "--output", self.path, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def points(self):
        return json.loads((self.path / "plan.json").read_text(encoding="utf-8"))["points"]

    def history(self, index):
        path = self.path / "points" / self.points()[index]["id"] / "history.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []

    def events(self, index):
        return [line["event"] for line in self.history(index)]

    def story(self):
        """Everything that happened, for the message of a failing test, because its folder may be removed later."""
        lines = [f"{line['time']:.1f} point {index}: {line['event']} job {line.get('job_id')} {line.get('why', '')}"
                 for index in range(len(self.points())) for line in self.history(index)]
        return "\n".join([*sorted(lines), str(self.cluster.states())])

    def records(self):
        """{name: time at which it was written}"""
        return {path.name: path.stat().st_mtime_ns for path in self.path.glob("records/*.json")}

    def arrays(self):
        lines = (self.path / "jobs" / "submitted.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def checkpoint(self, index):
        return any((self.path / "points" / self.points()[index]["id"] / "checkpoints").glob("seed*/checkpoint.json"))

    def jobs(self):
        """The numbers of its job arrays and of its last gathering."""
        last = json.loads((self.path / "jobs" / "gather.json").read_text(encoding="utf-8"))
        return [line["job"] for line in self.arrays()] + [last["job"]]

    def ended(self):
        """Waits until none of its jobs waits or runs."""
        mine = set(self.jobs())
        self.cluster.wait("all jobs ended", lambda: not mine & {job.split("_")[0] for job, _ in self.cluster.queue()}, 600)

    def gathered(self):
        """(state of the last gathering, its log)"""
        log = max(self.path.glob("jobs/gather_*.log"), key=lambda path: int(path.stem.removeprefix("gather_")))
        return self.cluster.states()[log.stem.removeprefix("gather_")], log.read_text(encoding="utf-8")
