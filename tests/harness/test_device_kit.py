"""tools/device-kit: its refusals, and the scripts of the kit. Making a kit compiles for an hour, so no test does it."""
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "device-kit"
ITEMS = sorted((ROOT / "tools" / "device-kit.d" / "items").iterdir())


def run(*words, **options):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("words, said", [
    ([], "--prefix DIR or --host"), (["--prefix"], "--prefix needs a folder"), (["--prefix", "no/such"], "'no/such'"),
    (["--prefix", "x", "--host"], "not both"), (["--nonsense"], "'--nonsense'")])
def test_wrong_calls_are_one_line(words, said):
    done = run(TOOL, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and said in done.stderr and done.stderr.startswith("device-kit: error: ")


def test_help_names_every_item():
    said = run(TOOL, "--help").stdout
    names = re.search(r"NAME is one of ([\w, ]+);", said).group(1).split(", ")
    assert names == [path.name for path in sorted(ITEMS, key=lambda path: names.index(path.name))]


@pytest.mark.parametrize("path", ITEMS, ids=lambda path: path.name)
def test_items_say_their_limit_and_are_scripts(path):
    assert re.match(r"# at most [1-9]\d* s\n# [A-Z]", path.read_text(encoding="utf-8"))
    assert run("bash", "-n", path).returncode == 0


def test_an_item_outside_of_its_place_is_refused(tmp_path):
    run("cp", "-r", f"{ROOT}/tools/device-kit.d/.", tmp_path)
    done = run(tmp_path / "item", "tests", tmp_path / "results")
    assert done.returncode == 2 and "must lie in /tmp/gradcomp-kit" in done.stderr
    done = run(tmp_path / "item", "nonsense", tmp_path / "results")
    assert done.returncode == 2 and "NAME: kernels tests training" in done.stderr
