"""tools/datasets: digits and texts are complete, in the documented format, and the same every time. Errors are one line."""
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import struct
import subprocess
import zlib

import numpy as np
import pytest

import tool_process
from gradcomp.datasets import digits, letters

sklearn = pytest.importorskip("sklearn")
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "datasets"


def convert(*arguments, path=None):
    environment = os.environ if path is None else {**os.environ, "PATH": path}
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True,
                          env=environment)


def narrow(said):
    """Whether all lines without paths fit a terminal."""
    return all(len(line) <= 80 for line in said.splitlines() if "/" not in line)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "digits.gcds"
    done = convert("digits", path)
    assert done.returncode == 0, done.stderr
    assert "UCI" in done.stdout and done.stderr == "" and narrow(done.stdout)
    assert [p.name for p in path.parent.iterdir()] == ["digits.gcds"]
    return path.read_bytes()


def test_header_and_checksum(content):
    assert content[:4] == b"GCDS"
    assert struct.unpack("<7I", content[4:32]) == (1, 1437, 360, 8, 8, 3, 10)
    assert len(content) == 32 + 1797 * (1 + 8 * 8 * 3) + 4
    assert struct.unpack("<I", content[-4:])[0] == zlib.crc32(content[:-4])


def test_images_are_those_of_scikit_learn(content):
    records = np.frombuffer(content[32:-4], np.uint8).reshape(1797, -1)
    labels, pixels = records[:, 0], records[:, 1:].reshape(1797, 8, 8, 3)
    assert (pixels[..., 0] == pixels[..., 1]).all() and (pixels[..., 0] == pixels[..., 2]).all()
    source = pathlib.Path(sklearn.__file__).parent / "datasets" / "data" / "digits.csv.gz"
    expected = np.loadtxt(gzip.open(source, "rt"), delimiter=",")
    key = lambda image, label: (int(label), image.astype(int).tobytes())
    wanted = sorted(key(np.round(row[:64] * 255 / 16), row[64]) for row in expected)
    assert sorted(key(image[..., 0], label) for image, label in zip(pixels, labels, strict=True)) == wanted
    assert set(labels[:1437]) == set(labels[1437:]) == set(range(10))


def test_same_bytes_again(content, tmp_path):
    assert convert("digits", tmp_path / "again").returncode == 0
    assert (tmp_path / "again").read_bytes() == content


def test_errors_are_one_line(tmp_path):
    done = convert("digits", tmp_path / "no" / "such" / "folder")
    assert done.returncode == 2 and done.stderr.startswith("datasets: error: cannot write") and done.stderr.count("\n") == 1
    assert convert("faces", tmp_path / "x").returncode == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number, said", [
    ("16", None), ("0", None), ("17", "outside 0 to 16"), ("-1", "outside 0 to 16"), ("x", "not a table of numbers")])
def test_digits_of_another_file_are_read_with_a_warning_or_refused(number, said, tmp_path, capsys):
    path = tmp_path / "digits.csv.gz"
    row = ",".join([*["8"] * 63, number, "3"])
    path.write_bytes(gzip.compress("\n".join([row] * 1797).encode()))
    if said:
        with pytest.raises(digits.ToolError, match=said):
            digits.read_source(path)
        return
    pixels, labels = digits.read_source(path)
    assert pixels.shape == (1797, 8, 8) and set(labels) == {3}
    assert pixels[5, 7, 7] == round(int(number) * 255 / 16) and pixels[5, 0, 0] == 128
    assert capsys.readouterr().err == f"datasets: warning: '{path}' is not the file this was tested with, results may differ\n"


@pytest.fixture(scope="module")
def fonts():
    """The fonts that matplotlib carries: eight families, such as DejaVu, STIX and Computer Modern."""
    return pathlib.Path(pytest.importorskip("matplotlib").get_data_path()) / "fonts" / "ttf"


@pytest.fixture(scope="module")
def drawn_letters(fonts, tmp_path_factory):
    path = tmp_path_factory.mktemp("letters") / "letters.gcds"
    done = convert("letters", path, "--fonts", fonts)
    assert (done.returncode, done.stderr) == (0, "") and narrow(done.stdout)
    content = path.read_bytes()
    assert hashlib.sha256(content).hexdigest() in done.stdout
    return content


def test_letters_have_equal_classes_on_both_sides(drawn_letters, fonts, tmp_path):
    version, train, test, height, width, channels, classes = struct.unpack("<7I", drawn_letters[4:32])
    assert (version, height, width, channels, classes) == (1, 28, 28, 3, 26) and train > test > 0
    records = np.frombuffer(drawn_letters[32:-4], np.uint8).reshape(train + test, -1)
    for labels in (records[:train, 0], records[train:, 0]):
        assert set(np.bincount(labels, minlength=26)) == {len(labels) // 26}
    assert records[:, 1:].std(axis=1).min() > 20, "an image without a letter"
    assert (records[:train, 0] != np.sort(records[:train, 0])).any(), "in no order, so that every part is a fair sample"
    assert convert("letters", tmp_path / "again.gcds", "--fonts", fonts).returncode == 0
    assert (tmp_path / "again.gcds").read_bytes() == drawn_letters


@pytest.mark.parametrize("name, word", [("DejaVu Sans Mono", "dejavu"), ("TeX Gyre Pagella", "pagella"),
                                        ("GW Isabella_Bold", "isabella"), ("C059", "c059"), ("!? Symbols", "symbols"), ("!?", "!?")])
def test_families_are_named_by_a_design_without_its_maker(name, word):
    assert letters.family_word(name) == word


def test_faces_that_look_alike_are_of_one_family():
    images = np.random.default_rng(1).integers(0, 256, (5, 26, 28, 28)).astype(np.uint8)
    images[3] = images[0]
    images[3, :, 0, 0] ^= 1
    family, _ = letters.families_of(["Alpha", "Beta One", "Beta Two", "Gamma", "Delta"], images)
    assert family[0] == family[3] and family[1] == family[2] and len(set(family)) == 3


def test_symbols_are_not_legible():
    shapes = np.random.default_rng(1).integers(0, 2, (26, 7, 7)) * 255
    images = np.stack([np.kron(shapes, np.ones((4, 4)))] * 3 + [np.kron(shapes[::-1], np.ones((4, 4)))]).astype(np.uint8)
    assert letters.legibility(images, np.arange(4)).tolist() == [1, 1, 1, 0]


def test_a_family_is_on_one_side_and_near_copies_are_left_out():
    faces = [(pathlib.Path(f"{name}.ttf"), name) for name in "abcd"]
    alike = np.array([[1, 0.99, 0.9, 0], [0.99, 1, 0.9, 0], [0.9, 0.9, 1, 0], [0, 0, 0, 1]])
    taken = letters.chosen(faces, np.array([0, 0, 0, 1]), alike, np.array([True, True, True, False]))
    assert set(taken) == {0} and len(taken[0]) == 2 and 2 in taken[0]


@pytest.mark.parametrize("files, said", [((), "has 0 usable fonts"), (("DejaVuSans.ttf",), "has 1 usable fonts"),
                                         (("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"), "has 0 legible families")])
def test_letters_need_fonts_of_two_families(files, said, fonts, tmp_path):
    folder = tmp_path / "fonts"
    folder.mkdir()
    (folder / "damaged.ttf").write_bytes(b"no font")
    for name in files:
        shutil.copy(fonts / name, folder)
    done = convert("letters", tmp_path / "out.gcds", "--fonts", folder)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out.gcds").exists()
    missing = convert("letters", tmp_path / "out.gcds", "--fonts", tmp_path / "none")
    assert missing.returncode == 2 and "there is no folder" in missing.stderr


needs_bible = pytest.mark.skipif(shutil.which("bible") is None, reason="bible-kjv is not installed")


@needs_bible
def test_kjv_holds_every_verse_once_in_order(tmp_path):
    done = convert("kjv", tmp_path / "kjv.txt")
    assert done.returncode == 0 and done.stderr == "" and "public domain" in done.stdout and narrow(done.stdout)
    content = (tmp_path / "kjv.txt").read_bytes()
    assert hashlib.sha256(content).hexdigest() in done.stdout
    verses = content.decode("ascii").splitlines()
    assert len(verses) == 31102
    assert verses[0] == "In the beginning God created the heaven and the earth."
    assert verses[-1] == "The grace of our Lord Jesus Christ be with you all. Amen."
    assert verses[26136].startswith("For God so loved the world")  # John 3:16, the 26,137th verse
    # The words are counted as in data/tokens.hpp.
    tokens = re.findall(r"[a-z0-9]+(?:'[a-z0-9]+)*|\S", content.decode().lower())
    assert (len(tokens) + len(verses), len(set(tokens))) == (944810, 12772)


def test_kjv_without_its_program_or_with_another_one(tmp_path):
    done = convert("kjv", tmp_path / "x", path=f"{tmp_path}:{tool_process.bare()}")
    assert done.returncode == 2 and "bible-kjv-text" in done.stderr and done.stderr.count("\n") == 1
    program = tmp_path / "bible"
    program.write_text("#!/bin/sh\necho Ge1:1 In the beginning\n")
    program.chmod(0o755)
    done = convert("kjv", tmp_path / "x", path=f"{tmp_path}:{tool_process.bare()}")
    assert done.returncode == 2 and "expected 31102 verses" in done.stderr and "not print what this" in done.stderr
    program.write_text("#!/bin/sh\nexit 3\n")
    assert "status 3" in convert("kjv", tmp_path / "x", path=f"{tmp_path}:{tool_process.bare()}").stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bible"]


def packed_files(path):
    """(name, header, labels, pixels) of every file that the index lists."""
    lines = (path / "index.txt").read_text().splitlines()
    assert lines[0] == "GCDS-INDEX 1"
    for line in lines[1:]:
        crc, n_train, n_test, name = line.split(maxsplit=3)
        content = (path / name).read_bytes()
        assert content[-4:] == struct.pack("<I", int(crc, 16)) == struct.pack("<I", zlib.crc32(content[:-4]))
        header = struct.unpack("<7I", content[4:32])
        assert content[:4] == b"GCDS" and header[1:3] == (int(n_train), int(n_test))
        version, n, size = header[0], header[1] + header[2], header[3] * header[4] * header[5]
        records = np.frombuffer(content[32:-4], np.uint8).reshape(n, version + size)
        labels = np.ascontiguousarray(records[:, :version]).view(f"<u{version}")[:, 0]
        yield name, header, labels, records[:, version:].reshape(n, *header[3:6])


def save_ppm(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"P6 %d %d 255\n" % (pixels.shape[1], pixels.shape[0]) + pixels.tobytes())


def test_packed_images_keep_their_bytes_and_classes(tmp_path):
    random = np.random.RandomState(1)
    images = {}
    for split, count in (("train", 5), ("val", 2)):
        for label, name in enumerate(("ant", "bee", "cat")):
            for i in range(count):
                images[split, label, i] = pixels = random.randint(0, 256, (6, 6, 3)).astype(np.uint8)
                save_ppm(tmp_path / "in" / split / name / f"{i}.ppm", pixels)
    done = convert("packed", tmp_path / "in", tmp_path / "out", "--size", 6, "--images-per-file", 8)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "classes.txt").read_text() == "ant\nbee\ncat\n"
    files = list(packed_files(tmp_path / "out"))
    assert [f[0] for f in files] == ["00000.gcds", "00001.gcds", "00002.gcds"]
    assert all(header == (1, 5, 2, 6, 6, 3, 3) for _, header, _, _ in files)
    found = {split: sorted((int(label), p.tobytes()) for _, h, labels, pixels in files
                           for label, p in list(zip(labels, pixels, strict=True))[part(h[1])])
             for split, part in (("train", lambda n: slice(0, n)), ("val", lambda n: slice(n, None)))}
    for split in found:
        assert found[split] == sorted((label, p.tobytes()) for (s, label, _), p in images.items() if s == split)


def test_packed_crops_splits_and_takes_many_classes(tmp_path):
    for label in range(300):
        (tmp_path / "in" / f"{label:03d}").mkdir(parents=True)
        wide = np.full((4, 8), 255, np.uint8)
        wide[:, 2:6] = label % 200  # the middle square
        for i in range(2):
            np.save(tmp_path / "in" / f"{label:03d}" / f"{i}.npy", wide)
    done = convert("packed", tmp_path / "in", tmp_path / "out", "--size", 4, "--test", 0.5)
    assert done.returncode == 0, done.stderr
    (_, header, labels, pixels), = packed_files(tmp_path / "out")
    assert header == (2, 300, 300, 4, 4, 3, 300)
    assert labels.tolist() == 2 * list(range(300))
    assert (pixels == (labels % 200)[:, None, None, None]).all()
    assert convert("packed", tmp_path / "in", tmp_path / "default").returncode == 0
    (_, header, _, pixels), = packed_files(tmp_path / "default")
    assert header[3:6] == (64, 64, 3) and pixels.shape == (600, 64, 64, 3), "one file, since 600 images are less than 2000"


def test_packed_errors_are_one_line(tmp_path):
    def error(*arguments):
        done = convert("packed", *arguments)
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert not (tmp_path / "out" / "index.txt").exists()
        return done.stderr

    assert "there is no folder" in error(tmp_path / "none", tmp_path / "out")
    (tmp_path / "in" / "a").mkdir(parents=True)
    assert "1 class folders and 0 training files" in error(tmp_path / "in", tmp_path / "out")
    for name, value in (("a/1.npy", np.zeros((4, 4), np.float32)), ("b/1.npy", np.zeros((4, 4), np.uint8))):
        (tmp_path / "in" / name).parent.mkdir(exist_ok=True)
        np.save(tmp_path / "in" / name, value)
    assert "type float32" in error(tmp_path / "in", tmp_path / "out")
    (tmp_path / "in" / "a" / "1.npy").write_bytes(b"no array")
    assert "is not a .npy file" in error(tmp_path / "in", tmp_path / "out")
    assert convert("packed", tmp_path / "in", tmp_path / "out", "--test", 1).returncode == 2


def images(folder, *names):
    """Two pictures in each of the class folders."""
    for name in names:
        for i in range(2):
            save_ppm(folder / name / f"{i}.ppm", np.full((4, 4, 3), 7, np.uint8))


def test_packed_leaves_out_what_is_no_class_and_says_so(tmp_path):
    images(tmp_path / "in", "a", "b", ".ipynb_checkpoints", "__MACOSX")
    (tmp_path / "in" / "a" / "notes.txt").write_text("x")
    (tmp_path / "in" / "a" / "._0.ppm").write_text("x")
    done = convert("packed", tmp_path / "in", tmp_path / "out", "--size", 4, "--test", 0.5)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "classes.txt").read_text() == "a\nb\n"
    assert f"left out of '{tmp_path}/in': folders .ipynb_checkpoints, __MACOSX\n" in done.stdout
    assert f"left out of '{tmp_path}/in': files 1 of .ppm, 1 of .txt\n" in done.stdout
    assert "training + test: a: 1 + 1; b: 1 + 1\n" in done.stdout


def test_packed_scales_grey_of_16_bits(tmp_path):
    from PIL import Image
    images(tmp_path / "in", "a", "b")
    for i, value in enumerate((0, 257 * 100)):
        Image.fromarray(np.full((4, 4), value, np.uint16)).save(tmp_path / "in" / "a" / f"{i}.png")
        (tmp_path / "in" / "a" / f"{i}.ppm").unlink()
    done = convert("packed", tmp_path / "in", tmp_path / "out", "--size", 4, "--test", 0)
    assert done.returncode == 0, done.stderr
    (_, _, labels, pixels), = packed_files(tmp_path / "out")
    assert [int(p.max()) for p, label in zip(pixels, labels, strict=True) if label == 0] == [0, 100]


@pytest.mark.parametrize("spoil, said", [
    (lambda a: np.save(a / "2.npy", np.zeros((0, 4), np.uint8)), "no pixels"),
    (lambda a: (a / "2.png").write_bytes(b""), "cannot read"),
    (lambda a: (a / "2.ppm").write_bytes(b"P6 20000 20000 255\n"), "could be decompression bomb"),
    (lambda a: (a / "2.ppm").symlink_to(a / "1.ppm"), "are one file"),
    (lambda a: [path.unlink() for path in a.iterdir()], "the class a has no training file")])
def test_packed_refuses_pictures_that_it_would_change(spoil, said, tmp_path):
    images(tmp_path / "in", "a", "b")
    spoil(tmp_path / "in" / "a")
    done = convert("packed", tmp_path / "in", tmp_path / "out", "--size", 4)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "out" / "index.txt").exists()


def test_frames_keep_their_values(tmp_path):
    random = np.random.RandomState(2)
    arrays = {}
    for label, name in enumerate(("no", "yes")):
        for i in range(4):
            path = tmp_path / "in" / name / f"{i}.npy"
            path.parent.mkdir(parents=True, exist_ok=True)
            arrays[label, i] = random.normal(size=(3 + i, 5)).astype(np.float32)
            np.save(path, arrays[label, i].astype(np.float64 if i == 0 else np.float32))
    done = convert("frames", tmp_path / "in", tmp_path / "f.gcfs", "--test", 0.25)
    assert done.returncode == 0, done.stderr
    content = (tmp_path / "f.gcfs").read_bytes()
    assert content[:4] == b"GCFS" and struct.unpack("<5I", content[4:24]) == (1, 6, 2, 5, 2)
    assert struct.unpack("<I", content[-4:])[0] == zlib.crc32(content[:-4])
    at = 24
    for label, i in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]:  # each fourth one is to test
        assert struct.unpack("<2I", content[at:at + 8]) == (label, 3 + i)
        size = 4 * 5 * (3 + i)
        assert content[at + 8:at + 8 + size] == arrays[label, i].tobytes()
        at += 8 + size
    assert at == len(content) - 4
    np.save(tmp_path / "in" / "no" / "1.npy", np.zeros((3, 4), np.float32))
    done = convert("frames", tmp_path / "in", tmp_path / "x.gcfs")
    assert done.returncode == 2 and "expected floats, (frames, 5)" in done.stderr and done.stderr.count("\n") == 1
    np.save(tmp_path / "in" / "no" / "1.npy", np.full((3, 5), np.inf, np.float32))
    assert "not finite" in convert("frames", tmp_path / "in", tmp_path / "x.gcfs").stderr
    assert not (tmp_path / "x.gcfs").exists()
