"""A folder of images, a sub-folder per class, as GCDS files with an index."""
import pathlib
import struct

import numpy as np

from .files import Failed, encode, write_whole

SUFFIXES = {".npy", ".ppm", ".pgm", ".png", ".jpg", ".jpeg", ".bmp", ".webp"}
TEST_FOLDERS = ("test", "val")


def list_images(folder, classes=None):
    """[(path, label)] of the class sub-folders, sorted by name, and the names of the classes."""
    found = sorted(p.name for p in folder.iterdir() if p.is_dir())
    classes = found if classes is None else classes
    unknown = sorted(set(found) - set(classes))
    if unknown:
        raise Failed(f"'{folder}' has a class that the training images lack: {unknown[0]}")
    return [(path, label) for label, name in enumerate(classes)
            for path in sorted((folder / name).glob("*")) if path.suffix.lower() in SUFFIXES], classes


def split_images(folder, share):
    """Training and test images: FOLDER/train and FOLDER/test (or val), or else an even `share` of each class."""
    if not folder.is_dir():
        raise Failed(f"there is no folder '{folder}'")
    if (folder / "train").is_dir():
        train, classes = list_images(folder / "train")
        held = [folder / name for name in TEST_FOLDERS if (folder / name).is_dir()]
        test = list_images(held[0], classes)[0] if held else []
    else:
        images, classes = list_images(folder)
        rank = {}  # of an image in its class: every (1 / share)-th one is a test image
        train, test = [], []
        for path, label in images:
            k = rank[label] = rank.get(label, 0) + 1
            (test if int(k * share) > int((k - 1) * share) else train).append((path, label))
    if len(classes) < 2 or len(classes) > 65536 or not train:
        raise Failed(f"'{folder}' has {len(classes)} class folders and {len(train)} training images; at least 2 and 1")
    return train, test, classes


def read_image(path, size):
    """(size, size, 3) bytes: the middle square of the image, resampled (bilinear) unless it has that size."""
    try:
        from PIL import Image
    except ImportError as error:
        raise Failed(f"images are read with Pillow (Debian: python3-pil), which Python cannot import: {error}")
    try:
        if path.suffix.lower() == ".npy":
            array = np.load(path, allow_pickle=False)
            if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3):
                raise Failed(f"'{path}' has type {array.dtype} and shape {array.shape}; expected uint8, (H, W) or (H, W, 3)")
            image = Image.fromarray(array)
        else:
            image = Image.open(path)
        image = image.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise Failed(f"cannot read '{path}': {error}")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    if image.size != (size, size):
        image = image.resize((size, size), Image.Resampling.BILINEAR, box=(left, top, left + side, top + side))
    return np.asarray(image)


def encode_images(train, test, size, classes):
    images = train + test
    pixels = np.stack([read_image(path, size) for path, _ in images])
    return encode(pixels, np.array([label for _, label in images]), len(train), classes)


def convert(options):
    train, test, classes = split_images(options.folder, options.test)
    files = -(-(len(train) + len(test)) // options.images_per_file)
    files = min(files, len(train))
    try:
        options.output.mkdir(exist_ok=True)
        (options.output / "index.txt").unlink(missing_ok=True)
    except OSError as error:
        raise Failed(f"cannot write to the folder '{options.output}': {error.strerror}")
    index = ["GCDS-INDEX 1\n"]
    for f in range(files):
        # Every files-th image, so that each file holds images of all classes.
        content = encode_images(train[f::files], test[f::files], options.size, len(classes))
        name = f"{f:05d}.gcds"
        write_whole(options.output / name, content)
        crc, = struct.unpack("<I", content[-4:])
        index.append(f"{crc:08x} {len(train[f::files])} {len(test[f::files])} {name}\n")
    write_whole(options.output / "classes.txt", "".join(f"{name}\n" for name in classes).encode())
    write_whole(options.output / "index.txt", "".join(index).encode())  # last: a folder with an index is complete
    print(f"wrote {options.output}: {len(train)} training and {len(test)} test images of {len(classes)} classes, "
          f"{options.size} x {options.size}, {files} files")


def add_options(parser):
    parser.add_argument("folder", type=pathlib.Path,
                        help="sub-folders train and test (or val) with a sub-folder per class, or the latter alone")
    parser.add_argument("output", type=pathlib.Path, help="the folder to write")
    parser.add_argument("--size", type=int, default=64, choices=range(4, 1025), metavar="PIXELS",
                        help="height and width of the packed images, 4 to 1024 (%(default)s)")
    parser.add_argument("--test", type=share, default=0.1, metavar="SHARE",
                        help="share of each class to test on, without a folder train (%(default)s)")
    parser.add_argument("--images-per-file", type=positive, default=2000, metavar="N",
                        help="images of a GCDS file (%(default)s)")


def share(text):
    if not 0 <= float(text) < 1:
        raise ValueError
    return float(text)


def positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)
