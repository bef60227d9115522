"""Result files are a superset of Google Benchmark's JSON: its compare.py and gbench read the files of every program.

compare.py comes from Debian (libbenchmark-tools). Without it, only the columns that it reads are checked.
"""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import example_results
from test_schema import BIN, PROGRAMS, run

FOLDERS = [path for path in (pathlib.Path("/usr/share/benchmark"), pathlib.Path("/usr/share/benchmark/tools"))
           if (path / "compare.py").is_file()]
EXAMPLES = {"gradcomp-train": example_results.train(), "gradcomp-allreduce": example_results.allreduce(),
            "gradcomp-bench": example_results.bench(), "gradcomp-evaluate": example_results.evaluate()}
needs_google = pytest.mark.skipif(not FOLDERS, reason="no compare.py of Google Benchmark")
needs_programs = pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")


def measured(program, folder):
    """The file that the program writes in a short run."""
    path = folder / "measured.json"
    done = run(program, *PROGRAMS[program], "--output", path)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text(encoding="utf-8"))


@needs_programs
@pytest.mark.parametrize("method, values", [("random_k", [0, 0, 1, 0]), ("fp16", [1e-9] * 4), ("adaptive_threshold", [-0.25] * 4)])
def test_an_answer_of_nothing_may_be_right(method, values, tmp_path):
    np.save(tmp_path / "x.npy", np.repeat(np.array(values, np.float32), 1024 if values[0] else 1))
    done = run("gradcomp-bench", "--data", tmp_path / "x.npy", "--methods", method, "--filter", "^pair/", "--samples", 2)
    assert done.returncode == 0, done.stdout + done.stderr


def check_columns(document):
    """Checks the types of the columns that compare.py, gbench and dashboards read."""
    context = document["context"]
    for key, kind in (("date", str), ("host_name", str), ("executable", str), ("num_cpus", int), ("caches", list),
                      ("mhz_per_cpu", (int, float)), ("load_avg", list), ("library_build_type", str)):
        assert isinstance(context[key], kind), key
    assert document["benchmarks"]
    for row in document["benchmarks"]:
        for key in ("name", "run_name"):
            assert isinstance(row[key], str) and row[key]
        assert row["run_type"] in ("iteration", "aggregate") and row["time_unit"] in ("ns", "us", "ms", "s")
        counts = ("repetitions", "threads", "iterations")
        if row["run_type"] == "aggregate":
            assert isinstance(row["aggregate_name"], str)
        else:
            counts += ("repetition_index",)
        for key in counts:
            assert isinstance(row[key], int), key
        assert row["real_time"] > 0 and row["cpu_time"] > 0, row["name"]


def check_comparison(document, folder):
    """compare.py must find every case, and that the second file is slower by half."""
    old, new, found = folder / "old.json", folder / "new.json", folder / "found.json"
    old.write_text(json.dumps(document), encoding="utf-8")
    for row in document["benchmarks"]:
        row["real_time"] *= 1.5
    new.write_text(json.dumps(document), encoding="utf-8")
    done = subprocess.run([sys.executable, str(FOLDERS[0] / "compare.py"), "-d", str(found), "benchmarks", str(old),
                           str(new)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(found.read_text(encoding="utf-8"))}
    names = [row["name"] for row in document["benchmarks"]]
    assert set(rows) - {"OVERALL_GEOMEAN"} == set(names)
    for name in names:
        assert name in done.stdout
        assert rows[name]["measurements"]
        for change in rows[name]["measurements"]:  # one for each seed
            assert change["time"] == pytest.approx(0.5) and change["cpu"] == pytest.approx(0)


@pytest.mark.parametrize("program", EXAMPLES)
def test_columns_of_examples(program):
    check_columns(EXAMPLES[program])


@needs_google
@pytest.mark.parametrize("program", EXAMPLES)
def test_compare_reads_examples(program, tmp_path):
    check_comparison(json.loads(json.dumps(EXAMPLES[program])), tmp_path)


@needs_programs
@pytest.mark.parametrize("program", PROGRAMS)
def test_columns_and_compare_of_every_program(program, tmp_path):
    document = measured(program, tmp_path)
    check_columns(document)
    if FOLDERS:
        check_comparison(document, tmp_path)


@needs_google
def test_gbench_filters_by_name(tmp_path):
    """The library that compare.py uses, as dashboards call it."""
    path = tmp_path / "file.json"
    path.write_text(json.dumps(EXAMPLES["gradcomp-bench"]), encoding="utf-8")
    code = ("import sys; from gbench import report, util; "
            "made = report.filter_benchmark(util.load_benchmark_results(sys.argv[1], ''), '^compress/', 'x'); "
            "print(len(made['benchmarks']), report.intersect(['a', 'b'], ['b']))")
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False,
                          env=os.environ | {"PYTHONPATH": str(FOLDERS[0])})
    assert done.returncode == 0 and done.stdout.split()[0] == "1", done.stderr
