"""What the tools say instead of a traceback."""


class ReportError(Exception):
    """One line for the user: what is wrong, where, and what is allowed."""
