"""The one door through which the tools read JSON and TOML."""
import json
import math
import pathlib
import tomllib

from gradcomp.errors import ToolError

MOST_DIGITS = 20  # of an integer: as many as 2^64 has
MOST_SAID = 200  # largest number of characters of a message, which may hold a whole row


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
    finite, half characters, and deep nesting. `where` names the text in the message."""
    try:
        value = json.loads(text, parse_int=_integer, parse_float=_real, parse_constant=_constant)
        if "\\ud" in text.lower():  # half of a character, which no file can hold
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except RecursionError as error:
        raise ToolError(f"{where} is not valid: too deeply nested") from error
    except ValueError as error:
        raise ToolError(f"{where} is not valid JSON: {error}") from error


def _text(path, language):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ToolError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise ToolError(f"'{path}' is not valid {language}: {error}") from error


def read_json(path):
    """The content of a file. Throws ToolError as parse does, and if the file cannot be read."""
    return parse(_text(path, "JSON"), f"'{path}'")


def read_toml(path):
    """The content of a file. Throws ToolError."""
    try:
        return tomllib.loads(_text(path, "TOML"))
    except RecursionError as error:
        raise ToolError(f"'{path}' is not valid: too deeply nested") from error
    except ValueError as error:
        raise ToolError(f"'{path}' is not valid TOML: {error}") from error


def validator(schema):
    """The validator of a JSON schema."""
    import jsonschema  # here, so that compute nodes and tools that only write (device-check) work without it
    return jsonschema.Draft202012Validator(schema)


def require(document, valid, words):
    """Throws ToolError unless the document is valid: `words`, where it is not, and why."""
    import jsonschema
    error = jsonschema.exceptions.best_match(valid.iter_errors(document))
    if error:
        raise ToolError(f"{words} at {error.json_path}: {error.message[:MOST_SAID]}")
