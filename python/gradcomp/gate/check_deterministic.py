"""Counts figures that do not depend on a clock: payload bytes, checksums of payloads and decoded gradients, allocations in
the steady state, and instructions of every method's compress and decompress. Compares them with
docs/baselines/deterministic. Two builds must agree: the portable one under callgrind on one thread, and the native one on
all threads. Exit status: 0: equal to the baseline; 1: something changed; 2: the figures could not be counted. Run it with
./run exec -- tools/check_deterministic"""
import argparse
import pathlib
import sys

from gradcomp.guarded import guarded
from gradcomp.output.files import write_all
from gradcomp.places import ROOT

from . import counting, deterministic
from .interleave import find_program
from .output import change_line

REFRESH = "./run exec -- tools/check_deterministic --refresh"


def measure(options):
    """Writes both result files and returns their content: (counted, native). Throws ToolError."""
    programs = [find_program(build) for build in (options.counted, options.native)]
    options.folder.mkdir(parents=True, exist_ok=True)
    paths = [options.folder / name for name in ("counted.json", "native.json")]
    words = [*deterministic.CASES, *(["--methods", options.methods] if options.methods else [])]
    print("counting instructions (callgrind, one thread)", flush=True)
    counting.count(programs[0], words, paths[0])
    print("the same figures of the native build", flush=True)
    counting.run([programs[1], *words, "--output", paths[1]])
    return [deterministic.read(path) for path in paths]


def report(title, changes, notes):
    """Prints notes and changes; returns whether something changed."""
    for line in [*notes, *map(change_line, changes)]:
        print(f"{title}: {line}")
    return bool(changes)


def check(options, counted, native):
    """The exit status."""
    changed = report("native build against portable build", *deterministic.compare(counted, native, options.but))
    if changed:
        print("check_deterministic: error: figures depend on the build or on the number of threads", file=sys.stderr)
        return 1
    if options.refresh:
        options.baseline.parent.mkdir(parents=True, exist_ok=True)
        write_all({options.baseline: deterministic.text(counted)})
        print(options.baseline)
        return 0
    if report("against the baseline", *deterministic.compare(deterministic.read(options.baseline), counted, options.but)):
        print(f"check_deterministic: error: figures changed; if that is intended, refresh them: {REFRESH}", file=sys.stderr)
        return 1
    print(f"{len(counted['benchmarks'])} cases: as {options.baseline} says")
    return 0


def main():
    parser = argparse.ArgumentParser(prog="check_deterministic", description=__doc__)
    add = parser.add_argument
    add("--refresh", action="store_true", help="write a new baseline instead of comparing with the old one")
    add("--baseline", type=pathlib.Path, default=ROOT / "docs/baselines/deterministic/figures.json")
    add("--counted", default=ROOT / "build/serial-kk", metavar="BUILD", help="the portable build, which runs on one thread "
        "(default: %(default)s)")
    add("--native", default=ROOT / "build/openmp", metavar="BUILD", help="the native build (default: %(default)s)")
    add("--methods", default="", help="method specs instead of every method with its defaults")
    add("--but", action="append", default=[], choices=deterministic.COLUMNS, metavar="COLUMN", help="do not compare this figure; may "
        f"be given more than once: {', '.join(deterministic.COLUMNS)}")
    add("--folder", type=pathlib.Path, default=ROOT / "results/deterministic", help="folder for result files (default: %(default)s)")
    options = parser.parse_args()
    return guarded("check_deterministic", lambda: check(options, *measure(options)))


if __name__ == "__main__":
    sys.exit(main())
