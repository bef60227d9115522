"""Result files of gradcomp-bench as samples: one file is one process, and its median is one sample of a case."""
import dataclasses
import glob
import math
import pathlib
import re
import statistics

from gradcomp.errors import ToolError
from gradcomp.results.reading import Record, read_record

PROGRAM = "gradcomp-bench"
EVERY = re.compile("")
COUNTS = ("payload_bytes", "header_bytes", "allocations", "instructions")



@dataclasses.dataclass
class Case:
    """One row: the measurement of one case by one process."""

    name: str
    time_ms: float  # median of the raw times
    read_ms: float | None  # median time to read the same gradient, in turn with the calls; None if not measured
    method: str | None  # method with defaults filled in
    elements: int
    exact: dict  # {column: value} of the deterministic figures


@dataclasses.dataclass
class Process:
    """One result file."""

    record: Record
    cases: dict  # {name: case}, in the order of the file

    @property
    def path(self):
        return self.record.path

    @property
    def date(self):
        return self.record.context["date"]


def _amount(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0


def _case(path, row):
    raw = row.get("times_ms")
    time = statistics.median(raw) if raw else row["time_ms"]["median"]
    if not _amount(time):
        raise ToolError(f"'{path}': the median time of {row['name']} is {time}, not above 0")
    read = row.get("read_limit_ms")
    exact = {key: value for key, value in row.items() if key in COUNTS or key.endswith("checksum")}
    return Case(row["name"], float(time), read if _amount(read) else None, row.get("method_canonical"),
                row["elements"], exact)


def read_process(path, chosen=EVERY):
    """Reads the cases of one file whose names match the regular expression `chosen`. Throws ToolError."""
    return process_of(read_record(pathlib.Path(path)), chosen)


def process_of(record, chosen=EVERY):
    """The same for a record that was read."""
    path = record.path
    if record.program != PROGRAM:
        raise ToolError(f"'{path}' is a result of {record.program}; the gate compares those of {PROGRAM}")
    if record.gradcomp.get("failures"):
        raise ToolError(f"'{path}' is of a failed run: {record.gradcomp['failures'][0]}")
    cases = {}
    for row in record.rows:
        if row["run_type"] != "iteration" or not chosen.search(row["name"]):
            continue
        if row["name"] in cases:
            raise ToolError(f"'{path}' holds {row['name']} twice")
        cases[row["name"]] = _case(path, row)
    if not cases:
        raise ToolError(f"'{path}' holds no cases" + (f" that match '{chosen.pattern}'" if chosen.pattern else ""))
    return Process(record, cases)


def expand(argument):
    """The path of a file, or the paths of the *.json files of a folder or of a pattern."""
    path = pathlib.Path(argument)
    if path.is_dir():
        found = sorted(path.glob("*.json"))
    elif path.exists() or not glob.has_magic(str(argument)):
        found = [path]
    else:
        found = sorted(map(pathlib.Path, glob.glob(str(argument), recursive=True)))
    if not found:
        raise ToolError(f"no result files in '{argument}'")
    return found


@dataclasses.dataclass
class Arm:
    """The processes of one build. `halves`: indices of the two interleaved halves that are compared as the A/A control."""

    name: str
    processes: list
    halves: tuple

    @property
    def cases(self):
        return self.processes[0].cases

    def times(self, name, normalised):
        """One number per process: ms, or multiples of one read of the gradient."""
        found = [process.cases[name] for process in self.processes]
        return [case.time_ms / case.read_ms if normalised else case.time_ms for case in found]


def make_arm(name, processes, first_half=None):
    """Makes an arm. `processes` are in the order in which they ran; `first_half`: indices, or None for every other process."""
    indices = range(len(processes))
    first = list(indices[::2]) if first_half is None else first_half
    return Arm(name, processes, (first, [index for index in indices if index not in first]))


def read_arm(name, argument, chosen):
    """Makes an arm from files, in the order of their dates."""
    processes = [read_process(path, chosen) for path in expand(argument)]
    processes.sort(key=lambda process: (process.date, str(process.path)))
    return make_arm(name, processes)
