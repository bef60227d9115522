"""The output of submit --dry-run: everything that would be written or called."""
import shlex

from . import queue, script
from .command import commands


def text(folder):
    """Points, scripts and calls. Slurm is not asked, so the queue and job numbers are missing."""
    unfinished = folder.unfinished()
    lines = [f"{folder.title}: {len(folder.points)} points on {folder.system.name}, {len(unfinished)} to run, "
             f"in {folder.path}", ""]
    for index, point in enumerate(folder.points):
        command = " && ".join(f"{folder.system.launcher(point)} {shlex.join(words)}"
                              for words in commands(point, folder.point_folder(point)))
        lines.append(f"point {index} {point['id']}: {'to run' if index in unfinished else 'finished'}: {command}")
    for name, content, members in queue.arrays(folder, unfinished):
        path = folder.path / "jobs" / name
        calls = ([shlex.join(queue.array_words(folder, path, members))] if folder.system.scheduled
                 else [f"bash {shlex.quote(str(path))} {index}" for index in members])
        lines += ["", f"# {path}", content, *calls]
    if folder.system.scheduled:
        lines += ["", f"# {folder.path}/jobs/gather.sbatch", script.gather(folder),
                  shlex.join(queue.gather_words(folder, ["JOBS"]))]
    return "\n".join(lines)
