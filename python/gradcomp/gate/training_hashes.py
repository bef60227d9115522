"""Trains every method of gradcomp-methods with each of its reducers, under every strategy whose result is the same in each
run, and writes a line for each case: the hash of the parameters, losses, and bytes sent and kept. Builds that compute the same
write equal files. Run it with ./run exec -- tools/training_hashes --build build/openmp before.txt"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from gradcomp.guarded import guarded
from gradcomp.json_files import read_json
from gradcomp.output.files import write_whole
from gradcomp.pages.ranks import TINY, memory

PROGRAM = "gradcomp-train"
# Several buckets; several evaluations, to see when losses begin to differ.
OPTIONS = ("--model", "resnet8", *TINY, "--steps", 20, "--block", 20, "--evaluate-every", 4, "--bucket-kib", 64, "--no-controls",
           "--timeout", 60)
# Where the defaults are not what is trained. Periods divide the steps between evaluations.
STRATEGIES = {"local": ("local:period=4", "local:period=4:inner=mean:outer_momentum=0.5"), "priority": ("priority:credit=1",),
              "servers": ("servers", "servers:servers=1", "servers:answers=coded")}
REDUCERS = {"hierarchical": "hierarchical:reducer.ranks_per_node=2"}
ENDED = (0, 1, 3)  # 1: also where replicas differ; 3: a method diverged; both write the file


def listed(program):
    """([method with a reducer], [strategy]), from gradcomp-methods beside the program."""
    lists = pathlib.Path(program).with_name("gradcomp-methods")
    methods, strategies = (subprocess.run([lists, f"--list={what}"], capture_output=True, text=True, check=True).stdout
                           for what in ("markdown", "strategies"))
    reducers = re.findall(r"^## (\w+)\n(?:(?!^## ).*\n)*?- Rounds: .*; reducers: ([\w, ]+) \(", methods, re.MULTILINE)
    names = re.findall(r"^\w+", strategies, re.MULTILINE)
    return ([f"{method}:reducer={REDUCERS.get(one, one)}" for method, several in reducers for one in several.split(", ")],
            [one for name in names for one in STRATEGIES.get(name, (name,))])


def figures(row):
    """What a run of a method must not change, in words."""
    losses = {"losses": row["curve"]["loss"], "validation": row["validation_loss"], "test": row["test_loss"]}
    ended = f"diverged at step {row['diverged_at_step']}" if "diverged_at_step" in row else f"hash={row['parameters_hash']}"
    return (f"{ended} {' '.join(f'{name}={json.dumps(value)}' for name, value in losses.items())} "
            f"wire_bytes={row['wire_bytes']:.0f} state_bytes={row['state_bytes']} replicas_equal={row['replica_hash_equal']}")


def train(program, ranks, strategy, methods, output):
    """{method: figures, or why the program refuses it}. A job with a refused method trains none, so its halves are tried."""
    output.unlink(missing_ok=True)
    words = [*memory(ranks), program, *OPTIONS, "--strategy", strategy, "--methods", ",".join(methods), "--output", output]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if done.returncode in ENDED and output.is_file():
        return {row["method"]: figures(row) for row in read_json(output)["benchmarks"]}
    if len(methods) > 1:
        half = len(methods) // 2
        return {method: said for some in (methods[:half], methods[half:])
                for method, said in train(program, ranks, strategy, some, output).items()}
    said = [line for line in done.stderr.splitlines() if line.startswith(f"{PROGRAM}: ")] or [f"status {done.returncode}"]
    return {methods[0]: f"refused: {said[0].removeprefix(f'{PROGRAM}: error: ')}"}


def main():
    parser = argparse.ArgumentParser(prog="training_hashes", description=__doc__)
    parser.add_argument("output", type=pathlib.Path, metavar="FILE", help="text file for the lines, which are sorted")
    parser.add_argument("--build", type=pathlib.Path, default="build/openmp", help="folder of the build (default: %(default)s)")
    parser.add_argument("--ranks", type=int, nargs="+", default=(1, 2, 4), help="numbers of ranks (default: 1 2 4)")
    parser.add_argument("--strategies", nargs="+", metavar="STRATEGY", help="instead of those of gradcomp-methods --list=strategies")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="instead of those of gradcomp-methods")
    options = parser.parse_args()
    return guarded("training_hashes", lambda: _work(options))


def _work(options):
    program, lines = options.build / "bin" / PROGRAM, []
    methods, strategies = listed(program)
    with tempfile.TemporaryDirectory() as folder:
        for ranks in options.ranks:
            for strategy in options.strategies or strategies:
                print(f"{ranks} ranks, {strategy}", file=sys.stderr, flush=True)
                found = train(program, ranks, strategy, options.methods or methods, pathlib.Path(folder) / "out.json")
                lines += [f"ranks={ranks} strategy={strategy} {method} {said}" for method, said in found.items()]
    write_whole(options.output, "".join(f"{line}\n" for line in sorted(lines)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
