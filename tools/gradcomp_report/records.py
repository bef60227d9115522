"""Result files that the repository keeps: what a page of docs/results is made from, without single samples."""
import json

from .files import write_whole
from .load import ReportError

SAMPLES = ("step_times_ms", "times_ms")
DIGITS = 6


def compact(value):
    """Without the arrays of single samples, floats with as many digits as a measurement has."""
    if isinstance(value, dict):
        return {key: compact(found) for key, found in value.items() if key not in SAMPLES}
    if isinstance(value, list):
        return [compact(found) for found in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def keep(made, kept):
    """Writes the result file `made` to `kept` in its compact form: a row a line, so that a change is seen."""
    document = compact(json.loads(made.read_text(encoding="utf-8")))
    rows = ",\n".join(" " + json.dumps(row) for row in document["benchmarks"])
    text = f'{{"context": {json.dumps(document["context"])},\n "benchmarks": [\n{rows}]}}\n'
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_whole(kept, text)


def require_one_clean_commit(records):
    """Throws unless all were made by one commit without changes: figures of a page must be comparable, and a reader must
    find what made them."""
    first = records[0]
    for record in records:
        known = record.gradcomp
        if known["git_dirty"] or known["git_hash"] == "unknown":
            raise ReportError(f"'{record.path}' was made from a source tree with changes; commit them and measure again")
        if known["git_hash"] != first.gradcomp["git_hash"]:
            raise ReportError(f"'{record.path}' was made by commit {known['git_hash'][:12]}, but '{first.path}' by "
                              f"{first.gradcomp['git_hash'][:12]}; measure both with one commit")
