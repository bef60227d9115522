"""For test_damaged_*.py: input that was right and is not any more, and what a tool may do with it. Hypothesis makes the damage: a text
that is cut, has other bytes or another encoding, and JSON or TOML with values of other kinds.

GRADCOMP_EXAMPLES=N tries N times as many examples, new ones in each run."""
import contextlib
import copy
import json
import math
import os
import pathlib
import tomllib
import warnings

import pytest

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import tool_process
from gradcomp.guarded import guarded

MORE = int(os.environ.get("GRADCOMP_EXAMPLES", "1"))
DEEP = 100_000
VALUES = [None, True, False, "", "word", "\ud800", "1", -1, 0, 1, 0.0, -0.5, 1e-300, 1e300, 5e-324, 2**31, 2**63, 2**64 - 1, -2**63,
          10**30, math.nan, math.inf, -math.inf, [], [[]], [None], {}, {"a": None}]
ENCODINGS = ("utf-16", "utf-32", "utf-8-sig", "latin-1")


def examples(count):
    """The settings of a test with `count` examples."""
    return settings(max_examples=count * MORE, derandomize=MORE == 1, database=None, deadline=None, print_blob=False,
                    suppress_health_check=list(HealthCheck),
                    phases=[Phase.explicit, Phase.generate, *([Phase.shrink] if MORE > 1 else [])])


def _places(value, at=()):
    """{place with * for an index: [place]} of everything in a document."""
    found = {tuple("*" if isinstance(key, int) else key for key in at): [at]} if at else {}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        for pattern, several in _places(inner, (*at, key)).items():
            found.setdefault(pattern, []).extend(several)
    return found


def _parent(document, place):
    for key in place[:-1]:
        document = document[key]
    return document


@st.composite
def documents(draw, whole):
    """The document with one to three changes: a value of another kind, another number, a value that is gone or stands twice."""
    document = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, 3))):
        places = _places(document)
        if not places:
            break
        pattern = draw(st.sampled_from(sorted(places, key=str)))
        place = draw(st.sampled_from(places[pattern]))
        parent, key = _parent(document, place), place[-1]
        kind = draw(st.sampled_from(("value", "number", "gone", "twice", "other")))
        if kind == "number" and type(parent[key]) in (int, float):
            parent[key] *= draw(st.sampled_from((-1, 0, 2, 1e-6, 1e30, 1e300)))
        elif kind == "gone":
            del parent[key]
        elif kind == "twice" and isinstance(parent, list):
            parent.insert(key, copy.deepcopy(parent[key]))
        elif kind == "other":
            other = draw(st.sampled_from(draw(st.sampled_from([places[one] for one in sorted(places, key=str)]))))
            with contextlib.suppress(LookupError, TypeError):  # it may be in what was deleted
                parent[key] = copy.deepcopy(_parent(document, other)[other[-1]])
        else:
            parent[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    return document


@st.composite
def torn(draw, data):
    """The bytes of a file, cut, overwritten or in another encoding."""
    kind = draw(st.sampled_from(("cut", "overwritten", "inserted", "encoded", "empty", "deep")))
    at = draw(st.integers(0, len(data)))
    some = draw(st.binary(min_size=1, max_size=8))
    if kind == "encoded":
        with contextlib.suppress(UnicodeError):
            return data.decode().encode(draw(st.sampled_from(ENCODINGS)))
    return {"cut": data[:at], "overwritten": data[:at] + some + data[at + len(some):], "inserted": data[:at] + some + data[at:],
            "empty": b"", "deep": b"[" * DEEP}.get(kind, data[::-1])


@st.composite
def damaged(draw, data):
    """The bytes of a file, with values changed in three of four cases if it is JSON, lines of JSON or TOML."""
    if not draw(st.integers(0, 3)):
        return draw(torn(data))
    for read, write in FORMATS:
        with contextlib.suppress(ValueError):
            return write(draw(documents(read(data))))
    return draw(torn(data))


def _toml(value, inside=False):
    """A value of TOML as text; what TOML does not have as it has no quotes."""
    if isinstance(value, dict):
        pairs = [f"{json.dumps(key)} = {_toml(inner, True)}" for key, inner in value.items()]
        return f"{{ {', '.join(pairs)} }}" if inside else "\n".join(pairs)
    if isinstance(value, list):
        return f"[{', '.join(_toml(inner, True) for inner in value)}]"
    return str(value).lower() if isinstance(value, (bool, float)) else json.dumps(value)


FORMATS = (  # how a file is read, and written with other values
    (json.loads, lambda document: json.dumps(document).encode()),
    (lambda data: [json.loads(line) for line in data.splitlines()],
     lambda lines: b"".join(json.dumps(one).encode() + b"\n" for one in lines)),
    (lambda data: tomllib.loads(data.decode()), lambda document: _toml(document).encode()))


class Rig:
    """A folder with right input. In `damage()` one of its files is wrong; afterwards all is as it was."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.right, self.folders = self.files(), set(self.folder.rglob("*/"))

    def files(self):
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in sorted(self.folder.rglob("*")) if path.is_file()}

    def matching(self, *patterns):
        """The names of the files that match one of the patterns."""
        names = sorted({path.relative_to(self.folder).as_posix() for one in patterns for path in self.folder.glob(one)})
        assert names, patterns
        return names

    @contextlib.contextmanager
    def damage(self, name, data):
        try:
            (self.folder / name).write_bytes(data)
            yield
        finally:
            for path in sorted(self.folder.rglob("*"), reverse=True):
                if path.is_dir():
                    if path not in self.folders:
                        path.rmdir()
                elif path.relative_to(self.folder).as_posix() not in self.right:
                    path.unlink()
            for name, data in self.right.items():
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if not path.is_file() or path.read_bytes() != data:
                    path.write_bytes(data)

    def hold(self, name, data, run, statuses=(0,), prefixes=("warning: ", "datasets: warning: ")):
        """Runs a tool on one damaged file. It ends with one of the statuses, or with 2 and one line, and then no other file has
        changed. Lines that begin with one of the prefixes may come before. It leaves no temporary file."""
        with self.damage(name, data):
            before = self.files()
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("ignore")
                for shown_by_default in (RuntimeWarning, UserWarning):
                    warnings.simplefilter("always", shown_by_default)
                done = run()
            after = {one: data for one, data in self.files().items() if one in before or not one.endswith(".lock")}
            said = [line for line in done.stderr.splitlines() if not line.startswith(prefixes)]
            shown = f"{done.returncode}: {done.stderr}"
            assert "unforeseen" not in done.stderr and "Traceback" not in done.stderr, shown
            assert not [one for one in after if pathlib.PurePath(one).name.startswith(".") or one.endswith(".part")]
            if done.returncode == 2:
                assert len(said) == 1 and ": error: " in said[0], shown
                assert not warned, [str(one.message) for one in warned]
                assert after == before, shown
            else:
                assert done.returncode in statuses, shown
            return done


def edited(change):
    """What changes the bytes of JSON: change(document) edits it in place."""
    def edit(data):
        document = json.loads(data)
        change(document)
        return json.dumps(document).encode()
    return edit


def guard(tool, work):
    """Runs a part of a tool behind the guard of all tools. The result has the attributes of a finished process."""
    return tool_process.call(lambda: guarded(tool, lambda: (work(), 0)[1]), tool)
