"""The options of gradcomp-compare."""
import argparse
import pathlib
import re

from gradcomp.errors import ToolError
from gradcomp.output import files

from .decide import Rules

USAGE = """gradcomp-compare [options] BASELINE NEW
       gradcomp-compare [options] --interleave BUILD_A BUILD_B
       gradcomp-compare --refresh docs/baselines/CLASS [--processes N] -- BUILD"""
DESCRIPTION = """Is one build slower than another? Compares result files of gradcomp-bench, or runs two builds in turn. Each file
is from one process; BASELINE and NEW are files, folders or patterns."""
EPILOG = """exit status: 0: no regression; 1: regression, because a case is slower, or bytes or another count changed; 2: not
comparable, or bad input; 3: inconclusive, because the machine is too noisy; 130: interrupted. docs/gate.md explains how the
tool decides."""


def _parser():
    parser = argparse.ArgumentParser(prog="gradcomp-compare", usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("arms", nargs="+", metavar="ARM", help="result files; or a build: its folder or its gradcomp-bench")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--interleave", action="store_true", help="run both builds in turn, in random order; BUILD_A runs twice as "
                      "often, and its two halves are the A/A control")
    mode.add_argument("--refresh", metavar="FOLDER", help="measure BUILD; its result files replace those in FOLDER")
    add("--processes", type=int, metavar="N", help=f"processes per arm (default: {Rules.minimum}; 20 for --refresh)")
    add("--bench-args", default="", metavar="'ARGUMENTS'", help="arguments for gradcomp-bench, for example '--methods top_k'")
    add("--keep", metavar="FOLDER", help="keep the result files of --interleave in this new folder")
    add("--seed", type=int, default=Rules.seed, help="seed of the order and of the bootstrap (default: %(default)s)")
    add("--filter", default="", metavar="REGEX", help="compare only cases whose name contains a match")
    add("--normalise", choices=("auto", "always", "never"), default="auto", help="divide times by the time to read the gradient "
        "in the same process; auto: only if the arms were not measured in turn on one day")
    add("--detect", type=float, default=100 * Rules.detect, metavar="PERCENT",
        help="slow-down that must be excluded for exit status 0 (default: %(default)g)")
    add("--allow", default="", metavar="KEY,...", help="keys that may differ, for example compiler,options.quick")
    add("--json", metavar="FILE", help="also write all figures to this file")
    add("--markdown", metavar="FILE", help="also write tables for a pull request to this file")
    add("--junit", metavar="FILE", help="also write one testcase per case to this file")
    return parser


def _check(options):
    least, expected = Rules.minimum, 1 if options.refresh else 2
    if len(options.arms) != expected:
        raise ToolError(f"{len(options.arms)} arms where {expected} belong; see --help")
    if options.processes is not None and options.processes < least:
        raise ToolError(f"too few processes: --processes {options.processes}, at least {least} are needed")
    if not 100 * Rules.floor < options.detect <= 1000:
        raise ToolError(f"--detect {options.detect:g} is not above {100 * Rules.floor:g} and at most 1000")
    if options.seed < 0:
        raise ToolError(f"--seed {options.seed} is negative")
    if options.keep and (not options.interleave or pathlib.Path(options.keep).exists()):
        raise ToolError("--keep is for --interleave and names a folder that does not exist yet")
    try:
        re.compile(options.filter)
    except re.error as error:
        raise ToolError(f"--filter '{options.filter}' is not a regular expression: {error}") from error
    files.require_writable([path for path in (options.json, options.markdown, options.junit, options.keep) if path])


def parse(arguments):
    """The options, checked. Throws ToolError; --help, and what argparse refuses, ends the program."""
    words = iter(arguments)  # --bench-args takes its value although that begins with dashes
    joined = [f"{word}={next(words, '')}" if word == "--bench-args" else word for word in words]
    options = _parser().parse_args(joined)
    _check(options)
    return options
