"""tools/gradcomp-compare when it runs builds itself: in turn, for baselines, interrupted. The builds are fakes."""
import json
import pathlib
import signal

import pytest

from compare_files import CASE, TOOL, compare, fake_bench, refused
from tool_process import interrupt

pytest.importorskip("scipy.stats")
TESTS = pathlib.Path(__file__).resolve().parent
CLASS = "a-fabricated-1-threads-openmp"


def test_interleave(tmp_path):
    builds = [fake_bench(tmp_path, "old", TESTS), fake_bench(tmp_path, "new", TESTS)]
    done = compare("--interleave", *builds, "--bench-args", "--quick", "--keep", tmp_path / "kept",
                   "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stdout + done.stderr
    runs = [line.split() for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines()]
    assert [words[0] for words in runs].count("old") == 20 and [words[0] for words in runs].count("new") == 10
    assert all(words[1] == "--quick" for words in runs)
    for start in range(0, 30, 3):
        assert sorted(words[0] for words in runs[start:start + 3]) == ["new", "old", "old"], "once a round"
    orders = {tuple(words[0] for words in runs[start:start + 3]) for start in range(0, 30, 3)}
    assert len(orders) > 1, "in random order"
    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert len(names) == 30 and [sum(label in name for name in names) for label in ("_A1", "_A2", "_B")] == [10, 10, 10]
    made = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    of_a = [process["file"] for process in made["baseline"]["processes"]]
    assert all("_A1" in of_a[index] for index in made["baseline"]["control"][0])
    assert all("_A2" in of_a[index] for index in made["baseline"]["control"][1])
    assert {path.name for path in tmp_path.iterdir()} == {"old", "new", "log", "kept", "out.json"}


def test_interleave_finds_an_injected_slow_down(tmp_path):
    builds = [fake_bench(tmp_path, "old", TESTS), fake_bench(tmp_path, "new", TESTS, slow={CASE: 1.15})]
    done = compare("--interleave", builds[0] / "bin" / "gradcomp-bench", builds[1] / "bin")
    assert done.returncode == 1 and "1 REGRESSION, 3 ok" in done.stdout, done.stdout + done.stderr


def test_interleave_refuses(tmp_path):
    old = fake_bench(tmp_path, "old", TESTS)
    other = fake_bench(tmp_path, "other", TESTS, context={"compiler": "Clang 1"})
    refused(compare("--interleave", old, tmp_path / "nowhere"), "no gradcomp-bench in")
    refused(compare("--interleave", old, old, "--processes", 9), "too few processes")
    for option in ("--output=x", "--list", "--help", "--version"):
        refused(compare("--interleave", old, old, "--bench-args", option), f"{option} is not allowed: the gate sets it itself")
    broken = tmp_path / "broken" / "gradcomp-bench"
    broken.parent.mkdir()
    broken.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    broken.chmod(0o755)
    assert compare("--interleave", broken, broken).stderr.endswith(
        f"gradcomp-compare: error: cannot start '{broken}': No such file or directory\n")
    assert not (tmp_path / "log").exists(), "refused before anything runs"
    done = compare("--interleave", old, other)
    assert done.returncode == 2 and "compiler" in done.stderr
    assert len((tmp_path / "log").read_text(encoding="utf-8").splitlines()) <= 3, "refused as soon as both have run"
    done = compare("--interleave", old, old, "--bench-args", "--fail", "--json", tmp_path / "out.json")
    assert done.returncode == 2 and "status 1 of" in done.stderr and "fake: error: asked to" in done.stderr
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("mode", ["interleave", "refresh"])
def test_interrupted_leaves_nothing(tmp_path, mode, number):
    build, temporary = fake_bench(tmp_path, "old", TESTS), tmp_path / "temporary"
    temporary.mkdir()
    outputs = ["--json", tmp_path / "out.json", "--keep", tmp_path / "kept"]
    arguments = {"interleave": ["--interleave", build, build, *outputs],
                 "refresh": ["--refresh", tmp_path / CLASS, build]}[mode]
    interrupt(TOOL, [*arguments, "--bench-args", "--hang"], number, tmp_path / "log.pid", temporary)
    assert {path.name for path in tmp_path.iterdir()} == {"old", "temporary", "log", "log.pid"}
    assert not list(temporary.iterdir())


def test_refresh_and_compare_with_the_baseline(tmp_path):
    folder = tmp_path / "docs" / "baselines" / CLASS
    build = fake_bench(tmp_path, "old", TESTS)
    refused_name = compare("--refresh", folder.parent / "wrong", "--processes", 10, "--", build)
    assert refused_name.returncode == 2 and f"class '{CLASS}'" in refused_name.stderr and not folder.parent.exists()
    for processes in (12, 20):
        done = compare("--refresh", folder, "--processes", processes, "--", build)
        assert done.returncode == 0 and done.stdout.strip() == str(folder), done.stderr
        assert len(list(folder.iterdir())) == processes
    assert "times_ms" not in (folder / "001.json").read_text(encoding="utf-8")
    assert [path.name for path in folder.parent.iterdir()] == [CLASS], "nothing is left beside it"
    new = fake_bench(tmp_path, "new", TESTS, slow={CASE: 1.2}, date="2025-01-02T00:00:00+00:00")
    assert compare("--interleave", new, new, "--keep", tmp_path / "kept").returncode == 0
    done = compare(folder, tmp_path / "kept")
    assert done.returncode == 1 and "x read" in done.stdout, done.stdout + done.stderr
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = compare("--refresh", folder, "--bench-args", "--fail", "--", build)
    assert done.returncode == 2 and {path: path.read_bytes() for path in folder.iterdir()} == before
    (folder / "README.md").write_text("mine", encoding="utf-8")
    refused(compare("--refresh", folder, "--", build), "not a folder that holds only result files")
