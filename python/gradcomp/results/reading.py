"""Reads result files (docs/results-schema.md) and files of tuned rates. Bad input throws a ReportError of one line."""
import dataclasses
import json
import pathlib

from gradcomp.errors import ReportError

from .judge import judged

PROGRAMS = ("gradcomp-methods", "gradcomp-train", "gradcomp-allreduce", "gradcomp-evaluate", "gradcomp-bench")


@dataclasses.dataclass
class Record:
    """One result file, judged (judge.py)."""

    path: pathlib.Path
    context: dict
    rows: list

    @property
    def gradcomp(self):
        return self.context["gradcomp"]

    @property
    def program(self):
        return self.gradcomp["program"]

    @property
    def emulated(self):
        return self.gradcomp["link"]["kind"] == "emulated"

    @property
    def mark(self):
        """What slowed the run, as words that follow a title; empty for most runs."""
        tracer = self.gradcomp.get("tracer")
        return f", slowed by {tracer}" if tracer else ""

    @property
    def link(self):
        """The link in words. They always say if the link was emulated, and if the run was slowed."""
        link = self.gradcomp["link"]
        ranks = self.gradcomp["ranks"]
        words = "real link" if link["kind"] == "real" else f"{link['kind']} link, {link['text']}"
        return f"{words} ({ranks} rank{'s' if ranks != 1 else ''}){self.mark}"


def read_json(path):
    """The content of a file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise ReportError(f"'{path}' is not valid JSON: {error}") from error


def read_rates(path):
    """{method: (its rate, {every rate that was tried: seconds of its trial})} of a file of `gradcomp-tune`."""
    content = read_json(path)
    try:
        return {method: (found["lr"], {trial["lr"]: trial["seconds"] for trial in found["trials"]})
                for method, found in content["methods"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"'{path}' is not a file of tuned rates: {error!r}") from error


def read_record(path, programs=PROGRAMS):
    """Reads one file and checks what the report relies on. `programs`: those that may have written it; None allows any."""
    document = read_json(path)
    try:
        record = Record(path, document["context"], judged(document))
        known = (programs is None or record.program in programs) and record.gradcomp["schema_version"] in (2, 3)
        record.link  # noqa: B018 (a missing column must show here, not in a plot)
        names = [row["name"] for row in record.rows]
    except (KeyError, TypeError) as error:
        raise ReportError(f"'{path}' is not a gradcomp result file: no {error}") from error
    if not known:
        raise ReportError(f"'{path}': this report does not know its program or schema_version")
    if not names:
        raise ReportError(f"'{path}' holds no results")
    return record


def read_folder(folder, may_lack=False):
    """All result files of `folder`, by name, real links before emulated ones. `may_lack`: no file is not an error."""
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise ReportError(f"'{folder}' is not a directory")
    paths = sorted(folder.glob("*.json"))
    if not paths and not may_lack:
        raise ReportError(f"there are no *.json files in '{folder}'")
    records = [read_record(path) for path in paths]
    return sorted(records, key=lambda record: (record.emulated, record.path.name))


def of_program(records, program):
    """The records of one program."""
    return [record for record in records if record.program == program]
