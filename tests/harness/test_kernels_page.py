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
DASH = "\N{EN DASH}"


def tool(*arguments, path=None):
    """Runs the tool with the programs on PATH."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}
    environment["PATH"] = f"{pathlib.Path(BIN).resolve()}:{environment['PATH']}" if path is None else path
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=environment)


def record(rows):
    return Record(pathlib.Path("x.json"), example_results.context("gradcomp-bench"), rows)


def pair(spec, elements, ratio):
    return {"method": spec, "phase": "pair", "elements": elements, "read_limit_ratio": ratio, "elements_per_second": 2e9,
            "nmse": 0.25}


def test_bars_hold_or_are_missed():
    first, second = kernels_tables.LINES[0], kernels_tables.LINES[1]
    rows = [pair(first.spec, 100, first.bar), pair(second.spec, 100, second.bar * 1.01), pair(first.spec, 10, 9.0),
            pair(second.spec, 100, 1.0) | {"phase": "compress"}]
    header, lines = kernels_tables.table(record(rows), 100, 10)
    assert len(lines) == len(kernels_tables.LINES) and all(len(line) == len(header) for line in lines)
    found = {line[1]: line for line in lines}
    assert found[f"`{first.spec}`"][4] == "holds" and found[f"`{second.spec}`"][4] == "missed"
    assert found[f"`{first.spec}`"][5:] == ["0.250", "2,000", "2,000", "2,000", "holds", "", "0.250"]
    assert lines[2][3] == lines[2][4] == lines[2][6] == lines[2][9] == DASH, "not measured is neither held nor missed"


def test_what_stands_in_the_way_is_said_where_the_bar_in_the_cache_is_missed():
    line = next(line for line in kernels_tables.LINES if line.cached == 5)
    for rate, shown in ((5.0e9, ["5,000", "5,000", "holds", ""]), (4.9e9, ["4,900", "5,000", "missed", line.work])):
        rows = [pair(line.spec, 10, 9.0) | {"elements_per_second": rate}]
        found = {cells[1]: cells for cells in kernels_tables.table(record(rows), 100, 10)[1]}
        assert found[f"`{line.spec}`"][7:11] == shown and line.work


def test_card_has_a_column_for_each_number_of_threads():
    rows = [{"operation": "read", "elements": 100, "gb_per_second": 10.0},
            {"operation": "sgemm", "elements": 1 << 30, "gb_per_second": None, "gflop_per_second": 50.0}]
    header, lines = kernels_tables.card([(1, record(rows)), (2, record(rows[:1]))])
    assert header == ["limit", "elements", "unit", "threads: 1", "threads: 2"]
    assert lines == [["read", "100", "GB/s", "10.0", "10.0"], ["sgemm", DASH, "GFLOP/s", "50.0", DASH]]


def test_a_copy_reads_and_writes_each_float():
    rows = [{"operation": "read", "elements": 10, "gb_per_second": 99.0},
            {"operation": "read", "elements": 100, "gb_per_second": 24.0},
            {"operation": "copy", "elements": 100, "gb_per_second": 16.0}]
    assert kernels_tables.cost_of_copy(record(rows), 100).startswith("Here a copy takes as long as 3.00 reads;")


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_quick_page(tmp_path):
    page, folder = tmp_path / "pages" / "p.md", tmp_path / "results"
    done = tool("--quick", "--folder", folder, "--output", page)
    assert done.returncode == 0, done.stderr
    source = page.read_text(encoding="utf-8")
    for line in kernels_tables.LINES:
        shown = next(row for row in source.partition("## How")[2].splitlines() if f"| `{line.spec}` |" in row)
        assert shown.count("holds") + shown.count("missed") == 2, shown
    for name in ("read", "copy", "triad", "sgemm"):
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
