"""tools/kernels_page: its tables from fabricated records, the whole quick version, and what is refused."""
import json
import os
import pathlib
import subprocess

import pytest

import example_results
import tool_process
from gradcomp.pages import kernels_tables
from gradcomp.results.reading import Record
from test_schema import BIN, VALIDATOR

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "kernels_page"
DASH, TIMES = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"


def tool(*arguments, path=None):
    """Runs the tool with the programs on PATH."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}
    environment["PATH"] = f"{pathlib.Path(BIN).resolve()}:{environment['PATH']}" if path is None else path
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=environment)


def record(rows):
    return Record(pathlib.Path("x.json"), example_results.context("gradcomp-bench"), rows)


def pair(spec, elements, milliseconds, moves=(1, 1, 0)):
    """The message is an eighth of the gradient."""
    return {"method": spec, "phase": "pair", "operation": "pair", "elements": elements, "read_limit_ratio": 3.0, "nmse": 0.25,
            "time_ms": {"median": milliseconds}, "dense_bytes": 8.0, "payload_bytes": 1.0,
            "moves": dict(zip(("read", "written", "updated"), moves, strict=True))}


def stream(operation, milliseconds):
    return {"operation": operation, "elements": 100, "time_ms": {"median": milliseconds}}


STREAMS = [stream("read", 1.0), stream("write", 2.0), stream("update", 3.0), stream("copy", 99.0)]


def test_the_limit_moves_each_array_and_the_message_both_ways():
    times = kernels_tables.streams(record(STREAMS), 100)
    assert times == {"read": 1.0, "write": 2.0, "update": 3.0}
    assert kernels_tables.limit(pair("x", 100, 9.0, (2, 1, 1)), times) == 2 * 1 + 1 * 2 + 1 * 3 + (1 + 2) / 8


def test_pairs_stand_beside_their_limits():
    first, second = kernels_tables.LINES[0], kernels_tables.LINES[1]
    rows = [*STREAMS, pair(first.spec, 100, 6.75), pair(first.spec, 10, 1e-5), pair(second.spec, 100, 1.0) | {"phase": "compress"}]
    header, lines = kernels_tables.table(record(rows), 100, 10, {"top_k": 7.5})
    assert len(lines) == len(kernels_tables.LINES) and all(len(line) == len(header) for line in lines)
    assert lines[0][1:] == [f"`{first.spec}`", "1.00 read, 1.00 written", "3.38", "6.75", f"2.00{TIMES}", f"3.00{TIMES}", "0.250",
                            "67,500", "1.00", "7.50"]
    assert lines[1][2:] == [DASH] * 8 + ["7.50"], "not measured"


def test_instructions_are_those_of_both_phases():
    found = kernels_tables.instructions()
    rows = {row["name"]: row for row in json.loads(kernels_tables.BASELINE.read_text(encoding="utf-8"))["benchmarks"]}
    both = rows["compress/sign/16384"]["instructions"] + rows["decompress/sign/16384"]["instructions"]
    assert found["sign"] == both / 16384 and {line.spec.partition(":")[0] for line in kernels_tables.LINES} <= set(found)


def test_card_has_a_column_for_each_number_of_threads():
    rows = [{"operation": "read", "elements": 100, "gb_per_second": 10.0},
            {"operation": "sgemm", "elements": 1 << 30, "gb_per_second": None, "gflop_per_second": 50.0}]
    header, lines = kernels_tables.card([(1, record(rows)), (2, record(rows[:1]))])
    assert header == ["limit", "elements", "unit", "threads: 1", "threads: 2"]
    assert lines == [["read", "100", "GB/s", "10.0", "10.0"], ["sgemm", DASH, "GFLOP/s", "50.0", DASH]]


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_quick_page(tmp_path):
    page, folder = tmp_path / "pages" / "p.md", tmp_path / "results"
    done = tool("--quick", "--folder", folder, "--output", page)
    assert done.returncode == 0, done.stderr
    source = page.read_text(encoding="utf-8")
    for line in kernels_tables.LINES:
        shown = next(row for row in source.partition("## How")[2].splitlines() if f"| `{line.spec}` |" in row)
        assert DASH not in shown, shown
    for name in ("read", "write", "update", "copy", "triad", "sgemm"):
        assert f"\n| {name} |" in source
    assert tool("--quick", "--page", "--folder", folder, "--output", page, path=tool_process.bare()).returncode == 0
    assert page.read_text(encoding="utf-8") == source, "the records alone make it again"
    for path in folder.glob("*.json"):
        VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))
    assert len(list(folder.glob("*.json"))) == 4 and not list(page.parent.glob("*.part"))


def test_missing_programs_are_one_line(tmp_path):
    done = tool("--quick", "--folder", tmp_path, "--output", tmp_path / "p.md", path=tool_process.bare())
    assert done.returncode == 2
    assert done.stderr.startswith("kernels_page: error: ") and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
