"""The options of gradcomp-history."""
import argparse
import shlex

from gradcomp.errors import ToolError
from gradcomp.gate.decide import Rules
from gradcomp.places import ROOT

from . import measure, trials

DESCRIPTION = """Watches throughput and instruction counts night after night. Adds the records of a night to a history, compares
them with the last good night by the gate, draws one page, and names the commit that made a case slower."""
EPILOG = """exit status: 0: no regression, or done; 1: regression; 2: not comparable, or bad input; 3: inconclusive, because the
machine is too noisy, or because a bisection could not name one commit; 130: interrupted. docs/history.md explains the set-up."""


def _bench(parser, name, default, text):
    parser.add_argument(name, default=default, metavar="'ARGUMENTS'", help=text)


def _night(add):
    one = add("night", "measure, add, check and page: everything that a runner does in one night")
    one.add_argument("--page", metavar="FILE", help="also draw the page, to this file")
    one.add_argument("--build", action="append", metavar="COMMAND", help="command that builds before the measurement; may be "
                     "repeated; '' builds nothing (default: ./run build openmp gradcomp-bench, and the same for serial-kk)")
    one.add_argument("--timed", default=ROOT / "build/openmp", metavar="BUILD",
                     help="build whose times are measured (default: %(default)s)")
    one.add_argument("--counted", default=ROOT / "build/serial-kk", metavar="BUILD", help="build whose instructions are counted "
                     "(default: %(default)s)")
    one.add_argument("--no-counts", action="store_true", help="do not count instructions")
    one.add_argument("--processes", type=int, default=Rules.minimum, metavar="N", help="number of processes of the new build; "
                     "the last good build runs in turn with it, with twice as many (default: %(default)s)")
    _bench(one, "--bench-args", measure.TIMED, "arguments for gradcomp-bench when times are measured (default: %(default)s)")
    _bench(one, "--count-args", measure.COUNTED, "arguments for gradcomp-bench under callgrind (default: %(default)s)")


def _bisect(add):
    one = add("bisect", "build and measure commits between a good and a bad night, and name the first one that is slower")
    one.add_argument("--case", required=True, help="name of the case on the page, for example compress/top_k/16384")
    one.add_argument("--good", metavar="COMMIT", help="last good commit (default: that of the open regression of the case)")
    one.add_argument("--bad", metavar="COMMIT", help="first bad commit (default: that of the open regression of the case)")
    one.add_argument("--by", choices=(trials.INSTRUCTIONS, trials.TIMES), help="count instructions, or compare the times of each "
                     "commit with the good one by the gate (default: whichever found the regression, instructions first)")
    one.add_argument("--build", metavar="COMMAND", help="command that builds gradcomp-bench in the current work tree (default: "
                     "./run build PRESET gradcomp-bench, with serial-kk for instructions and openmp for times)")
    one.add_argument("--program", metavar="PATH", help="build folder or program in the work tree (default: build/PRESET)")
    one.add_argument("--processes", type=int, default=Rules.minimum, metavar="N",
                     help="number of processes per commit, for times (default: %(default)s)")
    _bench(one, "--bench-args", "", "arguments for gradcomp-bench (default: those of the night, with only this case)")


def _parser():
    parser = argparse.ArgumentParser(prog="gradcomp-history", description=DESCRIPTION, epilog=EPILOG)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def add(name, text, several=False):
        one = verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", epilog=EPILOG)
        one.add_argument("history", nargs="+" if several else None, metavar="HISTORY",
                         help="folder of the nights of one class of machines")
        return one
    one = add("add", "add the records of one night")
    one.add_argument("results", nargs="+", metavar="RESULTS", help="result files of gradcomp-bench, folders or "
                     f"patterns: at least {Rules.minimum} processes, one file with instruction counts, or both")
    add("check", "judge nights that have no verdict; the exit status is that of the newest night")
    accept = add("accept", "make the night of a commit the new baseline, after an intended change")
    accept.add_argument("commit", metavar="COMMIT", help="commit of a night in the history, at least 6 digits")
    accept.add_argument("--reason", required=True, help="reason that the page shows")
    drawn = add("page", "draw one HTML file that needs no network", several=True)
    drawn.add_argument("--output", required=True, metavar="FILE")
    _bisect(add)
    _night(add)
    for name in ("check", "page", "bisect", "night"):
        verbs.choices[name].add_argument("--repository", default=ROOT, metavar="FOLDER", help="git work tree that has the "
                                         "commits (default: %(default)s)")
    for name in ("bisect", "night"):
        verbs.choices[name].add_argument("--seed", type=int, default=Rules.seed, help="seed of the order of processes (default: "
                                         "%(default)s)")
    for name in ("add", "night"):
        verbs.choices[name].add_argument("--allow-dirty", action="store_true", help="accept records of uncommitted changes too")
    for name in ("page", "night"):
        verbs.choices[name].add_argument("--nights", type=int, default=60, metavar="N",
                                         help="draw the newest N nights (default: %(default)s)")
    return parser


def parse(words):
    """The options, checked. Throws ToolError; --help, and what argparse refuses, ends the program."""
    taken = iter(words)  # argparse takes the values of these options although they begin with dashes
    options = _parser().parse_args([f"{word}={next(taken, '')}" if word in ("--bench-args", "--count-args") else word
                                    for word in taken])
    known = vars(options)
    if known.get("processes", Rules.minimum) < Rules.minimum:
        raise ToolError(f"too few processes: --processes {options.processes}, at least {Rules.minimum} are needed")
    if known.get("nights", 1) < 1:
        raise ToolError(f"--nights {options.nights} is below 1")
    if known.get("seed", 0) < 0:
        raise ToolError(f"--seed {options.seed} is negative")
    if options.verb == "accept" and not options.reason.strip():
        raise ToolError("--reason is empty: it says on the page why the change was meant")
    if options.verb == "night":
        presets = ["openmp"] if options.no_counts else ["openmp", "serial-kk"]
        ours = [f"{shlex.quote(str(ROOT / 'run'))} build {preset} gradcomp-bench" for preset in presets]
        options.build = [command for command in options.build or ours if command]
    return options
