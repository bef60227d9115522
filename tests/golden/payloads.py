"""Decodes the messages of every method with decode.py and compares the means with those of the library.

    payloads.py PAYLOAD_DUMP [FILE]     FILE: an earlier dump, instead of running PAYLOAD_DUMP
"""
import collections
import json
import subprocess
import sys
import tempfile

import numpy as np

import decode


def tolerance(method, options):
    """Allowed error, relative to the largest element. 0: means are equal, but for the signs of zeros."""
    if method == "powersgd":  # both sides orthonormalise and multiply in their own order
        return 1e-5
    return 2**-22 if "scale=unbiased" in options else 0  # random_k: n / k and 1 / ranks are one factor or two


def steps(path):
    """(description, messages, mean) of every step in a dump."""
    with open(path, "rb") as file:
        while line := file.readline():
            about = json.loads(line)
            messages = [file.read(size) for size in about["sizes"]]
            yield about, messages, np.frombuffer(file.read(4 * about["elements"]), "<f4")


def segments_of(layout):
    offset, segments = 0, []
    for s in layout:
        segments.append(decode.Segment(s["id"], offset, tuple(s["shape"]), s["outputs_first"]))
        offset += segments[-1].count
    return segments


def agrees(method, options, found, mean):
    if found is None:
        return method == "no_exchange"
    allowed = tolerance(method, options)
    if allowed == 0:
        return np.array_equal(found, mean)
    return np.allclose(found, mean, rtol=0, atol=allowed * np.max(np.abs(mean), initial=0) + 2**-145)


def check(path):
    """Returns the number of steps of every method. Stops at the first that differs."""
    done, memory, flags = collections.Counter(), {}, set()
    for about, messages, mean in steps(path):
        if about["step"] == 0:
            memory = {}
        sent = decode.Sent(about["method"], about["options"], about["feedback"], segments_of(about["layout"]), messages,
                           about["seed"], about["step"], memory)
        name = about["method"].split("+")[0]
        where = f"{about['spec']}, {about['case']}, step {about['step']}"
        assert name in decode.METHODS or name in decode.SUMMED, f"decode.py does not know {name}: {where}"
        try:
            found = decode.mean_of(sent)
        except Exception as error:
            raise AssertionError(f"{where}: {error!r}") from error
        if about["diverged"]:
            assert found is None, f"{where}: not flagged"
        else:
            assert agrees(name, about["options"], found, mean), f"{where}: decoded {found}, expected {mean}"
        done[name] += 1
        flags |= {int.from_bytes(m[24:28], "little") for m in messages if m[:4] == b"!GCP"}
    for bit in (decode.DIVERGED, decode.HUFFMAN, decode.ELIAS):
        assert any(f & bit for f in flags), f"no message with flag {bit}"
    assert {f >> 8 & 15 for f in flags} == set(range(len(decode.INDEX_CODERS)))
    assert {f >> 12 & 15 for f in flags} == set(range(len(decode.VALUE_CODERS)))
    return done


def main():
    if len(sys.argv) > 2:
        done = check(sys.argv[2])
    else:
        with tempfile.NamedTemporaryFile(suffix=".payloads") as file:
            subprocess.run([sys.argv[1], file.name], check=True)
            done = check(file.name)
    assert set(done) == set(decode.METHODS) | set(decode.SUMMED), "decode.py knows methods that are not registered"
    print(f"messages of {sum(done.values())} steps of {len(done)} methods decode to the library's means")


if __name__ == "__main__":
    main()
