"""Result files that the repository keeps, without single samples. A page of docs/results is made from them. A record is such a
file with the command that made it, the seconds that this took, and the checksums of other files that the command wrote."""
import dataclasses
import datetime
import functools
import hashlib
import json
import pathlib
import subprocess

from gradcomp.errors import ToolError
from gradcomp.json_files import read_json, require, validator
from gradcomp.output.files import write_whole
from gradcomp.places import ROOT

from .reading import Record, record_of
from .schema import SAMPLES

DIGITS = 6
ALL = ROOT / "docs/results/records"  # all pages have a folder here
SLACK = 5  # seconds: the date of a record is read when its program has started
# The sources of programs, and the parts of the toolchain with which they are built; how the toolchain is entered, and what only
# tests need, does not count. Pages and their commands are not sources: a record has its own command.
SOURCES = ("src", "bench", "miniapps", "cmake", "CMakeLists.txt", "CMakePresets.json",
           *(f"tools/toolchain.d/{name}" for name in ("packages", "preferences", "trilinos")))
# Where the verdicts of the gate are made, and where they were made earlier. The move changed no verdict, so a place that one of
# two commits does not have is not compared.
GATE = ("python/gradcomp/gate", "tools/gradcomp_compare")


@dataclasses.dataclass
class Kept(Record):
    """One record."""

    command: list  # command as the page shows it, without the option of its output
    seconds: float
    leaves: dict  # {path: checksum} of other files that the command wrote

    @property
    def hash(self):
        return self.gradcomp["git_hash"]


def compact(value, dropped=SAMPLES):
    """The record without the arrays of single samples in `dropped`, and with floats rounded to the digits of a measurement."""
    if isinstance(value, dict):
        return {key: compact(found, dropped) for key, found in value.items() if key not in dropped}
    if isinstance(value, list):
        return [compact(found, dropped) for found in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def checksum(path):
    """The checksum of a file; None if there is no file."""
    path = pathlib.Path(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else None


def keep(made, kept, command, seconds, leaves=(), samples=()):
    """Writes the result file `made` to `kept` in its compact form, one line per row, so that changes are easy to see. `samples`:
    the arrays of SAMPLES that stay."""
    document = compact(read_json(made), [name for name in SAMPLES if name not in samples])
    document["context"]["gradcomp"]["environment"].pop("GRADCOMP_MEASURING", None)  # a path of this machine, and no setting
    known = {"command": list(map(str, command)), "seconds": round(seconds, 1),
             "leaves": {str(leaf): checksum(ROOT / leaf) for leaf in leaves}}
    rows = ",\n".join(" " + json.dumps(row) for row in document["benchmarks"])
    lines = [f' "{key}": {json.dumps(value)},\n' for key, value in [*known.items(), ("context", document["context"])]]
    kept.parent.mkdir(parents=True, exist_ok=True)
    _intervals.cache_clear()
    write_whole(kept, "{" + "".join(lines)[1:] + f' "benchmarks": [\n{rows}]}}\n')


@functools.cache
def _validator():
    return validator({"required": ["command", "seconds", "leaves"], "properties": {
        "command": {"type": "array", "minItems": 1, "items": {"type": "string"}}, "seconds": {"type": "number", "minimum": 0},
        "leaves": {"type": "object"}}})


def read_kept(path):
    """Reads a record and checks it against docs/results.schema.json. Throws ToolError."""
    document = read_json(path)
    made = record_of(document, path, programs=None)
    require(document, _validator(), f"'{path}' is not a record")
    return Kept(path, made.context, made.rows, document["command"], document["seconds"], document["leaves"])


def _interval(date, seconds):
    begin = datetime.datetime.fromisoformat(date).timestamp()
    return begin, begin + seconds


@functools.cache
def _intervals(folder):
    """[(page, name, computer, begin, end)] of all records of all pages."""
    found = []
    for path in sorted(folder.glob("*/*.json")):
        document = read_json(path)
        found.append((path.parent.name, path.stem, _computer(document["context"]),
                      *_interval(document["context"]["date"], document["seconds"])))
    return found


def _computer(context):
    known = context["gradcomp"]
    return json.dumps([context["host_name"], known["cpu_model"], known["openblas_core"], context["caches"]])


def beside(record):
    """The records of other pages, as PAGE/NAME, that were measured on the same machine at the same time. The jobs of one page
    run in turn."""
    if record.path.parent.parent != ALL:
        return []
    begin, end = _interval(record.context["date"], record.seconds)
    return [f"{page}/{name}" for page, name, computer, first, last in _intervals(ALL)
            if page != record.path.parent.name and computer == _computer(record.context)
            and min(end, last) - max(begin, first) > SLACK]


def require_alone(kept):
    """Throws if a record was measured beside another one."""
    for record in kept:
        if others := beside(record):
            raise ToolError(f"'{record.path}' was measured while {others[0]} was; remove the record and measure again")


def _git(*words):
    """Whether a git command succeeded."""
    try:
        return subprocess.run(["git", "-c", "safe.directory=*", "-C", str(ROOT), *words], capture_output=True,
                              check=False).returncode == 0
    except OSError:  # no git
        return False


@functools.cache
def same_sources(one, other, more=()):
    """Whether two commits have the same SOURCES, the same GATE and the same `more`, what else made the records of a page: new
    records and words of a page are no reason to measure again."""
    if one == other or "unknown" in (one, other):
        return one == other
    places = [place for place in (*GATE, *more) if all(_git("cat-file", "-e", f"{commit}:{place}") for commit in (one, other))]
    return _git("diff", "--quiet", one, other, "--", *SOURCES, *places)


def require_clean(record, what):
    """Throws unless `what` was made by a commit without local changes."""
    if record.gradcomp["git_dirty"] or record.gradcomp["git_hash"] == "unknown":
        raise ToolError(f"{what} made from a source tree with changes; commit them, build and measure again")


def require_one_clean_commit(records, more=()):
    """Throws unless all were made by one commit without local changes: the figures of a page must be comparable, and readers
    must be able to find their sources."""
    first = records[0]
    for record in records:
        require_clean(record, f"'{record.path}' was")
        one, other = (found.gradcomp["git_hash"] for found in (record, first))
        if not same_sources(one, other, more):
            raise ToolError(f"'{record.path}' was made by commit {one[:12]}, but '{first.path}' by {other[:12]}; measure "
                              "both with one commit")


def why_measure(path, command, built, more=()):
    """Why the record at `path` cannot replace a measurement by `command` with programs like `built`; None if it can."""
    if not path.is_file():
        return "no record"
    record = read_kept(path)
    if record.command != list(map(str, command)):
        return "its record is from another command"
    if record.gradcomp["git_dirty"] or not same_sources(record.hash, built.gradcomp["git_hash"], more):
        return f"its record is of commit {record.hash[:12]}{' with changes' if record.gradcomp['git_dirty'] else ''}"
    return None
