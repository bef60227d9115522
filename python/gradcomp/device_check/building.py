"""The steps that build and test."""
import os
import re
import time
from xml.etree import ElementTree

from . import children
from .steps import Partly


def build(setting, limit):
    """Builds the programs of the preset without its tests: if a test does not compile, the rest can still be measured."""
    if setting.own_build:
        return {"folder": setting.build.name, "made_here": False}
    children.run(setting.run("build", setting.preset, "programs"), setting.parts / "build.log", limit)
    return {"folder": f"build/{setting.preset}", "made_here": True}


def read_junit(path):
    """The numbers that ctest reports."""
    suite = ElementTree.parse(path).getroot()
    failed = [case.get("name") for case in suite.iter("testcase") if case.get("status") == "fail"]
    left_out = int(suite.get("disabled", 0)) + int(suite.get("skipped", 0))
    return {"run": int(suite.get("tests", 0)) - left_out, "failed": failed, "skipped": left_out}


def read_skips(path):
    """{reason: number} of the test cases that skipped themselves in tests that passed."""
    found = {}
    for count, reason in re.findall(r"^skipped (\d+): (.*)$", path.read_text(encoding="utf-8", errors="replace"), re.M):
        found[reason] = found.get(reason, 0) + int(count)
    return found


def tests(setting, limit):
    """Runs every test of the build."""
    log, junit, began = setting.parts / "tests.log", setting.parts / "tests.xml", time.monotonic()
    if not setting.own_build:
        children.run(setting.run("build", setting.preset), setting.parts / "build_tests.log", limit)
    cores = str(len(os.sched_getaffinity(0)))
    junit.unlink(missing_ok=True)
    words = setting.run("exec", "--", "ctest", "--test-dir", setting.build, "--output-on-failure", "--output-junit", junit)
    # ctest knows how many processors a test takes; tests set their own number of threads.
    left = None if limit is None else limit - (time.monotonic() - began)
    children.run(words, log, left, {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false",
                                     "CTEST_PARALLEL_LEVEL": os.environ.get("CTEST_PARALLEL_LEVEL", cores)}, (0, 8))
    found = read_junit(junit)
    last = setting.build / "Testing" / "Temporary" / "LastTest.log"
    found["skipped_inside"] = read_skips(last) if last.exists() else {}
    if found["failed"]:
        raise Partly(f"{len(found['failed'])} of {found['run']} tests failed: {', '.join(found['failed'][:10])}", found)
    if not found["run"]:
        raise children.StepFailed(f"'{setting.build}' has no tests")
    return found
