"""Ranks that do not fit each other, sleep or cannot be reached."""
import pathlib
import re
import shutil
import signal
import subprocess
import time

from gradcomp.errors import ToolError
from gradcomp.links import cli as links
from gradcomp.places import ROOT

from .interrupts import RANKS, STEPS, TRAIN, is_whole, made, outcome
from .trial import BEFORE, GONE, Fault

REDUCE = ("gradcomp-allreduce", "--sizes", "1024", "--methods", "fp32", "--repetitions", "3")
ON_ONE_RANK = """rank=$1 other=$2 own=$3
shift 3
if [ "$OMPI_COMM_WORLD_RANK" = "$rank" ]; then shift && set -- "$other" "$@" $own; fi
exec "$@\""""
OPTIONS = {"gradcomp-train": ("--lr 0.3", "--seed 9", "--momentum 0.5", "--optimiser adamw", "--timeout 60"),
           "gradcomp-allreduce": ("--untimed 9", "--link 1Gbit/s", "--raw", "--density-tolerance 0.5", "--timeout 60")}
LONG = (*(1000 if word == STEPS else word for word in TRAIN[:-3]), "--methods", "top_k:ratio=0.01", "--no-controls")  # outlasts faults
SUSPENDED = 6  # seconds, twice the limit
CUT = 3  # seconds
RATE = "50mbit"


def prepare_builds(folder):
    """{program: a copy that says that it was built from another commit}"""
    found = {}
    for name in OPTIONS:
        program = pathlib.Path(str(shutil.which(name)))
        data = program.read_bytes()
        said = made_of(folder, name)
        copy = folder / name
        copy.write_bytes(data.replace(said.encode(), said[::-1].encode()))
        copy.chmod(0o755)
        if copy.read_bytes() == data:
            raise ToolError(f"'{program}' does not hold its commit '{said}'")
        found[name] = copy
    return found


def made_of(folder, name):
    """The commit of which a program says that it was built."""
    made(folder, *(REDUCE if name == REDUCE[0] else TRAIN), "--output", "built.json")
    return re.findall(r'"git_hash": *"(\w+)"', (folder / "built.json").read_text(encoding="utf-8"))[0]


def start_unlike(trial, other, own, what):
    """Starts a job of which one rank is another program or has other options. It must end with one line that says so."""
    name = list(OPTIONS)[trial.seed % len(OPTIONS)]
    words, rank = REDUCE if name == REDUCE[0] else TRAIN, int(trial.random.integers(2))
    own = own[name][trial.random.integers(len(own[name]))] if own else ""
    trial.injected = f"{name}, rank {rank}{' ' if own else ''}{own}"
    (trial.folder / "out.json").write_text("an earlier result\n", encoding="utf-8")
    status = trial.run(*RANKS, "sh", "-c", ON_ONE_RANK, "sh", rank, other[name] if other else name, own, *words, "--output", "out.json")
    trial.require_gone()
    lines = trial.said(name)
    trial.check(status not in (0, None), f"status {status}")
    trial.check(len(lines) == 1 and f"ranks disagree on the {what}: " in lines[0], "not one line that says so")
    trial.check((trial.folder / "out.json").read_text(encoding="utf-8") == "an earlier result\n", "the earlier result is changed")
    trial.notes.append("one line, status not 0")


def prepare_suspension(folder):
    """The outcome of a training without a fault."""
    made(folder, *RANKS, *LONG, "--output", "out.json")
    return outcome(folder / "out.json")


def suspend(trial, expected):
    """Stops all processes of a job for longer than the limit."""
    which = ("all ranks", "all processes")[trial.seed % 2]
    process = trial.start(*RANKS, *LONG, "--timeout", SUSPENDED / 2, "--output", "out.json")
    ranks = trial.ranks()
    time.sleep(trial.random.uniform(1, 2))
    stopped = ranks if which == "all ranks" else list(trial.processes())
    trial.injected = f"{which} stopped for {SUSPENDED} s" if process.poll() is None else BEFORE
    trial.signal(signal.SIGSTOP, stopped)
    time.sleep(SUSPENDED)
    trial.signal(signal.SIGCONT, stopped)
    status = trial.end(process)
    trial.require_gone()
    trial.check(status == 0, f"status {status}: {' '.join(trial.said('gradcomp-train'))}")
    trial.check(status != 0 or outcome(trial.folder / "out.json") == expected, "the training differs")
    trial.notes.append("went on")


def _over_links(trial, *words):
    return trial.start(ROOT / "tools" / "shaped-links", "--rate", RATE, "--", *words)


def _inside(trial):
    """The process that made the nodes: where its namespaces are, `ip` can cut their links."""
    for process in trial.processes():
        words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        if b"gradcomp.links.inside" in words and b"unshare" not in words:
            return process
    raise ToolError("shaped-links has no process inside its namespaces")


def _set_link(inside, state):
    words = ["nsenter", "--target", str(inside), "--mount", "--net", "--root", "ip", "-n", "sw", "link", "set", "p2", state]
    subprocess.run(words, check=True)


def cut(trial, shared, seconds, limit):
    """Takes the link of the second node down for some seconds while ranks train over it, and back up. None: it stays down."""
    process = _over_links(trial, *LONG, "--timeout", limit, "--output", trial.folder / "out.json")
    trial.ranks()
    time.sleep(trial.random.uniform(1, 3))
    inside = _inside(trial)
    _set_link(inside, "down")
    if seconds is None:
        trial.check(trial.ranks_end(limit + GONE), "a rank does not end")
        back = "while its launcher waited" if process.poll() is None else "with its launcher"
        trial.signal(signal.SIGTERM, [process.pid])
    else:
        time.sleep(seconds)
        over = process.poll() is not None
        back = f"{'before' if over else 'after'} the link came back"
        if not over:
            _set_link(inside, "up")
    trial.injected = f"link down{'' if seconds is None else f' for {seconds} s'}, --timeout {limit}"
    status = trial.end(process)
    trial.require_gone()
    if seconds is not None and seconds < limit:
        trial.check(status == 0, f"status {status}")
        trial.check(status != 0 or is_whole(trial.folder / "out.json", len(shared)), "no whole result")
        trial.check(status != 0 or outcome(trial.folder / "out.json") == shared, "the training differs")
        trial.notes.append("went on")
    else:
        lines = trial.said("gradcomp-train")
        trial.check(status not in (0, None), f"status {status}")
        trial.check(1 <= len(lines) <= 2 and all(f"within {limit} s" in line for line in lines), "no line that says so")
        trial.check(not (trial.folder / "out.json").exists(), "a result is there")
        trial.notes.append(f"{len(lines)} line{'s' if len(lines) > 1 else ''}, {back}")


FAULTS = (
    Fault("build", "one rank has another build", "one rank runs a copy of the program in which the commit of its sources is another one",
          "one line, a status that is not 0, and the earlier result as it was", 20, prepare_builds,
          lambda trial, shared: start_unlike(trial, shared, None, "build")),
    Fault("options", "one rank has other options", "one rank has another value of an option that decides what is computed",
          "one line, a status that is not 0, and the earlier result as it was", 20, lambda folder: None,
          lambda trial, shared: start_unlike(trial, None, OPTIONS, "options")),
    Fault("suspended", "a suspended job", f"SIGSTOP to all ranks, or to the launcher too; SIGCONT after {SUSPENDED} s, with "
          f"`--timeout {SUSPENDED // 2}`", "the training goes on and ends with the same hash", 10, prepare_suspension, suspend),
    Fault("cut", "a link is cut and comes back", f"`ip link set down` for {CUT} s at the switch between two network namespaces, then "
          f"`up`, with `--timeout {GONE}`", "the training goes on and ends with the same hash", 6, prepare_suspension,
          lambda trial, shared: cut(trial, shared, CUT, GONE), links.why_not),
    Fault("cut-for-long", "a link is cut for longer than the limit", f"the same for {3 * CUT} s, with `--timeout {CUT}`",
          "a line of each rank that can still be heard, a status that is not 0, no process left", 6, lambda folder: None,
          lambda trial, shared: cut(trial, shared, 3 * CUT, CUT), links.why_not),
    Fault("cut-for-good", "a link is cut and never comes back", f"the same without end, with `--timeout {CUT}`; SIGTERM to the launcher "
          "once all ranks have ended: Open MPI's would wait for the node that it cannot reach until TCP gives up, after minutes",
          "all ranks end by themselves, each that can be heard with a line; after SIGTERM the launcher ends with a status that is not "
          "0, and no process is left", 6, lambda folder: None, lambda trial, shared: cut(trial, shared, None, CUT), links.why_not))
