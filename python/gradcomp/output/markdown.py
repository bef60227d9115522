"""Markdown."""


def _cell(value):
    return str(value).replace("|", "\\|").replace("\n", " ")


def table(header, rows):
    """The lines of a table whose first column is text and whose other columns are numbers."""
    lines = ["| " + " | ".join(map(_cell, header)) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    return lines + ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
