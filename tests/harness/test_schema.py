"""Every program: its output against the schema, its help, its answers to bad input.

The programs are found in $GRADCOMP_BIN; without it only the schema and its page are tested.
"""
import array
import json
import os
import pathlib
import re
import struct
import subprocess

import jsonschema
import pytest

import example_results

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs" / "results.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
PAGE = (ROOT / "docs" / "results-schema.md").read_text(encoding="utf-8")
BIN = os.environ.get("GRADCOMP_BIN")

PROGRAMS = {
    "gradcomp-train": "--data shapetex10:train=64:test=32 --steps 4 --batch 8 --methods fp32,top_k:ratio=0.01 --seeds 2 "
                      "--accumulate 2 --target accuracy=0.01".split(),
    "gradcomp-allreduce": "--sizes 1024,65536 --methods fp32,top_k --repetitions 3".split(),
    "gradcomp-evaluate": "--data laplace,pareto:0.1+zeros:0.2 --size 4099 --residual-steps 3 "
                         "--methods fp32,top_k,random_k:feedback=none".split(),
    "gradcomp-bench": "--quick --methods fp32,top_k --sizes 1024,4099".split(),
}
needs_programs = pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
each_program = pytest.mark.parametrize("program", PROGRAMS)


def run(program, *arguments):
    """One process as the only rank, without a terminal."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}
    environment.pop("GRADCOMP_PROGRESS", None)
    return subprocess.run([str(pathlib.Path(BIN) / program), *map(str, arguments)], capture_output=True, text=True,
                          timeout=300, env=environment, check=False)


def undocumented(rows):
    """Columns of rows that are in no definition of the schema."""
    known = {key for definition in SCHEMA["$defs"].values() for key in definition.get("properties", {})}
    return {key for row in rows for key in row} - known


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_page_names_every_column_of_the_schema():
    named = set(re.findall(r"`(\w+)`", PAGE))
    hidden = {"context", "gradcomp", "benchmarks"}
    columns = {key for definition in SCHEMA["$defs"].values() for key in definition.get("properties", {})}
    assert columns - named - hidden == set()


@pytest.mark.parametrize("document", [example_results.train(), example_results.allreduce("1Gbit/s,20us"),
                                      example_results.bench(), example_results.evaluate()])
def test_schema_accepts_good_and_refuses_broken_files(document):
    VALIDATOR.validate(document)
    assert not undocumented(document["benchmarks"])
    program = document["context"]["gradcomp"]["program"]
    for breakage in (
            lambda d: d.pop("context"), lambda d: d["benchmarks"].clear(),
            lambda d: d["benchmarks"][0].pop("real_time"), lambda d: d["context"]["gradcomp"].pop("link"),
            lambda d: d["context"]["gradcomp"]["environment"].update(SECRET=1),
            lambda d: d["benchmarks"][0].pop({"gradcomp-train": "stages_ms", "gradcomp-allreduce": "wrong",
                                              "gradcomp-bench": "operation",
                                              "gradcomp-evaluate": "verified"}[program])):
        broken = json.loads(json.dumps(document))
        breakage(broken)
        assert not VALIDATOR.is_valid(broken)


@pytest.mark.parametrize("change, good", [
    ({}, True), ({"skipped_steps": 0}, True), ({"diverged_at_step": 0}, False), ({"test_quality": 0.1}, False),
    ({"test_loss": 2.3}, False), ({"speedup_vs_fp32": 1.5}, False), ({"quality_matched": True}, False),
    ({"parameters_hash": "0123456789abcdef"}, False)])
def test_a_method_that_diverged_has_no_quality(change, good):
    document = example_results.train()
    example_results.diverge(document["benchmarks"][4], 12).update(change)
    assert VALIDATOR.is_valid(document) == good
    assert not undocumented(document["benchmarks"])


@pytest.mark.parametrize("energy, good", [
    ({"source": "nvml", "devices": 8}, True), ({"source": "none", "devices": 0, "reason": "no library"}, True),
    ({"source": "none", "devices": 0}, False), ({"source": "rapl", "devices": 1, "reason": "none"}, False),
    ({"source": "a meter", "devices": 1}, False)])
def test_energy_has_a_source_or_a_reason(energy, good):
    document = example_results.train()
    document["context"]["gradcomp"]["energy"] = energy
    assert VALIDATOR.is_valid(document) == good


def test_schema_accepts_described_models():
    document = example_results.train()
    document["benchmarks"] = [{"name": "describe/fp32", "run_name": "describe/fp32", "run_type": "iteration",
                               "repetitions": 1, "method": "fp32", "parameters": 269722, "payload_bytes": 1078888}]
    VALIDATOR.validate(document)


@needs_programs
@each_program
def test_output_follows_the_schema(program, tmp_path):
    output = tmp_path / "F.json"
    done = run(program, *PROGRAMS[program], "--output", output)
    assert done.returncode == 0, done.stderr
    assert "\r" not in done.stderr + done.stdout, "no progress bar away from a terminal"
    document = json.loads(output.read_text(encoding="utf-8"))
    errors = [f"{error.json_path}: {error.message[:300]}" for error in VALIDATOR.iter_errors(document)]
    assert not errors
    assert document["context"]["gradcomp"]["program"] == program
    assert not undocumented(document["benchmarks"]), "columns that docs/results.schema.json does not know"
    assert [path.name for path in tmp_path.iterdir()] == ["F.json"]


@needs_programs
@each_program
def test_help_and_version(program):
    for option, expected in (("--help", "--output"), ("--version", "0.")):
        done = run(program, option)
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout
        assert all(line.startswith("left out: ") for line in done.stderr.splitlines()), done.stderr


BAD = {
    "unknown method": ["--methods", "fp32,no_such_method"],
    "unknown key": ["--methods", "top_k:no_such_key=1"],
    "bad ratio": ["--methods", "top_k:ratio=1.5"],
    "unknown option": ["--no-such-option"],
}


@needs_programs
@each_program
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(program, case, tmp_path):
    refused(program, tmp_path, *replaced(PROGRAMS[program], BAD[case]))


@needs_programs
@pytest.mark.parametrize("data", ["digits:no/such/file.bin", "cifar10:no/such/folder", "no_such_kind"])
def test_missing_data_is_one_line(data, tmp_path):
    refused("gradcomp-train", tmp_path, *replaced(PROGRAMS["gradcomp-train"], ["--data", data]))


@needs_programs
def test_truncated_data_is_one_line(tmp_path):
    data = tmp_path / "digits.bin"
    data.write_bytes(b"\0" * 100)
    refused("gradcomp-train", tmp_path, *replaced(PROGRAMS["gradcomp-train"], ["--data", f"digits:{data}"]), keep=1)


@needs_programs
@each_program
@pytest.mark.parametrize("output", ["missing/F.json", "."])
def test_unwritable_output_is_found_before_the_run(program, output, tmp_path):
    done = run(program, *PROGRAMS[program], "--output", tmp_path / output)
    one_line(program, done)
    assert str(tmp_path) in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert done.stdout == "", "refused before anything ran"


def bench(tmp_path, *arguments):
    """The status of gradcomp-bench, and the document that it wrote."""
    output = tmp_path / "B.json"
    done = run("gradcomp-bench", *arguments, "--output", output)
    assert done.returncode == 0, done.stderr
    document = json.loads(output.read_text(encoding="utf-8"))
    VALIDATOR.validate(document)
    return document, done.stdout


BENCH_REFUSED = {
    "excluding sizes": ["--full", "--quick"],
    "sizes of a full run": ["--full", "--size", "1024"],
    "methods of the machine": ["--machine", "--methods", "top_k"],
    "threads twice": ["--threads", "1", "--kokkos-num-threads=2"],
    "no threads": ["--threads", "0"],
    "residual": ["--residual", "perhaps"],
    "cache": ["--cache", "hot"],
    "missing file": ["--data", "no_such.npy"],
    "sizes of files": ["--data", "no_such.npy", "--size", "1024"],
    "no case": ["--quick", "--filter", "no_such_case"],
    "no memory at all": ["--size", "1048576", "--memory", "0.000001", "--filter", "top_k"],
}


@needs_programs
@pytest.mark.parametrize("case", BENCH_REFUSED)
def test_bench_refuses_in_one_line(case, tmp_path):
    refused("gradcomp-bench", tmp_path, *BENCH_REFUSED[case])


@needs_programs
def test_bench_of_the_machine_has_its_limits_alone(tmp_path):
    document, shown = bench(tmp_path, "--machine", "--sizes", "1024,4099", "--samples", 2)
    limits = [f"{limit}/{size}" for size in (1024, 4099) for limit in ("read", "write", "update", "copy", "triad")] + ["sgemm"]
    assert [row["name"] for row in document["benchmarks"]] == limits
    assert len(shown.splitlines()) == 1 + len(limits)


@needs_programs
def test_bench_quick_lists_every_method_and_kernel():
    done = run("gradcomp-bench", "--quick", "--list")
    names = done.stdout.split()
    methods = {line.split("/")[1] for line in names if line.startswith("pair/")}
    kernels = {line.split("/")[1] for line in names if line.startswith("kernel/")}
    assert {"fp32", "top_k", "sidco", "qsgd", "powersgd", "sketch", "rotated"} <= methods
    assert {"first_pass", "top_k", "encode_codes_4", "rotate", "huffman_decode"} <= kernels
    cases = ([f"{phase}/{method}" for method in methods for phase in ("compress", "decompress", "pair")]
             + [f"kernel/{kernel}" for kernel in kernels] + ["read", "write", "update", "copy", "triad"])
    expected = {f"{case}/{size}" for case in cases for size in (65536, 1048576)}
    assert sorted(names) == sorted(expected | {"sgemm", "train_step/resnet20/batch128"})


@needs_programs
def test_bench_interleaved_cold_from_a_file_records_how(tmp_path):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1500,), }"
    header += b" " * (117 - len(header)) + b"\n"
    values = array.array("f", [(-1) ** i * 1e-3 / (1 + i % 97) for i in range(1500)])
    (tmp_path / "gradient.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
                                            + values.tobytes())
    document, shown = bench(
        tmp_path, "--data", f"laplace,{tmp_path / 'gradient.npy'}", "--size", "1024", "--samples", "7", "--threads", 1,
        "--interleave", "--cache", "cold", "--residual", "on", "--methods", "top_k,sign",
        "--filter", "top_k|first_pass")
    cases = [f"{phase}/top_k:feedback=residual" for phase in ("compress", "decompress", "pair")]
    cases += ["kernel/top_k", "kernel/first_pass"]
    rows = {row["name"]: row for row in document["benchmarks"]}
    assert set(rows) == {f"{case}/{size}" for case in cases for size in ("1024", "1500/gradient")}
    assert {row["iterations"] for row in rows.values()} == {7}
    assert {row["cache"] for row in rows.values()} == {"cold"}
    assert rows["kernel/top_k/1500/gradient"]["data"] == "gradient"
    assert rows["pair/top_k:feedback=residual/1024"]["feedback"] == "residual"
    ours = document["context"]["gradcomp"]
    assert ours["threads"] == 1 and ours["options"]["threads"] == 1
    assert ours["affinity"]["cpus"] and ours["affinity"]["omp_proc_bind"] == "false"
    assert len(ours["left_out"]) == 1 and "sign" in ours["left_out"][0] and ours["left_out"][0] in shown


def replaced(arguments, change):
    """The arguments, with the option in `change` replaced by `change`."""
    kept = list(arguments)
    if change[0] in kept:
        at = kept.index(change[0])
        del kept[at:at + 2]
    return kept + change


def refused(program, folder, *arguments, keep=0):
    """Checks that the program refuses and leaves no file."""
    one_line(program, run(program, *arguments, "--output", folder / "F.json"))
    assert len(list(folder.iterdir())) == keep


def one_line(program, done):
    """Checks that the status is not 0 and that there is exactly one line on stderr."""
    assert done.returncode != 0
    assert done.stderr.startswith(f"{program}: error: "), done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n"), done.stderr
