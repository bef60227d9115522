"""Checks result files and records against docs/results.schema.json. A record has no arrays of single samples (records.compact).
Some pages write rows of their own: of these records only the context is that of a program."""
import functools
import pathlib

from gradcomp.json_files import read_json, require, validator

SCHEMA = pathlib.Path(__file__).with_name("results.schema.json")  # a link to the file of docs/; a copy in an installed package
SAMPLES = ("step_times_ms", "times_ms", "slices")


def _without_samples(value):
    """A schema that does not require SAMPLES."""
    if isinstance(value, dict):
        return {key: [name for name in found if name not in SAMPLES] if key == "required" else _without_samples(found)
                for key, found in value.items()}
    return [_without_samples(found) for found in value] if isinstance(value, list) else value


@functools.cache
def _validator(kind):
    """The validator of a whole "file", of a "record", or of the "context" alone."""
    schema = read_json(SCHEMA)
    if kind == "record":
        schema = _without_samples(schema)
    if kind == "context":
        schema = {"$defs": schema["$defs"], "required": ["context"], "properties": {"context": schema["properties"]["context"]}}
    return validator(schema)


def _require(kind, document, path):
    require(document, _validator(kind), f"'{path}' breaks docs/results.schema.json")


def require_file(document, path):
    """Throws ToolError unless `document`, which was read from `path`, is a complete result file of a program."""
    _require("file", document, path)


def require_record(document, path, of_a_page=True):
    """The same for a record. `of_a_page`: its rows may be those of a page, of which none has the run_type that a program's have."""
    rows = document.get("benchmarks") if of_a_page and isinstance(document, dict) else None
    by_a_page = isinstance(rows, list) and all(isinstance(row, dict) and "run_type" not in row for row in rows)
    _require("context" if by_a_page else "record", document, path)
