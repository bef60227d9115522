"""tools/gradcomp-history night, which a runner starts, and the templates for continuous integration that start it."""
import json
import os
import re
import shlex

import pytest

from compare_files import CASE, ROOT
from history_files import COUNTED, fake_programs, history, refused, repository

pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")
TEMPLATES = sorted((ROOT / "docs" / "ci").glob("*.yml"))


@pytest.fixture(name="night")
def make_night(tmp_path, monkeypatch):
    """night(number, factor, instructions) runs one night of a commit, with a build command that makes its program."""
    programs = fake_programs(tmp_path / "programs")
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    commits = repository(tmp_path / "source", [{"file": str(number)} for number in range(3)])

    def run(number, factor, instructions, *words):
        monkeypatch.setenv("FAKE_DATE", f"2025-01-0{number}T02:00:00+00:00")
        build = (f"mkdir -p '{tmp_path}/build' && cd '{tmp_path}/build' && cp '{programs}/gradcomp-bench' . && "
                 f"echo {commits[number - 1][:12]} >commit && echo '[{factor}, {instructions}]' >speed")
        return history("night", tmp_path / "history", "--repository", tmp_path / "source", "--build", build, "--timed",
                       tmp_path / "build", "--counted", tmp_path / "build", "--page", tmp_path / "page.html", *words)
    return run, commits


def kept(tmp_path, *commits):
    """Checks that only the programs of these commits are kept: those of the last good night and of the newest one. A fake
    program reads files beside it."""
    programs = tmp_path / "history" / "programs"
    assert sorted(path.name for path in programs.iterdir()) == sorted(commit[:12] for commit in commits)
    for name in ("speed", "commit"):
        (programs / commits[-1][:12] / name).write_bytes((tmp_path / "build" / name).read_bytes())


def test_nights_of_a_runner(tmp_path, night):
    run, commits = night
    done = run(1, 1.0, 500_000)
    assert done.returncode == 0 and "the first night" in done.stdout, done.stderr
    kept(tmp_path, commits[0])
    done = run(2, 1.3, 650_000)
    assert done.returncode == 1, done.stderr
    assert f"{COUNTED}: instructions 500000 -> 650000; since night 2025-01-02, commit {commits[1][:12]}" in done.stdout
    assert f"{CASE}: slower by" in done.stdout and "[30/30]" in done.stderr
    newest = sorted((tmp_path / "history").glob("*/verdict.json"))[-1]
    assert json.loads(newest.read_text(encoding="utf-8"))["in_turn"] and len(list((newest.parent / "control").iterdir())) == 20
    assert commits[1][:12] in (tmp_path / "page.html").read_text(encoding="utf-8")
    kept(tmp_path, commits[0], commits[1])
    assert history("accept", tmp_path / "history", commits[1], "--reason", "It was meant").returncode == 0
    done = run(3, 1.3, 650_000)
    assert done.returncode == 0 and "[30/30]" in done.stderr and f"against {newest.parent.name}" in done.stdout, done.stdout
    kept(tmp_path, commits[2])


def test_night_refuses(tmp_path, night):
    run, _ = night
    refused(run(1, 1.0, 1, "--processes", 9), "too few processes")
    done = history("night", tmp_path / "history", "--build", "echo 'x.cpp:1: error: no such thing'; false")
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].endswith("failed: status 1 of the build: x.cpp:1: error: no such thing")
    refused(run(1, 1.0, 1, "--page", tmp_path / "no" / "page.html"), "cannot write")
    assert not (tmp_path / "history").exists()


def scripts(value):
    """All lines of shell in a template."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("run", "script"):
                yield from ("\n".join(inner) if isinstance(inner, list) else inner).splitlines()
            else:
                yield from scripts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from scripts(inner)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_start_what_exists(path):
    yaml = pytest.importorskip("yaml")
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    lines = list(scripts(document))
    calls = [line for line in lines if "gradcomp-history" in line]
    assert calls, lines
    for line in calls:
        words = shlex.split(line.split("||")[0])
        assert words[:3] == ["./run", "exec", "--"] and (ROOT / words[3]).is_file()
        shown = history(words[4], "--help").stdout
        assert shown.startswith(f"usage: gradcomp-history {words[4]}")
        for word in words[5:]:
            assert not word.startswith("--") or re.search(rf"{word}\b", shown), f"{word} is no option of {words[4]}"
    text = path.read_text(encoding="utf-8")
    for word in ("self-hosted" if "github" in path.name else "tags:", "mkdir -p results && rm -f results/nightly.html"):
        assert word in text
    assert text.index("rm -f results/nightly.html") < text.index("./run exec"), "a night that fails has no page"
    assert re.search(r"concurrency:|resource_group:", text), "one night at a time"
    assert re.search(r'= 3 \]|exit_codes: \[?3', text), "inconclusive is a warning"


def test_both_templates_are_there():
    assert [path.name for path in TEMPLATES] == ["github-actions.yml", "gitlab-ci.yml"]
