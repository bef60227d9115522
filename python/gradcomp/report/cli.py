"""The command line of gradcomp-report."""
import argparse
import os
import pathlib

from gradcomp.errors import ToolError
from gradcomp.guarded import guarded
from gradcomp.output.files import write_all
from gradcomp.results.reading import read_folder, read_record

from . import answers, build, gradients, render

TITLE = "gradcomp report"


def main(arguments=None):
    """Returns the exit status: 0, or 2 with one line on stderr for bad input."""
    parser = argparse.ArgumentParser(
        prog="gradcomp-report", description="Writes one static HTML page with tables and plots from the result files "
        "(*.json) of a folder, and the plots as separate files.")
    parser.add_argument("folder", help="folder with result files; also where report.html and plots/ go")
    parser.add_argument("--text", action="store_true", help="only print tables and verdicts; FOLDER may also be one result file")
    parser.add_argument("--output", metavar="FILE.html", help="the page (default: FOLDER/report.html)")
    parser.add_argument("--markdown", metavar="FILE.md", help="also write the report as Markdown")
    parser.add_argument("--gradients", metavar="FILE.npy", nargs="+", default=[],
                        help="draw the distributions of these gradients beside fitted ones; *_gradient.npy and *_accumulated.npy "
                             "of a step appear side by side. The folder then does not need result files")
    parser.add_argument("--title", default=TITLE)
    options = parser.parse_args(arguments)
    return guarded("gradcomp-report", lambda: _report(options))


def _report(options):
    folder = pathlib.Path(options.folder)
    page = pathlib.Path(options.output) if options.output else folder / "report.html"
    if options.text:
        records = [read_record(folder)] if folder.is_file() else read_folder(folder)
        print(render.as_text(answers.answer(records), build.sections(records, drawn=False)), end="")
        return 0
    records = read_folder(folder, may_lack=bool(options.gradients))
    parts = build.sections(records)
    if options.gradients:
        parts.append(build.gradient_section(gradients.groups(options.gradients)))
    if not parts:
        raise ToolError(f"no results to report in '{folder}'")
    plots = page.parent / "plots"
    context = build.context(records) if records else None
    lead = answers.answer(records) if records else "How gradients are distributed, beside fitted distributions."
    written = {plots / plot.name: plot.image for part in parts for plot in part.plots}
    if options.markdown:
        relative = os.path.relpath(plots.resolve(), pathlib.Path(options.markdown).resolve().parent)
        written[pathlib.Path(options.markdown)] = render.as_markdown(options.title, lead, parts, context, relative)
    written[page] = render.as_html(options.title, lead, parts, context)
    plots.mkdir(exist_ok=True)
    write_all(written)
    print(page)
    return 0
