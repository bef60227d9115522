"""The one door through which the tools read .npy files."""
import tokenize

import numpy as np

from gradcomp.errors import MISFITS, ToolError


def read_array(path):
    """The array of a file. Throws ToolError, also for arrays of Python objects."""
    try:
        with open(path, "rb") as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except OSError as error:
        raise ToolError(f"cannot read '{path}': {error.strerror or error}") from error
    except (*MISFITS, EOFError, MemoryError, SyntaxError, tokenize.TokenError) as error:
        raise ToolError(f"'{path}' is not a .npy file of numbers: {(str(error) or repr(error)).splitlines()[0]}") from error
