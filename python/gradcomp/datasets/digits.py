"""The handwritten digits that come with scikit-learn."""
import gzip
import hashlib
import pathlib
import sys
import zlib

import numpy as np

from gradcomp.errors import ToolError
from gradcomp.output.files import write_whole

from .files import encode

SHA256 = {  # contents of digits.csv.gz when unpacked (the packing differs between releases)
    "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8",
}
TRAIN = 1437  # of 1797: four fifths
NOTE = """Optical Recognition of Handwritten Digits (E. Alpaydin and C. Kaynak, 1998),
its test set as scikit-learn carries it.
Terms: those of the UCI Machine Learning Repository (data set 80); scikit-learn
itself: BSD 3-clause. Converted here, not redistributed."""


def source_file():
    try:
        import sklearn.datasets
    except ImportError as error:
        raise ToolError(f"the digits come with scikit-learn (Debian: python3-sklearn), which Python cannot import: {error}") from error
    return pathlib.Path(sklearn.datasets.__file__).parent / "data" / "digits.csv.gz"


def read_source(path):
    """Pixels (1797, 8, 8) of 0 to 255 and labels (1797,)."""
    try:
        text = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ToolError(f"cannot read '{path}': {error}") from error
    checksum = hashlib.sha256(text).hexdigest()
    print(f"source: {path}\nsha256 (unpacked):\n  {checksum}\n{NOTE}")
    if checksum not in SHA256:
        print(f"datasets: warning: '{path}' is not the file this was tested with, results may differ", file=sys.stderr)
    try:
        table = np.array([[float(v) for v in line.split(",")] for line in text.decode().split()])
    except ValueError as error:
        raise ToolError(f"'{path}' is not a table of numbers: {error}") from error
    if table.ndim != 2 or table.shape[1] != 65 or len(table) <= TRAIN:
        raise ToolError(f"'{path}' has shape {table.shape}, expected (1797, 65)")
    pixels, labels = table[:, :64], table[:, 64]
    if pixels.min() < 0 or pixels.max() > 16 or not set(labels) <= set(range(10)):
        raise ToolError(f"'{path}' has pixels outside 0 to 16 or labels outside 0 to 9")
    return np.round(pixels * 255 / 16).astype(np.uint8).reshape(-1, 8, 8), labels.astype(np.uint8)


def convert(output):
    pixels, labels = read_source(source_file())
    order = np.random.RandomState(0).permutation(len(labels))  # the split is fixed: this generator never changes
    colour = np.repeat(pixels[order][..., None], 3, axis=3)  # three equal channels: the shape the networks take
    content = encode(colour, labels[order], TRAIN, classes=10)
    write_whole(output, content)
    print(f"wrote {output}:\n{TRAIN} training and {len(labels) - TRAIN} test images, {len(content)} bytes")
