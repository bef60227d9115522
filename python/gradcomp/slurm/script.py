"""The job scripts: one for every shape of job (nodes x ranks) of a sweep, and one that gathers."""
import shlex

from . import SLURM
from .command import environment


def shape(point):
    """Points of one shape share a job array: an array has one number of nodes."""
    return point["nodes"], point["ranks_per_node"]


def ranges(indices):
    """Indices in the notation of --array: 0-3,7."""
    parts, indices = [], sorted(indices)
    while indices:
        end = 0
        while end + 1 < len(indices) and indices[end + 1] == indices[end] + 1:
            end += 1
        parts.append(f"{indices[0]}-{indices[end]}" if end else str(indices[0]))
        indices = indices[end + 1:]
    return ",".join(parts)


def site_options(system):
    """The options of sbatch on this site."""
    values = {"partition": system["PARTITION"], "account": system["ACCOUNT"], "qos": system["QOS"]}
    return [f"--{name}={value}" for name, value in values.items() if value] + shlex.split(system["SBATCH_EXTRA"])


def exports(system):
    """Lines that set the environment of the ranks whatever the submitting shell has set, so that results do not depend on it.
    SETUP comes later and can override them."""
    return ["unset OMP_PLACES", *(f"export {name}={value}" for name, value in environment(system).items())]


def _text(options, variables, system, lines):
    setup = [system["SETUP"].strip()] if system["SETUP"].strip() else []
    head = [f"#SBATCH {shlex.quote(option)}" for option in options]
    return "\n".join(["#!/bin/bash", "# Written by slurm/submit; changes here are lost.", *head, *variables, *setup,
                      *lines]) + "\n"


def _exec(system):
    """The words before a command of ours. The shell becomes this command, so that a warning reaches it."""
    return f"exec env GRADCOMP_PYTHON={shlex.quote(system['PYTHON'])}"


def _log(folder):
    """The folder of logs as sbatch reads it: % begins a pattern."""
    return str(folder.path / "jobs").replace("%", "%%")


def job(folder, nodes, ranks_per_node):
    """The script of one point. Its number is $1, or without $1 the array's task."""
    system = folder.system
    options = [f"--job-name=gradcomp-{folder.experiment}-n{nodes}", f"--nodes={nodes}",
               f"--ntasks-per-node={ranks_per_node}", f"--cpus-per-task={system['CPUS_PER_RANK']}",
               f"--time={folder.time}", "--requeue", "--open-mode=append", f"--output={_log(folder)}/%A_%a.log"]
    if system.number("GPUS_PER_NODE"):
        options.append(f"--gpus-per-node={system['GPUS_PER_NODE']}")
    if system.number("WARN_SECONDS"):
        options.append(f"--signal=B:USR1@{system['WARN_SECONDS']}")  # B: the signal goes to this script, which becomes run_point
    start = shlex.join([str(SLURM / "run_point"), str(folder.path)])
    last = f'{_exec(system)} {start} "${{1:-$SLURM_ARRAY_TASK_ID}}"'
    # A warning that comes before run_point handles it, for example at a preemption, would end the script and the job.
    return _text(options + site_options(system), ["trap '' USR1", *exports(system)], system, [last])


def gather(folder):
    """The script of the last job."""
    options = [f"--job-name=gradcomp-{folder.experiment}-gather", "--nodes=1", "--ntasks=1", "--time=00:30:00",
               "--open-mode=append", f"--output={_log(folder)}/gather_%j.log"]
    start = shlex.join([str(SLURM / "gather"), str(folder.path)])
    return _text(options + site_options(folder.system), [], folder.system, [f"{_exec(folder.system)} {start}"])
