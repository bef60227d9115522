"""tools/gate_experiments: a whole page from a fake build; its simulation; what is refused."""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest
from compare_files import CASE, ROOT, fake_bench

pytest.importorskip("scipy.stats")
from gradcomp_compare import experiments  # noqa: E402
from gradcomp_compare.samples import GateError  # noqa: E402

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
    for line in ("| A/A, quiet | 1 | 1 | 0 | 0 |", "| A/A, loaded | 1 | 1 | 0 | 0 |", "| +15 % | 1 | 0 | 1 | 0 |"):
        assert f"\n{line}" in source, source
    assert source.count("| holds |") == 3 and "does not hold" not in source
    assert "4 cases, processes: 20 and 10" in source
    assert {path.name for path in tmp_path.iterdir()} == {"old", "log", "p.md"}


def test_refused_in_one_line(tmp_path):
    build = fake_bench(tmp_path, "x", TESTS)
    for arguments in ([build, "--injected", 0], [tmp_path], [build, "--trials", 0], [build, "--bench-args", "--fail x"]):
        done = tool(*arguments, "--output", tmp_path / "p.md")
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith("gate_experiments: error: ") and not (tmp_path / "p.md").exists()


def test_broken_promises_are_found():
    loader = importlib.machinery.SourceFileLoader("gate_experiments", str(ROOT / "tools" / "gate_experiments"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module  # dataclasses look it up
    loader.exec_module(module)

    def held(*experiments_done):
        return [held for _, held in module.claims([module.Experiment("", *one) for one in experiments_done])]
    fine = [(15.0, [1, 3], [0.04, 0.06]), (5.0, [0, 3], [0.01, 0.01]), (0, [0, 3], [0.01, 0.3])]
    assert held(*fine) == [True, True, True]
    assert held((15.0, [0], [0.06]), *fine[1:]) == [False, True, True]
    assert held((15.0, [3], [0.04]), *fine[1:]) == [True, False, True]
    assert held(*fine[:2], (0, [1], [0.01])) == [True, True, False]


def test_no_slowed_case_is_refused():
    with pytest.raises(GateError, match="no_such"):
        cases = [{"name": "a", "spread_bound": 0.1}, {"name": "no_such", "spread_bound": None}]
        experiments.spread({"cases": cases}, "no_such")


def test_load_ends_with_the_experiments():
    with experiments.load(2):
        children = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True,
                                  check=False).stdout
        assert children.count("getppid") >= 2 or children.count(sys.executable) >= 2, children
    children = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True,
                              check=False).stdout
    assert "getppid" not in children


def test_simulation_knows_the_answer():
    header, rows = experiments.power(10, (0.01,))
    assert len(header) == len(rows[0]) and rows[0] == ["1.0 %", "100.0 %", "0.0 %", "0.0 %", "100.0 %", "0.0 %"]
