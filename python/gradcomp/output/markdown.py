"""Markdown."""


def _cell(value):
    return str(value).replace("|", "\\|").replace("\n", " ")


def table(header, rows):
    """The lines of a table: its first column is text, all others are numbers."""
    lines = ["| " + " | ".join(map(_cell, header)) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    return lines + ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
