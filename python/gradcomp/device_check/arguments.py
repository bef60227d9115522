"""The options of device-check."""
import argparse
import dataclasses
import os
import pathlib
import shutil

from gradcomp.errors import ToolError
from gradcomp.places import ROOT

STEPS = ("build", "golden", "tests", "bench", "alternatives", "models", "training")
DEVICES = ("cuda", "hip")
MINUTES_ON_A_DEVICE = 25
DESCRIPTION = """Builds, tests and measures on this machine's device, and writes one page and one result file. If a step
fails, the others still run, and the failed step is named at the end."""
EPILOG = """exit status: 0: every step passed; 1: a step failed; 2: bad input; 130: interrupted, without a result file.
GRADCOMP_PRESET names the build; without it, the preset follows from the machine's Kokkos: cuda, hip or openmp."""


@dataclasses.dataclass
class Setting:
    """What all steps need."""

    preset: str
    build: pathlib.Path
    own_build: bool  # given by --build, so that nothing is built here
    output: pathlib.Path
    quick: bool
    skip: tuple
    ranks: int
    minutes: float | None
    python: str
    root: pathlib.Path = ROOT

    @property
    def parts(self):
        """The folder of logs and of the result files of single steps."""
        return self.output / "parts"

    @property
    def on_device(self):
        return self.preset in DEVICES

    def program(self, name):
        return str(self.build / "bin" / name)

    def run(self, *words):
        """The command line that runs a verb of ./run for this build."""
        return ["env", f"GRADCOMP_PRESET={self.preset}", str(self.root / "run"), *map(str, words)]


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors have one line."""

    def error(self, message):
        raise ToolError(message)


def _parser():
    parser = _Parser(prog="device-check", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("--output", type=pathlib.Path, default=ROOT / "results" / "device", metavar="FOLDER",
        help="where device.json, device.md and the parts go (default: %(default)s)")
    add("--quick", action="store_true", help="small sizes and few steps: a check that everything runs, not a measurement")
    add("--skip", default="", metavar="STEP,...", help=f"steps to leave out, of {', '.join(STEPS)}")
    add("--build", type=pathlib.Path, metavar="FOLDER", help="a finished build instead of build/PRESET")
    add("--ranks", type=int, metavar="N", help="number of ranks of the trainings (default: 1 on a GPU, 2 on a host)")
    add("--minutes", type=float, metavar="N", help="time limit for all steps after the tests; steps that are too late fail "
        f"(default: {MINUTES_ON_A_DEVICE} on a GPU, no limit on a host)")
    add("--python", default="python3", metavar="PROGRAM", help="the Python that has torch (default: %(default)s)")
    return parser


def parse(arguments, presets):
    """Parses the command line. Throws ToolError."""
    given = _parser().parse_args(arguments)
    preset = os.environ.get("GRADCOMP_PRESET", "openmp")
    skip = tuple(word for word in given.skip.split(",") if word)
    for word in skip:
        if word not in STEPS:
            raise ToolError(f"--skip {word}: no such step; there are {', '.join(STEPS)}")
    if set(skip) == set(STEPS):
        raise ToolError("--skip leaves out every step; at least one must remain")
    if preset not in presets:
        raise ToolError(f"GRADCOMP_PRESET={preset}: CMakePresets.json has no such preset")
    if given.ranks is not None and not 1 <= given.ranks <= 4096:
        raise ToolError(f"--ranks {given.ranks} is not between 1 and 4096")
    if given.minutes is not None and not given.minutes > 0:
        raise ToolError(f"--minutes {given.minutes:g} is not above 0")
    if given.build and not (given.build / "bin").is_dir():
        raise ToolError(f"--build '{given.build}': there is no folder bin in it")
    if not shutil.which(given.python):
        raise ToolError(f"--python '{given.python}': no such program")
    on_device = preset in DEVICES
    minutes = given.minutes or (MINUTES_ON_A_DEVICE if on_device else None)
    return Setting(preset, (given.build or ROOT / "build" / preset).absolute(), given.build is not None,
                   given.output.absolute(), given.quick, skip, given.ranks or (1 if on_device else 2), minutes,
                   given.python)
