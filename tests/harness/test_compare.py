"""tools/gradcomp-compare on result files: its verdicts and what it writes."""
import json
import pathlib
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from compare_files import CASE, CASES, TOOL, compare, edit, refused, write_arm

pytest.importorskip("scipy.stats")
from gradcomp.gate.baselines import machine_class
from gradcomp.gate.samples import read_process

GOOGLE = [path for path in (pathlib.Path("/usr/share/benchmark/compare.py"),
                            pathlib.Path("/usr/share/benchmark/tools/compare.py")) if path.is_file()]


@pytest.mark.parametrize("noise, seed", [(noise, seed) for noise in (0.01, 0.03, 0.08, 0.12) for seed in range(2)])
def test_injected_slow_down_never_passes(tmp_path, noise, seed):
    baseline = write_arm(tmp_path / "a", f"a{seed}", noise=noise)
    new = write_arm(tmp_path / "b", f"b{seed}", noise=noise, processes=10, slow={CASE: 1.15})
    done = compare(baseline, new, "--json", tmp_path / "out.json")
    assert done.returncode in (1, 3), done.stdout
    result = {case["name"]: case for case in json.loads((tmp_path / "out.json").read_text())["cases"]}[CASE]
    assert noise > 0.03 or (result["spread_bound"] < 0.05 and result["verdict"] == "REGRESSION" and done.returncode == 1)
    assert result["low"] <= result["ratio"] <= result["high"] and result["p"] <= 1


def test_ten_comparisons_with_itself_raise_no_alarm(tmp_path):
    for seed in range(10):
        arms = [write_arm(tmp_path / f"{seed}{arm}", f"{seed}{arm}", noise=0.04, processes=count)
                for arm, count in (("a", 20), ("b", 10))]
        done = compare(*arms)
        assert done.returncode == 0, done.stdout


def test_verdicts_on_both_sides(tmp_path):
    baseline = write_arm(tmp_path / "a", "a", noise=0.01)
    fast = write_arm(tmp_path / "fast", "b", noise=0.01, processes=10, slow={CASE: 0.8})
    slight = write_arm(tmp_path / "slight", "c", noise=0.005, processes=10, slow={CASE: 1.035})
    assert "faster: faster by" in compare(baseline, fast).stdout
    done = compare(baseline, slight, "--json", tmp_path / "out.json")
    result = json.loads((tmp_path / "out.json").read_text())["cases"][0]
    assert done.returncode == 0 and result["p"] < 0.01 and result["verdict"] == "ok", "significant, but below 5 %"


def test_noisy_control_is_inconclusive(tmp_path):
    def halves(made):  # every other process, as a machine that changes its state would
        minute = int(made["context"]["date"][14:16])
        for row in made["benchmarks"]:
            row["times_ms"] = [time * (1.4 if minute % 2 else 1) for time in row["times_ms"]]
    baseline = write_arm(tmp_path / "a", "a", change=halves)
    done = compare(baseline, write_arm(tmp_path / "b", "b"))
    assert done.returncode == 3 and "A/A spread" in done.stdout, done.stdout
    # Below 25 %, the control is called a difference.
    edited = write_arm(tmp_path / "c", "c", noise=0.005)
    for number, path in enumerate(sorted(edited.iterdir())):
        edit(path, lambda made, number=number: made["benchmarks"][0].update(
            times_ms=[time * (1.1 if number % 2 else 1) for time in made["benchmarks"][0]["times_ms"]]))
    done = compare(edited, write_arm(tmp_path / "d", "d", noise=0.005))
    assert done.returncode == 3 and "the A/A control itself differs" in done.stdout, done.stdout


def test_too_noisy_to_exclude_is_inconclusive(tmp_path):
    done = compare(write_arm(tmp_path / "a", "a", noise=0.2), write_arm(tmp_path / "b", "b", noise=0.2, processes=10))
    assert done.returncode == 3, done.stdout


@pytest.mark.parametrize("column, before, after, status", [
    ("payload_bytes", 83_888, 83_889, 1), ("payload_bytes", 83_888, 83_887, 1), ("payload_checksum", "0000abab", "0000acac", 1),
    ("allocations", 3, 4, 1), ("allocations", 3, 2, 0), ("instructions", 100_000, 101_500, 1),
    ("instructions", 100_000, 100_900, 0), ("nmse_checksum", "ab", None, 1)])
def test_deterministic_figures(tmp_path, column, before, after, status):
    def put(value):
        def change(made):
            made["benchmarks"][0][column] = value
            if value is None:
                del made["benchmarks"][0][column]
        return change
    baseline = write_arm(tmp_path / "a", "a", change=put(before))
    new = write_arm(tmp_path / "b", "b", change=put(after))
    done = compare(baseline, new, "--junit", tmp_path / "out.xml")
    assert done.returncode == status, done.stdout
    assert (f"{CASE}: {column} {before} -> {'missing' if after is None else after}" in done.stdout) == (
        column != "instructions" or status == 1)
    assert ElementTree.parse(tmp_path / "out.xml").getroot().get("failures") == str(status)


def test_bytes_that_differ_between_processes(tmp_path):
    arms = [write_arm(tmp_path / name, name) for name in "ab"]
    edit(arms[1] / "003.json", lambda made: made["benchmarks"][0].update(payload_bytes=7))
    done = compare(*arms)
    assert done.returncode == 1 and "payload_bytes 83888 -> 7 or 83888, by process" in done.stdout
    refused(compare(*reversed(arms)), "payload_bytes", CASE, "differs between the processes of BASELINE")


def test_allowed_keys_and_new_cases_are_noted(tmp_path):
    def change(made):
        made["context"]["gradcomp"]["compiler"] = "Clang 1"
        made["benchmarks"].append(made["benchmarks"][0] | {"name": "compress/another/1"})
    arms = [write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "b", change=change)]
    done = compare(*arms, "--allow", "compiler")
    assert done.returncode == 0 and "Differs, and may: compiler" in done.stdout
    assert "not compared: compress/another/1" in done.stdout
    done = compare(*arms, "--allow", "compiler", "--filter", "^read/")
    assert done.returncode == 0 and "of 1 cases" in done.stdout and CASE not in done.stdout


def test_times_of_another_day_are_normalised(tmp_path):
    baseline = write_arm(tmp_path / "a", "a")
    other_day = write_arm(tmp_path / "b", "b", interleaved=False, machine=1.3)
    assert compare(baseline, other_day, "--normalise", "never").returncode == 1
    done = compare(baseline, other_day)
    assert done.returncode == 0 and "x read" in done.stdout
    same_day = write_arm(tmp_path / "c", "c")
    assert "baseline, ms" in compare(baseline, same_day).stdout
    assert "x read" in compare(baseline, same_day, "--normalise", "always").stdout
    slow = write_arm(tmp_path / "d", "d", interleaved=False, machine=1.3, slow={CASE: 1.15})
    assert compare(baseline, slow).returncode == 1


def test_what_cannot_be_judged_is_said(tmp_path):
    def change(made):
        made["benchmarks"][0]["read_limit_ms"] = None
        made["benchmarks"][1]["times_ms"] = [1e-5]
    done = compare(*(write_arm(tmp_path / name, name, change=change) for name in "ab"), "--normalise", "always")
    assert done.returncode == 0, done.stderr
    assert "not judged: no read limit to divide by" in done.stdout and "not judged: shorter than 1 us" in done.stdout
    assert "2 not judged of 4 cases" in done.stdout
    grown = write_arm(tmp_path / "c", "c", change=lambda made: made["benchmarks"][0].update(read_limit_ms=None))
    done = compare(tmp_path / "a", grown)
    assert done.returncode == 1, "what was too short for the clock and is not any more is judged"


def test_medians_may_stand_for_raw_times(tmp_path):
    def change(made):
        for row in made["benchmarks"]:
            row["time_ms"]["median"] = sorted(row.pop("times_ms"))[2]
    raw, short = write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "a", change=change)
    times = [{name: case.time_ms for name, case in read_process(folder / "005.json").cases.items()}
             for folder in (raw, short)]
    assert times[0] == times[1] and len(times[0]) == len(CASES)


def test_outputs(tmp_path):
    arms = [write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "b", slow={CASE: 1.3})]
    paths = {kind: tmp_path / f"out.{kind}" for kind in ("json", "markdown", "junit")}
    pattern = str(arms[1] / "*.json")
    done = compare(arms[0], pattern, *(word for kind, path in paths.items() for word in (f"--{kind}", path)))
    assert done.returncode == 1 and done.stderr == ""
    assert next(line for line in done.stdout.splitlines() if line.startswith(CASE)).count("REGRESSION: slower by") == 1
    made = json.loads(paths["json"].read_text(encoding="utf-8"))
    assert (made["schema_version"], made["program"], made["conclusion"]) == (1, "gradcomp-compare", "REGRESSION")
    assert made["normalised"] is False and made["notes"] == [] and made["new"]["control"] is None
    assert (made["baseline"]["name"], made["new"]["name"]) == ("BASELINE", "NEW") and made["changes"] == []
    assert [one["file"] for one in made["new"]["processes"]][:2] == ["000.json", "001.json"]
    assert made["exit_status"] == 1 and [case["name"] for case in made["cases"]] == list(CASES)
    assert made["baseline"]["control"] == [list(range(0, 20, 2)), list(range(1, 20, 2))]
    suite = ElementTree.parse(paths["junit"]).getroot()
    assert [element.get("name") for element in suite.iter("testcase")] == list(CASES)
    assert suite.get("failures") == "1" and len(list(suite.iter("failure"))) == 1
    assert (suite.get("name"), suite.get("tests"), suite.get("errors")) == ("gradcomp-compare", str(len(CASES)), "0")
    [slow] = [element for element in suite.iter("testcase") if element.get("name") == CASE]
    assert slow.find("failure").get("message").startswith("slower by") and float(slow.get("time")) > 0
    source = paths["markdown"].read_text(encoding="utf-8")
    assert source.count(f"| {CASE} |") == 2 and source.count("| read/1048576 |") == 1
    assert len(list(tmp_path.iterdir())) == 5, "no temporary files are left"
    before = paths["json"].read_bytes()
    edit(arms[1] / "000.json", lambda broken: broken.clear())
    assert compare(*arms, "--json", paths["json"]).returncode == 2 and paths["json"].read_bytes() == before
    refused(compare(arms[0], arms[0], "--json", tmp_path / "x", "--junit", tmp_path / "x"), "one file")


def test_result_files_are_google_benchmarks(tmp_path):
    """The columns that its compare.py and report.py read from every row and from the context."""
    arms = [write_arm(tmp_path / name, name, processes=1) / "000.json" for name in "ab"]
    for path in arms:
        made = json.loads(path.read_text(encoding="utf-8"))
        assert {"date", "num_cpus", "mhz_per_cpu", "caches", "library_build_type"} <= set(made["context"])
        for row in made["benchmarks"]:
            assert row["run_type"] == "iteration" and isinstance(row["name"], str) and row["iterations"] > 0
            assert row["time_unit"] in ("ns", "us", "ms", "s") and row["real_time"] > 0 and row["cpu_time"] > 0
    if GOOGLE:
        done = subprocess.run([sys.executable, str(GOOGLE[0]), "benchmarks", *map(str, arms)], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0 and CASE in done.stdout, done.stderr


def test_machine_class(tmp_path):
    path = write_arm(tmp_path / "a", "a", processes=1) / "000.json"
    edit(path, lambda made: made["context"]["gradcomp"].update(cpu_model="Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz"))
    assert machine_class(read_process(path).record) == "intel-xeon-e5-2680-v4-2-40ghz-1-threads-openmp"


def test_help():
    done = subprocess.run([str(TOOL), "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    for word in ("--interleave", "--refresh", "--json", "--markdown", "--junit", "--normalise", "exit status"):
        assert word in done.stdout
