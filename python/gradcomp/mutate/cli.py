"""The command line of gradcomp-mutate."""
import argparse
import dataclasses
import pathlib

from gradcomp.guarded import guarded
from gradcomp.history.repository import git
from gradcomp.places import ROOT

from . import folders, mutants, tree, trial
from .record import Record

DESCRIPTION = """Changes one line in the sources of a folder, builds the result in a copy of the work tree (build/mutation), and runs
the tests that cover the folder; then does the same with another line. A change that the tests do not notice has survived. Writes
the score and the survivors to results/mutation/NAME.json and NAME.md. After an interrupt, the same call continues from
NAME.part.json."""
EPILOG = """exit status: 0: done, even if changes survived; 2: bad input, or the tests fail without a change; 130: interrupted.
docs/testing.md says what survived and why."""


def _count(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a count; allowed: 1, 2, ...")
    return int(text)


def _parse():
    parser = argparse.ArgumentParser(prog="gradcomp-mutate", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("folder", nargs="*", metavar="FOLDER", help="name or path of a folder (default: all folders of --list)")
    parser.add_argument("--list", action="store_true", help="list the folders, and how many mutants each has")
    parser.add_argument("--sample", type=_count, metavar="N", help="stop after N mutants that build and differ (default: all)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of the order of mutants (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="run only the first tests of a folder, which gives a lower bound of "
                        "its score; a later call without --quick runs all tests on the survivors")
    parser.add_argument("--survivors", action="store_true",
                        help="after you have added tests: try only the survivors of the last run again, keep its other outcomes")
    parser.add_argument("--time-factor", type=float, default=5, metavar="F",
                        help="a mutant is killed if its tests take F times as long as without it, plus a minute "
                        "(default: %(default)s)")
    parser.add_argument("--project", type=pathlib.Path, default=ROOT, metavar="FOLDER", help=argparse.SUPPRESS)
    parser.add_argument("--table", type=pathlib.Path, default=folders.TABLE, metavar="FILE", help=argparse.SUPPRESS)
    return parser.parse_args()


def _say(text):
    print(text, flush=True)


def _mutate(options, folder):
    """Tests all mutants of one folder."""
    project, results = options.project.resolve(), options.project / "results/mutation"
    results.mkdir(parents=True, exist_ok=True)
    stages = folder.stages[:1] if options.quick else folder.stages
    setting = {"path": folder.path, "seed": options.seed, "tests": [stage.run for stage in stages],
               "commit": git(project, "describe", "--always", "--dirty", "--abbrev=12").strip(),
               "sources": tree.digest(project, folder.path + "/"), "files": tree.digest(project)}
    record = Record(results, folder.name, setting)
    if options.survivors:
        record.keep_all_but_survivors()
    with tree.copied(project) as copy:
        everything = mutants.of_folder(copy, folder)
        waiting = [one for one in mutants.ordered(everything, options.seed) if one not in record.outcomes]
        bench = trial.prepare(copy, dataclasses.replace(folder, stages=stages), options.time_factor, _say)
        while waiting and (options.sample is None or record.counted() < options.sample):
            mutant = waiting.pop(0)
            outcome = trial.judge(bench, mutant)
            record.add(mutant, outcome)
            _say(f"{mutant.file}:{mutant.line}: {outcome[0]}" + (f" by {outcome[1]}" if outcome[0] == trial.KILLED else ""))
    _say(f"{folder.path}: {record.finish(not waiting)}")


def _work():
    options = _parse()
    known = folders.read(options.table)
    chosen = [folders.find(known, wish) for wish in options.folder] or list(known.values())
    for folder in chosen:
        if options.list:
            _say(f"{folder.path}: {len(mutants.of_folder(options.project, folder))} mutants")
        else:
            _mutate(options, folder)
    return 0


def main():
    """Returns the exit status; bad input is one line on stderr."""
    return guarded("gradcomp-mutate", _work)
