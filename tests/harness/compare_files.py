"""For test_compare*.py: fabricated result files of gradcomp-bench with known distributions, a fake gradcomp-bench, and the
tool, which runs in this process."""
import functools
import json
import math
import pathlib
import random
import statistics
import sys

import example_results
import tool_process

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "gradcomp-compare"
CASE = "compress/top_k/1048576"
CASES = {CASE: 2.0, "decompress/top_k/1048576": 0.4, "pair/top_k/1048576": 2.4, "read/1048576": 0.25}
READ_MS = 0.25
FILL = {"data": "laplace", "cache": "warm", "verified": True, "passes": 1, "elements_per_second": 2e6}
METHOD = {"feedback": "residual", "compression_ratio": 50.0, "payload_checksum": "00c0ffee", "decoded_checksum": "0000cafe",
          "allocations": 0, "dense_bytes": 4194304, "wire_bytes": 0}


def document(seed, noise=0.02, slow=None, machine=1.0, date="2025-01-01T00:00:00+00:00", payload=83_888, cases=CASES):
    """The result of one process. `noise`: standard deviation of log(time) between processes; `slow`: {name: factor};
    `machine`: factor of all times of this process, including that of the read limit."""
    random_numbers, rows = random.Random(f"gate {seed}"), []
    for name, typical in cases.items():
        operation = name.split("/", maxsplit=1)[0]
        middle = typical * machine * (slow or {}).get(name, 1.0) * math.exp(random_numbers.gauss(0, noise))
        times = [middle * factor for factor in (1.2, 1.0, 0.99, 1.01, 1.0)]
        row = example_results.row(name, times, "top_k") | {
            "operation": operation, "elements": 1 << 20, "gb_per_second": None, "read_limit_ms": READ_MS * machine,
            "read_limit_ratio": 1.0, "time_ms": example_results.summary(times), "times_ms": times,
            "real_time": statistics.median(times)} | FILL
        if operation == "read":
            for key in ("method", "method_canonical", "label"):
                del row[key]
        else:
            row |= {"payload_bytes": payload, "header_bytes": 8, "method_canonical": "top_k:ratio=0.01"} | METHOD | {
                "phase": operation}
        rows.append(row)
    context = example_results.context("gradcomp-bench") | {"date": date}
    context["gradcomp"]["options"] = {"samples": 5, "seed": 1, "quick": False, "cache": "warm", "stream": 0,
                                      "interleave": False}
    return {"context": context, "benchmarks": rows}


def write_arm(folder, label, processes=20, interleaved=True, change=None, **options):
    """Writes the files of one arm. `interleaved`: its dates lie among those of other arms. change(document) edits each file."""
    folder.mkdir(parents=True)
    for number in range(processes):
        day = 1 if interleaved else 2
        made = document(f"{label} {number}", date=f"2025-01-0{day}T00:{number:02d}:00+00:00", **options)
        if change:
            change(made)
        (folder / f"{number:03d}.json").write_text(json.dumps(made), encoding="utf-8")
    return folder


FAKE = """#!/usr/bin/env -S 'PYTHONPATH={tests}' '{python}'
import json, os, pathlib, sys, time
import compare_files
output = pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
with open({log!r}, "a") as log:
    print({name!r}, *sys.argv[1:], file=log)
if "--fail" in sys.argv:
    sys.exit("fake: error: asked to")
if "--hang" in sys.argv:
    pathlib.Path({log!r} + ".pid").write_text(str(os.getpid()))
    time.sleep(60)
made = compare_files.document({name!r} + output.stem, **{options!r})
made["context"]["gradcomp"] |= {context!r}
output.write_text(json.dumps(made))
"""


def fake_bench(folder, name, tests, context=None, **options):
    """Makes a build folder whose gradcomp-bench writes document(**options) and appends its arguments to folder/log."""
    program = folder / name / "bin" / "gradcomp-bench"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE.format(python=sys.executable, tests=str(tests), log=str(folder / "log"), name=name,
                                   options=options, context=context or {}), encoding="utf-8")
    program.chmod(0o755)
    return folder / name


def compare(*arguments):
    """Runs the main() of the tool. The result has the attributes of a finished process."""
    from gradcomp.gate import cli
    return tool_process.call(cli.main, TOOL, *arguments)


refused = functools.partial(tool_process.refused, TOOL)


def edit(path, change):
    """Changes one file."""
    made = json.loads(path.read_text(encoding="utf-8"))
    change(made)
    path.write_text(json.dumps(made), encoding="utf-8")
