"""Adds a night to a history: all of its files or none."""
import datetime
import hashlib
import pathlib
import shutil
import sys
import tempfile

from gradcomp.errors import ToolError
from gradcomp.gate import baselines, comparable, decide, deterministic, samples
from gradcomp.gate.samples import PROGRAM
from gradcomp.json_files import read_json
from gradcomp.results.reading import record_of
from gradcomp.results.schema import require_file

from . import nights


def _sort(arguments):
    """(processes with times, the file with instruction counts or None). Results without a gate are named on stderr and left
    out."""
    timed, counted = [], []
    for path in dict.fromkeys(path.resolve() for argument in arguments for path in samples.expand(argument)):
        document = read_json(path)
        record = record_of(document, path)
        if record.program != PROGRAM:
            print(f"gradcomp-history: left out: '{path}' is a result of {record.program}, for which there is no gate",
                  file=sys.stderr)
            continue
        require_file(document, path)
        is_counted = any("instructions" in row for row in record.rows)
        (counted if is_counted else timed).append(samples.process_of(record))
    if not timed and not counted:
        raise ToolError(f"nothing to add: there is no result of {PROGRAM} in {', '.join(map(str, arguments))}")
    if len(counted) > 1:
        raise ToolError(f"two files hold instruction counts: '{counted[0].path}' and '{counted[1].path}'; a night has one")
    return timed, counted[0] if counted else None


def _commit(process):
    return process.record.gradcomp["git_hash"]


def _split(timed, counted, good):
    """(commit of the night, its processes, processes of the last good commit that were measured in turn with them)."""
    commits = list(dict.fromkeys(_commit(process) for process in [*timed, *([counted] if counted else [])]))
    if len(commits) == 2 and good in commits and timed and (not counted or _commit(counted) != good):
        commits.remove(good)
    if len(commits) > 1:
        raise ToolError(f"the records are of several commits: {', '.join(commits)}; a night has one, and may hold the last "
                        f"good one ({good or 'there is none yet'}) too, measured in turn with it")
    new = [process for process in timed if _commit(process) == commits[0]]
    return commits[0], new, [process for process in timed if process not in new]


def _check(processes, dirty_allowed):
    for process in processes:
        known = process.record.gradcomp
        if known["git_hash"] == "unknown":
            raise ToolError(f"'{process.path}' names no commit: its program was built outside a git repository")
        if known["git_dirty"] and not dirty_allowed:
            raise ToolError(f"'{process.path}' is of a dirty build: commit {known['git_hash']} with changes that nobody can "
                            "look up; --allow-dirty accepts it")


def _write(folder, about, arms, counted):
    for kind, processes in arms.items():
        for number, process in enumerate(sorted(processes, key=lambda one: (one.date, str(one.path))), 1):
            path = folder / kind / f"{number:03d}.json"
            path.parent.mkdir(exist_ok=True)
            shutil.copyfile(process.path, path)
            baselines.shorten(path)
    if counted:
        made = deterministic.shorten(read_json(counted.path))
        (folder / nights.COUNTS).write_text(deterministic.text(made), encoding="utf-8")
    (folder / nights.ABOUT).write_text(nights.text(about), encoding="utf-8")
    folder.chmod(0o755)


def add(history, arguments, dirty_allowed=False, good=None):
    """Adds the night of the result files `arguments`; `good` is the last good commit. Returns (night, whether it is new).
    Throws ToolError."""
    history = pathlib.Path(history).resolve()
    existing = nights.read(history)
    timed, counted = _sort(arguments)
    both = [*timed, *([counted] if counted else [])]
    _check(both, dirty_allowed)
    commit, new, control = _split(timed, counted, good)
    for kind, processes in (("night", new), ("control", control)):
        if processes:
            comparable.check_arm(samples.make_arm(f"the {kind}", processes), decide.Rules.minimum)
    first = (new or [counted])[0].record
    began = min(datetime.datetime.fromisoformat(process.date).astimezone(datetime.UTC) for process in (new or [counted]))
    name = f"{began:%Y-%m-%dT%H%M%SZ}_{commit[:12]}"
    about = {"schema_version": 1, "commit": commit, "dirty": first.gradcomp["git_dirty"], "began": began.isoformat(),
             "class": baselines.machine_class(first),
             "digest": hashlib.sha256(b"".join(sorted(process.path.read_bytes() for process in both))).hexdigest()}
    for night in existing:
        if night.name == name and night.about["digest"] == about["digest"]:
            return night, False
        if night.about["class"] != about["class"]:
            raise ToolError(f"'{history}' is the history of the class of machines '{night.about['class']}', not of "
                            f"'{about['class']}': name another folder")
        if night.name >= name:
            raise ToolError(f"the records began at {began.isoformat()}, and the history already holds night {night.name}: "
                            "nights are added in the order of their dates, each once")
    history.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix=".night.", dir=history))
    try:
        _write(folder, about, {nights.TIMES: new, nights.CONTROL: control}, counted)
        folder.rename(history / name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return nights.Night(history / name, about), True
