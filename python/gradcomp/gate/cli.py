"""The command line of gradcomp-compare."""
import contextlib
import pathlib
import re
import shutil
import sys
import tempfile

from gradcomp.guarded import guarded
from gradcomp.output import files

from . import arguments, baselines, comparable, decide, interleave, output, records, samples


def _arms(options, folder):
    """(baseline, new), each checked alone and both together, and the keys that differ although they may."""
    chosen, allowed = re.compile(options.filter), options.allow.split(",")

    def check(baseline, new):
        return comparable.check(baseline, new, allowed)
    if options.interleave:
        programs = dict(zip("AB", map(interleave.find_program, options.arms), strict=True))
        words = interleave.bench_arguments(options.bench_args)

        def run(program, name):
            return interleave.run_process(program, words, folder / name, chosen)
        arms = interleave.run_arms(programs, options.processes or decide.Rules.minimum, run, options.seed, check)
    else:
        arms = tuple(samples.read_arm(*pair, chosen) for pair in zip(("BASELINE", "NEW"), options.arms, strict=True))
    for arm in arms:
        comparable.check_arm(arm, decide.Rules.minimum)
    return *arms, check(*arms)


def _compare(options, folder):
    """Decides and returns the outcome of the two arms."""
    rules = decide.Rules(detect=options.detect / 100, seed=options.seed)
    baseline, new, differing = _arms(options, folder)
    notes = [f"Differs, and may: {words}" for words in differing]
    added = [name for name in new.cases if name not in baseline.cases]
    if added:
        notes.append(f"Not in {baseline.name}, not compared: {', '.join(added)}")
    apart = not options.interleave and comparable.dates_differ(baseline, new)
    normalised = options.normalise == "always" or (options.normalise == "auto" and apart)
    if apart and not normalised:
        notes.append("The arms were not measured in turn on one day, and their times are not normalised.")
    return decide.compare(baseline, new, normalised, rules, list(baseline.cases), notes)


def _gate(options):
    if options.refresh:
        program, words = interleave.find_program(options.arms[0]), interleave.bench_arguments(options.bench_args)
        baselines.refresh(options.refresh, program, options.processes or 20, words, decide.Rules.minimum)
        print(options.refresh)
        return 0
    with contextlib.ExitStack() as stack:
        beside = pathlib.Path(options.keep).resolve() if options.keep else None
        folder = pathlib.Path(tempfile.mkdtemp(prefix=".gradcomp-compare.", dir=beside and beside.parent))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        outcome = _compare(options, folder)
        texts = {options.json: records.document, options.markdown: output.markdown, options.junit: records.junit}
        files.write_all({path: text(outcome) for path, text in texts.items() if path})
        if beside:
            folder.chmod(0o755)
            folder.rename(beside)
    print(output.table(outcome))
    return outcome.status


def main():
    """Returns the exit status; bad input is one line on stderr."""
    return guarded("gradcomp-compare", lambda: _gate(arguments.parse(sys.argv[1:])))
