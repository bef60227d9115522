"""HTML (one static file, plots embedded) and Markdown from the sections of a report."""
import base64
import os
import pathlib

from gradcomp.output import markdown

HERE = pathlib.Path(__file__).resolve().parent


def as_html(title, lead, parts, context):
    """The page as text."""
    import jinja2  # pylint: disable=import-outside-toplevel; tables in Markdown are made where it is missing

    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True,
                                     lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["base64"] = lambda data: base64.b64encode(data).decode("ascii")
    style = (HERE / "style.css").read_text(encoding="utf-8")
    return environment.get_template("report.html.j2").render(title=title, lead=lead, parts=parts, context=context,
                                                             style=style)


def as_markdown(title, lead, parts, context, plots):
    """The report as Markdown; `plots` is the folder of the figures, relative to the Markdown file."""
    lines = [f"# {title}", "", lead, ""]
    for part in parts:
        lines += [f"## {part.title}", ""]
        if part.badge:
            lines += [f"**{part.badge.capitalize()}**: such times of the exchange are those of a link that the program imitates.", ""]
        lines += [f"- {note}" for note in part.notes] + [""]
        for caption, (header, rows) in part.tables:
            lines += [f"{caption}:", ""] + markdown.table(header, rows) + [""]
        for plot in part.plots:
            lines += [f"![{plot.alternative}]({os.path.join(plots, plot.name)})", "", plot.caption, ""]
    if context:
        lines += ["## What shaped these runs", ""] + markdown.table(*context)
    return "\n".join(lines) + "\n"
