"""A folder of feature arrays, a sub-folder per class, as one GCFS file."""
import pathlib
import struct
import zlib

import numpy as np

from gradcomp.errors import ToolError
from gradcomp.npy_files import read_array
from gradcomp.output.files import write_whole

from .files import counts, share, split_classes


def read_sequence(path, features):
    """An array (frames, features) of floats; if `features` is None, any number of features is allowed."""
    array = read_array(path)
    good = array.ndim == 2 and array.size > 0 and array.dtype.kind == "f" and features in (None, array.shape[1])
    if not good:
        raise ToolError(f"'{path}' has type {array.dtype} and shape {array.shape}; expected floats, "
                     f"(frames, {features or 'features'})")
    with np.errstate(over="ignore"):
        values = array.astype("<f4")
    if not np.isfinite(values).all():
        raise ToolError(f"'{path}' holds a value that is not finite")
    return values


def convert(options):
    train, test, classes = split_classes(options.folder, options.test, {".npy"})
    features = read_sequence(train[0][0], None).shape[1]
    parts = [b"GCFS" + struct.pack("<5I", 1, len(train), len(test), features, len(classes))]
    for path, label in train + test:
        values = read_sequence(path, features)
        parts.append(struct.pack("<2I", label, len(values)) + values.tobytes())
    body = b"".join(parts)
    write_whole(options.output, body + struct.pack("<I", zlib.crc32(body)))
    print(f"wrote {options.output}:\n{len(train)} training and {len(test)} test sequences of {len(classes)} classes,\n"
          f"{features} features\ntraining + test: {counts(train, test, classes)}")


def add_options(parser):
    parser.add_argument("folder", type=pathlib.Path,
                        help="folder with sub-folders train and test (or val), which have a sub-folder of .npy files (float, "
                             "(frames, features)) for each class; or a folder with the sub-folders of the classes only")
    parser.add_argument("output", type=pathlib.Path, help="the file to write")
    parser.add_argument("--test", type=share, default=0.1, metavar="SHARE",
                        help="share of each class used for testing, if there is no folder train (default: %(default)s)")
