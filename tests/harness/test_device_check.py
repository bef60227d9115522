"""tools/device-check: its page from a fabricated record, steps that fail or have no time left, refusals, interruption."""
import dataclasses
import json
import os
import pathlib
import re
import signal
import stat
import subprocess
import sys
import time

import pytest

import example_results
from gradcomp.device_check import alternatives, arguments, children, cli, measuring, page, sections, steps, testing
from tool_process import call, interrupt, refused

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "device-check"
BIN = os.environ.get("GRADCOMP_BIN")
TIMES, DASH = "\N{MULTIPLICATION SIGN}", "\N{EN DASH}"


def check(*words):
    return call(cli.main, TOOL, *words)


@pytest.fixture(name="build")
def fixture_build(tmp_path):
    """A folder that looks like a build. Tests put programs into its folder bin."""
    (tmp_path / "build" / "bin").mkdir(parents=True)
    return tmp_path / "build"


def program(build, name, source):
    path = build / "bin" / name
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{source}", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def writes(document):
    """A program that writes the document to the path of --output."""
    return f"open(sys.argv[sys.argv.index('--output') + 1], 'w').write({json.dumps(json.dumps(document))})\n"


def bench_document():
    document = example_results.bench()
    pair = dict(document["benchmarks"][0], operation="pair", phase="pair", name="pair/top_k/1024")
    document["benchmarks"].append(pair)
    return document


def train_document(energy):
    document = example_results.train()
    document["context"]["gradcomp"]["energy"] = energy
    for row in document["benchmarks"]:
        row["steps"] = 8
    if energy["source"] != "none":
        document["benchmarks"][0]["joules_per_step"] = 12.5
    return document


def ours(rows):
    return {"context": example_results.context("gradcomp-bench"), "benchmarks": [
        {"method": method, "elements": 4096, "real_time": time} for method, time in rows.items()]}


def example():
    """A result file with every part and one failed step."""
    setting = arguments.Setting("cuda", ROOT, True, ROOT, True, (), 1, 25, "python3")
    parts = {
        "tests": {"passed": 39, "failed": {"test_kernels.threads1: Rows.Few": "crashed"}, "not_run": ["test_nn.threads1: Lstm.One"],
                  "left_out": 2, "skipped_inside": {"no second GPU": 3}, "slowest_ms": {},
                  "sanitizer": {"test_kernels.threads1: Rows.Few": "Invalid __global__ read of size 4 bytes"}},
        "golden": {"cases": 68, "notes": [], "changes": [{"case": "compress/sign/16384", "column": "payload_checksum",
                                                          "baseline": "00c0ffee", "new": "0000cafe", "regression": True}]},
        "bench": {"kernels": bench_document()},
        "models": {"ours": {"benchmarks": [
            {"operation": "train_step", "name": "train_step/resnet20/batch128", "time_ms": {"median": 8.0}},
            {"operation": "train_step", "name": "train_step/lstm_2x650/batch20", "time_ms": {"median": 3.0}},
            {"operation": "sgemm", "name": "sgemm"}]},
                   "torch": {"torch": "9.9", "device": "a GPU", "threads": 8, "rows": [
                       {"model": "resnet20", "variant": "eager, fp32", "time_ms": 4.0, "loss_error": 2e-6},
                       {"model": "resnet20", "variant": "graph, tf32", "time_ms": 1.5, "loss_error": 1e-3},
                       {"model": "lstm_2x650", "variant": "eager, fp32", "time_ms": 6.0, "loss_error": None}]}},
        "alternatives": {"ours": ours({"top_k:ratio=0.01:feedback=none": 0.5, "sign:feedback=none": 0.25}),
                         "torch": {"torch": "9.9", "device": "a GPU", "threads": 8, "rows": [
                             {"name": "torch.topk", "elements": 4096, "time_ms": {"median": 5.0}}]},
                         "cub": {"left_out": "only CUDA builds have CUB"}},
        "training": {"train_resnet20": train_document({"source": "nvml", "devices": 1}),
                     "train_lstm": train_document({"source": "none", "devices": 0, "reason": "no library"})},
    }
    lines = [{"name": "build", "title": "Build", "status": "passed", "reason": None, "seconds": 61.0},
             {"name": "tests", "title": "Tests", "status": "failed", "reason": "1 of 40 tests failed", "seconds": 5.0}]
    document = cli.document(setting, lines, parts, 120)
    document["context"] |= {"git_hash": "0123456789abcdef", "git_dirty": True, "driver": ["NVIDIA H100, 580.0"]}
    return json.loads(json.dumps(document))


def test_a_step_that_failed_whole_leaves_its_table_empty():
    document = example()
    document["parts"]["models"] = {}
    assert "| model | ours | ours over eager fp32 | losses |" in page.page(document)


def test_the_page_begins_with_its_answer():
    """By hand: 39 of 39 + 1 + 1 tests; 8 / 4 and 3 / 6 of PyTorch's time."""
    made = page.page(example())
    said = made.partition("\n## ")[0]
    assert said.startswith("# Device check: host\n\nSteps that failed ([why](#steps)): tests.\n39 of 41 tests passed; figures of 68 ")
    assert f"takes 0.500{TIMES} (`lstm_2x650/batch20`) to 2.00{TIMES} (`resnet20/batch128`) the time" in said
    assert f"| 1,024 | 1 | 2.50{TIMES} (`top_k`) | 2.50{TIMES} | 2.50{TIMES} |" in said
    document = example() | {"parts": {}, "steps": []}
    assert "No part of this check measured anything" in page.page(document)


def test_page_shows_every_part():
    source = page.page(example())
    assert source.startswith("# Device check: host\n")
    for piece in (
            "Commit 0123456789ab with changes; preset `cuda`", "2.0 minutes", "Driver: NVIDIA H100, 580.0", "**Quick**",
            "| Tests | **failed** | 5.0 | 1 of 40 tests failed |", "39 tests passed, 1 failed and 1 had no time. 2 entries",
            "| `test_kernels.threads1: Rows.Few` | crashed |", "| Invalid __global__ read of size 4 bytes |",
            "- had no time: `test_nn.threads1: Lstm.One`", "- 3 skipped themselves: no second GPU",
            "| compress/sign/16384 | payload_checksum | 00c0ffee | 0000cafe |",
            f"| top_k | 1,024 | 0.600 | 3.00 | 40.0 % | 2.50{TIMES} |", f"| `top_k` | 0.600 | 2.50{TIMES} |",
            f"| the largest 1 % | 4,096 | `top_k:ratio=0.01:feedback=none` | 0.500 | torch.topk | 5.00 | 10.0{TIMES} |",
            f"| packed signs | 4,096 | `sign:feedback=none` | 0.250 | {DASH} | {DASH} | {DASH} |",
            "- cub: left out: only CUDA builds have CUB", "- torch 9.9 on a GPU, 8 CPU threads",
            "| model | ours | torch, eager, fp32 | torch, graph, tf32 | ours over eager fp32 | losses |",
            f"| `resnet20/batch128` | 8.00 | 4.00 | 1.50 | 2.00{TIMES} | 2e-06 |",
            f"| `lstm_2x650/batch20` | 3.00 | 6.00 | {DASH} | 0.500{TIMES} | {DASH} |",
            "Joules per step: by nvml, over 1 devices.", "Joules per step: none, no library."):
        assert piece in source, piece
    assert re.search(r"\| `fp32` \|.*\| 12\.5 \|\n", source)
    assert source.endswith("\n") and "\n\n\n" not in source


def test_page_names_the_commit_of_the_programs_not_of_the_checkout():
    document = example()
    document["context"]["programs"] |= {"git_hash": "fedcba987654", "git_dirty": False}
    assert "- Commit fedcba987654; preset `cuda`;" in page.page(document)


def test_kept_pages_follow_from_their_records():
    kept = ROOT / "docs/results/devices"
    records = sorted(kept.glob("*.json"))
    assert records and [path.with_suffix(".md") for path in records] == sorted(kept.glob("*.md"))
    for path in records:
        made = page.page(json.loads(path.read_text(encoding="utf-8")))
        assert path.with_suffix(".md").read_text(encoding="utf-8") == made, path.name


def test_page_of_a_run_without_results_still_names_its_steps():
    document = example()
    document["parts"], document["context"]["programs"] = {}, None
    assert page.page(document).startswith("# Device check: cuda\n") and "1 of 40 tests failed" in page.page(document)


def test_golden_page_says_when_nothing_changed():
    document = example()
    document["parts"]["golden"]["changes"] = []
    assert "of 68 cases are those that the host build left" in page.page(document)


def test_fraction_of_bandwidth():
    assert sections.bandwidth_fraction({"passes": 3, "read_limit_ratio": 4}) == 0.75
    assert sections.bandwidth_fraction({"passes": None, "read_limit_ratio": 4}) is None


def test_methods_are_shown_at_every_size():
    row = {"operation": "pair", "method": "sign", "real_time": 1.0, "read_limit_ratio": 2.0}
    found = {"a": {"benchmarks": [row | {"elements": size} for size in (1000, 10, 2**27)]}}
    header, rows = sections.method_table(found)
    assert [cell.split(":")[0] for cell in header[1::2]] == ["10", "1,000", "134,217,728"]
    assert rows == [["`sign`", *["1.00", f"2.00{TIMES}"] * 3]]


@dataclasses.dataclass
class Clock:
    """A clock that advances only in steps."""

    now: float = 0

    def monotonic(self):
        return self.now


def spending(clock, limits, name, seconds, **options):
    """A step that takes so many seconds, and notes its limit."""
    def work(limit):
        limits[name] = limit
        clock.now += seconds
        return {}
    return steps.Step(name, name, options.pop("reserve", 0), work, **options)


def passing(name, found=None, reserve=0, needs_programs=True):
    return steps.Step(name, name, reserve, lambda limit: found, needs_programs)


def failing(name, error, **options):
    def work(limit):
        raise error
    return steps.Step(name, name, 0, work, **options)


def test_a_failed_step_ends_no_other():
    said = []
    lines, found = steps.run_all(
        [passing("build", {}), failing("tests", steps.Partly("2 failed", {"run": 9})),
         failing("golden", children.StepFailed("status 1")), failing("bench", KeyError("benchmarks")),
         passing("training", {"x": 1}), passing("alternatives")], ("alternatives",), None, said.append)
    assert [line["status"] for line in lines] == ["passed", "failed", "failed", "failed", "passed", "left out"]
    assert [line["reason"] for line in lines[1:3]] == ["2 failed", "status 1"]
    assert "benchmarks" in lines[3]["reason"] and lines[5]["reason"] == "--skip"
    assert found == {"build": {}, "tests": {"run": 9}, "training": {"x": 1}}
    assert [line for line in said if "failed:" in line] == [f"      failed: {line['reason']}" for line in lines[1:4]]


def test_without_programs_nothing_else_runs():
    lines, found = steps.run_all([failing("build", children.StepFailed("no compiler"), needs_programs=False),
                                  passing("golden", {})], (), None, lambda line: None)
    assert [line["reason"] for line in lines] == ["no compiler", "the programs were not built"] and not found


def test_early_steps_leave_time_for_late_ones(monkeypatch):
    clock, limits = Clock(), {}
    monkeypatch.setattr(steps.time, "monotonic", clock.monotonic)

    plan = [spending(clock, limits, "build", 10), spending(clock, limits, "tests", 65),
            spending(clock, limits, "bench", 5, reserve=40), spending(clock, limits, "training", 0, reserve=30)]
    lines, _ = steps.run_all(plan, (), 100, lambda line: None)
    # 70 of the 100 s are reserved for the last two steps. The tests took more than their 20 s, so that bench has no time left.
    assert limits == {"build": 30, "tests": 20, "training": 25}
    assert [line["status"] for line in lines] == ["passed", "passed", "failed", "passed"]
    assert "--minutes" in lines[2]["reason"]


def test_build_and_tests_take_no_time_from_the_measurements(monkeypatch):
    clock, limits = Clock(7000), {}
    monkeypatch.setattr(steps.time, "monotonic", clock.monotonic)

    steps.run_all([spending(clock, limits, "build", 1000, limited=False), spending(clock, limits, "bench", 30),
                   spending(clock, limits, "tests", 500, limited=False), spending(clock, limits, "training", 1)], (), 100,
                  lambda line: None)
    assert limits == {"build": None, "bench": 100, "tests": None, "training": 70}
    setting = arguments.Setting("cuda", ROOT, False, ROOT, False, (), 1, 25, "python3")
    assert [step.name for step in cli.all_steps(setting) if not step.limited] == ["build", "tests"]
    setting.own_build = True  # nothing is compiled
    assert [step.name for step in cli.all_steps(setting) if not step.limited] == ["build"]


def test_a_command_is_shown_without_the_places_of_this_machine():
    words = ["env", "GRADCOMP_PRESET=cuda", "/here/run", "exec", "-n", "2", "--", "/here/build/bin/gradcomp-train", "--steps", "8",
             "--output", "/there/x.json"]
    assert children.shown(words) == "gradcomp-train --steps 8"
    assert children.shown([*words[:3], "build", "cuda"]) == "env GRADCOMP_PRESET=cuda run build cuda"


def test_a_short_time_limit_is_shared_like_a_long_one():
    for minutes, share in ((None, 1), (25, 1), (100, 1), (5, 0.2)):
        setting = arguments.Setting("cuda", ROOT, False, ROOT, False, (), 1, minutes, "python3")
        reserved = {step.name: step.reserve for step in cli.all_steps(setting)}
        assert reserved == {"build": 0, "tests": 0, "golden": 60 * share, "bench": 480 * share, "alternatives": 200 * share,
                            "models": 400 * share, "training": 240 * share}
        assert sum(reserved.values()) < 60 * (minutes or 25)


def test_a_command_ends_at_its_limit_with_all_that_it_started(tmp_path):
    mark = tmp_path / "mark"
    with pytest.raises(children.StepFailed, match="ended after 3 s"):
        children.run(["sh", "-c", f"(trap '' TERM; while :; do date +%N >> '{mark}'; sleep 0.1; done) & wait"],
                     tmp_path / "log", 3)
    time.sleep(0.5)  # a killed process may write once more
    last = mark.read_text(encoding="utf-8")
    time.sleep(0.5)
    assert last and mark.read_text(encoding="utf-8") == last


def test_a_failing_command_is_told_by_its_error(tmp_path):
    with pytest.raises(children.StepFailed, match=r"status 3 of .*: x: error: this went wrong$"):
        children.run(["sh", "-c", "echo begin; echo x: error: this went wrong >&2; echo end; exit 3"], tmp_path / "log")
    assert children.telling("it ended badly\n\0\n\0\0") == "it ended badly"
    with pytest.raises(children.StepFailed, match="cannot start no-such-program"):
        children.run(["no-such-program"], tmp_path / "log")


def test_a_training_in_which_a_method_diverged_has_its_line(tmp_path):
    program = tmp_path / "gradcomp-train"
    program.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    children.run([program, "--steps", 9], tmp_path / "log")
    rows = train_document({"source": "none", "devices": 0, "reason": "no library"})["benchmarks"]
    example_results.diverge(rows[4], 6)
    header, lines = sections.training_table(rows)
    assert lines[4][header.index("test accuracy")] == "diverged at step 6"


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
@pytest.mark.parametrize("quick", [True, False])
def test_bench_jobs_cover_every_case_once(quick):
    def listed(*words):
        done = subprocess.run([f"{BIN}/gradcomp-bench", "--list", *map(str, words)], capture_output=True, text=True, check=True)
        return [name for name in done.stdout.split() if re.match("read|copy|triad|sgemm|train_step|kernel/|pair/", name)]
    found = [name for _, words in measuring.bench_jobs(quick) for name in listed(*words)]
    assert {"read", "copy", "triad", "sgemm"} <= {name.split("/")[0] for name in found}
    found = [name for name in found if name.startswith(("kernel", "pair"))]
    assert len(found) == len(set(found))
    wanted = listed("--quick", "--filter", "^(kernel|pair)/")
    if not quick:
        wanted = ["pair/atomo/65536", *listed("--sizes", "65536,1048576,25500000,134217728", "--filter", "^pair/"),
                  *listed("--sizes", "1048576,25500000", "--filter", "^kernel/")]
    assert set(found) == {name for name in wanted if name.startswith(("kernel", "pair"))}


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
@pytest.mark.parametrize("quick", [True, False])
def test_the_programs_take_the_arguments_of_all_trainings(quick, tmp_path):
    jobs = measuring.training_jobs(quick)
    assert list(jobs) == ["train_resnet20", "train_lstm"]
    small = {"shapetex10": "shapetex10:train=64:test=16", "hmm": "hmm:tokens=20000:test=1000"}
    for name, words in jobs.items():
        shorter = [str(2 if before in ("--steps", "--block", "--batch", "--evaluate-every") else small.get(word, word))
                   for before, word in zip([None, *words], words, strict=False)]
        done = subprocess.run([f"{BIN}/gradcomp-train", *shorter, "--output", tmp_path / f"{name}.json"], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0, done.stderr
        document = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        assert [row["label"] for row in document["benchmarks"]][:3] == ["fp32", "fp16", "no_exchange"]
        options = document["context"]["gradcomp"]["options"]
        assert options["model"] == {"train_resnet20": "resnet20", "train_lstm": "lstm_1x96" if quick else "lstm_2x200"}[name]
    assert options["clip"] == 0.25 and options["momentum"] == 0 and options["lr"] == 1


GOOGLETEST = """
cases = ["One.Passes", "One.Fails", "One.Crashes", "Two.AlsoPasses/0", "Two.AlsoPasses/1", "Two.HangsForEver", "Two.Last"]
if "--gtest_list_tests" in sys.argv:
    print("Running main()\\nOne.\\n  Passes\\n  Fails\\n  Crashes\\n  DISABLED_Not\\nTwo.  # TypeParam = float\\n"
          "  AlsoPasses/0  # GetParam() = 1\\n  AlsoPasses/1  # GetParam() = 2\\n  HangsForEver\\n  Last")
    sys.exit()
chosen, failed = sys.argv[-1].removeprefix("--gtest_filter=").split(":"), False
for case in (one for one in cases if one in chosen):
    print(f"[ RUN      ] {case}", flush=True)
    if "Crashes" in case:
        os.abort()
    if "Hangs" in case:
        time.sleep(600)
    if "Fails" in case:
        failed = True
        print("x_test.cpp:7: Failure\\n  expected: 1\\n")
    print(f"[  FAILED  ] {case} (3 ms)" if "Fails" in case else f"[       OK ] {case} (2 ms)", flush=True)
print("skipped 2: no second GPU")
sys.exit(failed)
"""


def entry(name, *command, **known):
    """An entry of ctest's list."""
    return {"name": name, "command": [str(word) for word in command],
            "properties": [{"name": key, "value": value} for key, value in known.items()]}


def test_which_tests_are_of_the_device(build):
    program(build, "test_nn", "")
    own = build / "bin" / "test_nn"
    document = {"tests": [
        entry("a", own, "--gtest_brief=1", ENVIRONMENT=["OMP_NUM_THREADS=1", "X=a=b"], TIMEOUT=7.0),
        entry("b", "mpirun", "-n", 2, own, FAIL_REGULAR_EXPRESSION=["PASSED. 0"]), entry("c", "cmake", f"-DPROGRAM={own}"),
        entry("of a tool", "python3", "-m", "pytest"), entry("disabled", own, DISABLED=True),
        entry("compares two runs", own, FIXTURES_REQUIRED=["hashes"]), {"name": "not built", "properties": []}]}
    found, left_out = testing.read_tests(document, build)
    assert [test.name for test in found] == ["a", "b", "c"] and left_out == 4
    assert found[0].environment == {"OMP_NUM_THREADS": "1", "X": "a=b"} and found[0].seconds == 7
    assert [test.in_parts for test in found] == [True, False, False] and found[1].failing == ["PASSED. 0"]


def test_a_crash_takes_no_other_test_with_it(build, tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "PART_SECONDS", 5)
    program(build, "test_nn", GOOGLETEST)
    program(build, "mpirun", "print('PASSED 0 tests') or sys.exit('x: error: no peers' if 'bad' in sys.argv else 0)")
    mpirun, own = build / "bin" / "mpirun", build / "bin" / "test_nn"
    found, _ = testing.read_tests({"tests": [
        entry("nn", own, "--gtest_brief=1"), entry("ranks", mpirun, own), entry("bad", mpirun, "bad", own),
        entry("none", mpirun, own, FAIL_REGULAR_EXPRESSION=["PASSED 0"])]}, build)
    runner = testing.Runner(["env"], tmp_path, time.monotonic() + 60)
    results = {result.name: result for result in runner.run(found, 4)}
    failed = {name: result.reason for name, result in results.items() if result.status == "failed"}
    assert sorted(results) == sorted([*(f"nn: {case}" for case in (
        "One.Passes", "One.Fails", "One.Crashes", "Two.AlsoPasses/0", "Two.AlsoPasses/1", "Two.HangsForEver", "Two.Last")),
        "ranks", "bad", "none"])
    assert sorted(failed) == ["bad", "nn: One.Crashes", "nn: One.Fails", "nn: Two.HangsForEver", "none"]
    assert failed["nn: One.Fails"] == "x_test.cpp:7: Failure expected: 1" and failed["bad"] == "1: x: error: no peers"
    assert failed["nn: One.Crashes"].startswith("-6: ") and failed["nn: Two.HangsForEver"].startswith("timed out: ")
    assert results["nn: One.Crashes"].crashed == (str(own), "--gtest_filter=One.Crashes")
    assert not results["nn: Two.HangsForEver"].crashed and results["nn: Two.Last"].milliseconds == 2


def test_a_program_that_crashes_before_its_first_test_is_not_run_for_ever(build, tmp_path):
    program(build, "test_nn", GOOGLETEST.replace("for case in", "os.abort()\nfor case in"))
    found, _ = testing.read_tests({"tests": [entry("nn", build / "bin" / "test_nn")]}, build)
    results = testing.Runner(["env"], tmp_path, time.monotonic() + 60).run(found, 2)
    assert [result.name for result in results if result.status == "failed"] == ["nn: before its first test"]
    assert sum(result.status == "not run" for result in results) == 7


def test_tests_that_have_no_time_are_named(build, tmp_path):
    program(build, "test_nn", GOOGLETEST)
    own = build / "bin" / "test_nn"
    found, _ = testing.read_tests({"tests": [entry("nn", own), entry("ranks", "mpirun", own)]}, build)
    results = testing.Runner(["env"], tmp_path, time.monotonic() - 1).run(found, 2)
    assert {result.status for result in results} == {"not run"} and {result.name for result in results} >= {"ranks"}


def test_tests_of_a_build(tmp_path, build, monkeypatch):
    """A stand-in for ./run notes how it is called, lists the tests and runs them."""
    root, log = tmp_path / "root", tmp_path / "called"
    root.mkdir()
    program(build, "test_nn", GOOGLETEST.replace('"Crashes" in case', "False").replace('"Hangs" in case', "False"))
    listing = {"tests": [entry("nn", build / "bin" / "test_nn", "--gtest_brief=1"), entry("tool", "pytest")]}
    (root / "run").write_text(f"""#!/bin/sh
echo "$GRADCOMP_PRESET $*" >>"{log}"
case "$*" in
*ctest*) echo '{json.dumps(listing)}' ;;
exec*) shift 2; exec "$@" ;;
esac
""", encoding="utf-8")
    (root / "run").chmod(0o755)
    setting = arguments.Setting("hip", build, False, tmp_path, False, (), 1, None, "python3", root)
    setting.parts.mkdir()
    assert testing.build(setting, None) == {"folder": "build/hip", "made_here": True}
    with pytest.raises(steps.Partly, match="1 tests failed, 0 did not run, 6 passed") as failure:
        testing.tests(setting, None)
    found = failure.value.found
    assert found["failed"] == {"nn: One.Fails": "x_test.cpp:7: Failure expected: 1"} and found["left_out"] == 1
    assert found["skipped_inside"] == {"no second GPU": 2} and found["not_run"] == [] and found["sanitizer"] == {}
    called = log.read_text(encoding="utf-8").splitlines()
    assert called[:3] == ["hip build hip programs", "hip build hip", f"hip exec -- ctest --test-dir {build} --show-only=json-v1"]
    setting.own_build = True
    assert testing.build(setting, None) == {"folder": "build", "made_here": False}
    assert len(log.read_text(encoding="utf-8").splitlines()) == len(called), "a finished build is not built"


@pytest.mark.parametrize("preset, on_device", [("cuda", True), ("hip", True), ("openmp", False)])
def test_which_presets_are_of_a_device(preset, on_device):
    assert arguments.Setting(preset, ROOT, False, ROOT, False, (), 1, None, "python3").on_device == on_device


def test_a_kernel_job_that_fails_takes_no_other_with_it(tmp_path, build):
    program(build, "gradcomp-bench", f"""if '^kernel/' in ' '.join(sys.argv) and not '25500000' in ' '.join(sys.argv):
    sys.exit('gradcomp-bench: error: wrong answer')
{writes(bench_document())}""")
    setting = arguments.Setting("openmp", build, True, tmp_path, False, (), 1, None, "python3")
    setting.parts.mkdir()
    with pytest.raises(steps.Partly, match=r"^kernels_1048576: .*wrong answer$") as failure:
        measuring.bench(setting, None)
    assert set(failure.value.found) == {name for name, _ in measuring.bench_jobs(False)} - {"kernels_1048576"}
    assert (setting.parts / "kernels_25500000.json").exists()


@pytest.mark.parametrize("words, said", [
    (["--skip", "nonsense"], ["nonsense", "golden"]), (["--skip", ",".join(arguments.STEPS)], ["every step"]),
    (["--ranks", "0"], ["--ranks 0"]), (["--minutes", "-1"], ["--minutes -1"]), (["--minutes", "x"], ["--minutes"]),
    (["--nonsense"], ["--nonsense"]), (["--build", "no/such"], ["no/such"]), (["--python", "no-such"], ["no-such"])])
def test_wrong_calls(words, said):
    refused(TOOL, check(*words), *said)


def test_an_unknown_preset_is_refused(monkeypatch):
    monkeypatch.setenv("GRADCOMP_PRESET", "vax")
    refused(TOOL, check(), "GRADCOMP_PRESET=vax")


def test_an_output_that_cannot_be_written_is_refused(tmp_path, build):
    (tmp_path / "file").write_text("", encoding="utf-8")
    refused(TOOL, check("--build", build, "--output", tmp_path / "file" / "below"), str(tmp_path / "file"))


def test_a_limit_is_for_devices_alone(monkeypatch, build):
    for preset, minutes, ranks in (("openmp", None, 2), ("cuda", 25, 1)):
        monkeypatch.setenv("GRADCOMP_PRESET", preset)
        setting = arguments.parse(["--build", str(build)], ["openmp", "cuda"])
        assert (setting.minutes, setting.ranks) == (minutes, ranks)


def test_a_run_with_a_failing_step(tmp_path, build):
    program(build, "gradcomp-bench", writes(bench_document()))
    program(build, "gradcomp-train", "sys.exit('gradcomp-train: error: no such model')")
    output = tmp_path / "out"
    done = check("--build", build, "--output", output, "--quick", "--skip", "build,tests,golden,models", "--ranks", 1)
    assert done.returncode == 1 and done.stdout.endswith(f"{output / 'device.md'}\n")
    assert done.stdout.count("\n") == 1 and "[7/7] Training" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("device-check: error: training: train_resnet20: status 1") and "no such model" in last
    document = json.loads((output / "device.json").read_text(encoding="utf-8"))
    assert page.page(document) == (output / "device.md").read_text(encoding="utf-8")
    statuses = {step["name"]: step["status"] for step in document["steps"]}
    assert statuses == {"build": "left out", "tests": "left out", "golden": "left out", "bench": "passed",
                        "alternatives": "passed", "models": "left out", "training": "failed"}
    assert set(document["parts"]["bench"]) == {"kernels", "methods"}
    assert "times_ms" not in json.dumps(document["parts"]["bench"])
    assert "left_out" in document["parts"]["alternatives"]["cub"]


def test_payloads_that_differ_fail_their_step(tmp_path, build):
    kept = json.loads((ROOT / measuring.BASELINE).read_text(encoding="utf-8"))
    other = json.loads(json.dumps(kept))
    other["context"]["gradcomp"]["kokkos_backend"] = "Cuda"
    setting = arguments.Setting("openmp", build, True, tmp_path, True, (), 1, None, "python3")
    setting.parts.mkdir()
    program(build, "gradcomp-bench", writes(other))
    assert measuring.golden(setting, None)["changes"] == []
    other["benchmarks"][3]["payload_checksum"] = "12345678"
    program(build, "gradcomp-bench", writes(other))
    with pytest.raises(steps.Partly, match=re.escape(kept["benchmarks"][3]["name"])) as failure:
        measuring.golden(setting, None)
    assert [change["new"] for change in failure.value.found["changes"]] == ["12345678"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_that_looks_whole(tmp_path, build, number):
    mark, output = tmp_path / "mark", tmp_path / "out"
    output.mkdir()
    for name in ("device.json", "device.md"):
        (output / name).write_text("of an older run", encoding="utf-8")
    program(build, "gradcomp-bench", f"open({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    began = time.monotonic()
    interrupt(TOOL, ["--build", build, "--output", output, "--quick", "--skip", "build,tests,golden"], number, mark, tmp_path)
    assert time.monotonic() - began < 60
    assert [path.name for path in output.iterdir()] == ["parts"]


def test_torch_that_is_missing_is_said(tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('a test has taken it away')", encoding="utf-8")
    out = tmp_path / "out.json"
    children.run(["env", f"PYTHONPATH={tmp_path}", sys.executable, "-B", alternatives.PROGRAM, out, "cpu", 1, 512],
                 tmp_path / "log")
    found = json.loads(out.read_text(encoding="utf-8"))
    assert list(found) == ["left_out"] and "a test has taken it away" in found["left_out"]
