"""Asks Slurm which points of a sweep are queued, and submits job arrays for the others."""
import json
import re
import shlex
import subprocess

from gradcomp.errors import ToolError, taking
from gradcomp.json_files import read_json
from gradcomp.output.files import write_whole

from . import script
from .folder import add_line, read_lines


def _slurm(*words):
    """The output of a Slurm command."""
    try:
        done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise ToolError(f"cannot start {words[0]}: {error.strerror} (is Slurm's client on PATH? SCHEDULER=none needs "
                      "none)") from error
    if done.returncode:
        raise ToolError(f"status {done.returncode} of {shlex.join(words)}: {' '.join(done.stderr.split())}")
    return done.stdout.strip()


def _number(said):
    """The number of a job in what `sbatch --parsable` printed, which a banner of the site may surround."""
    numbers = re.findall(r"^(\d+)(?:;\S+)?$", said, re.M)
    if not numbers:
        raise ToolError(f"sbatch took a job but told no number: '{' '.join(said.split())[:200]}'; cancel it (squeue --me shows it) "
                        "before you submit again")
    return numbers[-1]


def _list(folder):
    """The file that lists what was submitted."""
    return folder.path / "jobs" / "submitted.jsonl"


def _submitted(folder):
    """The job numbers of all arrays that were submitted for this folder."""
    return {line["job"] for line in read_lines(_list(folder)) if isinstance(line, dict) and isinstance(line.get("job"), str)}


def queued(folder):
    """{point index: job} of the points that wait or run. Jobs that are completing (CG) have ended."""
    known = _submitted(folder)
    if not known:
        return {}
    found = {}
    for line in _slurm("squeue", "--me", "--noheader", "--array", "--format=%F %K %t").splitlines():
        words = line.split()  # other lines name clusters
        if len(words) == 3 and words[0] in known and words[2] != "CG" and words[1].isdecimal():
            found[int(words[1])] = words[0]
    return found


def arrays(folder, indices):
    """[(name of the script, text, indices)]: points of one shape share an array."""
    shapes = {}
    for index in indices:
        shapes.setdefault(script.shape(folder.points[index]), []).append(index)
    return [(f"n{nodes}x{ranks}.sbatch", script.job(folder, nodes, ranks), members)
            for (nodes, ranks), members in shapes.items()]


def array_words(folder, path, members):
    """The command that submits an array."""
    return ["sbatch", "--parsable", f"--array={script.ranges(members)}%{folder.system['MAX_JOBS']}", str(path)]


def gather_words(folder, jobs):
    """The command that submits the last job, which runs however the others end."""
    after = [f"--dependency=afterany:{':'.join(jobs)}"] if jobs else []
    return ["sbatch", "--parsable", *after, str(folder.path / "jobs" / "gather.sbatch")]


def _last_job(folder):
    """The file that keeps the number of the last job."""
    return folder.path / "jobs" / "gather.json"


def _earlier(folder):
    """The number of the last job of an earlier submission, or None."""
    path = _last_job(folder)
    if not path.is_file():
        return None
    kept = read_json(path)
    with taking(f"'{path}' does not tell a job; remove it and cancel the job that gathers"):
        return str(int(kept["job"]))


def _submit_gather(folder, jobs, earlier):
    """Submits the job that gathers after `jobs`. The `earlier` one is cancelled if it waits."""
    if earlier:
        subprocess.run(["scancel", "--state=PENDING", earlier], capture_output=True, check=False)
    write_whole(folder.path / "jobs" / "gather.sbatch", script.gather(folder))
    last = _number(_slurm(*gather_words(folder, jobs)))
    write_whole(_last_job(folder), json.dumps({"job": last}) + "\n")
    return last


def submit(folder):
    """Submits the points that are neither finished nor queued, and the last job. Returns 0."""
    waiting, earlier = queued(folder), _earlier(folder)
    todo = [index for index in folder.unfinished() if index not in waiting]
    jobs = sorted(set(waiting.values()))
    for name, text, members in arrays(folder, todo):
        path = folder.path / "jobs" / name
        write_whole(path, text)
        job = _number(_slurm(*array_words(folder, path, members)))
        add_line(_list(folder), {"job": job, "points": members})
        jobs.append(job)
        print(f"job array {job}: {len(members)} points, {name}")
    last = _submit_gather(folder, jobs, earlier)
    finished = len(folder.points) - len(folder.unfinished())
    print(f"{finished} points are finished, {len(waiting)} were queued before")
    print(f"job {last} gathers when all others have ended: {folder.path}/report")
    return 0
