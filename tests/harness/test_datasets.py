"""tools/datasets: the digits arrive whole, in the documented format, the same every time; errors are one line."""
import gzip
import pathlib
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "datasets"


def convert(*arguments):
    return subprocess.run([sys.executable, "-B", TOOL, *map(str, arguments)], capture_output=True, text=True)


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
