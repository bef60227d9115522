"""A history: a folder with one folder for each night. Measurements never change. The verdict beside them can be computed again.
A file of acceptance says that a change was intended."""
import dataclasses
import functools
import json
import pathlib

from gradcomp import json_files
from gradcomp.errors import ToolError
from gradcomp.gate import deterministic, samples

ABOUT, VERDICT, ACCEPTED, COUNTS = "night.json", "verdict.json", "accepted.json", "counts.json"
TIMES, CONTROL = "times", "control"  # processes of the night's commit; processes of the last good commit, measured in turn
BISECTIONS, BISECTION = "bisections", "bisection"  # the folder of their files, and what each of them is
FIRST = "the first night: there is nothing to compare it with"


TEXT, FLAG, NAME = {"type": "string"}, {"type": "boolean"}, {"type": ["string", "null"]}
DATE = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}"}


def _object(**properties):
    return {"type": "object", "required": list(properties), "properties": properties}


def _list(items):
    return {"type": "array", "items": items}


# What the files of a history must hold for what reads them.
SCHEMAS = {
    ABOUT: _object(schema_version={"const": 1}, commit=TEXT, dirty=FLAG, began=DATE, digest=TEXT, **{"class": TEXT}),
    ACCEPTED: _object(reason=TEXT),
    VERDICT: _object(good=NAME, anchor=NAME, rules={"type": "object"}, status={"enum": [0, 1, 2, 3]}, conclusion=TEXT, in_turn=FLAG,
                     notes=_list(TEXT), cases=_list(_object(name=TEXT, verdict=TEXT, reason=TEXT, against=TEXT)),
                     changes=_list(_object(case=TEXT, column=TEXT, baseline={}, new={}, regression=FLAG, against=TEXT)
                                   | {"additionalProperties": False})),
    BISECTION: _object(case=TEXT, by=TEXT, good=TEXT, bad=TEXT, tried={"type": "array"}, conclusion=TEXT,
                       commits=_list(_list(TEXT) | {"minItems": 2, "maxItems": 2}))}


@functools.cache
def _validator(name):
    return json_files.validator(SCHEMAS[name])


def read_file(path, name):
    """The content of a file of a history, which follows the schema of `name`. Throws ToolError."""
    document = json_files.read_json(path)
    json_files.require(document, _validator(name), f"'{path}' breaks the form of a {name.removesuffix('.json')}")
    return document


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
        return read_file(path, name) if path.exists() else None

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
        nights.append(Night(path.parent, read_file(path, ABOUT)))
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
