"""Baselines: result files of one build on one class of machine, docs/baselines/CLASS."""
import json
import pathlib
import re
import shutil
import sys
import tempfile

from gradcomp.errors import ToolError
from gradcomp.json_files import read_json
from gradcomp.output.files import write_whole

from .comparable import check_arm
from .interleave import run_process
from .samples import make_arm

MARKS = re.compile(r"\((r|tm)\)|\b(cpu|processor)\b|@", re.IGNORECASE)


def machine_class(record):
    """The name of a folder for a class of machines: CPU model (and device, if the code runs on one), threads and back end."""
    known = record.gradcomp
    device = [] if known["device"] in ("host", known["cpu_model"]) else [known["device"]]
    words = " ".join([known["cpu_model"], *device, f"{known['threads']} threads", known["kokkos_backend"]])
    return re.sub(r"[^a-z0-9]+", "-", MARKS.sub(" ", words).lower()).strip("-")


def shorten(path):
    """Drops the raw times; their statistics stay."""
    document = read_json(path)
    for row in document["benchmarks"]:
        row.pop("times_ms", None)
    write_whole(path, json.dumps(document, separators=(",", ":")) + "\n")


def refresh(folder, program, processes, arguments, minimum):
    """Measures `processes` processes and replaces the files in `folder` by their files, all or none."""
    folder = pathlib.Path(folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(path.suffix != ".json" for path in folder.iterdir())):
        raise ToolError(f"'{folder}' is not replaced: it is not a folder that holds only result files")
    existing = next(parent for parent in folder.parents if parent.is_dir())
    try:
        new = pathlib.Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=existing))
    except OSError as error:
        raise ToolError(f"cannot write in '{existing}': {error.strerror}") from error
    try:
        made = []
        for number in range(1, processes + 1):
            print(f"[{number}/{processes}]", file=sys.stderr, flush=True)
            made.append(run_process(program, arguments, new / f"{number:03d}.json"))
            found = machine_class(made[0].record)
            if folder.name != found:
                raise ToolError(f"this machine is of the class '{found}', not '{folder.name}': "
                                f"--refresh {folder.parent / found}")
        check_arm(make_arm("the baseline", made), minimum)
        for process in made:
            shorten(process.path)
        new.chmod(0o755)
        folder.parent.mkdir(parents=True, exist_ok=True)
        old = new.with_name(new.name + ".old")
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(new, ignore_errors=True)
