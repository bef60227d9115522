"""Checks result files and records against docs/results.schema.json. A record has no arrays of single samples (records.compact).
Some pages write rows of their own: of these records only the context is that of a program."""
import functools
import json
import pathlib

import jsonschema

from gradcomp.errors import ReportError

SCHEMA = pathlib.Path(__file__).with_name("results.schema.json")  # a link to the file of docs/; a copy in an installed package
SAMPLES = ("step_times_ms", "times_ms", "slices")
MOST_SAID = 200  # largest number of characters of a message, which may hold a whole row


def _without_samples(value):
    """A schema that does not require SAMPLES."""
    if isinstance(value, dict):
        return {key: [name for name in found if name not in SAMPLES] if key == "required" else _without_samples(found)
                for key, found in value.items()}
    return [_without_samples(found) for found in value] if isinstance(value, list) else value


@functools.cache
def _validator(kind):
    """The validator of a whole "file", of a "record", or of the "context" alone."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    if kind == "record":
        schema = _without_samples(schema)
    if kind == "context":
        schema = {"$defs": schema["$defs"], "required": ["context"], "properties": {"context": schema["properties"]["context"]}}
    return jsonschema.Draft202012Validator(schema)


def _require(kind, document, path):
    error = jsonschema.exceptions.best_match(_validator(kind).iter_errors(document))
    if error:
        raise ReportError(f"'{path}' breaks docs/results.schema.json at {error.json_path}: {error.message[:MOST_SAID]}")


def require_file(document, path):
    """Throws ReportError unless `document`, which was read from `path`, is a complete result file of a program."""
    _require("file", document, path)


def require_record(document, path):
    """The same for a record. All rows of a program have a run_type; rows of a page have none."""
    _require("record" if any("run_type" in row for row in document["benchmarks"]) else "context", document, path)
