"""tools/gradcomp-history bisect: finds the commit with few builds, skips what does not build, cleans up when interrupted."""
import json
import os
import signal
import types

import pytest

from compare_files import CASE
from history_files import COUNTED, TOOL, fake_programs, git, history, refused, repository, write_counts, write_times
from tool_process import interrupt

pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")
from gradcomp.errors import ToolError
from gradcomp.history import nights, trials
from gradcomp.history.search import search

COMMITS = 17  # the first one is good, so that 16 are suspected
# A build is the fake gradcomp-bench with the file `speed` of its commit. It appends a line to a log.
BUILD = r"""
echo "$(git rev-parse HEAD)" >>"{log}"
if grep -q broken speed; then echo 'error: it does not compile' >&2; exit 1; fi
if grep -q hang speed; then echo $$ >"{log}.pid"; sleep 60; fi
mkdir -p out && cp "{programs}/gradcomp-bench" speed out && git rev-parse HEAD >out/commit
"""


@pytest.fixture(name="bed")
def make_bed(tmp_path, monkeypatch):
    """A folder whose history has nights of the first and the last commit. `slow_from` and `broken`: numbers of commits."""
    programs = fake_programs(tmp_path / "programs")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    def make(slow_from, broken=(), hang=(), times=False):
        speeds = ["broken" if number in broken else "hang" if number in hang else
                  "[1.3, 650000]" if number >= slow_from else "[1.0, 500000]" for number in range(1, COMMITS + 1)]
        commits = repository(tmp_path / "source", [{"speed": speed, "number": str(number)}
                                                   for number, speed in enumerate(speeds)])
        for day, commit, factor, instructions in ((1, commits[0], 1.0, 500_000), (2, commits[-1], 1.3, 650_000)):
            records = [write_times(tmp_path / str(day), commit[:12], day, slow={CASE: factor})] if times else []
            records.append(write_counts(tmp_path / f"{day}.json", commit[:12], day, instructions))
            assert history("add", tmp_path / "history", *records).returncode == 0
        return commits
    return make


def arguments(tmp_path, case=COUNTED):
    """The arguments of a bisection."""
    build = BUILD.format(log=tmp_path / "log", programs=tmp_path / "programs")
    return ["bisect", tmp_path / "history", "--case", case, "--repository", tmp_path / "source", "--build", build,
            "--program", "out"]


def builds(tmp_path):
    """The commits in the order in which they were built."""
    return (tmp_path / "log").read_text(encoding="utf-8").split()


def clean(tmp_path):
    """Checks that no work tree is left and that the repository has not changed."""
    assert len(git(tmp_path / "source", "worktree", "list").splitlines()) == 1
    assert git(tmp_path / "source", "branch", "--show-current") == "main"
    return git(tmp_path / "source", "status", "--porcelain") == ""


@pytest.mark.parametrize("first", [2, 11, 17])
def test_by_instructions_among_sixteen(tmp_path, bed, first):
    commits = bed(first, times=first == 11)
    done = history(*arguments(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{COUNTED} is slower since commit {commits[first - 1][:12]}: Change number {first}\n"
    assert len(builds(tmp_path)) <= 2 + 4 and builds(tmp_path)[:2] == [commits[0], commits[-1]]
    assert clean(tmp_path)
    done = history("check", tmp_path / "history", "--repository", tmp_path / "source")
    lines = [line for line in done.stdout.splitlines() if line.startswith((COUNTED, CASE))]
    assert done.returncode == 1 and len(lines) == (2 if first == 11 else 1)
    for line in lines:
        assert line.endswith(f"commit {commits[first - 1][:12]}: Change number {first} (bisected by {COUNTED}).")


def test_by_times_in_turn_with_the_good_commit(tmp_path, bed):
    commits = bed(9, times=True)
    done = history(*arguments(tmp_path, CASE), "--good", commits[7], "--bad", commits[9])
    assert done.returncode == 0, done.stderr
    assert f"slower since commit {commits[8][:12]}: Change number 9" in done.stdout and "by times" in done.stderr
    assert builds(tmp_path) == [commits[7], commits[9], commits[8]] and clean(tmp_path)
    done = history("page", tmp_path / "history", "--output", tmp_path / "page.html", "--repository", tmp_path / "source")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"commit {commits[8][:12]}: Change number 9 (bisected by {CASE})" in text and "2 commits tried" in text


def test_commits_that_do_not_build_are_skipped(tmp_path, bed):
    commits = bed(12, broken=(9, 10))
    done = history(*arguments(tmp_path))
    assert done.returncode == 0, done.stderr
    assert f"since commit {commits[11][:12]}: Change number 12" in done.stdout
    assert "skipped: status 1 of the build: error: it does not compile" in done.stderr and clean(tmp_path)


def test_what_cannot_be_told_is_a_range(tmp_path, bed):
    commits = bed(12, broken=(11,))
    done = history(*arguments(tmp_path))
    assert done.returncode == 3
    assert done.stdout == (f"{COUNTED} is slower since one of 2 commits, all but the last of which could not be tested: "
                           f"{commits[10][:12]}, {commits[11][:12]}\n")
    assert clean(tmp_path)


def test_a_good_end_and_wrong_words(tmp_path, bed):
    commits = bed(12)
    done = history(*arguments(tmp_path), "--good", commits[0], "--bad", commits[5])
    assert done.returncode == 3 and f"{commits[5][:12]} is not slower than {commits[0][:12]}" in done.stdout
    refused(history(*arguments(tmp_path), "--good", commits[0]), "--good and --bad belong together")
    refused(history(*arguments(tmp_path, "compress/qsgd/16384")), "has no open regression", COUNTED)
    refused(history(*arguments(tmp_path), "--good", commits[5], "--bad", commits[2]), "is not among the ancestors")
    refused(history(*arguments(tmp_path), "--good", "0" * 40, "--bad", commits[2]), "git")
    words = arguments(tmp_path)
    place = words.index("--build") + 1
    words[place] = "git checkout -q main~3; " + words[place]
    done = history(*words)
    assert done.returncode == 2 and "calls itself" in done.stderr and clean(tmp_path)


def test_the_arguments_measure_one_case_as_the_night_did(tmp_path):
    options = {"samples": 30, "seed": 7, "residual": 0, "cache": "cold", "threads": 2}
    for path, cases in ((tmp_path / nights.COUNTS, ["compress/top_k/16384"]),
                        (tmp_path / nights.TIMES / "001.json", ["pair/top_k:ratio=0.1/1024", "kernel/select/1024", "read/4096"])):
        path.parent.mkdir(exist_ok=True)
        rows = [{"name": case, "elements": int(case.rsplit("/", 1)[1])} for case in cases]
        path.write_text(json.dumps({"benchmarks": rows, "context": {"gradcomp": {"options": options}}}), encoding="utf-8")
    night, rest = types.SimpleNamespace(folder=tmp_path, name="n1"), ["--samples", "30", "--seed", "7", "--cache", "cold"]
    assert trials.bench_arguments(night, "compress/top_k/16384", trials.INSTRUCTIONS) == [
        "--sizes", "16384", "--filter", "^compress/top_k/16384$", "--methods", "top_k", *rest]
    assert trials.bench_arguments(night, "pair/top_k:ratio=0.1/1024", trials.TIMES) == [
        "--sizes", "1024", "--filter", r"^pair/top_k:ratio=0\.1/1024$", "--methods", "top_k:ratio=0.1", *rest]
    for case in ("kernel/select/1024", "read/4096"):
        assert "--methods" not in trials.bench_arguments(night, case, trials.TIMES)
    with pytest.raises(ToolError, match=r"night n1 has no case 'x'; it has kernel/select/1024, pair/top_k:ratio=0\.1/1024, read/4096$"):
        trials.bench_arguments(night, "x", trials.TIMES)
    (tmp_path / nights.COUNTS).unlink()
    with pytest.raises(ToolError, match="night n1 has no instructions; choose the other one with --by"):
        trials.bench_arguments(night, "x", trials.INSTRUCTIONS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_leaves_nothing(tmp_path, bed, number):
    commits = bed(12, hang=(9,))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    interrupt(TOOL, arguments(tmp_path), number, tmp_path / "log.pid", temporary)
    assert builds(tmp_path) == [commits[0], commits[-1], commits[8]]
    assert clean(tmp_path) and list(temporary.iterdir()) == [] and not (tmp_path / "history" / "bisections").exists()


@pytest.mark.parametrize("count", [1, 2, 3, 16, 17, 100])
def test_search_finds_every_place(count):
    for first in range(count):
        asked = []
        assert search(count, lambda place: asked.append(place) or place >= first) == [first]
        assert len(asked) <= (count - 1).bit_length() and count - 1 not in asked


def test_search_around_what_cannot_be_tested():
    for first in range(10):
        for broken in range(9):
            found = search(10, lambda place: None if place == broken else place >= first)
            assert first in found and len(found) == (2 if broken + 1 == first or broken == first else 1), (first, broken)
    assert search(4, lambda _: None) == [0, 1, 2, 3]
