"""The steps that build and test. A fault of a device ends the whole process, so programs of GoogleTest run in parts, side by
side, and what stands behind a test that crashed runs again without it."""
import concurrent.futures
import dataclasses
import itertools
import os
import pathlib
import random
import re
import time

from gradcomp.json_files import read_json

from . import children
from .steps import Partly

PART = 32  # tests of one process; on a GPU it takes about a second to start one
PART_SECONDS = 300
SANITIZED, SANITIZER_SECONDS = 6, 60  # crashed tests that compute-sanitizer looks at, and the time of each
BEGAN = re.compile(r"^\[ RUN      \] (\S+)$", re.M)
ENDED = re.compile(r"^\[\s*(OK|FAILED|SKIPPED)\s*\] ([^\s,]+)(?:,.*)? \((\d+) ms\)$", re.M)
SKIPPED = re.compile(r"^skipped (\d+): (.*)$", re.M)


def build(setting, limit):
    """Builds the programs of the preset without its tests: if a test does not compile, the rest can still be measured."""
    if setting.own_build:
        return {"folder": setting.build.name, "made_here": False}
    children.run(setting.run("build", setting.preset, "programs"), setting.parts / "build.log", limit)
    return {"folder": f"build/{setting.preset}", "made_here": True}


@dataclasses.dataclass(frozen=True)
class Test:
    """An entry of ctest. `failing`: regular expressions of an output that means failure."""

    name: str
    command: list
    environment: dict
    seconds: float
    failing: list

    @property
    def in_parts(self):
        """Whether the command is a program of GoogleTest, without mpirun or the like before it."""
        return pathlib.Path(self.command[0]).name.startswith("test_") and not self.failing


@dataclasses.dataclass(frozen=True)
class Result:
    """What became of a test: `passed`, `failed` or `not run`."""

    name: str
    status: str
    reason: str = ""
    milliseconds: int = 0
    crashed: tuple = ()  # the words that run this test alone


def read_tests(document, build):
    """The tests that run a program of the build, from what `ctest --show-only=json-v1` prints, and the number of those that are
    left out: disabled ones, comparisons of two runs, and tests of tools."""
    def runs_a_program(command):
        paths = (pathlib.Path(word.rpartition("=")[2]) for word in command)
        return any(path.is_absolute() and build in path.parents and path.is_file() and os.access(path, os.X_OK) for path in paths)

    found = []
    for entry in document["tests"]:
        known = {one["name"]: one["value"] for one in entry.get("properties", ())}
        if runs_a_program(entry.get("command", ())) and not known.get("DISABLED") and "FIXTURES_REQUIRED" not in known:
            environment = dict(word.split("=", 1) for word in known.get("ENVIRONMENT", ()))
            found.append(Test(entry["name"], entry["command"], environment, known.get("TIMEOUT", 600),
                              known.get("FAIL_REGULAR_EXPRESSION", [])))
    return found, len(document["tests"]) - len(found)


def listed(text):
    """The tests that `--gtest_list_tests` prints."""
    names, suite = [], ""
    for line in text.splitlines():
        word = line.split("#")[0].strip()
        if line.startswith("  ") and suite:
            names.append(suite + word)
        else:
            suite = word if word.endswith(".") else ""
    return [name for name in names if "DISABLED_" not in name]


class Runner:
    """Runs tests until the time is over. `start`: the words before a command; `logs`: the folder of all outputs."""

    def __init__(self, start, logs, deadline):
        self.start, self.logs, self.deadline, self.numbers = start, logs, deadline, itertools.count(1)

    def process(self, test, words, seconds, log=None):
        """(exit status, output) of the words. The status is "timed out" at the limit, and None where all time is over."""
        seconds = min(seconds, self.deadline - time.monotonic())
        if seconds <= 0:
            return None, ""
        path = self.logs / f"{log or test.name}.{next(self.numbers)}.log"
        status = children.status([*self.start, *words], path, seconds, test.environment)
        if status == children.TIMED_OUT and time.monotonic() >= self.deadline:
            status = None
        return status, path.read_text(encoding="utf-8", errors="replace")

    def whole(self, test):
        """One entry of ctest, judged by its exit status."""
        status, text = self.process(test, test.command, test.seconds)
        if status is None:
            return [Result(test.name, "not run")]
        if status != 0 or any(re.search(pattern, text) for pattern in test.failing):
            return [Result(test.name, "failed", f"{status}: {children.telling(text)}")]
        return [Result(test.name, "passed")]

    def parts(self, test):
        """[(test, the names of some of its cases)]."""
        words = [word for word in test.command if not word.startswith("--gtest_brief")]
        _, text = self.process(test, [*words, "--gtest_list_tests"], PART_SECONDS, f"{test.name}.list")
        names = listed(text)
        random.Random(1).shuffle(names)  # those that a time limit leaves out are a sample of all
        count = -(-len(names) // PART)
        return [(test, names[first::count]) for first in range(count)] or [(test, ["*"])]

    def part(self, test, names):
        """Some cases of a program; behind a crash, those that are left."""
        found, alone = [], [word for word in test.command if not word.startswith("--gtest_")]
        while names:
            status, text = self.process(test, [*alone, "--gtest_filter=" + ":".join(names)], PART_SECONDS)
            ended = {case: (result, int(taken)) for result, case, taken in ENDED.findall(text)}
            last = (BEGAN.findall(text) or ["before its first test"])[-1]
            for case, (result, taken) in ended.items():
                said = text.partition(f"[ RUN      ] {case}\n")[2].partition("\n[  FAILED  ]")[0]
                found.append(Result(f"{test.name}: {case}", "failed" if result == "FAILED" else "passed",
                                    " ".join(said.split())[:400] if result == "FAILED" else "", taken))
            if status is None:
                return found + [Result(f"{test.name}: {case}", "not run") for case in names if case not in ended]
            names = [case for case in names if case not in ended and case != last]
            if last not in ended or names or (status != 0 and not any(result == "FAILED" for result, _ in ended.values())):
                found.append(Result(f"{test.name}: {last}", "failed", f"{status}: {children.telling(text)}",
                                    crashed=() if status == "timed out" else (*alone, f"--gtest_filter={last}")))
            if not ended and last == "before its first test":
                return found + [Result(f"{test.name}: {case}", "not run") for case in names]
        return found

    def run(self, tests, workers):
        """The results of all tests. Jobs of several ranks run beside `workers` parts of single programs."""
        with (concurrent.futures.ThreadPoolExecutor(workers) as single,
              concurrent.futures.ThreadPoolExecutor(max(1, workers // 4)) as several):
            try:
                jobs = [several.submit(self.whole, test) for test in tests if not test.in_parts]
                parts = list(single.map(self.parts, [test for test in tests if test.in_parts]))
                turns = itertools.chain.from_iterable(itertools.zip_longest(*parts))  # a part of each program, and so on
                jobs += [single.submit(self.part, *part) for part in turns if part]
                return list(itertools.chain.from_iterable(job.result() for job in jobs))
            except BaseException:  # an interrupt, which only this thread sees
                self.deadline = 0
                children.end_all()
                raise

    def sanitize(self, results):
        """{test: what compute-sanitizer says of it} of the first tests that crashed."""
        found = {}
        for result in [one for one in results if one.crashed][:SANITIZED]:
            words = ["compute-sanitizer", "--tool", "memcheck", "--print-limit", "3", *result.crashed]
            status, text = self.process(Test("sanitizer", [], {}, 0, []), words, SANITIZER_SECONDS)
            if status is not None:
                said = [line.strip("= ") for line in text.splitlines() if line.startswith("========= ")]
                found[result.name] = "; ".join(said[1:8])[:600] or f"status {status}"
        return found


def tests(setting, limit):
    """Runs every test of the build that runs one of its programs. Throws Partly if one fails or has no time."""
    began, logs = time.monotonic(), setting.parts / "tests"
    if not setting.own_build:
        children.run(setting.run("build", setting.preset), setting.parts / "build_tests.log", limit)
    logs.mkdir(exist_ok=True)
    start, listing = setting.run("exec", "--"), setting.parts / "tests.json"
    children.run([*start, "ctest", "--test-dir", setting.build, "--show-only=json-v1"], listing, 60)
    chosen, left_out = read_tests(read_json(listing), setting.build.resolve())
    if not chosen:
        raise children.StepFailed(f"'{setting.build}' has no tests")
    runner = Runner(start, logs, float("inf") if limit is None else began + limit)
    # Processes take turns on a GPU: with many of them, each waits milliseconds for every kernel. Under NVIDIA's MPS they share it.
    turns = setting.on_device and "CUDA_MPS_PIPE_DIRECTORY" not in os.environ
    results = runner.run(chosen, 2 if turns else min(16, len(os.sched_getaffinity(0))))
    skips: dict = {}
    for count, reason in SKIPPED.findall("".join(path.read_text(encoding="utf-8", errors="replace") for path in logs.iterdir())):
        skips[reason] = skips.get(reason, 0) + int(count)

    def of(status):
        return sorted((one for one in results if one.status == status), key=lambda one: one.name)
    found = {"passed": len(of("passed")), "failed": {one.name: one.reason for one in of("failed")},
             "not_run": [one.name for one in of("not run")], "left_out": left_out, "skipped_inside": skips,
             "sanitizer": runner.sanitize(results) if setting.preset == "cuda" else {},
             "slowest_ms": {one.name: one.milliseconds for one in sorted(results, key=lambda one: -one.milliseconds)[:20]}}
    if found["failed"] or found["not_run"]:
        raise Partly(f"{len(found['failed'])} tests failed, {len(found['not_run'])} did not run, {found['passed']} passed", found)
    return found
