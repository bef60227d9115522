"""The one door through which the tools read JSON."""
import json
import math
import pathlib

from gradcomp.errors import ToolError

MOST_DIGITS = 20  # of an integer: as many as 2^64 has


def _integer(text):
    if len(text) > MOST_DIGITS or not -2**63 <= int(text) < 2**64:
        raise ValueError(f"{text[:MOST_DIGITS]} has more than 64 bits")
    return int(text)


def _real(text):
    if not math.isfinite(float(text)):
        raise ValueError(f"{text[:MOST_DIGITS]} is not finite")
    return float(text)


def _constant(text):
    raise ValueError(f"{text} is no JSON")


def parse(text, where):
    """The value of a JSON text. Throws ToolError: besides what breaks JSON, for integers of more than 64 bits, numbers that are not
    finite, and deep nesting. `where` names the text in the message."""
    try:
        return json.loads(text, parse_int=_integer, parse_float=_real, parse_constant=_constant)
    except RecursionError as error:
        raise ToolError(f"{where} is not valid: too deeply nested") from error
    except ValueError as error:
        raise ToolError(f"{where} is not valid JSON: {error}") from error


def read_json(path):
    """The content of a file. Throws ToolError as parse does, and if the file cannot be read."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ToolError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise ToolError(f"'{path}' is not valid JSON: {error}") from error
    return parse(text, f"'{path}'")
