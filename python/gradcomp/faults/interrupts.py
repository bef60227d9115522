"""Interrupts at random moments: of a training, of programs that write a result, and of tools that write pages."""
import contextlib
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import time

from gradcomp.errors import ToolError
from gradcomp.json_files import read_json
from gradcomp.places import ROOT
from gradcomp.results.schema import require_file

from .trial import BEFORE, LIMIT, Fault, Trial

RANKS = ("mpirun", "-n", "2")
STEPS = 30
TRAIN = ("gradcomp-train", "--data", "shapetex10:train=64:test=32", "--model", "resnet8", "--batch", "4", "--steps", STEPS,
         "--block", "5", "--evaluate-every", "10", "--methods", "fp32,top_k:ratio=0.01", "--no-controls")
CHECKPOINTS = ("--checkpoint", "checkpoints", "--checkpoint-every", "5", "--output", "out.json")
ENDING = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)
PROGRAMS = ((*RANKS, "gradcomp-allreduce", "--sizes", "1024,65536", "--methods", "fp32,top_k", "--repetitions", "3"),
            ("gradcomp-bench", "--quick", "--methods", "fp32,top_k", "--sizes", "1024", "--filter", "^read|/top_k/"),
            ("gradcomp-evaluate", "--data", "laplace,pareto", "--size", "4099", "--methods", "fp32,top_k"))


def outcome(path):
    """What a training must give whether it was interrupted or not: for each method the hash of its parameters and its curve."""
    return [(row["label"], row["parameters_hash"], row["curve"]["loss"], row["curve"]["accuracy"], row["curve"]["wire_bytes"])
            for row in read_json(path)["benchmarks"]]


def is_whole(path, rows):
    """Whether a file is a complete result with so many rows."""
    try:
        document = read_json(path)
        require_file(document, path)
    except ToolError:
        return False
    return len(document["benchmarks"]) == rows


def made(folder, *words):
    """Runs a command without a fault in `folder` and returns the seconds that it took. Throws ToolError unless it succeeds."""
    trial, begin = Trial("made", 0, folder), time.monotonic()
    if trial.run(*words) != 0:
        raise ToolError(f"without a fault, {' '.join(map(str, words))} fails: {trial.text()}")
    return time.monotonic() - begin


@dataclasses.dataclass
class Duration:
    """How long a command takes without a fault. A trial that is over before its signal corrects it: the machine may be faster now."""

    seconds: float


def interrupt(trial, process, duration, kinds, appears=False):
    """Sends one of the signals `kinds`, which it returns, to the launcher, to one rank or to all processes, at a random moment of the
    `duration`. `appears`: as soon as the folder has a hidden file, which is one that is being written."""
    number = kinds[trial.random.integers(len(kinds))]
    target = ("launcher", "one rank", "all processes")[trial.random.integers(3)]
    moment, pause, begin = trial.random.uniform(0, duration.seconds), trial.random.uniform(0.1, 1), time.monotonic()
    if appears:
        end = time.monotonic() + LIMIT
        while process.poll() is None and not any(trial.folder.rglob(".*")) and time.monotonic() < end:
            pass
    else:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(moment)
    if process.poll() is not None:
        duration.seconds = min(duration.seconds, time.monotonic() - begin)
    found = trial.processes()
    ranks = sorted(process for process, rank in found.items() if rank is not None)
    if target == "launcher" or (target == "one rank" and not ranks):
        target, chosen = "launcher", [process.pid]
    elif target == "one rank":
        chosen = [ranks[trial.random.integers(len(ranks))]]
    else:
        chosen = list(found)
    trial.injected = f"{signal.Signals(number).name} to {target}" if process.poll() is None else BEFORE
    trial.signal(number, chosen)
    if number == signal.SIGSTOP:
        time.sleep(pause)
        trial.signal(signal.SIGCONT, chosen)
    return number


def prepare_training(folder):
    """(Duration of an uninterrupted training, its outcome, the result of an earlier training that must not be lost)"""
    made(folder, *TRAIN, "--seed", 7, "--output", "old.json")
    seconds = made(folder, *RANKS, *TRAIN, *CHECKPOINTS)
    old = (folder / "old.json").read_bytes()
    return Duration(seconds), outcome(folder / "out.json"), old


def interrupt_training(trial, shared):
    duration, expected, old = shared
    output, folder = trial.folder / "out.json", trial.folder / "checkpoints"
    output.write_bytes(old)
    words = (*RANKS, *TRAIN, *CHECKPOINTS)
    process = trial.start(*words)
    number = interrupt(trial, process, duration, (*ENDING, signal.SIGSTOP))
    status = trial.end(process)
    trial.require_gone()

    def has_new():
        return is_whole(output, len(expected)) and outcome(output) == expected
    kept = output.read_bytes() == old
    trial.check(kept or has_new(), "the result is neither the earlier one nor the new one")
    trial.check(status != 0 or has_new(), "status 0 without a result")
    trial.check(number != signal.SIGSTOP or status in (0, None), "it did not go on after SIGCONT")
    if status == 0:
        trial.notes.append("ended by itself")
    else:
        resumed = any(folder.glob("seed*/checkpoint.json"))
        trial.notes.append("resumed" if resumed else "started again")
        trial.check(trial.run(*words, *(("--resume", "checkpoints") if resumed else ())) == 0, "it cannot be resumed")
        trial.check(has_new(), "the resumed training differs")
        trial.require_gone()
    trial.count_parts()
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    others = names ^ {"checkpoint.json", *(f"rank{rank}_step{STEPS}.ckpt" for rank in range(2))}
    trial.check(not others, f"other files: {', '.join(sorted(others))}")


def prepare_results(folder):
    """[(command, its Duration, bytes of its earlier result, rows)] of all programs"""
    found = []
    for words in PROGRAMS:
        seconds = made(folder, *words, "--output", "out.json")
        old = (folder / "out.json").read_bytes()
        found.append((words, Duration(seconds), old, len(json.loads(old)["benchmarks"])))
    return found


def interrupt_result(trial, shared):
    words, duration, old, rows = shared[trial.seed % len(shared)]
    output = trial.folder / "out.json"
    output.write_bytes(old)
    process = trial.start(*words, "--output", output)
    interrupt(trial, process, duration, ENDING, appears=trial.seed // len(shared) % 2 == 1)
    status = trial.end(process)
    trial.require_gone()
    kept = output.read_bytes() == old
    trial.check(kept or is_whole(output, rows), "the result is neither the earlier one nor the new one")
    trial.check(status != 0 or not kept, "status 0 without a result")
    trial.notes.append("earlier result" if kept else "new result")
    trial.count_parts()
    trial.check(trial.run(*words, "--output", output) == 0 and is_whole(output, rows), "the program cannot be started again")


def content(folder):
    """{name: bytes} of all files of a folder that are not hidden, nor in a hidden folder."""
    found = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {str(name): path.read_bytes() for name, path in found.items() if not any(part.startswith(".") for part in name.parts)}


def _write_arms(document, folder):
    """Writes results of 30 processes to the folders a and b: one real result, with other dates and slightly other times."""
    for number in range(30):
        document["context"]["date"] = f"2025-01-01T00:{number:02d}:00+00:00"
        for row in document["benchmarks"]:
            row["times_ms"] = [time * (1 + number % 7 / 1000) for time in row["times_ms"]]
        path = folder / ("a" if number < 20 else "b") / f"{number:03d}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document), encoding="utf-8")


def prepare_tools(folder):
    """[(command, seconds, the files before, the files after)] of all tools. The command works on the folder `pages`."""
    results = folder / "results"
    results.mkdir()
    made(folder, *PROGRAMS[1], "--output", "bench.json")
    _write_arms(read_json(folder / "bench.json"), results)
    made(folder, *TRAIN, "--output", results / "one.json")
    made(folder, "gradcomp-evaluate", "--data", "laplace", "--size", "4099", "--methods", "fp32,top_k", "--output", results / "two.json")
    tools = ROOT / "tools"
    compare = (tools / "gradcomp-compare", results / "a", results / "b")
    commands = [(tools / "report", "pages", "--markdown", "pages/report.md"),
                (*compare, "--json", "pages/out.json", "--markdown", "pages/out.md"),
                (tools / "gradcomp-history", "add", "pages", results / "a", "--allow-dirty")]
    found = []
    for words in commands:
        pages = folder / "pages"
        shutil.rmtree(pages, ignore_errors=True)
        pages.mkdir()
        name = os.path.basename(words[0])
        if name == "report":
            shutil.copy(results / "two.json", pages)
            made(folder, *words)
            shutil.copy(results / "one.json", pages)
        if name == "gradcomp-compare":
            for page in ("out.json", "out.md"):
                (pages / page).write_text("an earlier page\n", encoding="utf-8")
        before = content(pages)
        begin = time.monotonic()
        trial = Trial("made", 0, folder)
        status = trial.run(*words)
        seconds = time.monotonic() - begin
        after = content(pages)
        if status not in (0, 1, 3) or after == before:  # a comparison may end with any verdict
            raise ToolError(f"without a fault, {name} fails: {trial.text()}")
        found.append((words, Duration(seconds), before, after))
    return found


def interrupt_tool(trial, shared):
    words, duration, before, after = shared[trial.seed % len(shared)]
    pages = trial.folder / "pages"
    for name, data in before.items():
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        (pages / name).write_bytes(data)
    pages.mkdir(exist_ok=True)
    process = trial.start(*words)
    interrupt(trial, process, duration, ENDING, appears=trial.seed // len(shared) % 2 == 1)
    trial.end(process)
    trial.require_gone()
    found = content(pages)
    trial.check(all(data in (before.get(name), after.get(name)) for name, data in found.items()), "a file is half written")
    trial.check(all(name in found for name in before), "an earlier file is gone")
    trial.check(found in (before, after), "some files are new and some are not")
    trial.notes.append("earlier files" if found == before else "new files")
    trial.count_parts()
    trial.run(*words)
    trial.check(after.items() <= content(pages).items(), "the tool cannot be started again")  # a history adds its verdict


ANY = "SIGKILL, SIGINT or SIGTERM"
FAULTS = (
    Fault("training", "an interrupted training",
          f"{ANY}, or SIGSTOP and SIGCONT, to the launcher, one rank or all processes, at a random moment of a training on two ranks "
          "with checkpoints",
          "the same command, with `--resume` if there is a checkpoint, ends with the same hash of the parameters and the same curve; "
          "the earlier result stays until the new one is whole", 200, prepare_training, interrupt_training),
    Fault("results", "an interrupted program that replaces a result",
          f"{ANY} at a random moment of `gradcomp-allreduce`, `gradcomp-bench` and `gradcomp-evaluate`, or while the result is written",
          "the earlier result is whole, or the new one is", 60, prepare_results, interrupt_result),
    Fault("tools", "an interrupted tool that replaces pages",
          f"{ANY} at a random moment of `tools/report`, `gradcomp-compare` and `gradcomp-history add`, or while files are written",
          "all earlier files are whole, or all new ones are", 45, prepare_tools, interrupt_tool))
