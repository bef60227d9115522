"""Runs a sweep without a scheduler, or inside an allocation: one point after the other in this shell."""
import signal
import subprocess

from gradcomp.output.files import write_whole

from . import queue
from .gather import gather


class _Runner:
    """Runs one script at a time. Signals are passed on to the script and end the sweep after it."""

    def __init__(self):
        self.child, self.signal = None, None
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number, _):
        self.signal = number
        if self.child and self.child.poll() is None:
            self.child.send_signal(number)

    def run(self, words, log):
        """Runs a script with its output in `log` and returns its exit status."""
        with open(log, "a", encoding="utf-8") as file:
            self.child = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT)
            return self.child.wait()


def run(folder):
    """Runs the unfinished points and gathers. Returns the status of gather, or 128 + the signal that ended the sweep."""
    runner = _Runner()
    for name, text, members in queue.arrays(folder, folder.unfinished()):
        path = folder.path / "jobs" / name
        write_whole(path, text)
        for index in members:
            if runner.signal:
                break
            identity = folder.points[index]["id"]
            status = runner.run(["bash", str(path), str(index)], folder.path / "jobs" / f"{identity}.log")
            print(f"{identity}: {'finished' if status == 0 else f'status {status}'}", flush=True)
    if runner.signal:
        print(f"ended by signal {runner.signal}; the same call continues the sweep")
        return 128 + runner.signal
    return gather(folder)
