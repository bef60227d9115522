"""The command lines of slurm/submit, slurm/gather and slurm/run_point."""
import argparse
import pathlib

from gradcomp.errors import ToolError
from gradcomp.guarded import guarded

from . import ROOT, attempt, dry_run, find, gather, here, queue
from .experiment import read_experiment
from .folder import Folder, Lock, read_folder
from .system import read_system


def submit_main(arguments=None):
    """Returns the exit status: 0; 1 when points are missing (without a scheduler only); 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="submit", description="Runs a sweep: one job for each point, and a last job that writes the report. The same "
        "command continues a sweep: it skips finished points, leaves queued points alone, and runs all others.")
    parser.add_argument("system", metavar="SYSTEM", help="a name in slurm/systems, or the path of an .env file")
    parser.add_argument("experiment", metavar="EXPERIMENT", help="a name in slurm/experiments, or the path of a .toml file")
    parser.add_argument("--dry-run", action="store_true", help="print the points, the scripts and the calls; write nothing")
    parser.add_argument("--output", type=pathlib.Path, metavar="DIR", help="folder of the sweep, on a file system that all "
                        "nodes see (default: results/slurm/SYSTEM-EXPERIMENT)")
    options = parser.parse_args(arguments)

    def work():
        system = read_system(find(options.system, "systems", ".env"))
        path = find(options.experiment, "experiments", ".toml")
        content = read_experiment(path, system)
        output = (options.output or ROOT / "results" / "slurm" / f"{system.name}-{path.stem}").resolve()
        folder = Folder(output, content["title"], content["time"], path.stem, system, content["points"])
        if options.dry_run:
            print(dry_run.text(folder))
            return 0
        folder.keep_plan()
        lock = Lock(output / "submit.lock")
        if lock.taken:
            raise ToolError(f"another submit of '{output}' is running")
        return queue.submit(folder) if system.scheduled else here.run(folder)

    return guarded("submit", work)


def gather_main(arguments=None):
    """Returns the exit status: 0 when all points are there, 1 when some are missing, 2 when the report cannot be written."""
    parser = argparse.ArgumentParser(prog="gather", description="Writes FOLDER/report from the records of a sweep. If points are "
                                     "missing, it names them, reports the others and ends with exit status 1.")
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="folder that submit made")
    options = parser.parse_args(arguments)
    return guarded("gather", lambda: gather.gather(read_folder(options.folder.resolve())))


def run_point_main(arguments=None):
    """Returns the exit status of the point."""
    parser = argparse.ArgumentParser(prog="run_point", description="Runs one point of a sweep inside its job.")
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("index", type=int, metavar="INDEX", help="number of the point in FOLDER/plan.json")
    options = parser.parse_args(arguments)
    return guarded("run_point", lambda: attempt.run_point(read_folder(options.folder.resolve()), options.index))
