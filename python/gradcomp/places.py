"""Where the package and its checkout are."""
import pathlib
import sys

PACKAGES = pathlib.Path(__file__).resolve().parents[1]  # the folder that holds the package
# Tools that read and write docs/, or start ./run, work on the checkout that contains the package. If the package is installed,
# they work on the checkout in which they are started.
ROOT = PACKAGES.parent if (PACKAGES.parent / "run").is_file() else pathlib.Path.cwd()


def words_of(module):
    """The command that starts a module of this package in a process of its own."""
    return ["env", f"PYTHONPATH={PACKAGES}", sys.executable, "-B", "-P", "-m", module]
