"""Errors for the user, files that are written all or not at all, the container GCDS."""
import os
import struct
import zlib

import numpy as np

MAGIC = b"GCDS"


class Failed(Exception):
    """One line for the user."""


def write_whole(path, content):
    """Under a temporary name first: a file that exists is complete."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Failed(f"cannot write '{path}': {error.strerror}")


def encode(pixels, labels, n_train, classes):
    """pixels (n, height, width, channels), the first n_train of them for training -> the bytes of a GCDS file."""
    n, height, width, channels = pixels.shape
    version = 1 if classes <= 256 else 2  # bytes of a label
    header = MAGIC + struct.pack("<7I", version, n_train, n - n_train, height, width, channels, classes)
    names = labels.astype(f"<u{version}").view(np.uint8).reshape(n, version)
    body = header + np.hstack([names, pixels.reshape(n, -1).astype(np.uint8)]).tobytes()
    return body + struct.pack("<I", zlib.crc32(body))
