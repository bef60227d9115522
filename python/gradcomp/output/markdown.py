"""Markdown."""
import urllib.parse


def plain(value):
    """The text with $ escaped outside of code, which would otherwise begin a formula."""
    parts = str(value).split("`")
    return "`".join(part if number % 2 else part.replace("$", "\\$") for number, part in enumerate(parts))


def target(path):
    """A path as the target of a link."""
    return urllib.parse.quote(str(path))


def _cell(value):
    return plain(value).replace("|", "\\|").replace("\n", " ")


def table(header, rows, numbers=True):
    """The lines of a table whose first column is text. The other columns are numbers, or text too."""
    lines = ["| " + " | ".join(map(_cell, header)) + " |", "|---" + ("|---:" if numbers else "|---") * (len(header) - 1) + "|"]
    return lines + ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
