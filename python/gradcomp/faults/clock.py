"""The clock of the machine is set while a program runs. libfaketime sets it for the ranks alone."""
import pathlib
from time import sleep

from gradcomp.json_files import read_json

from .interrupts import RANKS, outcome
from .peers import LONG, prepare_suspension
from .trial import BEFORE, GONE, Fault

LIBRARIES = "usr/*lib/*/faketime/libfaketimeMT.so.1", "usr/local/lib/faketime/libfaketimeMT.so.1"
STEPS = (-86400, -3600, -60, 60, 3600, 86400)  # seconds


def library():
    """The path of libfaketime, which is an optional package of the system; None if it is not there."""
    return next((path for pattern in LIBRARIES for path in pathlib.Path("/").glob(pattern)), None)


def set_clock(trial, expected):
    """Sets the wall clock of both ranks while they train with a limit of waiting."""
    clock, step = trial.folder / "clock", int(trial.random.choice(STEPS))
    clock.write_text("+0\n", encoding="utf-8")
    faked = ("env", f"LD_PRELOAD={library()}", f"FAKETIME_TIMESTAMP_FILE={clock}", "FAKETIME_NO_CACHE=1",
             "FAKETIME_DONT_FAKE_MONOTONIC=1")
    process = trial.start(*RANKS, *faked, *LONG, "--timeout", GONE, "--output", "out.json")
    trial.ranks()
    sleep(trial.random.uniform(0.5, 2))
    clock.write_text(f"{step:+}\n", encoding="utf-8")
    trial.injected = f"clock set by {step:+} s" if process.poll() is None else BEFORE
    status = trial.end(process)
    trial.require_gone()
    trial.check(status == 0, f"status {status}")
    trial.check(status != 0 or outcome(trial.folder / "out.json") == expected, "the training differs")
    times = [time for row in read_json(trial.folder / "out.json")["benchmarks"] for time in row["step_times_ms"]] if status == 0 else []
    trial.check(all(0 < time < 1e3 * GONE for time in times), "the time of a step has the difference")
    trial.notes.append("went on")


FAULTS = (
    Fault("clock", "the clock of the machine is set",
          "libfaketime sets the wall clock of both ranks by a minute, an hour or a day, back or forth, while they train with "
          f"`--timeout {GONE}`",
          "the training goes on and ends with the same hash, and no time of a step has the difference", 10,
          prepare_suspension, set_clock, lambda: None if library() else "needs libfaketime"),)
