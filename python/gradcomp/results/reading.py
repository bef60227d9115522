"""Reads result files (docs/results-schema.md) and files of tuned rates. Bad input throws a ToolError of one line."""
import dataclasses
import datetime
import pathlib

from gradcomp.errors import ToolError, taking
from gradcomp.json_files import read_json

from .judge import judged
from .schema import require_record

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
        return self.link_of(self.gradcomp["link"]["text"])

    def link_of(self, text):
        """The same with `text` for the rates of the link."""
        ranks, kind = self.gradcomp["ranks"], self.gradcomp["link"]["kind"]
        words = "real link" if kind == "real" else f"{kind} link, {text}"
        return f"{words} ({ranks} rank{'s' if ranks != 1 else ''}){self.mark}"


def read_rates(path):
    """{method: (its rate, {every rate that was tried: seconds of its trial})} of a file of `gradcomp-tune`."""
    content = read_json(path)
    with taking(f"'{path}' is not a file of tuned rates"):
        return {method: (found["lr"], {trial["lr"]: trial["seconds"] for trial in found["trials"]})
                for method, found in content["methods"].items()}


def read_record(path, programs=PROGRAMS):
    """Reads one file, which must follow the schema. `programs`: those that may have written it; None allows any."""
    return record_of(read_json(path), path, programs)


def record_of(document, path, programs=PROGRAMS):
    """The same for a document that was read from `path`."""
    require_record(document, path, of_a_page=programs is None)
    with taking(f"'{path}' holds values that cannot be"):
        datetime.datetime.fromisoformat(document["context"]["date"]).astimezone(datetime.UTC)
        record = Record(path, document["context"], judged(document))
    if programs is not None and record.program not in programs:
        raise ToolError(f"'{path}' is of '{record.program}'; known are {', '.join(programs)}")
    if not record.rows:
        raise ToolError(f"'{path}' holds no results")
    return record


def read_folder(folder, may_lack=False):
    """All result files of `folder`, by name, real links before emulated ones. `may_lack`: no file is not an error."""
    folder = pathlib.Path(folder)
    if not folder.is_dir():
        raise ToolError(f"'{folder}' is not a directory")
    paths = sorted(folder.glob("*.json"))
    if not paths and not may_lack:
        raise ToolError(f"there are no *.json files in '{folder}'")
    records = [read_record(path) for path in paths]
    return sorted(records, key=lambda record: (record.emulated, record.path.name))


def of_program(records, program):
    """The records of one program."""
    return [record for record in records if record.program == program]
