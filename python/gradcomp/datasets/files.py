"""The container GCDS, and the files of classes."""
import collections
import os
import struct
import zlib

import numpy as np

from gradcomp.errors import ToolError

MAGIC = b"GCDS"
TEST_FOLDERS = ("test", "val")
NO_CLASSES = ("__MACOSX",)  # what programs leave in folders of data; so do those whose names begin with a dot


def encode(pixels, labels, n_train, classes):
    """The bytes of a GCDS file of `pixels` (n, height, width, channels), of which the first n_train are for training."""
    n, height, width, channels = pixels.shape
    version = 1 if classes <= 256 else 2  # bytes of a label
    header = MAGIC + struct.pack("<7I", version, n_train, n - n_train, height, width, channels, classes)
    names = labels.astype(f"<u{version}").view(np.uint8).reshape(n, version)
    body = header + np.hstack([names, pixels.reshape(n, -1).astype(np.uint8)]).tobytes()
    return body + struct.pack("<I", zlib.crc32(body))


def list_files(folder, suffixes, classes=None):
    """[(path, label)] of all files in the class sub-folders, sorted by name, and the names of the classes. Prints what is left
    out. Throws ToolError, also where the same file stands twice."""
    below = sorted(name for name in os.listdir(folder) if (folder / name).is_dir())
    found = [name for name in below if name not in NO_CLASSES and not name.startswith(".")]
    classes = found if classes is None else classes
    unknown = sorted(set(found) - set(classes))
    if unknown:
        raise ToolError(f"'{folder}' has a class that is not in the training set: {unknown[0]}")
    paths = [(folder / name / file, label) for label, name in enumerate(classes) if name in found
             for file in sorted(os.listdir(folder / name))]
    taken = [(path, label) for path, label in paths if path.suffix.lower() in suffixes and not path.name.startswith(".")]
    kept = {path for path, _ in taken}
    others = collections.Counter(path.suffix.lower() or "no ending" for path, _ in paths if path not in kept)
    for what, names in (("folders", [name for name in below if name not in found]),
                        ("files", [f"{count} of {ending}" for ending, count in sorted(others.items())])):
        if names:
            print(f"left out of '{folder}': {what} {', '.join(names)}")
    seen: dict = {}
    for path, _ in taken:
        first = seen.setdefault(path.resolve(), path)
        if first is not path:
            raise ToolError(f"'{first}' and '{path}' are one file")
    return taken, classes


def counts(train, test, classes):
    """How many files of each class were taken, in words; of many classes the fewest and the most."""
    numbers = [collections.Counter(label for _, label in files) for files in (train, test)]
    if len(classes) <= 20:
        return "; ".join(f"{name}: {numbers[0][label]} + {numbers[1][label]}" for label, name in enumerate(classes))
    ranges = [sorted(of_split[label] for label in range(len(classes))) for of_split in numbers]
    return " + ".join(f"{sizes[0]} to {sizes[-1]}" for sizes in ranges) + " of each class"


def split_classes(folder, share, suffixes):
    """Training and test files, [(path, label)] each, and the names of the classes. They come from FOLDER/train and FOLDER/test
    (or val); without these folders an even `share` of each class is for testing."""
    if not folder.is_dir():
        raise ToolError(f"there is no folder '{folder}'")
    if (folder / "train").is_dir():
        train, classes = list_files(folder / "train", suffixes)
        held = [folder / name for name in TEST_FOLDERS if (folder / name).is_dir()]
        test = list_files(held[0], suffixes, classes)[0] if held else []
    else:
        files, classes = list_files(folder, suffixes)
        rank = {}  # number of a file in its class: every (1 / share)-th one is for testing
        train, test = [], []
        for path, label in files:
            k = rank[label] = rank.get(label, 0) + 1
            (test if int(k * share) > int((k - 1) * share) else train).append((path, label))
    if len(classes) < 2 or len(classes) > 65536 or not train:
        raise ToolError(f"'{folder}' has {len(classes)} class folders and {len(train)} training files; at least 2 folders and 1 "
                     "training file are needed")
    without = sorted(set(range(len(classes))) - {label for _, label in train})
    if without:
        raise ToolError(f"'{folder}': the class {classes[without[0]]} has no training file")
    return train, test, classes


def share(text):
    if not 0 <= float(text) < 1:
        raise ValueError
    return float(text)
