"""Where the package and its checkout are."""
import pathlib
import sys

PACKAGES = pathlib.Path(__file__).resolve().parents[1]  # the folder that holds the package
# What reads and writes docs/, or starts ./run, works on the checkout that the package lies in. Where it was installed, that
# is the checkout in which it is started.
ROOT = PACKAGES.parent if (PACKAGES.parent / "run").is_file() else pathlib.Path.cwd()


def words_of(module):
    """The words that start a module of this package in a process of its own."""
    return ["env", f"PYTHONPATH={PACKAGES}", sys.executable, "-B", "-P", "-m", module]
