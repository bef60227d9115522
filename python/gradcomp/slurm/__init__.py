"""Sweeps of gradcomp's programs on a cluster: plan, jobs, records, report. The code needs only Python 3.11 or newer and its
standard library, so that compute nodes need nothing else."""
import pathlib

from gradcomp.errors import ToolError
from gradcomp.places import ROOT

SLURM = ROOT / "slurm"



def find(text, folder, ending):
    """The path of a file of the user, or of one of ours by its name."""
    path = pathlib.Path(text)
    if path.suffix == ending:
        if not path.is_file():
            raise ToolError(f"there is no file '{path}'")
        return path.resolve()
    ours = sorted(found.stem for found in (SLURM / folder).glob(f"*{ending}"))
    if text not in ours:
        raise ToolError(f"there is no '{text}' in slurm/{folder}: allowed are {', '.join(ours)}, or a path that ends with "
                      f"{ending}")
    return SLURM / folder / f"{text}{ending}"
