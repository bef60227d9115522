"""tools/datasets: digits and texts arrive whole, in the documented format, the same every time; errors are one line."""
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "datasets"


def convert(*arguments, path=None):
    environment = os.environ if path is None else {**os.environ, "PATH": path}
    return subprocess.run([sys.executable, "-B", TOOL, *map(str, arguments)], capture_output=True, text=True,
                          env=environment)


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "digits.gcds"
    done = convert("digits", path)
    assert done.returncode == 0, done.stderr
    assert "UCI" in done.stdout and done.stderr == ""
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
    assert sorted(key(image[..., 0], label) for image, label in zip(pixels, labels)) == wanted
    assert set(labels[:1437]) == set(labels[1437:]) == set(range(10))


def test_same_bytes_again(content, tmp_path):
    assert convert("digits", tmp_path / "again").returncode == 0
    assert (tmp_path / "again").read_bytes() == content


def test_errors_are_one_line(tmp_path):
    done = convert("digits", tmp_path / "no" / "such" / "folder")
    assert done.returncode == 1 and done.stderr.startswith("datasets: cannot write") and done.stderr.count("\n") == 1
    assert convert("faces", tmp_path / "x").returncode == 2
    assert list(tmp_path.iterdir()) == []


needs_bible = pytest.mark.skipif(shutil.which("bible") is None, reason="bible-kjv is not installed")


@needs_bible
def test_kjv_holds_every_verse_once_in_order(tmp_path):
    done = convert("kjv", tmp_path / "kjv.txt")
    assert done.returncode == 0 and done.stderr == "" and "public domain" in done.stdout
    content = (tmp_path / "kjv.txt").read_bytes()
    assert hashlib.sha256(content).hexdigest() in done.stdout
    verses = content.decode("ascii").splitlines()
    assert len(verses) == 31102
    assert verses[0] == "In the beginning God created the heaven and the earth."
    assert verses[-1] == "The grace of our Lord Jesus Christ be with you all. Amen."
    assert verses[26136].startswith("For God so loved the world")  # John 3:16, the 26,137th verse
    # The words as data/tokens.hpp counts them.
    tokens = re.findall(r"[a-z0-9]+(?:'[a-z0-9]+)*|\S", content.decode().lower())
    assert (len(tokens) + len(verses), len(set(tokens))) == (944810, 12772)


def test_kjv_without_its_program_or_with_another_one(tmp_path):
    done = convert("kjv", tmp_path / "x", path=str(tmp_path))
    assert done.returncode == 1 and "bible-kjv-text" in done.stderr and done.stderr.count("\n") == 1
    program = tmp_path / "bible"
    program.write_text("#!/bin/sh\necho Ge1:1 In the beginning\n")
    program.chmod(0o755)
    done = convert("kjv", tmp_path / "x", path=str(tmp_path))
    assert done.returncode == 1 and "expected 31102 verses" in done.stderr and "not print what this" in done.stderr
    program.write_text("#!/bin/sh\nexit 3\n")
    assert "status 3" in convert("kjv", tmp_path / "x", path=str(tmp_path)).stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bible"]
