"""Error messages, files that are written completely or not at all, and the container GCDS."""
import os
import struct
import zlib

import numpy as np

MAGIC = b"GCDS"
TEST_FOLDERS = ("test", "val")


class Failed(Exception):
    """An error message of one line for the user."""


def write_whole(path, content):
    """Writes under a temporary name first: a file that exists is complete."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Failed(f"cannot write '{path}': {error.strerror}") from error


def encode(pixels, labels, n_train, classes):
    """The bytes of a GCDS file of `pixels` (n, height, width, channels), of which the first n_train are for training."""
    n, height, width, channels = pixels.shape
    version = 1 if classes <= 256 else 2  # bytes of a label
    header = MAGIC + struct.pack("<7I", version, n_train, n - n_train, height, width, channels, classes)
    names = labels.astype(f"<u{version}").view(np.uint8).reshape(n, version)
    body = header + np.hstack([names, pixels.reshape(n, -1).astype(np.uint8)]).tobytes()
    return body + struct.pack("<I", zlib.crc32(body))


def list_files(folder, suffixes, classes=None):
    """[(path, label)] of all files in the class sub-folders, sorted by name, and the names of the classes."""
    found = sorted(p.name for p in folder.iterdir() if p.is_dir())
    classes = found if classes is None else classes
    unknown = sorted(set(found) - set(classes))
    if unknown:
        raise Failed(f"'{folder}' has a class that is not in the training set: {unknown[0]}")
    return [(path, label) for label, name in enumerate(classes)
            for path in sorted((folder / name).glob("*")) if path.suffix.lower() in suffixes], classes


def split_classes(folder, share, suffixes):
    """Training and test files, [(path, label)] each, and the names of the classes. They come from FOLDER/train and FOLDER/test
    (or val); without these folders an even `share` of each class is for testing."""
    if not folder.is_dir():
        raise Failed(f"there is no folder '{folder}'")
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
        raise Failed(f"'{folder}' has {len(classes)} class folders and {len(train)} training files; at least 2 folders and 1 "
                     "training file are needed")
    return train, test, classes


def share(text):
    if not 0 <= float(text) < 1:
        raise ValueError
    return float(text)
