"""Reads slurm/systems/NAME.env, the one file that a site edits."""
import dataclasses
import re
import shlex
import string

from gradcomp.errors import ToolError

PLACES = ("nodes", "ranks", "ranks_per_node", "cpus")  # names that LAUNCHER may hold in braces
DEFAULTS = {
    "SCHEDULER": "slurm", "PARTITION": "", "ACCOUNT": "", "QOS": "", "SBATCH_EXTRA": "", "MAX_NODES": "1024",
    "RANKS_PER_NODE": None, "CPUS_PER_RANK": "1", "THREADS_PER_RANK": "", "GPUS_PER_NODE": "0", "BINDING": "cores",
    "MAX_JOBS": "16", "WARN_SECONDS": "120", "SETUP": "", "PYTHON": "python3", "LAUNCHER": None, "FABRIC": "not named",
    "REFRAME_SCHEDULER": "slurm"}
NUMBERS = {"MAX_NODES": 1, "RANKS_PER_NODE": 1, "CPUS_PER_RANK": 1, "THREADS_PER_RANK": 1, "GPUS_PER_NODE": 0, "MAX_JOBS": 1,
           "WARN_SECONDS": 0}
CHOICES = {"SCHEDULER": ("slurm", "none"), "BINDING": ("cores", "none"),
           "REFRAME_SCHEDULER": ("slurm", "squeue")}


@dataclasses.dataclass(frozen=True)
class System:
    """The values of a site's file. `values` has every name of DEFAULTS."""

    name: str
    values: dict

    def __getitem__(self, name):
        return self.values[name]

    def number(self, name):
        """The value of a variable as a number."""
        return int(self.values[name])

    @property
    def scheduled(self):
        """Whether Slurm runs the points. Otherwise the calling shell runs them one after the other."""
        return self["SCHEDULER"] == "slurm"

    @property
    def threads(self):
        """OpenMP threads of a rank. By default one CPU remains for its communication thread."""
        return int(self["THREADS_PER_RANK"] or max(1, self.number("CPUS_PER_RANK") - 1))

    def launcher(self, point):
        """The shell words that start the ranks of a point; the program comes after them."""
        ranks_per_node = point["ranks_per_node"]
        return self["LAUNCHER"].format(nodes=point["nodes"], ranks=point["nodes"] * ranks_per_node,
                                       ranks_per_node=ranks_per_node, cpus=self["CPUS_PER_RANK"])


def _assignments(path):
    """[(name, value)] of NAME=VALUE lines, with the quoting of the shell but without its expansions."""
    try:
        words = shlex.split(path.read_text(encoding="utf-8"), comments=True)
    except OSError as error:
        raise ToolError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise ToolError(f"{path}: not lines of NAME=VALUE: {error}") from error
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not re.fullmatch(r"[A-Z_]+", name):
            raise ToolError(f"{path}: '{word}' is not NAME=VALUE (values with spaces need quotes)")
        yield name, value


def _check(path, name, value):
    if name in NUMBERS and not (value == "" and DEFAULTS[name] == "") and (
            not re.fullmatch(r"\d{1,9}", value) or int(value) < NUMBERS[name]):
        raise ToolError(f"{path}: {name}='{value}': allowed are whole numbers from {NUMBERS[name]}")
    if name in CHOICES and value not in CHOICES[name]:
        raise ToolError(f"{path}: {name}='{value}': allowed are {', '.join(CHOICES[name])}")
    if name == "LAUNCHER":
        try:
            places = {place for _, place, _, _ in string.Formatter().parse(value) if place is not None}
        except ValueError as error:
            raise ToolError(f"{path}: LAUNCHER: {error} (a brace of the shell is written twice)") from error
        if places - set(PLACES):
            raise ToolError(f"{path}: LAUNCHER names {{{min(places - set(PLACES))}}}: allowed are "
                          f"{', '.join(f'{{{place}}}' for place in PLACES)} (a brace of the shell is written twice)")


def known_system(path, name, values):
    """The system of values that were read from a file, each of which is checked."""
    for variable, value in values.items():
        if variable not in DEFAULTS:
            raise ToolError(f"{path}: unknown variable {variable}: allowed are {', '.join(DEFAULTS)}")
        _check(path, variable, value)
    values = DEFAULTS | values
    lacking = [variable for variable, value in values.items() if value is None]
    if lacking:
        raise ToolError(f"{path}: {lacking[0]} is not set: every system needs it")
    return System(name, values)


def read_system(path):
    """Reads the system of a file and checks every value."""
    return known_system(path, path.stem, dict(_assignments(path)))
