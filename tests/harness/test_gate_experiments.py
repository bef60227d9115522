"""tools/gate_experiments: a whole page from a fake build; its simulation; what is refused."""
import pathlib
import subprocess
import sys

import pytest
from compare_files import CASE, ROOT, fake_bench

sys.path.insert(0, str(ROOT / "tools"))
pytest.importorskip("scipy.stats")
from gradcomp_compare import experiments  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parent


def tool(*arguments):
    return subprocess.run([sys.executable, str(ROOT / "tools" / "gate_experiments"), *map(str, arguments)],
                          capture_output=True, text=True, check=False)


def test_page(tmp_path):
    build = fake_bench(tmp_path, "old", TESTS)
    done = tool(build, "--repeats", 1, "--injected", 1, "--slowdowns", 15, "--trials", 2, "--output", tmp_path / "p.md",
                "--case", f"^{CASE}$", "--bench-args", "--samples 5 --seed 1")
    assert done.returncode == 0, done.stderr
    source = (tmp_path / "p.md").read_text(encoding="utf-8")
    assert "\n| A/A | 1 | 1 | 0 | 0 |" in source and "\n| +15 % | 1 | 0 | 1 | 0 |" in source, source
    assert "4 cases, processes: 20 and 10" in source
    assert {path.name for path in tmp_path.iterdir()} == {"old", "log", "p.md"}


def test_refused_in_one_line(tmp_path):
    build = fake_bench(tmp_path, "x", TESTS)
    for arguments in ([tmp_path], [build, "--trials", 0], [build, "--bench-args", "--fail x"]):
        done = tool(*arguments, "--output", tmp_path / "p.md")
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith("gate_experiments: error: ") and not (tmp_path / "p.md").exists()


def test_simulation_knows_the_answer():
    header, rows = experiments.power(10, (0.01,))
    assert len(header) == len(rows[0]) and rows[0] == ["1.0 %", "100.0 %", "0.0 %", "0.0 %", "100.0 %"]
