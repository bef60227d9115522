"""tools/check_deterministic: files of callgrind, what counts as a change, and a whole run with a fake valgrind and builds."""
import copy
import json
import os
import pathlib
import subprocess

import pytest

import example_results
from compare_files import ROOT

pytest.importorskip("numpy")
from gradcomp.errors import ToolError
from gradcomp.gate import counting, deterministic

TOOL = ROOT / "tools" / "check_deterministic"
BASELINE = ROOT / "docs" / "baselines" / "deterministic" / "figures.json"
CASE = "compress/top_k/1024"
VALGRIND = """#!/bin/bash
# Counts 5000 instructions for the first case of the result that its program writes.
for word in "$@"; do case $word in --callgrind-out-file=*) out=${word#*=} ;; --*) ;; *) break ;; esac; shift; done
"$@" || exit
printf 'desc: Trigger: Program termination\\nsummary: 1\\n' >"$out"
printf 'desc: Trigger: Client Request: compress/top_k/1024\\nsummary: 5000\\n' >"$out.1"
"""
BENCH = """#!/bin/bash
while [ "$1" != --output ]; do shift; done
cp "$(dirname "$0")/made.json" "$2"
"""


def made(**changes):
    """A result file with the phases of two methods. `changes` are made to its first row."""
    document = example_results.bench()
    document["context"]["gradcomp"]["options"] = {"samples": 1, "seed": 1}
    document["benchmarks"] = [row for row in document["benchmarks"] if "method" in row]
    document["benchmarks"][0] |= changes
    return document


def build(folder, document):
    program = folder / "bin" / "gradcomp-bench"
    program.parent.mkdir(parents=True)
    program.write_text(BENCH, encoding="utf-8")
    program.chmod(0o755)
    (program.parent / "made.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def check(tmp_path, *arguments):
    programs = tmp_path / "programs"
    if not programs.exists():
        programs.mkdir()
        (programs / "valgrind").write_text(VALGRIND, encoding="utf-8")
        (programs / "valgrind").chmod(0o755)
    words = [TOOL, "--counted", tmp_path / "counted", "--native", tmp_path / "native", "--baseline",
             tmp_path / "base" / "f.json", "--folder", tmp_path / "results", *arguments]
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                          env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"})


def compare(old, new):
    return deterministic.compare(deterministic.shorten(old), deterministic.shorten(new))


@pytest.mark.parametrize("change, regression", [
    ({"payload_checksum": "00c0ffef"}, True), ({"decoded_checksum": "1"}, True), ({"payload_bytes": 79}, True),
    ({"allocations": 1}, True), ({"instructions": 10201}, True), ({"instructions": 10200}, None),
    ({"instructions": 9800}, None), ({"instructions": 9799}, False), ({"method_canonical": "top_k:ratio=0.5"}, True)])
def test_what_is_a_change(change, regression):
    old = made(instructions=10000)
    found, notes = compare(old, made(**({"instructions": 10000} | change)))
    assert notes == [] and [one.regression for one in found] == ([] if regression is None else [regression])
    assert compare(old, copy.deepcopy(old)) == ([], [])


def test_cases_that_come_and_go():
    both, one = made(), made()
    one["benchmarks"].pop()
    found, notes = compare(one, both)
    assert found == [] and "not compared: decompress/top_k/1024" in notes[0]
    found, notes = compare(both, one)
    assert [change.case for change in found] == ["decompress/top_k/1024"] and found[0].regression


def test_instructions_belong_to_a_compiler():
    old, new = made(instructions=10000), made(instructions=20000)
    new["context"]["gradcomp"]["compiler"] = "Clang 19"
    found, notes = compare(old, new)
    assert found == [] and "compiler GNU 0 and Clang 19" in notes[0]
    new["context"]["gradcomp"]["options"]["samples"] = 2
    with pytest.raises(ToolError, match="options"):
        compare(old, new)


def test_files_of_callgrind(tmp_path):
    (tmp_path / "out.1").write_text("version: 1\ndesc: Trigger: Client Request: a/b\nsummary: 12\nfn=(1)\n3 12\n")
    (tmp_path / "out").write_text("desc: Trigger: Program termination\nsummary: 99\n")
    assert counting.read_counts(tmp_path) == {"a/b": 12}


def test_refresh_then_change(tmp_path):
    build(tmp_path / "native", made())
    build(tmp_path / "counted", made())
    assert check(tmp_path).returncode == 2, "no baseline yet"
    done = check(tmp_path, "--refresh")
    assert done.returncode == 0, done.stderr
    assert deterministic.read(tmp_path / "base" / "f.json")["benchmarks"][0]["instructions"] == 5000
    assert check(tmp_path).returncode == 0
    for name in ("native", "counted"):
        (tmp_path / name / "bin" / "made.json").write_text(json.dumps(made(decoded_checksum="0000beef")))
    done = check(tmp_path)
    assert done.returncode == 1 and f"{CASE}: decoded_checksum 0000cafe -> 0000beef (REGRESSION)" in done.stdout
    assert done.stderr.count("\n") == 1 and "tools/check_deterministic --refresh" in done.stderr


def test_a_column_that_is_left_out(tmp_path):
    build(tmp_path / "native", made())
    build(tmp_path / "counted", made())
    assert check(tmp_path, "--refresh").returncode == 0
    path = tmp_path / "base" / "f.json"
    path.write_text(path.read_text(encoding="utf-8").replace("5000", "2000"), encoding="utf-8")
    assert check(tmp_path).returncode == 1
    done = check(tmp_path, "--but", "instructions")
    assert done.returncode == 0 and "instructions is not compared" in done.stdout, done.stderr
    assert check(tmp_path, "--but", "allocations").returncode == 1
    assert check(tmp_path, "--but", "times").returncode == 2
    for name in ("native", "counted"):
        (tmp_path / name / "bin" / "made.json").write_text(json.dumps(made(payload_checksum="0000beef")))
    assert check(tmp_path, "--but", "instructions").returncode == 1, "the other columns are compared"


def test_builds_must_agree(tmp_path):
    build(tmp_path / "native", made(payload_checksum="11111111"))
    build(tmp_path / "counted", made())
    done = check(tmp_path, "--refresh")
    assert done.returncode == 1 and "native build" in done.stdout and not (tmp_path / "base").exists()


def test_refused_in_one_line(tmp_path):
    done = check(tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "no gradcomp-bench" in done.stderr
    build(tmp_path / "native", made())
    build(tmp_path / "counted", made()["benchmarks"])
    done = check(tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr


def test_baseline_of_the_project():
    document = deterministic.read(BASELINE)
    methods = {row["name"].split("/")[1] for row in document["benchmarks"]}
    assert {"top_k", "sidco", "qsgd", "powersgd"} <= methods
    for row in document["benchmarks"]:
        assert row["allocations"] == 0 and row["instructions"] > 0 and len(row["payload_checksum"]) == 8, row["name"]
    assert pathlib.Path(BASELINE).read_text(encoding="utf-8") == deterministic.text(document)
