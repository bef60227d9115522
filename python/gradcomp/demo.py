"""The demo: trains a convolutional network on letters of fonts and an LSTM on a real text with two ranks, over the real link and
over a slow emulated link; times the reduction alone; writes tables, curves and an HTML report. It runs inside the toolchain,
with the programs on PATH; `./run demo` prepares this and calls the demo."""
import argparse
import dataclasses
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

from gradcomp.errors import ToolError, complete
from gradcomp.guarded import guarded
from gradcomp.places import ROOT, words_of

SLOW_LINK = "100Mbit/s,50us"
RANKS = 2
OUTPUTS = ("train.json", "train_100mbit.json", "allreduce.json", "allreduce_100mbit.json", "train_text.json",
           "train_text_100mbit.json")
IMAGE_OPTIONS = ("--model", "resnet8", "--batch", "16")
# Recurrent networks need large rates and clipping. After so few steps the methods differ by some per cent.
TEXT_OPTIONS = ("--model", "lstm_1x128", "--batch", "16", "--lr", "2.4", "--momentum", "0.9", "--weight-decay", "0",
                "--clip", "1")
TEXT_TOLERANCE = ("--quality-tolerance", "0.05")


@dataclasses.dataclass
class Size:
    """The size of the demo. `full` takes about 5 minutes on two cores, `small` about one."""

    methods: str
    steps: int
    slow_steps: int
    sizes: str
    slow_sizes: str
    repetitions: int
    text_methods: str
    text_steps: int
    slow_text_steps: int
    tune: bool = False  # time the controls' bucket sizes: without them there is no speed-up over the best dense control


FULL = Size(
    methods="fp32,fp16,bf16,no_exchange,top_k:ratio=0.01,random_k:ratio=0.01,sidco:ratio=0.01,qsgd:bits=4,powersgd:rank=2",
    steps=300, slow_steps=120, sizes="1024,16384,262144,1048576,4194304", slow_sizes="1024,16384,262144,1048576",
    repetitions=9, text_methods="fp32,fp16,bf16,no_exchange,top_k:ratio=0.01,qsgd:bits=4,powersgd:rank=4", text_steps=120,
    slow_text_steps=200, tune=True)
SMALL = Size(methods="fp32,fp16,no_exchange,top_k:ratio=0.01,powersgd:rank=2", steps=24, slow_steps=12,
             sizes="1024,65536,1048576", slow_sizes="1024,65536,262144", repetitions=3,
             text_methods="fp32,no_exchange,top_k:ratio=0.01,powersgd:rank=4", text_steps=20, slow_text_steps=6)


def rates_of(output):
    """The file of bucket sizes for a training with this result file."""
    return output.with_suffix(".rates")


def environment():
    """The environment of the programs. Ranks x threads fit the cores: with too many spinning threads all is 20 times slower.
    Settings of the caller are kept."""
    cores = len(os.sched_getaffinity(0))
    values = dict(os.environ)
    defaults = {
        "OMP_NUM_THREADS": str(max(1, cores // RANKS)), "OMP_PROC_BIND": "false",
        # More ranks than cores are allowed, and no rank is bound to a core: all of its threads would run there.
        "PRTE_MCA_rmaps_default_mapping_policy": ":OVERSUBSCRIBE", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_hwloc_default_binding_policy": "none", "OMPI_MCA_hwloc_base_binding_policy": "none",
    }
    if os.environ.get("GRADCOMP_TOOLCHAIN_ACTIVE", "debian") == "debian":  # a cluster's MPI knows its own network
        defaults |= {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm"}
    if cores < RANKS * (1 + max(1, cores // RANKS)):  # threads that wait in MPI yield the core to those that compute
        defaults["OMPI_MCA_mpi_yield_when_idle"] = "1"
    if os.geteuid() == 0:  # containers and bare machines; Open MPI asks for both
        defaults |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for name, value in defaults.items():
        values.setdefault(name, value)
    return values


def jobs(size, folder, data, text, only_reduction):
    """(title, command) of every part, in order; `text` may be None."""
    def mpi(program, *arguments):
        return ["mpirun", "-n", str(RANKS), program, *arguments]

    def train(title, steps, evaluations, tolerance, name, *shared):
        rates = ("--rates", str(rates_of(folder / name)))
        timed = [(f"{title}: dense bucket sizes", mpi("gradcomp-tune", "--buckets-only", *shared, *rates))]
        return [*(timed if size.tune else []),
                (title, mpi("gradcomp-train", *shared, "--steps", str(steps), "--evaluate-every", str(max(1, steps // evaluations)),
                            *tolerance, *(rates if size.tune else ()), "--output", str(folder / name)))]

    def images(title, steps, name, *more):
        return train(title, steps, 10, (), name, "--data", f"gcds:{data}", "--methods", size.methods, *IMAGE_OPTIONS, *more)

    def texts(title, steps, name, *more):  # an evaluation takes as long as about 25 steps
        return train(title, steps, 4 if steps >= 100 else 2, TEXT_TOLERANCE, name, "--data", f"kjv:{text}", "--methods",
                     size.text_methods, *TEXT_OPTIONS, *more)

    def reduce(sizes, name, *more):
        return mpi("gradcomp-allreduce", "--sizes", sizes, "--methods", size.methods, "--repetitions",
                   str(size.repetitions), *more, "--output", str(folder / name))

    slow = ("--link", SLOW_LINK)
    trainings = [*images("ResNet-8 on letters of fonts, real link", size.steps, OUTPUTS[0]),
                 *images(f"The same over an emulated link of {SLOW_LINK}", size.slow_steps, OUTPUTS[1], *slow)]
    if text:
        trainings += [*texts("An LSTM on the King James Bible, real link", size.text_steps, OUTPUTS[4]),
                      *texts(f"The same over an emulated link of {SLOW_LINK}", size.slow_text_steps, OUTPUTS[5], *slow)]
    reductions = [
        ("The reduction alone, real link", reduce(size.sizes, OUTPUTS[2])),
        (f"The reduction alone, emulated link of {SLOW_LINK}", reduce(size.slow_sizes, OUTPUTS[3], *slow))]
    report = [*words_of("gradcomp.report"), str(folder), "--markdown", str(folder / "report.md"),
              "--title", "gradcomp demo"]
    return ([] if only_reduction else trainings) + reductions + [("Report", report)]


def run_all(parts, environ):
    """Runs the parts. If one fails, the demo ends."""
    started = time.monotonic()
    for number, (title, command) in enumerate(parts, 1):
        elapsed = int(time.monotonic() - started)
        print(f"\n[{number}/{len(parts)}] {title}  ({elapsed // 60}:{elapsed % 60:02d})", flush=True)
        try:
            status = subprocess.run(command, env=environ, check=False).returncode
        except OSError as error:
            raise ToolError(f"cannot start {command[0]}: {error.strerror}") from error
        if not complete(command, status):
            raise ToolError(f"part {number} ended with status {status}: {shlex.join(command)}")
    return time.monotonic() - started


def main():
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--small", action="store_true", help="a quick check of every part; too short to draw conclusions")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "results" / "demo", help="folder for the results")
    parser.add_argument("--data", type=pathlib.Path, help="images of tools/datasets letters (default: FOLDER/letters.gcds)")
    parser.add_argument("--text", type=pathlib.Path, help="text file of tools/datasets kjv (default: no text)")
    parser.add_argument("--only-reduction", action="store_true", help="omit the trainings")
    options = parser.parse_args()
    return guarded("demo", lambda: _demo(options))


def _demo(options):
    folder = options.folder
    data, text = options.data or folder / "letters.gcds", options.text
    for program in ("mpirun", "gradcomp-tune", "gradcomp-train", "gradcomp-allreduce"):
        if not shutil.which(program):
            raise ToolError(f"{program} is not on PATH; start the demo with ./run demo")
    folder.mkdir(parents=True, exist_ok=True)
    for name in OUTPUTS:  # the report must not mix this demo with an older one
        for path in (folder / name, rates_of(folder / name)):
            path.unlink(missing_ok=True)
    if not options.only_reduction and not data.is_file():
        raise ToolError(f"there is no '{data}'; make it with tools/datasets letters, or start with ./run demo")
    if text and not options.only_reduction and not text.is_file():
        raise ToolError(f"there is no '{text}'; make it with tools/datasets kjv")
    seconds = run_all(jobs(SMALL if options.small else FULL, folder, data, text, options.only_reduction), environment())
    print(f"\nDone in {seconds:.0f} s. Open {folder / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
