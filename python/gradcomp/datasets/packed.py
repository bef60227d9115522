"""A folder of images, a sub-folder per class, as GCDS files with an index."""
import pathlib
import struct
import tempfile
import warnings
import zlib

import numpy as np

from gradcomp.errors import MISFITS, ToolError
from gradcomp.npy_files import read_array
from gradcomp.output.files import write_whole

from .files import counts, encode, share, split_classes

SUFFIXES = {".npy", ".ppm", ".pgm", ".png", ".jpg", ".jpeg", ".bmp", ".webp"}


def read_image(path, size):
    """The middle square of the image as (size, size, 3) bytes, resampled (bilinear) unless it has that size."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ToolError(f"images are read with Pillow (Debian: python3-pil), which Python cannot import: {error}") from error
    try:
        if path.suffix.lower() == ".npy":
            array = read_array(path)
            if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3):
                raise ToolError(f"'{path}' has type {array.dtype} and shape {array.shape}; expected uint8, (H, W) or (H, W, 3)")
            if not array.size:
                raise ToolError(f"'{path}' has shape {array.shape}: no pixels")
            image = Image.fromarray(array)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                image = Image.open(path)
        image = eight_bits(image, path).convert("RGB")
    except (*MISFITS, OSError, SyntaxError, EOFError, struct.error, zlib.error, MemoryError, Image.DecompressionBombError,
            Image.DecompressionBombWarning) as error:
        raise ToolError(f"cannot read '{path}': {error}") from error
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    if image.size != (size, size):
        image = image.resize((size, size), Image.Resampling.BILINEAR, box=(left, top, left + side, top + side))
    return np.asarray(image)


def eight_bits(image, path):
    """The image with grey values of 0 to 255 if they had 16 bits, which Pillow would clip; other modes as they are."""
    if not image.mode.startswith(("I", "F")):
        return image
    values = np.asarray(image)
    if image.mode == "F" or values.min() < 0 or values.max() > 65535:
        raise ToolError(f"'{path}' has pixels of mode {image.mode}; allowed are 8 bits, and grey of 16 bits")
    from PIL import Image
    return Image.fromarray(np.round(values / 257).astype(np.uint8))


def encode_images(train, test, size, classes):
    images = train + test
    pixels = np.stack([read_image(path, size) for path, _ in images])
    return encode(pixels, np.array([label for _, label in images]), len(train), classes)


def convert(options):
    train, test, classes = split_classes(options.folder, options.test, SUFFIXES)
    files = -(-(len(train) + len(test)) // options.images_per_file)
    files = min(files, len(train))
    index = ["GCDS-INDEX 1\n"]
    try:
        options.output.mkdir(exist_ok=True)
        # What an earlier call wrote stays until every image was read.
        with tempfile.TemporaryDirectory(prefix=".gradcomp.", dir=options.output) as work:
            for f in range(files):
                # Every files-th image, so that each file holds images of all classes.
                content = encode_images(train[f::files], test[f::files], options.size, len(classes))
                name = f"{f:05d}.gcds"
                write_whole(pathlib.Path(work) / name, content)
                crc, = struct.unpack("<I", content[-4:])
                index.append(f"{crc:08x} {len(train[f::files])} {len(test[f::files])} {name}\n")
            (options.output / "index.txt").unlink(missing_ok=True)
            for path in pathlib.Path(work).iterdir():
                path.replace(options.output / path.name)
    except OSError as error:
        raise ToolError(f"cannot write to the folder '{options.output}': {error.strerror}") from error
    write_whole(options.output / "classes.txt", "".join(f"{name}\n" for name in classes).encode())
    write_whole(options.output / "index.txt", "".join(index).encode())  # written last: a folder with an index is complete
    print(f"wrote {options.output}:\n{len(train)} training and {len(test)} test images of {len(classes)} classes,\n"
          f"{options.size} x {options.size}, {files} files\ntraining + test: {counts(train, test, classes)}")


def add_options(parser):
    parser.add_argument("folder", type=pathlib.Path,
                        help="folder with sub-folders train and test (or val), which have a sub-folder for each class; or a "
                             "folder with the sub-folders of the classes only")
    parser.add_argument("output", type=pathlib.Path, help="the folder to write")
    parser.add_argument("--size", type=int, default=64, choices=range(4, 1025), metavar="PIXELS",
                        help="height and width of the packed images, 4 to 1024 (default: %(default)s)")
    parser.add_argument("--test", type=share, default=0.1, metavar="SHARE",
                        help="share of each class used for testing, if there is no folder train (default: %(default)s)")
    parser.add_argument("--images-per-file", type=positive, default=2000, metavar="N",
                        help="number of images in a GCDS file (default: %(default)s)")


def positive(text):
    if int(text) < 1:
        raise ValueError
    return int(text)
