"""A full disk: a small file system in a mount namespace of its own, and a standard output that takes nothing."""
import functools
import shutil
import subprocess
import tempfile

from gradcomp.json_files import read_json
from gradcomp.places import ROOT

from . import interrupts
from .interrupts import CHECKPOINTS, RANKS, TRAIN, content, is_whole
from .trial import Fault

PAGE = 4096  # bytes in which the file system counts
MOUNTED = ("unshare", "--mount", "--propagation", "private", "sh", "-c")
# Mounts a file system of $1 bytes on the folder `small`, with the files of `before`, runs the command there, and copies what it
# holds to `after`, since it ends with the namespace.
SCRIPT = """size=$1; shift
mount -t tmpfs -o size=$size tmpfs small && cp -a before/. small/ && cd small || exit 97
"$@"
status=$?
cp -a . ../after
exit $status"""


@functools.cache
def why_not():
    """The reason why no file system can be mounted here, or None."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*MOUNTED, 'mount -t tmpfs tmpfs "$0"', folder], capture_output=True, check=False)
    return "needs the right to mount in a namespace" if done.returncode else None


def prepare(folder):
    """[(command, its name in error lines, the files before, most bytes that do not suffice)]"""
    found: list = []
    result, training, tool = folder / "result", folder / "training", folder / "tool"
    for place in (result, training, tool):
        place.mkdir()
    for words, _, old, _ in interrupts.prepare_results(result):
        name = next(word for word in words if str(word).startswith("gradcomp-"))
        found.append(((*words, "--output", "out.json"), name, {"out.json": old}, len(old) * 9 // 10))  # numbers may be shorter
    _, _, old = interrupts.prepare_training(training)
    found.append(((*RANKS, *TRAIN, *CHECKPOINTS), "gradcomp-train", {"out.json": old}, 3 << 20))
    for words, _, before, after in interrupts.prepare_tools(tool):
        new = sum(len(data) for name, data in after.items() if before.get(name) != data)
        moved = [str(word).replace("pages", ".", 1) if str(word).startswith("pages") else word for word in words]
        found.append((moved, words[0].name, before, new))
    return found


def run(trial, shared):
    words, name, before, new = shared[trial.seed % len(shared)]
    for place in ("before", "small", "after"):
        (trial.folder / place).mkdir()
    for path, data in before.items():
        (trial.folder / "before" / path).parent.mkdir(parents=True, exist_ok=True)
        (trial.folder / "before" / path).write_bytes(data)
    used = sum(-(-len(data) // PAGE) * PAGE for data in before.values())
    free = int(trial.random.integers(new // PAGE + 1)) * PAGE
    trial.injected = f"{name}, {free} bytes free"
    # the root folder of a file system takes a page too
    status = trial.run(*MOUNTED, SCRIPT, "sh", max(used + free, PAGE), *words)
    trial.require_gone()
    found = content(trial.folder / "after")
    trial.check(status not in (0, 97), f"status {status}")
    trial.check(len(trial.said(name)) == 1, f"{len(trial.said(name))} lines of error")
    trial.check({path: found.get(path) for path in before} == before, "an earlier file is changed")
    trial.count_parts(trial.folder / "after")
    trial.check(trial.parts == 0, "a temporary file stays")
    trial.notes.append("one line, status not 0")


def print_to_nowhere(trial, shared):
    """Runs a program or tool whose standard output is /dev/full."""
    words, name, rows = shared[trial.seed % len(shared)]
    trial.injected = name
    with open("/dev/full", "w", encoding="utf-8") as full:
        status = trial.run(*words, stdout=full)
    trial.check(status not in (0, None), f"status {status}")
    trial.check(len(trial.said(name)) == 1, f"{len(trial.said(name))} lines of error")
    if rows:
        trial.check(is_whole(trial.folder / "out.json", rows), "the result is not there")
    trial.notes.append("one line, status not 0")


def prepare_print(folder):
    """[(command, its name, rows of its result)]"""
    alone = [tuple(word for word in words if word not in RANKS) for words in (*interrupts.PROGRAMS, TRAIN)]
    found = []
    for words in alone:
        interrupts.made(folder, *words, "--output", "out.json")
        found.append(((*words, "--output", "out.json"), words[0], len(read_json(folder / "out.json")["benchmarks"])))
    shutil.copytree(folder, folder.parent / "kept")
    return [*found, ((ROOT / "tools" / "report", "--text", folder.parent / "kept" / "out.json"), "report", 0),
            (("gradcomp-methods",), "gradcomp-methods", 0)]


FAULTS = (
    Fault("disk", "a full disk",
          "a file system of random size in a mount namespace, on which a program or tool that replaces files cannot write all of them",
          "one line, a status that is not 0, every earlier file as it was, no temporary file", 42, prepare, run, why_not),
    Fault("output", "nobody takes what is printed", "`/dev/full` as the standard output of a program or tool",
          "one line, a status that is not 0, and the whole result file", 18, prepare_print, print_to_nowhere))
