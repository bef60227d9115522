"""Sweeps of gradcomp's programs on a cluster: plan, jobs, records, report. Python's standard library only, 3.11 or newer:
compute nodes need nothing else."""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLURM = ROOT / "slurm"


class Refused(Exception):
    """One line for the user: what is wrong, where, and what is allowed."""
