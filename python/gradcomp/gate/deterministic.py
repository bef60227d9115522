"""Deterministic figures of single result files: bytes, checksums, allocations and instructions, which depend on no clock."""
import functools
import json

from gradcomp.errors import ToolError, taking
from gradcomp.json_files import read_json, require, validator

from . import exact
from .samples import COUNTS

CONTEXT = ("program", "compiler", "build_type", "native_arch", "kokkos_version", "kokkos_backend")
OPTIONS = ("samples", "seed")  # what figures depend on, besides the method and the elements
BUILD = ("compiler", "build_type", "native_arch", "kokkos_version", "kokkos_backend")  # what instructions depend on

COLUMNS = (*COUNTS, "payload_checksum", "decoded_checksum")  # what may be left out of a comparison
# The cases of the baseline, as arguments of gradcomp-bench.
CASES = ("--sizes", "16384", "--samples", "1", "--stream", "1", "--filter", "^(compress|decompress)/")


def is_figure(column):
    """Whether a row's column is deterministic."""
    return column in COUNTS or column.endswith("checksum")


def shorten(document):
    """The part of a result file that a baseline keeps."""
    known = document["context"]["gradcomp"]
    rows = [{key: value for key, value in row.items() if key in ("name", "method_canonical", "elements") or is_figure(key)}
            for row in document["benchmarks"]]
    context = {key: known[key] for key in CONTEXT} | {"options": {key: known["options"][key] for key in OPTIONS}}
    return {"context": {"gradcomp": context}, "benchmarks": rows}


def text(document):
    """The document as JSON, one line per row."""
    rows = ",\n".join("  " + json.dumps(row) for row in document["benchmarks"])
    return f'{{"context": {json.dumps(document["context"])},\n "benchmarks": [\n{rows}]}}\n'


@functools.cache
def _validator():
    number = {"type": ["number", "null"]}
    row = {"required": ["name"], "properties": {"name": {"type": "string"}, **dict.fromkeys(COUNTS, number)}}
    return validator({"properties": {"benchmarks": {"type": "array", "items": row}}})


def read(path):
    """Reads a result file or a baseline and shortens it. Throws ToolError."""
    document = read_json(path)
    with taking(f"'{path}' is not a result file of gradcomp-bench"):
        document = shorten(document)
    require(document, _validator(), f"'{path}' is not a result file of gradcomp-bench")
    if not document["benchmarks"]:
        raise ToolError(f"'{path}' holds no cases")
    names = [row["name"] for row in document["benchmarks"]]
    if len(set(names)) < len(names):
        raise ToolError(f"'{path}' holds a case twice")
    return document


def compare(baseline, new, but=()):
    """([exact.Change], [note]) of two documents, without the columns `but`. A case that only `new` has is a note, not a change.
    Instructions of different compilers or builds are not compared. Throws ToolError if the options differ."""
    first, second = (document["context"]["gradcomp"] for document in (baseline, new))
    if first["options"] != second["options"]:
        raise ToolError(f"not comparable: options {first['options']} and {second['options']}")
    other = [f"{key} {first[key]} and {second[key]}" for key in BUILD if first[key] != second[key]]
    rows = {row["name"]: row for row in new["benchmarks"]}
    counted = any("instructions" in row for row in rows.values())
    left_out = {*but, *(["instructions"] if other or not counted else [])}
    notes = [f"instructions are not compared: {'; '.join(other)}"] if other and counted else []
    notes += [f"{column} is not compared" for column in but]
    found = []
    for row in baseline["benchmarks"]:
        after = rows.pop(row["name"], None)
        if after is None:
            found.append(exact.Change(row["name"], "case", "there", None, True))
            continue
        columns = [key for key in row if key not in ("name", *left_out)]
        changes = (exact.judged(row["name"], key, row[key], after.get(key)) for key in columns)
        found += [change for change in changes if change]
    if rows:
        notes.append(f"not in the baseline, not compared: {', '.join(rows)}")
    return found, notes
