"""The error that tools report as one line, without a traceback, and the exit statuses of programs."""
import os


class ToolError(Exception):
    """An error message of one line: what is wrong, where, and what is allowed."""


def complete(words, status):
    """Whether a command has measured everything: gradcomp-train ends with 3 if it has, and a method has diverged."""
    return status == 0 or (status == 3 and any(os.path.basename(str(word)) == "gradcomp-train" for word in words))
