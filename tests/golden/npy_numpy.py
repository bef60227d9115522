#!/usr/bin/env python3
"""Compares the .npy reader and writer with NumPy: we read what NumPy writes, and NumPy reads what we write."""
import argparse
import itertools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np


def copied(program, source, target):
    """Runs npy_copy, which reads `source` and writes `target`."""
    return subprocess.run([program, source, target], capture_output=True, text=True, check=False)


def arrays():
    """Values that test every conversion, in every shape."""
    random = np.random.default_rng(7)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 6e-8, 65504.0, 1 / 3, 2.0**-24, 2.0**-14])
    for shape in ((), (0,), (1,), (12,), (1003,), (3, 4), (4, 3, 1), (2, 3, 5, 7), (3, 0, 2), (1,) * 32):
        values = random.standard_normal(shape)
        yield np.resize(special, shape) if shape == (12,) else np.asarray(values)


def good(program, folder):
    """Copies arrays of every version, type, order and shape."""
    count = 0
    for array, dtype, order, version in itertools.product(arrays(), ("<f2", "<f4", "<f8"), "CF",
                                                          ((1, 0), (2, 0), (3, 0))):
        with np.errstate(over="ignore", under="ignore"):
            source = np.asarray(array.astype(dtype), order=order)
            expected = source.astype(np.float32)
        with open(folder / "in.npy", "wb") as file:
            np.lib.format.write_array(file, source, version=version)
        done = copied(program, folder / "in.npy", folder / "out.npy")
        assert done.returncode == 0, done.stderr
        found = np.load(folder / "out.npy")
        assert found.dtype == np.float32 and found.shape == source.shape, (found.dtype, found.shape)
        np.testing.assert_array_equal(found, expected, strict=True)
        assert np.array_equal(np.signbit(found), np.signbit(expected))
        assert (folder / "out.npy").stat().st_size - 4 * found.size in (128, 192, 256), "the data must be aligned"
        count += 1
    for code in range(0, 2**16, 4096):  # all 16-bit floats
        half = np.arange(code, code + 4096, dtype=np.uint16).view(np.float16)
        np.save(folder / "in.npy", half)
        assert copied(program, folder / "in.npy", folder / "out.npy").returncode == 0
        np.testing.assert_array_equal(np.load(folder / "out.npy"), half.astype(np.float32))
    return count


def out_of_range(program, folder):
    """float64 arrays fit if their largest magnitude is zero or a normal float32. Smaller values may vanish."""
    for values in ([1e-60, 1.0], [0.0, -0.0], [3.4e38], [-1.1754944e-38, 1e-45]):
        np.save(folder / "in.npy", np.array(values))
        assert copied(program, folder / "in.npy", folder / "out.npy").returncode == 0, values
        np.testing.assert_array_equal(np.load(folder / "out.npy"), np.array(values).astype(np.float32))
    for values in ([1e300, 1.0], [-3.5e38], [1e-60], [1e-40, 0.0]):
        np.save(folder / "bad.npy", np.array(values))
        refused(program, folder, "do not fit float32")


def bad(program, folder):
    """Bad files must be refused in one line that names the file and the reason."""
    np.save(folder / "whole.npy", np.arange(12, dtype=np.float32).reshape(3, 4))
    whole = (folder / "whole.npy").read_bytes()
    head = whole[:128]

    def header(old, new):
        assert old in head
        return head.replace(old, new.ljust(len(old))) + whole[128:]

    cases = {
        b"": "not a .npy file", b"\x93NUM": "not a .npy file", b"PK" + whole: "not a .npy file",
        whole[:9]: "ends inside its header", whole[:100]: "ends inside its header",
        whole[:-1]: "truncated", whole[:128]: "truncated", whole + b"\0": "than the 48",
        whole[:6] + b"\4" + whole[7:]: "version 4.0", whole[:7] + b"\1" + whole[8:]: "version 1.1",
        header(b"(3, 4)", b"(3, 5)"): "truncated", header(b"(3, 4)", b"(2, 4)"): "than the 32",
        header(b"(3, 4)", b"(12)"): "not a tuple", header(b"(3, 4)", b"(3,-4)"): "extent",
        header(b"(3, 4)", b"3"): "expected (", header(b"(3, 4), }", b"(3, 4), } x"[:9]): None,
        header(b"(3, 4), }" + b" " * 15, b"(" + b"9" * 18 + b",9), }"): "up to 2^50 elements",
        header(b"(3, 4), }" + b" " * 15, b"(" + b"9" * 20 + b",), }"): "extent",
        header(b"(3, 4), }   ", b"(3, 4), } x"): "follows", header(b"'shape'", b"'shapo'"): "unknown",
        header(b", 'shape': (3, 4), }", b"}"): "missing", header(b"False", b"None"): "expected False",
        header(b"{'descr'", b"['descr'"): "expected {", header(b"'<f4'", b"'<f4"): None,
    }
    for content, reason in cases.items():
        (folder / "bad.npy").write_bytes(content)
        refused(program, folder, reason)
    for dtype, reason in ((">f4", "big-endian"), (">i2", "big-endian"), ("<i4", "'<i4'"), ("<f16", "'<f16'"),
                          ("?", "'|b1'"), ("<c8", "'<c8'"), ("S3", "'|S3'"), ([("a", "<f4"), ("b", "<i4")], "records")):
        np.save(folder / "bad.npy", np.zeros(3, dtype=dtype))
        refused(program, folder, reason)
    done = copied(program, folder / "absent.npy", folder / "none.npy")
    assert done.returncode == 1 and "there is no such file" in done.stderr
    for target in (folder, folder / "absent" / "x.npy", pathlib.Path("/dev/full/x.npy")):
        done = copied(program, folder / "whole.npy", target)
        assert done.returncode == 1 and "cannot write" in done.stderr and str(target) in done.stderr, done.stderr
    assert not (folder / "none.npy").exists()
    assert not [path for path in folder.iterdir() if path.suffix == ".tmp"], "no temporary file stays"


def refused(program, folder, reason):
    """Checks that `bad.npy` is refused, or, without a `reason`, only that the program does not crash."""
    done = copied(program, folder / "bad.npy", folder / "none.npy")
    if reason is None:
        assert done.returncode in (0, 1)
        (folder / "none.npy").unlink(missing_ok=True)
        return
    assert done.returncode == 1, reason
    assert reason in done.stderr and "bad.npy" in done.stderr and done.stderr.count("\n") == 1, (reason, done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", help="npy_copy")
    program = parser.parse_args().program
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        count = good(program, folder)
        out_of_range(program, folder)
        bad(program, folder)
    print(f"{count} arrays agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
