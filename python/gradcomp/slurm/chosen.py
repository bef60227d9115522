"""The system that ReFrame checks: GRADCOMP_SYSTEM names it as the first argument of slurm/submit does."""
import functools
import os

from . import find, references
from .system import read_system


@functools.cache
def path():
    """The file of the system."""
    return find(os.environ.get("GRADCOMP_SYSTEM", "local"), "systems", ".env")


@functools.cache
def system():
    """The values of the system."""
    return read_system(path())


@functools.cache
def expected():
    """(numbers of nodes, references) of the system."""
    return references.read_references(references.path_of(path()), system())
