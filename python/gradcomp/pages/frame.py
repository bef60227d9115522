"""The command line of all pages. It measures everything that has no record of this commit and command, then makes the page from
the records alone."""
import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
import time

from gradcomp.errors import ToolError, taking
from gradcomp.guarded import guarded
from gradcomp.output.files import write_whole
from gradcomp.results import records
from gradcomp.results.reading import read_record
from gradcomp.results.records import ROOT

from .alone import alone
from .commands import command, require_programs


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors have one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message}\n")


def parse(page, arguments=None):
    """The options of a page's tool, with the defaults of --quick filled in."""
    parser = Parser(prog=page.tool, description=page.about + " A measurement that has a record of this commit and of these "
                    "settings is not repeated. Run this tool inside the toolchain: ./run exec -- tools/" + page.tool)
    add = parser.add_argument
    add("--page", action="store_true", help="only write the page again from its records, without running a program")
    add("--quick", action="store_true", help="a small part of everything, also with changed sources: a check, not a measurement; "
        "all files go to --folder")
    add("--folder", type=pathlib.Path, help=f"where result files go (default: results/{page.name})")
    add("--records", type=pathlib.Path, help=f"where records are kept (default: docs/results/records/{page.name})")
    add("--output", type=pathlib.Path, help=f"the page (default: {page.home}/{page.name}.md)")
    if page.images:
        add("--images", type=pathlib.Path, help="where figures go (default: docs/images)")
    page.arguments(parser)
    options = parser.parse_args(arguments)
    options.folder = options.folder or pathlib.Path(f"results/{page.name}{'_quick' if options.quick else ''}")
    base = ROOT / options.folder if options.quick else ROOT / "docs/results"
    options.records = ROOT / (options.records or base / "records" / ("" if options.quick else page.name))
    options.output = options.output or (base if options.quick else ROOT / page.home) / f"{page.name}.md"
    if page.images:
        options.images = options.images or (base / "images" if options.quick else ROOT / "docs/images")
    try:
        page.check(options)
    except argparse.ArgumentTypeError as error:
        parser.error(str(error))
    return options


def build_of(page):
    """A small result of the page's programs, which says from which commit they were built."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "built.json"
        command(*page.asks, "--output", path)
        return read_record(path, programs=None)


def lacking(jobs, options, built, more=()):
    """{job: why it must run}. A job with a record runs again if a later job needs a file that it wrote."""
    found = {}
    for job in reversed(jobs):
        path = options.records / f"{job.name}.json"
        why = records.why_measure(path, job.words, built, more)
        needed = {str(word) for later in found for word in later.words}
        if why is None and any(records.checksum(ROOT / leaf) != known for leaf, known in records.read_kept(path).leaves.items()
                               if leaf in needed):
            why = "a file that it left is needed and not there"
        if why is not None:
            found[job] = why
    return found


def measure(page, options):
    """Makes the records that are missing."""
    built = build_of(page)
    if not options.quick:
        records.require_clean(built, f"the programs of {page.tool} were")
    (ROOT / options.folder).mkdir(parents=True, exist_ok=True)
    jobs = page.jobs(options)
    needed = lacking(jobs, options, built, page.sources)
    for number, job in enumerate(jobs, 1):
        why = needed.get(job)
        print(f"[{number}/{len(jobs)}] {job.name}: {'kept' if why is None else f'{job.purpose} ({why})'}", flush=True)
        if why is None:
            continue
        output, begin = ROOT / options.folder / f"{job.name}.json", time.monotonic()
        if job.make:
            job.make(output, built)
        else:
            command(*job.words, "--output", output)
        records.keep(output, options.records / f"{job.name}.json", job.words, time.monotonic() - begin, job.leaves,
                     job.samples)
        if job.tidy:
            job.tidy(built)


def collect(page, options):
    """{name: record} of everything that the page shows."""
    found = {}
    for name in page.names(options):
        path = options.records / f"{name}.json"
        if path.is_file():
            found[name] = records.read_kept(path)
        elif page.complete:
            raise ToolError(f"there is no record '{path}'; tools/{page.tool} measures it")
    if not found:
        raise ToolError(f"there are no records in '{options.records}'")
    if not options.quick and page.measures:
        records.require_one_clean_commit(list(found.values()), page.sources)
    for name, words in page.commands(options).items():
        if name in found and not page.accepts(found[name].command, words):
            raise ToolError(f"'{found[name].path}' is from another command; tools/{page.tool} measures it again")
    return found


def main(page, arguments=None):
    """Returns the exit status: 0; 1 if something of the page does not hold; 2 with one line on stderr if it could not be made; 130
    if interrupted or terminated."""
    options = parse(page, arguments)
    return guarded(page.tool, lambda: _make(page, options))


def _make(page, options):
    searched = os.environ["PATH"]
    if page.preset:
        os.environ["PATH"] = f"{ROOT}/build/{page.preset}/bin:{searched}"
    try:
        measured = page.measures and not options.page
        if measured:
            require_programs(page.tool, *page.programs)
        for folder in (options.output.parent, *([options.images] if page.images else [])):
            folder.mkdir(parents=True, exist_ok=True)
        if measured:
            with contextlib.nullcontext() if options.quick else alone():
                measure(page, options)
        found = collect(page, options)
        if measured:
            records.require_alone(found.values())
        with taking(f"the records in '{options.records}' do not hold what the page shows"):
            text, broken = page.text(found, options), page.broken(found)
        write_whole(options.output, text)
    finally:
        os.environ["PATH"] = searched
    print(options.output)
    if broken:
        print(f"{page.tool}: error: does not hold: {'; '.join(broken)}", file=sys.stderr)
    return 1 if broken else 0
