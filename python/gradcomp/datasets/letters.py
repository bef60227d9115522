"""Capital letters of installed fonts, 26 classes, made as notMNIST was. Families of typefaces are split between training and test, so
that the test asks for letters of designs that no rank has seen."""
import collections
import hashlib
import pathlib
import re

import numpy as np

from gradcomp.errors import ToolError
from gradcomp.output.files import write_whole

from .files import encode

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SIZE, CANVAS = 28, 112  # pixels of an image, and of the drawing that is averaged down to it
FACES_OF_FAMILY = 2  # at most
TEST_SHARE = 0.3  # of the families
SAME_FAMILY, SAME_FACE = 0.97, 0.985  # faces whose letters correlate more are of one family, or too alike to take both
LEGIBLE = 0.25  # share of letters whose nearest letter in other families must be the same; symbols and ciphers have less
MAKERS = re.compile(r"^(tex gyre|linux|gfs|pt|nimbus|urw|because we|gw|the) +")  # words that name a maker, not a design
FOLDER = pathlib.Path("/usr/share/fonts")


def family_word(name):
    """The first word of a design's name, without those of its maker. Coarse on purpose: joining two designs costs variety, and
    splitting one would show the test's letters in training."""
    words = re.split(r"[\s_]+", MAKERS.sub("", name.lower()))
    return next((word for word in (re.sub(r"[^a-z0-9]+", "", word) for word in words) if word), name)


def fonts_below(folder):
    """[(path, name of the design)] of the font files below the folder that have outlines for A to Z, sorted by path."""
    from fontTools.ttLib import TTFont
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in (".ttf", ".otf") or path.is_symlink() or not path.is_file():
            continue
        try:
            with TTFont(path, lazy=True) as font:
                characters, names = font.getBestCmap() or {}, font["name"]
                name = names.getDebugName(16) or names.getDebugName(1) or path.stem
                outlines = any(table in font for table in ("glyf", "CFF ", "CFF2"))
        except Exception:  # a damaged font may raise anything
            continue
        if outlines and all(ord(letter) in characters for letter in LETTERS):
            found.append((path, " ".join(name.split())))
    return found


def drawn(path):
    """The letters of a face as 26 pictures, each scaled to four fifths of the canvas; None if one is blank."""
    from PIL import Image, ImageFont
    pictures = []
    try:
        font = ImageFont.truetype(str(path), 160, layout_engine=ImageFont.Layout.BASIC)
        for letter in LETTERS:
            mask = font.getmask(letter, mode="L")
            box = mask.getbbox()
            if not box:
                return None
            ink = Image.frombytes("L", mask.size, bytes(mask)).crop(box)
            scale = 0.8 * CANVAS / max(ink.size)
            width, height = (max(1, round(side * scale)) for side in ink.size)
            ink = ink.resize((width, height), Image.Resampling.BOX if scale < 1 else Image.Resampling.BILINEAR)
            picture = Image.new("L", (CANVAS, CANVAS))
            picture.paste(ink, ((CANVAS - width) // 2, (CANVAS - height) // 2))
            pictures.append(picture)
    except (OSError, ValueError):  # of FreeType
        return None
    return pictures


def small(picture):
    from PIL import Image
    return np.asarray(picture.resize((SIZE, SIZE), Image.Resampling.BOX), np.uint8)


def jittered(picture, random):
    """One image: turned, stretched, sheared, shifted, with another contrast and noise."""
    from PIL import Image
    angle, scale = np.deg2rad(random.uniform(-5, 5)), random.uniform(0.9, 1.05)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shape = np.array([[scale * random.uniform(0.95, 1.05), random.uniform(-0.05, 0.05)], [0, scale]])
    back, middle = np.linalg.inv(turn @ shape), CANVAS / 2
    moved = middle - back @ (middle + random.uniform(-1, 1, 2) * CANVAS / SIZE)
    picture = picture.transform((CANVAS, CANVAS), Image.Transform.AFFINE, (*back[0], moved[0], *back[1], moved[1]),
                                Image.Resampling.BILINEAR)
    low, high = random.uniform(0, 0.15), random.uniform(0.85, 1)
    values = low + (high - low) * small(picture) / 255 + random.normal(0, 0.05, (SIZE, SIZE))
    return np.round(np.clip(values, 0, 1) * 255).astype(np.uint8)


def normalised(rows):
    rows = rows - rows.mean(-1, keepdims=True, dtype=np.float32)
    return rows / (np.linalg.norm(rows, axis=-1, keepdims=True) + 1e-6)


def families_of(names, images):
    """(number of the family of each face, correlation of each two faces). Faces are of one family if their names begin with the same
    word, or if their letters look alike. `images`: (faces, 26, SIZE, SIZE)."""
    from scipy.sparse.csgraph import connected_components
    letters = normalised(images.reshape(len(images), 26, -1).astype(np.float32)).reshape(len(images), -1)
    alike = letters @ letters.T / 26
    words = np.array([family_word(name) for name in names])
    return connected_components((words[:, None] == words) | (alike > SAME_FAMILY), directed=False)[1], alike


def legibility(images, family):
    """For each face the share of its letters whose nearest letter in other families is the same letter."""
    count = len(images)
    halved = images.reshape(count, 26, SIZE // 2, 2, SIZE // 2, 2).mean((3, 5), dtype=np.float32)
    letters = normalised(halved.reshape(26 * count, -1))
    owner, label = np.repeat(family, 26), np.tile(np.arange(26), count)
    found = np.zeros(count)
    for face in range(count):
        near = letters[26 * face:26 * face + 26] @ letters.T
        near[:, owner == family[face]] = -2
        found[face] = np.mean(label[near.argmax(1)] == np.arange(26))
    return found


def digest(*what):
    return hashlib.sha256("\0".join(map(str, what)).encode()).digest()


def chosen(faces, family, alike, legible):
    """{family: its faces that are taken}: legible ones, not too alike, in an order that follows from the names of their files."""
    members = collections.defaultdict(list)
    for face in np.flatnonzero(legible):
        members[family[face]].append(face)
    taken = {}
    for number, all_of in members.items():
        some = []
        for face in sorted(all_of, key=lambda face: digest(faces[face][0].name)):
            if len(some) < FACES_OF_FAMILY and all(alike[face, other] < SAME_FACE for other in some):
                some.append(face)
        taken[number] = some
    return taken


def convert(options):
    try:
        from PIL import __version__ as pillow
        from PIL import features
    except ImportError as error:
        raise ToolError(f"letters are drawn with Pillow (Debian: python3-pil), which Python cannot import: {error}") from error
    if not options.fonts.is_dir():
        raise ToolError(f"there is no folder '{options.fonts}'")
    faces, pictures, seen = [], [], set()
    for path, name in fonts_below(options.fonts):
        letters = drawn(path)
        content = letters and b"".join(small(picture).tobytes() for picture in letters)
        if content and content not in seen:
            seen.add(content)
            faces.append((path, name))
            pictures.append(letters)
    if len(faces) < 2:
        raise ToolError(f"'{options.fonts}' has {len(faces)} usable fonts (.ttf or .otf with A to Z); at least 2 are needed")
    images = np.stack([[small(picture) for picture in letters] for letters in pictures])
    family, alike = families_of([name for _, name in faces], images)
    taken = chosen(faces, family, alike, legibility(images, family) >= LEGIBLE)
    order = sorted(taken, key=lambda number: digest(min(faces[face][0].name for face in taken[number])))
    held = set(order[:round(len(order) * TEST_SHARE)])
    if not held or len(held) == len(order):
        raise ToolError(f"'{options.fonts}' has {len(order)} legible families; at least 2 are needed")
    sides: tuple = ([], [])  # training and test: (place in the order, image, label)
    for number, some in taken.items():
        for face in some:
            for label, letter in enumerate(LETTERS):
                key = digest(faces[face][0].name, letter)
                random = np.random.default_rng(int.from_bytes(key[:8], "big"))
                sides[number in held].append((key, jittered(pictures[face][label], random), label))
    train, test = (sorted(side, key=lambda entry: entry[0]) for side in sides)
    pixels = np.stack([image for _, image, _ in train + test])
    content = encode(np.repeat(pixels[..., None], 3, axis=3), np.array([label for *_, label in train + test]), len(train), classes=26)
    write_whole(options.output, content)
    print(f"fonts: {options.fonts}, {len(faces)} faces of {len(order)} legible families, of which {len(held)} are for testing;\n"
          f"Pillow {pillow}, FreeType {features.version('freetype2')} (others draw some pixels otherwise)\n"
          f"wrote {options.output}:\n{len(train)} training and {len(test)} test images, {len(content)} bytes\n"
          f"sha256: {hashlib.sha256(content).hexdigest()}")


def add_options(parser):
    parser.add_argument("output", type=pathlib.Path, help="the file to write")
    parser.add_argument("--fonts", type=pathlib.Path, default=FOLDER, metavar="DIR",
                        help="folder with fonts, searched with all its sub-folders (default: %(default)s)")
