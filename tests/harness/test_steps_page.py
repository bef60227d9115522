"""tools/steps_page and tools/kokkos_kernels_page: their tables from fabricated records, and their whole quick versions."""
import os
import pathlib
import subprocess
import sys

import pytest

import example_results
import tool_process
from gradcomp.pages import kokkos_kernels, steps
from gradcomp.results.reading import Record
from test_schema import BIN

ROOT = pathlib.Path(__file__).resolve().parents[2]
KOKKOS_KERNELS = ROOT / "build" / "serial-kk" / "bin" / "gradcomp-bench-kokkos-kernels"
DASH, TIMES = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"


def tool(name, folder, *arguments, path=None):
    """Runs a tool with the programs on PATH."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"}
    environment["PATH"] = f"{pathlib.Path(BIN or '/nonexistent').resolve()}:{environment['PATH']}" if path is None else path
    return subprocess.run([str(ROOT / "tools" / name), "--quick", "--folder", str(folder), *arguments],
                          capture_output=True, text=True, check=False, env=environment)


def record(rows, **known):
    context = example_results.context("gradcomp-bench")
    context["gradcomp"] |= known
    return Record(pathlib.Path("x.json"), context, rows)


def test_steps_have_three_columns_for_each_number_of_threads():
    rows = [{"name": f"train_step/{model}/batch8", "time_ms": {"median": 12.5}, "gflop_per_second": 80.0,
             "sgemm_peak_ratio": 0.75} for model in ("resnet20", "vgg11")]
    header, lines = steps.table([record(rows, threads=1), record(rows, threads=2)])
    assert header == ["model", "batch", "threads: 1, ms", "GFLOP/s", "of the peak", "threads: 2, ms", "GFLOP/s", "of the peak"]
    assert lines[1] == ["`vgg11`", "8"] + ["12.5", "80.0", "75.0 %"] * 2 and len(lines) == 2


def test_the_peak_of_the_process_is_the_largest_of_its_rows():
    rows = [{"name": f"train_step/{model}/batch8", "time_ms": {"median": 12.5}, "gflop_per_second": 150.0, "sgemm_peak_ratio": ratio}
            for model, ratio in (("resnet18", 1.5), ("vgg11", 0.75))]
    _, lines = steps.table([record(rows, threads=2)])
    assert [line[-1] for line in lines] == ["75.0 %"] * 2, "peaks of 100 and 200: the first was measured beside other work"


def test_contenders_stand_beside_ours():
    rows = [{"operation": "norm", "rank": rank, "by": by, "ratio": ratio}
            for rank in (1, 4) for by, ratio in ((kokkos_kernels.OURS, 1), ("KokkosBlas::dot", 0.25 * rank))]
    known = {"options": {"model": "resnet20", "ranks": [1, 4]}}
    header, lines = kokkos_kernels.table([record(rows, **known)])
    assert header == ["operation", "by", "`resnet20`, rank 1", "`resnet20`, rank 4"]
    assert lines == [["norm", "`KokkosBlas::dot`", f"0.250{TIMES}", f"1.00{TIMES}"]], "the same time is no reason to be left out"


def whole(name, folder, rows):
    """Makes the quick page, and checks that it has these first cells and follows from its records alone."""
    done = tool(name, folder)
    assert done.returncode == 0, done.stderr
    page = next(folder.glob("*.md"))
    source = page.read_text(encoding="utf-8")
    for row in rows:
        assert f"\n| {row} |" in source, source
    assert tool(name, folder, "--page", path=f"/usr/bin:{os.path.dirname(sys.executable)}").returncode == 0
    assert page.read_text(encoding="utf-8") == source
    return source


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_quick_steps(tmp_path):
    assert DASH not in whole("steps_page", tmp_path, ("`resnet20` | 128", "`lstm_1x128` | 64"))


@pytest.mark.skipif(not KOKKOS_KERNELS.is_file(), reason="there is no build/serial-kk")
def test_quick_kokkos_kernels(tmp_path):
    source = whole("kokkos_kernels_page", tmp_path, ("norm | `KokkosBlas::dot`", "project | `KokkosBatched::TeamGemm`"))
    assert "| `gradcomp` |" not in source and "GRADCOMP_PRESET=serial-kk ./run exec -- gradcomp-bench-kokkos-kernels" in source


def test_missing_programs_are_one_line(tmp_path):
    for name in ("steps_page", "kokkos_kernels_page"):
        done = tool(name, tmp_path, path=tool_process.bare())
        if name == "kokkos_kernels_page" and KOKKOS_KERNELS.is_file():
            continue
        assert done.returncode == 2 and done.stderr.startswith(f"{name}: error: ") and done.stderr.count("\n") == 1
