"""One trial of a fault: a folder, the processes started in it, and what was lost."""
import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Callable

import numpy as np

LIMIT = 120  # seconds after which a job counts as hanging; the machine may be busy with other work
GONE = 20  # seconds after which a process that should have ended counts as left
MARK = "FAULT_TRIAL"  # variable of the environment by which the processes of a trial are known, whoever their parent is
RANK = "OMPI_COMM_WORLD_RANK"
BEFORE = "ended before"  # in place of what was injected, if the job had ended


@dataclasses.dataclass(frozen=True)
class Fault:
    """A row of the page."""

    name: str
    title: str  # the fault
    means: str  # how it is injected
    kept: str  # what must hold
    seeds: int  # number of trials, unless the caller sets another
    prepare: Callable  # prepare(folder) returns what all trials share
    run: Callable  # run(trial, shared) injects the fault once
    why_not: Callable = lambda: None  # the reason why it cannot be injected on this machine

    @property
    def few(self):
        """Number of trials of a check that takes a minute."""
        return max(1, min(3, self.seeds // 10))


def _holds_within(seconds, condition):
    """Waits until a condition holds, at most so long, and returns whether it does."""
    end = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < end:
        time.sleep(0.02)
    return holds


class Trial:
    """What happens with one seed. `random`: a counter-based generator of this fault and seed."""

    def __init__(self, fault, seed, folder):
        self.fault, self.seed, self.folder = fault, seed, pathlib.Path(folder)
        self.random = np.random.Generator(np.random.Philox(key=[seed, int.from_bytes(fault.encode()[:8], "little")]))
        self.mark = f"{MARK}={os.getpid()}.{fault}.{seed}"
        self.injected, self.lost, self.parts, self.notes = "", [], 0, []

    def start(self, *words, stdout=subprocess.DEVNULL):
        """Starts a command in a session of its own. What it says on standard error goes to a file (said)."""
        name, _, value = self.mark.partition("=")
        own = self.folder.parent / "tmp"  # a killed launcher leaves a folder; a later one with its number would not start
        own.mkdir(exist_ok=True)
        with open(self.folder.parent / "said", "w", encoding="utf-8") as errors:
            environment = os.environ | ON_RANKS | {name: value, "TMPDIR": str(own)}
            return subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=stdout, stderr=errors, cwd=self.folder,
                                    env=environment, start_new_session=True)

    def text(self):
        """All that the command which was started last has said on standard error."""
        said = self.folder.parent / "said"
        return said.read_text(encoding="utf-8", errors="replace") if said.exists() else ""

    def said(self, program):
        """The error lines of the program since the last start."""
        return [line[line.index(f"{program}: error: "):] for line in self.text().splitlines() if f"{program}: error: " in line]

    def end(self, process, limit=LIMIT):
        """The exit status; None, and a loss, if the command hangs."""
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            self.lost.append("hangs")
            self.kill()
            process.wait()
            return None

    def run(self, *words, **options):
        """The exit status of a command."""
        return self.end(self.start(*words, **options))

    def check(self, holds, loss):
        """Notes a loss unless something holds."""
        if not holds:
            self.lost.append(loss)

    def processes(self):
        """{process: its rank, or None} of all that this trial started and that has not ended."""
        found, mark = {}, self.mark.encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                variables = (folder / "environ").read_bytes().split(b"\0")
                if mark in variables:
                    rank = [word.partition(b"=")[2] for word in variables if word.startswith(RANK.encode() + b"=")]
                    found[int(folder.name)] = int(rank[0]) if rank else None
        return found

    def ranks(self, count=2):
        """The processes of the ranks, as soon as there are `count`; notes a loss if they do not come."""
        self.check(_holds_within(LIMIT, lambda: len(self._ranks()) >= count), "the ranks did not start")
        return self._ranks()

    def _ranks(self):
        return [process for process, rank in self.processes().items() if rank is not None]

    def ranks_end(self, seconds):
        """Waits until no rank is left, at most so long, and returns whether that is so."""
        return _holds_within(seconds, lambda: not self._ranks())

    def signal(self, number, processes):
        """Sends a signal to those that are still there."""
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def kill(self):
        self.signal(signal.SIGKILL, self.processes())

    def _after(self, seconds):
        """The processes after some time: one that just begins another program has no environment for a moment."""
        time.sleep(seconds)
        return self.processes()

    def require_gone(self):
        """Notes a loss if a process is left, and ends it."""
        self.check(_holds_within(GONE, lambda: not (self.processes() or self._after(0.1))), "processes are left")
        self.kill()

    def count_parts(self, folder=None):
        """Counts hidden files, which an interrupted write leaves, and removes them."""
        for path in (folder or self.folder).rglob(".*"):
            if path.is_file():
                self.parts += 1
                path.unlink()

    def row(self):
        """The row of the record."""
        return {"name": f"{self.fault}/{self.seed}", "injected": self.injected, "lost": self.lost, "parts": self.parts,
                "notes": [self.text()[-1000:]] if self.lost else self.notes}


# Two ranks and other work share few cores: each rank has one thread, and who waits leaves the core to who computes.
ON_RANKS = {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false", "OMPI_MCA_mpi_yield_when_idle": "1", "KOKKOS_DISABLE_WARNINGS": "1"}
