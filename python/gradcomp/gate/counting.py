"""Counts instructions per case: gradcomp-bench runs under callgrind, which writes a file for each counted call
(bench/callgrind.hpp)."""
import json
import os
import pathlib
import shlex
import subprocess
import tempfile

from gradcomp.errors import ToolError, taking
from gradcomp.json_files import read_json
from gradcomp.output.files import write_whole

# One thread, and the same kernels of OpenBLAS and libc on every machine: callgrind knows no vectors wider than AVX2.
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false", "OPENBLAS_CORETYPE": "Haswell"}
TRIGGER, SUMMARY = "desc: Trigger: Client Request: ", "summary: "


def run(words, environment=None):
    """Runs a command and hides its output. If it fails, throws ToolError with the last line of the output."""
    words = list(map(str, words))
    try:
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                              env=os.environ | (environment or {}))
    except OSError as error:
        raise ToolError(f"cannot start {words[0]}: {error.strerror}") from error
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:]
        raise ToolError(f"status {done.returncode} of '{shlex.join(words)}': {said[0] if said else 'it said nothing'}")


def read_counts(folder):
    """{case: instructions} from callgrind's files in `folder`."""
    found = {}
    for path in sorted(pathlib.Path(folder).iterdir()):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        names = [line.removeprefix(TRIGGER) for line in lines if line.startswith(TRIGGER)]
        sums = [int(line.removeprefix(SUMMARY)) for line in lines if line.startswith(SUMMARY)]
        if names and sums:
            found[names[0]] = sums[0]
    return found


def count(program, arguments, output):
    """Writes the result file of `program`, with a column `instructions` in every row that was counted."""
    with tempfile.TemporaryDirectory(prefix="gradcomp-callgrind.") as folder:
        run(["valgrind", "--tool=callgrind", "--collect-atstart=no", f"--callgrind-out-file={folder}/out", program,
             *arguments, "--output", output], ENVIRONMENT)
        counts = read_counts(folder)
    if not counts:
        raise ToolError(f"'{program}' was built without valgrind/callgrind.h: it marks no calls to count")
    document = read_json(output)
    with taking(f"'{output}' is not a result file of gradcomp-bench"):
        for row in document["benchmarks"]:
            if row["name"] in counts:
                row["instructions"] = counts[row["name"]]
    write_whole(output, json.dumps(document, indent=1) + "\n")
