"""Starts tests/slurm/cluster and runs commands inside it."""
import os
import pathlib
import select
import shutil
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
SUBMIT, GATHER = HERE.parents[1] / "slurm" / "submit", HERE.parents[1] / "slurm" / "gather"
BIN = pathlib.Path(os.environ.get("GRADCOMP_BIN", "/nonexistent"))
NEEDED = ("slurmctld", "slurmd", "sbatch", "srun", "munged", "ip", "nsenter", "unshare", "setpriv")
NAMESPACES = ["--mount", "--uts", "--net", "--pid", "--fork", "--kill-child", "--propagation", "private"]


def why_not():
    """Why a Slurm cannot be started here, or None if it can."""
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        return f"no Slurm of two nodes on this machine: {', '.join(missing)} missing"
    if os.geteuid() != 0 or subprocess.run(["unshare", *NAMESPACES, "true"], capture_output=True, check=False).returncode:
        return "no Slurm of two nodes on this machine: it needs root and leave to make namespaces"
    if not all((BIN / program).is_file() for program in ("gradcomp-train", "gradcomp-allreduce")):
        return "the programs are not built (GRADCOMP_BIN)"
    return None


def mentions(text):
    """Processes of the machine whose command line contains a text."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if text.encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:  # the process has just ended
            pass
    return found


class Cluster:
    """A Slurm in namespaces. close() ends all its processes."""

    def __init__(self, folder):
        folder.mkdir()
        self.folder = folder
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(["unshare", *NAMESPACES, str(HERE / "cluster"), str(folder)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = []
        while True:
            if not select.select([self.process.stdout], [], [], 60)[0]:
                self.close()
                raise RuntimeError(f"no cluster after 60 s: {said}")
            said.append(self.process.stdout.readline().strip())
            if said[-1] == "ready":
                break
            if not said[-1]:
                raise RuntimeError(f"no cluster: {said}")
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii")
        self.inside = children.split()[0]

    def run(self, *words):
        """Runs a command on the login node. Returns its exit status, standard output and standard error."""
        enter = ["nsenter", "--target", self.inside, "--mount", "--uts", "--pid", "--root", f"--wd={HERE}"]
        login = ["nsenter", "--net=/run/netns/sw", "env", "SLURM_CONF=/run/gradcomp/slurm.conf"]
        return subprocess.run([*enter, *login, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)

    def close(self):
        """Ends the Slurm. Its processes die with their namespace."""
        self.process.kill()
        self.process.wait()

    def queue(self):
        """[(job_task, state)] of all jobs that wait or run."""
        lines = self.run("squeue", "--noheader", "--array", "--format=%F_%K %t").stdout.splitlines()
        return [tuple(line.split()) for line in lines]

    def wait(self, what, condition, seconds=240):
        """Waits until a condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"not after {seconds} s: {what}; queue: {self.queue()}"
            time.sleep(0.3)

    def states(self):
        """{job number: its last state} of all jobs that ended, from Slurm's own list."""
        found = {}
        for line in (self.folder / "log" / "jobcomp.txt").read_text(encoding="utf-8").splitlines():
            fields = dict(field.split("=", 1) for field in line.split() if "=" in field)
            found[fields["JobId"]] = fields["JobState"]
        return found
