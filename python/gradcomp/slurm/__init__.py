"""Sweeps of gradcomp's programs on a cluster: plan, jobs, records, report. The code needs only Python 3.11 or newer and its
standard library, so that compute nodes need nothing else."""
import pathlib

from gradcomp.places import ROOT

SLURM = ROOT / "slurm"


class Refused(Exception):
    """An error message of one line: what is wrong, where, and what is allowed."""


def find(text, folder, ending):
    """The path of a file of the user, or of one of ours by its name."""
    path = pathlib.Path(text)
    if path.suffix == ending:
        if not path.is_file():
            raise Refused(f"there is no file '{path}'")
        return path.resolve()
    ours = sorted(found.stem for found in (SLURM / folder).glob(f"*{ending}"))
    if text not in ours:
        raise Refused(f"there is no '{text}' in slurm/{folder}: allowed are {', '.join(ours)}, or a path that ends with "
                      f"{ending}")
    return SLURM / folder / f"{text}{ending}"
