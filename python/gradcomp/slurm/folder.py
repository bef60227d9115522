"""The folder of a sweep: its plan, which never changes, and the outcome of every point."""
import dataclasses
import fcntl
import json
import pathlib
import sys

from gradcomp.errors import ToolError, taking
from gradcomp.json_files import parse, read_json
from gradcomp.output.files import write_whole

from .experiment import named
from .system import System, known_system


@dataclasses.dataclass
class Folder:
    """A sweep on disk, which the login node and all compute nodes share."""

    path: pathlib.Path
    title: str = ""
    time: str = ""
    experiment: str = ""
    system: System = None  # type: ignore[assignment] # only if nothing uses it
    points: list = dataclasses.field(default_factory=list)

    def point_folder(self, point):
        """The folder of a point's checkpoints, log and attempts."""
        return self.path / "points" / point["id"]

    def record(self, point):
        """The path of a point's record, which exists if and only if the point is finished."""
        return self.path / "records" / f"{point['id']}.json"

    def unfinished(self):
        """The indices of the points that have no record."""
        return [index for index, point in enumerate(self.points) if not self.record(point).is_file()]

    def plan(self):
        """The plan as text: what runs, and how."""
        values = {name: value for name, value in self.system.values.items() if name != "REFRAME_SCHEDULER"}  # of checks only
        return json.dumps({"title": self.title, "time": self.time, "experiment": self.experiment,
                           "system": {"name": self.system.name, "values": values},
                           "points": self.points}, indent=1) + "\n"

    def keep_plan(self):
        """Writes the plan. Refuses a folder with another plan, because jobs in the queue know points only by their numbers."""
        path = self.path / "plan.json"
        (self.path / "jobs").mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            write_whole(path, self.plan())
            return
        old, new = read_json(path), json.loads(self.plan())
        differs = [key for key in new if not isinstance(old, dict) or old.get(key) != new[key]]
        if differs:
            raise ToolError(f"'{self.path}' holds another plan (it differs in {', '.join(differs)}): "
                          "give another --output, or remove the folder to start again")


def read_folder(path):
    """Reads the sweep in a folder that `submit` made."""
    plan = read_json(path / "plan.json")
    with taking(f"'{path}/plan.json' is not a plan of slurm/submit"):
        made = Folder(path, plan["title"], plan["time"], plan["experiment"], known_system(path / "plan.json", **plan["system"]),
                      plan["points"])
        for point in made.points:
            if named(point) != point:
                raise ValueError(f"the point {point['id']} was changed")
        "".join((made.title, made.time, made.experiment, made.system.name, *made.system.values.values()))
        return made


def read_lines(path):
    """The values of a file with one JSON value per line. A line that a killed job or a full disk left torn is named and left out:
    the others still count."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else [], 1):
        if line.strip():
            try:
                found.append(parse(line, f"'{path}', line {number},"))
            except ToolError as error:
                print(f"warning: {error}; it is left out", file=sys.stderr)
    return found


def add_line(path, value):
    """Appends a value to such a file, behind a torn line too."""
    torn = path.is_file() and not path.read_bytes().endswith(b"\n") and path.stat().st_size
    with open(path, "a", encoding="utf-8") as file:
        file.write(("\n" if torn else "") + json.dumps(value) + "\n")


class Lock:
    """Locks a file for the life of this process and of all processes that inherit `number`. `taken`: another process holds
    it."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115 (kept as long as this)
        self.number = self._file.fileno()
        self.taken = False
        try:
            fcntl.flock(self.number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.taken = True
        except OSError:  # a file system without locks: squeue alone must prevent a second run
            pass
