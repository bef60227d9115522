"""Starts the ranks of a point by the launcher of its system, and ends them."""
import os
import signal
import subprocess

from . import SLURM, rank_map

GRACE_SECONDS = 20  # seconds between asking the ranks to end and killing them
MAP_SECONDS = 120


class Ranks:
    """Runs one program at a time. The program inherits the lock: ranks that outlive a killed job keep other jobs from their
    point."""

    def __init__(self, system, point, lock):
        self.system, self.point, self.lock = system, point, lock
        self.child: subprocess.Popen | None = None

    def start(self, program, **kwargs):
        """Starts the launcher with a program, in a process group of its own."""
        line = f'{self.system.launcher(self.point)} "$@"'
        self.child = subprocess.Popen(["bash", "-c", line, "launcher", *program], start_new_session=True,
                                      pass_fds=[self.lock.number], **kwargs)

    @property
    def status(self):
        """The exit status; None while the ranks run."""
        return self.child.poll() if self.child else None

    def end(self):
        """Asks the ranks to end, then kills them."""
        assert self.child, "they were started"
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.child.pid, number)
                self.child.wait(GRACE_SECONDS)
            except ProcessLookupError:
                pass
            except subprocess.TimeoutExpired:
                continue
        self.child.wait()

    def map(self):
        """The places of the ranks, with warnings if ranks share cores or devices."""
        self.start([str(SLURM / "rank_map")], stdout=subprocess.PIPE, text=True)
        assert self.child
        try:
            said, _ = self.child.communicate(timeout=MAP_SECONDS)
        except subprocess.TimeoutExpired:
            self.end()
            said = ""
        wanted = self.point["nodes"] * self.point["ranks_per_node"]
        return rank_map.text(said, wanted, bool(self.system.number("GPUS_PER_NODE")))
