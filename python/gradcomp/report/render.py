"""HTML (one static file, plots embedded) and Markdown from the sections of a report."""
import pathlib

from gradcomp.output import templates

HERE = pathlib.Path(__file__).resolve().parent


def as_html(title, lead, parts, context):
    """The page as text."""
    style = (HERE / "style.css").read_text(encoding="utf-8")
    return templates.fill(HERE, "report.html.j2", title=title, lead=lead, parts=parts, context=context, style=style)


def as_markdown(title, lead, parts, context, plots):
    """The report as Markdown; `plots` is the folder of the figures, relative to the Markdown file."""
    return templates.fill(HERE, "report.md.j2", title=title, lead=lead, parts=parts, context=context, plots=plots)
