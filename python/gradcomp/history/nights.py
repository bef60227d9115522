"""A history: a folder with one folder for each night. Measurements never change. The verdict beside them can be computed again.
A file of acceptance says that a change was intended."""
import dataclasses
import json
import pathlib

from gradcomp.errors import ToolError
from gradcomp.gate import deterministic, samples
from gradcomp.json_files import read_json

ABOUT, VERDICT, ACCEPTED, COUNTS = "night.json", "verdict.json", "accepted.json", "counts.json"
TIMES, CONTROL = "times", "control"  # processes of the night's commit; processes of the last good commit, measured in turn
BISECTIONS = "bisections"
FIRST = "the first night: there is nothing to compare it with"


@dataclasses.dataclass
class Night:
    """One night: `about` holds commit, dirty, began, class and digest."""

    folder: pathlib.Path
    about: dict

    @property
    def name(self):
        return self.folder.name

    @property
    def commit(self):
        return self.about["commit"]

    @property
    def date(self):
        return self.about["began"][:10]

    def _optional(self, name):
        path = self.folder / name
        return read_json(path) if path.exists() else None

    @property
    def verdict(self):
        """The verdict that was kept last, or None."""
        return self._optional(VERDICT)

    @property
    def accepted(self):
        """The reason why this night was accepted as good whatever the gate says, or None."""
        found = self._optional(ACCEPTED)
        return found and found["reason"]

    def arm(self, kind=TIMES):
        """The processes of TIMES or CONTROL as an arm, or None."""
        return samples.read_arm(f"night {self.name}", self.folder / kind, samples.EVERY) if (
            self.folder / kind).is_dir() else None

    def counts(self):
        """The deterministic figures, or None."""
        path = self.folder / COUNTS
        return deterministic.read(path) if path.exists() else None


def read(history):
    """All nights, oldest first. A folder that does not exist yet holds none. Throws ToolError."""
    history = pathlib.Path(history)
    if history.exists() and not history.is_dir():
        raise ToolError(f"the history '{history}' is not a folder")
    nights = []
    for path in sorted(history.glob(f"[!.]*/{ABOUT}")):  # names with a dot: remains of an interrupted `add`
        about = read_json(path)
        if not isinstance(about, dict) or about.get("schema_version") != 1:
            raise ToolError(f"'{path}': its schema_version is unknown to this program, which knows 1")
        nights.append(Night(path.parent, about))
    return nights


def require(history):
    """read(), which must find at least one night."""
    nights = read(history)
    if not nights:
        raise ToolError(f"there are no nights in '{history}'; gradcomp-history add '{history}' RESULTS... adds the first one")
    return nights


def find(nights, commit):
    """The newest night of a commit. Throws ToolError."""
    found = [night for night in nights if len(commit) >= 6 and night.commit.startswith(commit[:len(night.commit)])]
    if not found:
        known = ", ".join(dict.fromkeys(night.commit for night in nights))
        raise ToolError(f"there is no night of commit '{commit}'; there are nights of {known}")
    return found[-1]


def text(document):
    """The value as JSON text."""
    return json.dumps(document, indent=1) + "\n"
