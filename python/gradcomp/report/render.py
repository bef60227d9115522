"""HTML (one static file, plots embedded) and Markdown from the sections of a report."""
import pathlib

import pandas as pd

from gradcomp.output import templates

HERE = pathlib.Path(__file__).resolve().parent


def as_html(title, lead, parts, context):
    """The page as text."""
    style = (HERE / "style.css").read_text(encoding="utf-8")
    return templates.fill(HERE, "report.html.j2", title=title, lead=lead, parts=parts, context=context, style=style)


def as_text(lead, parts):
    """The answer, notes and tables alone, for a terminal."""
    lines = [lead, ""]
    for part in parts:
        lines += [part.title, *(f"- {note}" for note in part.notes), ""]
        for caption, (header, rows) in part.tables:
            lines += [f"{caption}:", pd.DataFrame(rows, columns=header).to_string(index=False), ""]
    return "\n".join(lines)


def as_markdown(title, lead, parts, context, plots):
    """The report as Markdown; `plots` is the folder of the figures, relative to the Markdown file."""
    return templates.fill(HERE, "report.md.j2", title=title, lead=lead, parts=parts, context=context, plots=plots)
