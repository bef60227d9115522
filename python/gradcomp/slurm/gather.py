"""The end of a sweep: writes the report of all records and names the missing points."""
import os
import shlex
import shutil
import subprocess
import sys

from gradcomp.errors import MISFITS, ToolError
from gradcomp.json_files import read_json
from gradcomp.output.files import write_whole
from gradcomp.places import words_of
from gradcomp.results.judge import judged

from . import tables
from .folder import Lock, read_lines


def why_missing(folder, point):
    """Why a point is missing, in words, from the files of its attempts."""
    own = folder.point_folder(point)
    if (own / "failed.txt").is_file():
        return "failed: " + (own / "failed.txt").read_text(encoding="utf-8", errors="replace").strip()
    events = [line["event"] for line in read_lines(own / "history.jsonl")
              if isinstance(line, dict) and isinstance(line.get("event"), str)]
    if not events:
        return "never started"
    return {"requeued": "waits to go on from its checkpoint", "interrupted": "interrupted, its checkpoint is kept",
            "finished": "its record was removed"}.get(events[-1], "started, but its job was killed or still runs")


def read_records(folder):
    """({index: record}, {index: why it is missing}). A damaged record counts as missing."""
    found, missing = {}, {}
    for index, point in enumerate(folder.points):
        if not folder.record(point).is_file():
            missing[index] = why_missing(folder, point)
            continue
        try:
            document = read_json(folder.record(point))
            found[index] = document | {"benchmarks": judged(document)}
            tables.check(folder, index, found[index])
        except (ToolError, *MISFITS) as error:
            found.pop(index, None)
            missing[index] = f"its record is damaged ({error!r}): remove it to run the point again"
    return found, missing


def _report(folder, work):
    """Calls the report tool on the records in `work`. GRADCOMP_REPORT names another tool, such as an installed one."""
    tool = shlex.split(os.environ.get("GRADCOMP_REPORT", "")) or words_of("gradcomp.report")
    words = [*tool, str(work / "records"), "--output", str(work / "report.html"),
             "--markdown", str(work / "report.md"), "--title",
             f"{folder.title} ({folder.system.name}: {folder.system['FABRIC']})"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | {"MPLBACKEND": "Agg"})
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise ToolError(f"the report tool ended with status {done.returncode}: {lines[-1]}")


def _write(folder, found, missing, work):
    """Writes all files of the report to the folder `work`."""
    try:
        (work / "records").mkdir(parents=True)
        for index in found:
            identity = folder.points[index]["id"]
            shutil.copyfile(folder.record(folder.points[index]), work / "records" / f"{index:03d}-{identity}.json")
    except OSError as error:
        raise ToolError(f"cannot write '{work}': {error.strerror}") from error
    parts = tables.tables(folder, found)
    for name, _, rows in parts:
        write_whole(work / f"{name}.csv", tables.csv_text(rows))
    write_whole(work / "sweep.md", tables.markdown(folder, parts, missing))
    if found:
        _report(folder, work)


def _replace(work, target):
    """Replaces the old report once the new one is complete."""
    old = target.with_name(f".{target.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        os.rename(target, old)
    os.rename(work, target)
    shutil.rmtree(old, ignore_errors=True)


def gather(folder):
    """Returns 0 if every point has a record, 1 if some are missing."""
    lock = Lock(folder.path / "gather.lock")
    if lock.taken:
        raise ToolError(f"another gather of '{folder.path}' is running")
    found, missing = read_records(folder)
    work = folder.path / f".report.{os.getpid()}.part"
    try:
        _write(folder, found, missing, work)
        _replace(work, folder.path / "report")
    except OSError as error:
        raise ToolError(f"cannot write '{error.filename or folder.path}': {error.strerror}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{len(found)} of {len(folder.points)} points: {folder.path}/report")
    for index, why in missing.items():
        print(f"gather: missing: point {index}, {folder.points[index]['id']}: {why}", file=sys.stderr)
    return 1 if missing else 0
