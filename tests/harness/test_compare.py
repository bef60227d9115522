"""tools/gradcomp-compare on result files: its statistics, its verdicts, what it refuses and what it writes."""
import json
import pathlib
import random
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import compare_files
import example_results
import pytest
from compare_files import CASE, CASES, ROOT, TOOL, compare, refused, write_arm

sys.path.insert(0, str(ROOT / "tools"))

stats = pytest.importorskip("scipy.stats")
from gradcomp_compare import comparable, decide, significance  # noqa: E402
from gradcomp_compare.baselines import machine_class  # noqa: E402
from gradcomp_compare.samples import read_process  # noqa: E402

GOOGLE = [path for path in (pathlib.Path("/usr/share/benchmark/compare.py"),
                            pathlib.Path("/usr/share/benchmark/tools/compare.py")) if path.is_file()]


def edit(path, change):
    """Rewrites one file."""
    made = json.loads(path.read_text(encoding="utf-8"))
    change(made)
    path.write_text(json.dumps(made), encoding="utf-8")


def test_holm_by_hand():
    # 0.005 x 4, 0.01 x 3, 0.03 x 2, then 0.04 x 1 raised to the one before.
    assert significance.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert significance.holm([0.5, 0.9]) == [1.0, 1.0] and significance.holm([]) == []


@pytest.mark.parametrize("first, second", [(10, 10), (20, 10), (5, 5), (25, 40)])
def test_mann_whitney_is_scipys(first, second):
    numbers = random.Random(first)
    one = [numbers.gauss(1, 0.1) for _ in range(first)]
    other = [numbers.gauss(1.05, 0.1) for _ in range(second)]
    expected = stats.mannwhitneyu(other, one, alternative="greater", method="exact").pvalue
    assert significance.slower(one, other) == pytest.approx(expected)
    assert significance.slower(one, [time + 9 for time in one]) == pytest.approx(significance.smallest_p(first, first))


def test_ties_never_help_a_finding():
    assert significance.slower([1.0] * 10, [1.0] * 10) == 1.0
    # One tie between the arms, broken either way by hand.
    tied, above = significance.slower([1, 2, 3, 4], [4, 5, 6, 7]), significance.slower([1, 2, 3, 4], [4.1, 5, 6, 7])
    assert tied == significance.slower([1, 2, 3, 4], [3.9, 5, 6, 7]) == pytest.approx(2 / 70)
    assert above == pytest.approx(1 / 70)


def test_interval_covers_the_ratio():
    inside, numbers = 0, random.Random(5)
    for trial in range(100):
        one, other = ([factor * numbers.lognormvariate(0, 0.05) for _ in range(20)] for factor in (1, 1.1))
        low, high = significance.interval(one, other, 0.95, 500, 1, str(trial))
        assert low <= significance.ratio(one, other) <= high
        inside += low <= 1.1 <= high
    assert 88 <= inside <= 100
    assert significance.interval(one, other, 0.95, 500, 1, "x") == significance.interval(one, other, 0.95, 500, 1, "x")


@pytest.mark.parametrize("noise, seed", [(noise, seed) for noise in (0.01, 0.03, 0.08, 0.12) for seed in range(2)])
def test_injected_slow_down_never_passes(tmp_path, noise, seed):
    baseline = write_arm(tmp_path / "a", f"a{seed}", noise=noise)
    new = write_arm(tmp_path / "b", f"b{seed}", noise=noise, processes=10, slow={CASE: 1.15})
    done = compare(baseline, new, "--json", tmp_path / "out.json")
    assert done.returncode in (1, 3), done.stdout
    result = {case["name"]: case for case in json.loads((tmp_path / "out.json").read_text())["cases"]}[CASE]
    assert noise > 0.03 or result["spread"] < 0.05 and result["verdict"] == "REGRESSION" and done.returncode == 1
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


@pytest.mark.parametrize("figures, verdict, reason", [
    ({}, decide.OK, ""), ({"p": 0.009, "ratio": 1.06}, decide.REGRESSION, "slower by 6.0 %"),
    ({"p": 0.011, "ratio": 1.06}, decide.OK, ""), ({"p": 0.0, "ratio": 1.049}, decide.OK, ""),
    ({"p": 0.0, "ratio": 1.12, "spread": 0.061, "threshold": 0.122}, decide.INCONCLUSIVE, "within twice the A/A"),
    ({"p": 0.0, "ratio": 9.0, "spread": 0.26, "threshold": 0.52}, decide.INCONCLUSIVE, "A/A spread 26.0 %"),
    ({"p": 0.0, "ratio": 9.0, "spread": 0.06, "p_control": 0.009}, decide.INCONCLUSIVE, "control itself differs"),
    ({"p": 0.0, "ratio": 9.0, "spread": 0.04, "p_control": 0.009}, decide.REGRESSION, "slower by 800.0 %"),
    ({"p_excluded": 0.01}, decide.INCONCLUSIVE, "too noisy to exclude 15 %"),
    ({"p_faster": 0.009, "ratio": 0.9}, decide.FASTER, "faster by 10.0 %"),
    ({"p_faster": 0.009, "ratio": 0.96}, decide.OK, "")])
def test_every_rule(figures, verdict, reason):
    unchanged = {"ratio": 1.0, "p": 1.0, "p_faster": 1.0, "p_excluded": 0.0, "spread": 0.0, "p_control": 1.0,
                 "threshold": 0.05}
    found = decide.judge(decide.Result("x", decide.OK, "", **unchanged | figures), decide.Rules())
    assert found[0] == verdict and reason in found[1] and bool(reason) == bool(found[1])


@pytest.mark.parametrize("first, second, apart", [
    ("1T01 1T03 1T05", "1T02 1T04 1T06", False), ("1T01 1T01", "1T01 1T01", False), ("1T01 1T02", "1T03 1T04", True),
    ("1T03 1T04", "1T01 1T02", True), ("1T01 1T03 2T01", "1T02 1T04 1T05", True),
    ("1T01 1T02 1T09", "1T05 1T06 1T07", True), ("1T05 1T06 1T07", "1T01 1T02 1T09", True)])
def test_when_arms_were_measured_apart(first, second, apart):
    arms = [SimpleNamespace(processes=[SimpleNamespace(date=f"2025-01-0{date}:00:00Z") for date in dates.split()])
            for dates in (first, second)]
    assert comparable.dates_differ(*arms) == apart


def test_too_noisy_to_exclude_is_inconclusive(tmp_path):
    done = compare(write_arm(tmp_path / "a", "a", noise=0.2), write_arm(tmp_path / "b", "b", noise=0.2, processes=10))
    assert done.returncode == 3, done.stdout


@pytest.mark.parametrize("column, before, after, status", [
    ("payload_bytes", 83_888, 83_889, 1), ("payload_bytes", 83_888, 83_887, 1), ("checksum", "ab", "ac", 1),
    ("allocations", 3, 4, 1), ("allocations", 3, 2, 0), ("instructions", 10_000, 10_150, 1),
    ("instructions", 10_000, 10_050, 0), ("checksum", "ab", None, 1)])
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


@pytest.mark.parametrize("key, change", [
    ("cpu_model", lambda made: made["context"]["gradcomp"].update(cpu_model="another")),
    ("threads", lambda made: made["context"]["gradcomp"].update(threads=2)),
    ("kokkos_backend", lambda made: made["context"]["gradcomp"].update(kokkos_backend="Serial")),
    ("compiler", lambda made: made["context"]["gradcomp"].update(compiler="Clang 1")),
    ("build_type", lambda made: made["context"]["gradcomp"].update(build_type="Debug")),
    ("options.samples", lambda made: made["context"]["gradcomp"]["options"].update(samples=6)),
    ("environment.OMP_NUM_THREADS", lambda made: made["context"]["gradcomp"]["environment"].clear()),
    ("method_canonical", lambda made: made["benchmarks"][0].update(method_canonical="top_k:ratio=0.1")),
    ("elements", lambda made: made["benchmarks"][0].update(elements=7)),
    ("case read/1048576 is missing", lambda made: made["benchmarks"].pop())])
def test_not_comparable_names_the_key(tmp_path, key, change):
    baseline, new = write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "b", change=change)
    refused(compare(baseline, new, "--json", tmp_path / "out.json"), "not comparable", key)
    assert not (tmp_path / "out.json").exists()
    edit(baseline / "004.json", change)
    key = key.removesuffix(" is missing")
    refused(compare(baseline, baseline), "the processes of BASELINE differ", key, "004.json")


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
        del made["benchmarks"][0]["read_limit_ms"]
        made["benchmarks"][1]["times_ms"] = [1e-5]
    done = compare(*(write_arm(tmp_path / name, name, change=change) for name in "ab"), "--normalise", "always")
    assert done.returncode == 0, done.stderr
    assert "not judged: no read limit to divide by" in done.stdout and "not judged: shorter than 1 us" in done.stdout
    assert "2 not judged of 4 cases" in done.stdout
    grown = write_arm(tmp_path / "c", "c", change=lambda made: made["benchmarks"][0].pop("read_limit_ms"))
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


@pytest.mark.parametrize("content, words", [
    ('{"context": {', ["not valid JSON"]), ("[]", ["not a gradcomp result file"]), ("", ["not valid JSON"]),
    (json.dumps(example_results.train()), ["gradcomp-train"]),
    (json.dumps(compare_files.document(1) | {"benchmarks": [{"name": "x"}]}), ["run_type"]),
    (json.dumps(compare_files.document(1) | {"benchmarks": []}), ["holds no results"])])
def test_invalid_files_are_one_line(tmp_path, content, words):
    baseline, new = write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "b")
    (new / "005.json").write_text(content, encoding="utf-8")
    refused(compare(baseline, new), "005.json", *words)


@pytest.mark.parametrize("change, words", [
    (lambda made: made["benchmarks"][0].update(times_ms=[0.0]), ["median time"]),
    (lambda made: made["benchmarks"][0].update(times_ms=["x"]), ["median time"]),
    (lambda made: made["benchmarks"].append(made["benchmarks"][0]), ["twice"]),
    (lambda made: made["context"]["gradcomp"].update(failures=["density"]), ["failed run"]),
    (lambda made: made["context"]["gradcomp"].pop("compiler"), ["compiler"]),
    (lambda made: made["context"]["gradcomp"].update(options=[]), ["options"]),
    (lambda made: made["context"].update(date=3), ["date"]),
    (lambda made: made["context"]["gradcomp"].update(git_hash="other"), ["git_hash"])])
def test_wrong_contents_are_one_line(tmp_path, change, words):
    baseline, new = write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "b")
    edit(new / "005.json", change)
    refused(compare(baseline, new), "005.json", *words)


def test_too_few_processes_and_missing_files(tmp_path):
    baseline = write_arm(tmp_path / "a", "a")
    refused(compare(baseline, write_arm(tmp_path / "b", "b", processes=9)), "too few processes", "NEW has 9")
    refused(compare(baseline, tmp_path / "nowhere"), "nowhere")
    refused(compare(baseline, tmp_path / "*.none"), "no result files")
    refused(compare(baseline), "1 arms where 2 belong")
    refused(compare(baseline, baseline, "--json", tmp_path / "no" / "x.json"), "cannot write")
    refused(compare(baseline, baseline, "--filter", "("), "no regular expression")
    refused(compare(baseline, baseline, "--filter", "nothing"), "no cases that match 'nothing'")
    (baseline / "099.json").write_bytes((baseline / "000.json").read_bytes())
    refused(compare(baseline, baseline), "same process twice")
    many = {f"compress/x/{number}": 1.0 for number in range(2000)}
    refused(compare(*(write_arm(tmp_path / name, name, processes=10, cases=many) for name in "cd")), "can never show")


def test_outputs(tmp_path):
    arms = [write_arm(tmp_path / "a", "a"), write_arm(tmp_path / "b", "b", slow={CASE: 1.3})]
    paths = {kind: tmp_path / f"out.{kind}" for kind in ("json", "markdown", "junit")}
    pattern = str(arms[1] / "*.json")
    done = compare(arms[0], pattern, *(word for kind, path in paths.items() for word in (f"--{kind}", path)))
    assert done.returncode == 1 and done.stderr == ""
    assert [line for line in done.stdout.splitlines() if line.startswith(CASE)][0].count("REGRESSION: slower by") == 1
    made = json.loads(paths["json"].read_text(encoding="utf-8"))
    assert made["exit_status"] == 1 and [case["name"] for case in made["cases"]] == list(CASES)
    assert made["baseline"]["control"] == [list(range(0, 20, 2)), list(range(1, 20, 2))]
    suite = ElementTree.parse(paths["junit"]).getroot()
    assert [element.get("name") for element in suite.iter("testcase")] == list(CASES)
    assert suite.get("failures") == "1" and len(list(suite.iter("failure"))) == 1
    source = paths["markdown"].read_text(encoding="utf-8")
    assert source.count(f"| {CASE} |") == 2 and source.count("| read/1048576 |") == 1
    assert len(list(tmp_path.iterdir())) == 5, "no temporary files are left"
    before = paths["json"].read_bytes()
    edit(arms[1] / "000.json", lambda broken: broken.clear())
    assert compare(*arms, "--json", paths["json"]).returncode == 2 and paths["json"].read_bytes() == before
    refused(compare(arms[0], arms[0], "--json", tmp_path / "x", "--junit", tmp_path / "x"), "one file")


def test_result_files_are_google_benchmarks(tmp_path):
    """What its compare.py and report.py read of every row and of the context."""
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
