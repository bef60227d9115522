"""Runs one point inside its job. A finished point does not run again, checkpoints are kept, and the program ends before Slurm's
time limit."""
import math
import os
import shutil
import signal
import subprocess
import sys
import time

from gradcomp.errors import ToolError, complete
from gradcomp.json_files import read_json
from gradcomp.output.files import write_whole

from .command import commands, has_checkpoint
from .folder import Lock, add_line
from .ranks import Ranks

JOB = ("ARRAY_JOB_ID", "ARRAY_TASK_ID", "JOB_ID", "RESTART_COUNT")  # Slurm's variables that the history keeps


class Attempt:
    """One run of a point's program. SIGUSR1 is Slurm's warning; SIGTERM and SIGINT end the run at once."""

    def __init__(self, folder, point, lock):
        self.folder, self.point = folder, point
        self.own = folder.point_folder(point)
        self.ranks = Ranks(folder.system, point, lock)
        self.signal, self.stopped = None, False  # stopped: this attempt ended the ranks; otherwise they ended by themselves
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number, _):
        if self.signal != signal.SIGTERM:  # a signal to end replaces a warning
            self.signal = number

    def _note(self, event, **more):
        """Appends one line to the history of the point."""
        job = {name.lower(): os.environ[f"SLURM_{name}"] for name in JOB if f"SLURM_{name}" in os.environ}
        add_line(self.own / "history.jsonl", {"event": event, "time": round(time.time(), 2)} | job | more)

    def _progress(self):
        """A value that changes when a program has written a checkpoint or bucket sizes."""
        found = [*(self.own / "checkpoints").glob("seed*/checkpoint.json"), *self.own.glob("rates.json")]
        return sorted((path.parent.name, path.stat().st_mtime_ns) for path in found)

    def _wait(self):
        """Waits until the program ends or must end. After the warning it may continue to its next checkpoint, for half of the
        remaining time."""
        deadline, seen = math.inf, None  # until a warning
        while self.ranks.status is None:
            if self.signal == signal.SIGUSR1 and deadline == math.inf:
                self._note("warned")
                deadline, seen = time.monotonic() + self.folder.system.number("WARN_SECONDS") / 2, self._progress()
            if self.signal and (self.signal != signal.SIGUSR1 or time.monotonic() >= deadline or self._progress() != seen):
                self.stopped = True
                self.ranks.end()
            time.sleep(0.1)

    def run(self):
        """Returns the exit status: 0 when the point is finished."""
        (self.folder.path / "records").mkdir(exist_ok=True)
        if (self.own / "out.json").is_file():  # complete: the attempt that wrote it was killed before it could keep the record
            return self._finish()
        self._note("start", resumed=has_checkpoint(self.own))
        before = self._progress()
        several = commands(self.point, self.own)
        missing = [program for program, *_ in several if not shutil.which(program)]
        if missing:
            return self._fail(f"{missing[0]} is not on PATH: SETUP of the system {self.folder.system.name} must load or export where "
                              "it is")
        print(self.ranks.map(), flush=True)
        if self.signal in (None, signal.SIGUSR1):  # after such an early warning there is still time for a first checkpoint
            with open(self.own / "errors.txt", "w", encoding="utf-8") as errors:
                for command in several:
                    print("run_point:", self.point["id"], *command, flush=True)
                    self.ranks.start(command, stderr=errors)
                    self._wait()
                    if self.stopped or self.ranks.status:
                        break
        if complete([self.point["program"]], self.ranks.status) and (self.own / "out.json").is_file():
            return self._finish()
        if self.signal == signal.SIGUSR1 and self.stopped:
            return self._again(self._progress() != before)
        return self._fail(self._why())

    def _finish(self):
        if not read_json(self.own / "out.json").get("benchmarks"):
            raise ToolError(f"'{self.own}/out.json' holds no results: remove it to run the point again")
        os.replace(self.own / "out.json", self.folder.record(self.point))
        (self.own / "failed.txt").unlink(missing_ok=True)
        shutil.rmtree(self.own / "checkpoints", ignore_errors=True)
        self._note("finished")
        return 0

    def _why(self):
        """Why the program ended, in one line; lines of the program come before those of launchers."""
        if self.signal and self.signal != signal.SIGUSR1:
            return f"ended by signal {int(self.signal)}: cancelled, preempted or requeued"
        said = (self.own / "errors.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        own = [line for line in said if "gradcomp-" in line]
        errors = [line for line in said if "error" in line.lower()]
        return f"status {self.ranks.status}: {next(iter(own + errors + said[-1:]), 'it said nothing').strip()}"

    def _fail(self, why):
        """Keeps the reason for gather and returns the status."""
        write_whole(self.own / "failed.txt", why + "\n")
        self._note("failed", why=why)
        print(f"run_point: {self.point['id']}: {why}", file=sys.stderr)
        return 128 + self.signal if self.signal else max(self.ranks.status or 1, 1)

    def _again(self, progress):
        """Puts the point back into the queue, but only if it has written a checkpoint: otherwise it would start again for
        ever."""
        if not progress:
            return self._fail("reached the time limit without a checkpoint: it needs more time or a smaller checkpoint_every")
        print(f"run_point: {self.point['id']}: warned, checkpoint kept", flush=True)
        if self.folder.system.scheduled:
            self._note("requeued")
            if subprocess.run(["scontrol", "requeue", os.environ["SLURM_JOB_ID"]], check=False).returncode == 0:
                signal.pause()  # Slurm ends this job and starts it again; if it exits now, Slurm takes it as finished
                return 128 + signal.SIGUSR1
        self._note("interrupted")  # no Slurm, or one that does not requeue: the same call of submit continues the point
        return 128 + signal.SIGUSR1


def run_point(folder, index):
    """Runs the point unless it is finished or is running elsewhere."""
    if not 0 <= index < len(folder.points):
        raise ToolError(f"there is no point {index} in '{folder.path}/plan.json': allowed are 0 to {len(folder.points) - 1}")
    point = folder.points[index]
    lock = Lock(folder.point_folder(point) / "lock")
    if lock.taken or folder.record(point).is_file():
        print(f"run_point: {point['id']}: {'runs elsewhere' if lock.taken else 'is finished'}: skipped")
        return 0
    return Attempt(folder, point, lock).run()
