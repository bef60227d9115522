"""A page: its jobs, whose records it is made from, and its text."""
import argparse
import dataclasses
import json
import pathlib
import shlex
from collections.abc import Callable
from typing import ClassVar

from gradcomp.output import templates
from gradcomp.output.files import write_whole
from gradcomp.results.provenance import machines, too_fast
from gradcomp.results.records import beside

UNKNOWN = "The records that answer this have not been measured yet."
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Job:
    """One record and the command that makes it."""

    name: str
    words: tuple  # command as the page shows it, without the output
    purpose: str
    leaves: tuple = ()  # other files that the job writes and later jobs read
    samples: tuple = ()  # arrays of single samples that its record keeps, because the page computes intervals from them
    make: Callable | None = None  # make(output, built) writes the result file, if the command does not write it
    tidy: Callable | None = None  # tidy(built) is called after the record is kept


def former(words):
    """The command in which gradcomp-train itself described models, as it did before gradcomp-methods was there."""
    if "gradcomp-methods" not in words:
        return words
    return [*("gradcomp-train" if word == "gradcomp-methods" else word for word in words), "--no-controls"]


class Page:
    """The base of all pages."""

    name = ""  # name of the page and of its folder of records
    tool = ""  # name of the tool in tools/
    about = ""  # one line for --help
    programs: tuple = ()
    sources: tuple = ()  # places in the repository, besides those of all pages, whose change makes its records invalid
    preset = ""  # preset of the programs, if `openmp` does not have them
    images = False  # whether it draws figures
    home = "docs/results"  # folder of the page
    complete = True  # whether a page needs all records
    measures = True  # whether it has records of its own, which must be of equal sources; else it shows those of other pages
    asks: tuple = ("gradcomp-methods", "--describe", "--model", "resnet8", "--methods", "fp32")  # type of the build

    def arguments(self, parser):
        """Adds the options of this page."""

    def check(self, options):
        """Throws argparse.ArgumentTypeError for options that are not allowed. Starts nothing."""

    def names(self, options):
        """The names of all records, in the order of the page."""
        return [job.name for job in self.jobs(options)]

    def jobs(self, options):
        """All jobs, in the order in which they run. May ask programs for names."""
        raise NotImplementedError

    def commands(self, options):
        """{name: command} from which records must be; empty if only a program knows them."""
        return {job.name: list(map(str, job.words)) for job in self.jobs(options)}

    def accepts(self, kept, words):
        """Whether a record of the command `kept` may stand on the page where `words` would be measured now."""
        return kept in (words, former(words))

    def text(self, records, options):
        """The page, from {name: record}."""
        raise NotImplementedError

    def broken(self, records):
        """The promises that the records break, one line each."""
        return []


class SectionedPage(Page):
    """A page whose sections are modules with jobs(options) and write(text, records, quick); each can be measured alone."""

    sections: ClassVar[dict] = {}  # {name: module}, in the order of the page
    title = ""
    introduction: ClassVar[list] = []  # lines on how everything was measured

    def arguments(self, parser):
        parser.add_argument("--only", action="append", choices=self.sections, metavar="SECTION",
                            help=f"measure this section; may be given more than once (default: all): {', '.join(self.sections)}")

    def answer(self, records, options):
        """The answer of the page, as Text takes it."""
        raise NotImplementedError

    def text(self, records, options):
        out = Text(self, self.title, records, *self.answer(records, options))
        out.lines += self.introduction
        out.name_missing(self.names(options))
        for section in self.sections.values():
            section.write(out, records, options.quick)
        return out.whole()

    def _jobs(self, options, chosen):
        return [job for name in chosen for job in self.sections[name].jobs(options)]

    def jobs(self, options):
        return self._jobs(options, [name for name in self.sections if name in (options.only or self.sections)])

    def names(self, options):
        return [job.name for job in self._jobs(options, self.sections)]

    def commands(self, options):
        return {job.name: list(map(str, job.words)) for job in self._jobs(options, self.sections)}


class Text:
    """The text of a page. It begins with `answer`, a sentence or a few, and perhaps a small `table`: together at most 120 words. `lines`
    come between its head and its commands."""

    def __init__(self, page, title, records, answer, table=None):
        self.page, self.title, self.records, self.answer, self.table, self.lines = page, title, records, answer, table, []

    def name_missing(self, names):
        """Names the records that the page should have and does not have."""
        missing = ", ".join(f"`{name}`" for name in names if name not in self.records)
        if missing:
            self.lines += [f"**Not complete**: these records have not been measured yet: {missing}.", ""]

    def _equal(self):
        """The clause on several commits, whose sources frame.collect() has compared; empty if there is one."""
        several = len({record.hash for record in self.records.values()}) > 1
        return " The programs of these commits were built from equal sources." if several else ""

    def add(self, title, note, table):
        """Adds a section with a table."""
        self.lines += templates.fill(HERE, "section.md.j2", title=title, note=note, table=table).split("\n")

    def whole(self):
        """The complete text, with the commands at the end."""
        def shown(words, names):
            writes = words[0].startswith("tools/") or {"gradcomp-tune", "--tune"} & set(words)  # files that --output does not name
            return shlex.join([*words, *([] if writes else ["--output", f"{names[0]}.json"])]), ", ".join(names)
        repeated = {}  # jobs of the same command stand together
        for name, record in self.records.items():
            repeated.setdefault(tuple(record.command), []).append(name)
        crowded = [f"`{name}` was measured while {', '.join(f'`{other}`' for other in others)} ran on the same machine."
                   for name, record in self.records.items() if (others := beside(record))]
        note = ["**To be measured again**: " + " ".join(crowded), ""] if crowded else []
        fast = [f"`{name}`: {', '.join(f'`{label}`' for label in labels)}." for name, record in self.records.items()
                if (labels := too_fast(record))]
        note += ["**To be measured again**: these sent their bytes more than 5 % faster than the rate of the link, as messages do "
                 "that fit into the bucket of the shaper. " + " ".join(fast), ""] if fast else []
        return templates.fill(HERE, "page.md.j2", title=self.title, answer=self.answer, table=self.table, tool=self.page.tool,
                              machines=machines(self.records.values()) + self._equal(), body="\n".join([*note, *self.lines]),
                              start=f"GRADCOMP_PRESET={self.page.preset} " if self.page.preset else "",
                              commands=[shown(words, names) for words, names in repeated.items()])


def write_rows(output, built, rows):
    """Writes the result file of a job that makes its rows itself."""
    write_whole(output, json.dumps({"context": built.context, "benchmarks": rows}))


def positive(word):
    """A number of at least 1, for argparse."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"'{word}' is not a number of at least 1")
    return int(word)
