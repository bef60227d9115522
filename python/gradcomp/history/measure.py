"""gradcomp-history night: builds, measures, adds, judges and draws, which is all that a runner does in one night."""
import pathlib
import shutil
import sys
import tempfile

from gradcomp.errors import ToolError
from gradcomp.gate import comparable, counting, interleave
from gradcomp.gate.samples import PROGRAM

from . import add, check
from .building import Unbuildable, build

# HISTORY/programs/COMMIT/gradcomp-bench: the program of the last good night, which is measured in turn with the next one, and
# that of the newest night, which may be accepted.
KEPT = "programs"
METHODS = "top_k:ratio=0.01,sidco:ratio=0.01,qsgd:bits=4,ef_sign,powersgd:rank=4"  # the methods of slurm/experiments/nightly.toml
TIMED = f"--sizes 1048576 --samples 40 --filter ^(compress|decompress)/ --methods {METHODS}"
COUNTED = "--sizes 16384 --samples 1 --filter ^(compress|decompress)/"  # as tools/check_deterministic does, every method


def _say(line):
    print(f"gradcomp-history: {line}", file=sys.stderr, flush=True)


def _kept(history, good):
    """The program of the last good night if it was kept and still starts, or None."""
    program = pathlib.Path(history) / KEPT / good.commit / PROGRAM if good else None
    if not program or not program.exists():
        return None
    try:
        counting.run([program, "--version"])
    except ToolError as error:
        _say(f"the program of the last good night does not start any more and is left out: {error}")
        return None
    return program


def _keep(history, program, commits):
    """Keeps the program of commits[0] (tonight) and that of commits[1] (the last good night); removes older ones."""
    folder = pathlib.Path(history) / KEPT
    folder.mkdir(exist_ok=True)
    new = pathlib.Path(tempfile.mkdtemp(prefix=".new.", dir=folder))
    try:
        shutil.copy2(program, new / PROGRAM)
        new.chmod(0o755)
        shutil.rmtree(folder / commits[0], ignore_errors=True)
        new.rename(folder / commits[0])
    finally:
        shutil.rmtree(new, ignore_errors=True)
    for path in folder.iterdir():
        if path.name not in commits:
            shutil.rmtree(path, ignore_errors=True)


def _measure_times(options, program, kept, folder):
    """Measures `--processes` processes of the new program. If the last good program was kept, twice as many of it run in
    turn."""
    words = interleave.bench_arguments(options.bench_args)

    def run(chosen, name):
        return interleave.run_process(chosen, words, folder / name)
    if kept:
        interleave.run_arms({"A": kept, "B": program}, options.processes, run, options.seed, comparable.check)
        return
    for number in range(1, options.processes + 1):
        _say(f"process {number} of {options.processes}")
        run(program, f"{number:03d}.json")


def night(options):
    """Measures one night and adds it. Throws ToolError."""
    good = check.last_good(options.history)
    with tempfile.TemporaryDirectory(prefix="gradcomp-history.") as name:
        folder = pathlib.Path(name)
        for command in options.build:
            _say(command)
            try:
                build(command, ".", folder / "build.log")
            except Unbuildable as error:
                raise ToolError(f"'{command}' failed: {error}") from error
        program = interleave.find_program(options.timed)
        if not options.no_counts:
            _say("counting instructions (callgrind, one thread)")
            counting.count(interleave.find_program(options.counted), interleave.bench_arguments(options.count_args),
                           folder / "counts.json")
        kept = _kept(options.history, good)
        try:
            _measure_times(options, program, kept, folder)
        except ToolError as error:
            if not kept or "not comparable" not in str(error):
                raise
            _say(f"{error}; the new program is measured alone")
            for path in folder.glob("*_*.json"):
                path.unlink()
            _measure_times(options, program, None, folder)
        added, _ = add.add(options.history, [folder], options.allow_dirty, good and good.commit)
    _keep(options.history, program, (added.commit, check.last_good(options.history).commit))
