"""The error that tools report as one line, without a traceback, and the exit statuses of programs."""
import contextlib
import os


class ToolError(Exception):
    """An error message of one line: what is wrong, where, and what is allowed."""


# How code ends that takes apart what is not as it should be: a key that is missing, a value of another kind or out of range.
MISFITS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@contextlib.contextmanager
def taking(words):
    """A block that takes apart what a file holds. If the content does not fit, throws ToolError "WORDS: " and what is wrong with it."""
    try:
        yield
    except MISFITS as error:
        raise ToolError(f"{words}: {error!r}") from error


def complete(words, status):
    """Whether a command has measured everything: gradcomp-train ends with 3 if it has, and a method has diverged."""
    return status == 0 or (status == 3 and any(os.path.basename(str(word)) == "gradcomp-train" for word in words))
