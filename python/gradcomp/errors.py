"""The error that tools report as one line, without a traceback."""


class ReportError(Exception):
    """An error message of one line: what is wrong, where, and what is allowed."""
