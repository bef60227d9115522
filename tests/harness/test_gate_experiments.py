"""tools/gate_experiments: a whole page from a fake build; its simulation; what is refused."""
import os
import pathlib
import re
import subprocess
import sys
import types

import pytest

from compare_files import CASE, ROOT, fake_bench

pytest.importorskip("scipy.stats")
from gradcomp.errors import ToolError
from gradcomp.gate import experiments
from gradcomp.pages import gate, slower

TESTS = pathlib.Path(__file__).resolve().parent


def tool(*arguments):
    return subprocess.run([str(ROOT / "tools" / "gate_experiments"), *map(str, arguments)],
                          capture_output=True, text=True, check=False)


def where(folder):
    return "--folder", folder / "raw", "--records", folder / "records", "--output", folder / "p.md"


def test_page(tmp_path):
    build = fake_bench(tmp_path, "old", TESTS, context={"git_hash": "a" * 12})
    slow = fake_bench(tmp_path, "slow", TESTS, context={"git_hash": "a" * 12}, slow={CASE: 1.15})
    few = ("--slower", slow, "--repeats", 1, "--injected", 1, "--slowdowns", 15, "--trials", 2, "--case", f"^{CASE}$", "--bench-args",
           "--samples 5 --seed 1")
    done = tool(build, *few, *where(tmp_path))
    assert done.returncode == 0, done.stderr
    source = (tmp_path / "p.md").read_text(encoding="utf-8")
    for line in (r"A/A, quiet \| [\d.]+× \| 1 \| 1 \| 0 \| 0", r"A/A, loaded \| [\d.]+× \| 1 \| 1 \| 0 \| 0",
                 r"\+15 % \| 1\.1[3-7]× \| 1 \| 0 \| 1 \| 0"):
        assert re.search(rf"^\| {line} \|", source, re.M), source
    assert source.count("| not contradicted |") == 4 and "0 of 2, so below 78 % with 95 % confidence" in source
    assert "| does not hold |" not in source
    assert "4 cases, processes: 20 and 10" in source
    assert {path.name for path in tmp_path.iterdir()} == {"old", "slow", "log", "p.md", "raw", "records"}
    assert {path.stem for path in (tmp_path / "records").iterdir()} == {"slower_15", "loaded", "quiet", "simulated"}

    (tmp_path / "p.md").unlink()
    done = tool("/nonexistent", *few, *where(tmp_path), "--page")
    assert done.returncode == 0 and (tmp_path / "p.md").read_text(encoding="utf-8") == source, done.stderr
    (tmp_path / "log").unlink()
    done = tool(build, *few, *where(tmp_path))
    assert done.returncode == 0 and done.stdout.count(": kept") == 4
    assert len((tmp_path / "log").read_text(encoding="utf-8").splitlines()) == 1, "what the build is"

    path = tmp_path / "records" / "slower_15.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"status": 1', '"status": 0'), encoding="utf-8")
    done = tool(build, *few, *where(tmp_path), "--page")
    assert done.returncode == 1 and done.stderr.startswith("gate_experiments: error: does not hold: A case that is 15 %")


def test_refused_in_one_line(tmp_path):
    build = fake_bench(tmp_path, "x", TESTS, context={"git_hash": "a" * 12})
    for arguments, status in (([build, "--injected", 0], 2), ([tmp_path], 2), ([build, "--trials", "x"], 2),
                              ([build, "--slowdowns", "15,-1"], 2),
                              ([build, "--slowdowns", "15", "--slower", "a,b"], 2), ([build, "--slower", tmp_path], 2),
                              ([build, "--slowdowns", "15", "--slower", build, "--bench-args", "--fail x"], 2)):
        done = tool(*arguments, *where(tmp_path))
        assert done.returncode == status and done.stderr.count("\n") == 1, done.stderr
        assert done.stderr.startswith("gate_experiments: error: ") and not (tmp_path / "p.md").exists()


def test_broken_promises_are_found():
    def held(*experiments_done, passed=("0.0 %",)):
        simulated = {"header": ["noise", "slower: ok"], "trials": 400, "rows": [["1.0 %", share] for share in passed]}
        return [held for _, held, _ in gate.claims([gate.Experiment("", *one, ratios=[1]) for one in experiments_done], simulated)]
    fine = [(15.0, [1, 3], [0.04, 0.06]), (5.0, [0, 3], [0.01, 0.01]), (0, [0, 3], [0.01, 0.3])]
    assert held(*fine) == [True, True, True, True]
    assert held((15.0, [0], [0.06]), *fine[1:]) == [False, True, True, True]
    assert held((15.0, [3], [0.04]), *fine[1:]) == [True, True, False, True]
    assert held(*fine[:2], (0, [1], [0.01])) == [True, True, True, False]
    # 6 of 400 may be chance when 1 % is allowed; 12 of 400 is not.
    assert held(*fine, passed=("1.5 %", "0.8 %")) == [True, True, True, True]
    assert held(*fine, passed=("0.0 %", "3.0 %")) == [True, False, True, True]


def test_what_few_comparisons_exclude():
    assert gate.most(0, 10) == pytest.approx(1 - 0.05 ** 0.1) and gate.most(2, 2) == 1  # 0.05 = (1 - p)^10


def test_the_page_asks_the_build_as_the_comparisons_run_it(tmp_path):
    build = fake_bench(tmp_path, "old", TESTS)
    parsed = types.SimpleNamespace(repeats=1, injected=1, trials=1, slowdowns=[15], slower=[], page=False, build=build)
    gate.PAGE.check(parsed)
    assert gate.PAGE.asks[:2] == ("env", "OMP_NUM_THREADS=1") and gate.PAGE.asks[2] == parsed.program


def test_no_slowed_case_is_refused():
    with pytest.raises(ToolError, match="no_such"):
        cases = [{"name": "a", "spread_bound": 0.1}, {"name": "no_such", "spread_bound": None}]
        experiments.spread({"cases": cases}, "no_such")


def test_the_slower_kernel_counts_more_tiles():
    source = (ROOT / slower.KERNEL).read_text(encoding="utf-8")
    changed = slower.changed(source, 15).splitlines()
    assert [line for line in changed if line not in source.splitlines()] == [
        "    const index_t times = 1 + ((t + 1) * 15 + 99) / 100 - (t * 15 + 99) / 100;",
        "    for (index_t i = 0; i < times; ++i) count(warp, t);  // some tiles more than once, with the same answer",
        "  KOKKOS_FORCEINLINE_FUNCTION void count(const Warp& warp, index_t t) const {"]
    assert sum(1 + ((t + 1) * 15 + 99) // 100 - (t * 15 + 99) // 100 for t in range(66)) == 76  # 15 % of 66 more, rounded up
    with pytest.raises(ToolError, match="does not have the loop"):
        slower.changed("\n".join(changed), 15)


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
