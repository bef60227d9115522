"""./run results makes every page in order and says what each costs. If one fails, the others are made anyway."""
import json
import os
import pathlib
import re
import subprocess

import pytest

import page_files
import tool_process

pytest.importorskip("matplotlib")
from gradcomp.pages import results
from gradcomp.results import records

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(name="folder")
def fixture_folder(tmp_path, monkeypatch):
    """A folder with two pages of toys that replaces the repository."""
    monkeypatch.setenv("PATH", str(page_files.programs(tmp_path, "fake-bench")), prepend=":")
    for module in (results.frame, records):
        monkeypatch.setattr(module, "ROOT", tmp_path)

    class Other(page_files.Toy):
        """Another such page."""

        name, tool = "other", "other_page"
    pages = (page_files.Toy(tmp_path), Other(tmp_path))
    monkeypatch.setattr(results, "HOURS", dict.fromkeys(pages, 1.5))
    monkeypatch.setattr(results, "PAGES", {page.name: page for page in pages})
    return tmp_path


def call(*arguments):
    return tool_process.call(results.main, "results", *arguments)


def test_run_knows_the_pages():
    assert re.search(r"\npages=\((.*)\)\n", (ROOT / "run").read_text(encoding="utf-8")).group(1).split() == list(results.PAGES)
    for page in results.PAGES.values():
        assert (ROOT / "tools" / page.tool).is_file()


def tables_of_speeds():
    """{(page, heading): the lines of the table} of all published sections that are headed *throughput only*."""
    found = {}
    for page in sorted((ROOT / "docs/results").rglob("*.md")):
        for part in page.read_text(encoding="utf-8").split("\n## ")[1:]:
            heading, *lines = part.splitlines()
            if heading.endswith("throughput only"):
                found[page.name, heading] = [line for line in lines if line.startswith("|")]
    return found


def test_published_tables_of_speeds_without_a_training_show_the_error():
    found = tables_of_speeds()
    assert {page for page, _ in found} == {"exchange.md", "kernels.md", "links.md", "quantisers.md", "sparsifiers.md", "traffic.md"}
    assert [where for where, lines in found.items() if not any("NMSE" in line for line in lines)] == []


def test_run_says_the_cost_of_a_page():
    environment = os.environ | {"GRADCOMP_TOOLCHAIN_ACTIVE": os.environ.get("GRADCOMP_TOOLCHAIN_ACTIVE", "debian")}
    environment = {key: value for key, value in environment.items() if not key.startswith("OMP_")}
    done = subprocess.run([ROOT / "run", "results", "--cost", "steps"], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert re.match(r"steps +[\d.]+ h from scratch; \d of 2 records are there", done.stdout)


def test_the_guide_says_what_all_pages_cost():
    hours = sum(results.cost(page)[0] for page in results.PAGES.values())
    assert f"all pages together take about {hours:.0f} hours on two cores" in (ROOT / "docs/measuring.md").read_text(encoding="utf-8")


def test_all_pages_are_made_and_nothing_twice(folder):
    (folder / "fail").touch()
    done = call()
    assert done.returncode == 1 and done.stderr.endswith("results: error: not made: toy, other; see above\n")
    assert len(page_files.asked(folder)) == 4 and "toy               1.50 h from scratch; 0 of 2 records" in done.stdout
    assert "all               3.00 h" in done.stdout
    (folder / "fail").unlink()
    assert call("other").returncode == 0 and len(page_files.asked(folder)) == 1
    assert call().returncode == 0 and len(page_files.asked(folder)) == 1
    done = call()
    assert done.returncode == 0 and page_files.asked(folder) == [] and "2 of 2 records are there" in done.stdout
    pages = {path: path.read_text(encoding="utf-8") for path in (folder / "docs/results").glob("*.md")}
    assert {path.stem for path in pages} == {"toy", "other"}
    for path in pages:
        path.unlink()
    (folder / "bin" / "fake-bench").unlink()
    assert call("--page").returncode == 0
    assert {path: path.read_text(encoding="utf-8") for path in pages} == pages


def test_costs_are_those_of_the_records(folder):
    call("toy")
    for path in (folder / "docs/results/records/toy").iterdir():
        known = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(known | {"seconds": 3600}), encoding="utf-8")
    page_files.asked(folder)
    done = call("--cost")
    assert done.returncode == 0 and page_files.asked(folder) == []
    assert "toy               2.00 h from scratch; 2 of 2 records are there, made in 2.00 h" in done.stdout
    assert "other             1.50 h from scratch; 0 of 2 records are there, made in 0.00 h" in done.stdout
    assert "all               3.50 h" in done.stdout
    rows = [{"name": "fp32", "trials": 6, "tuning_s": 7200}]
    path.write_text(json.dumps(known | {"seconds": 3600, "benchmarks": rows}), encoding="utf-8")
    assert "toy               3.00 h from scratch" in call("--cost").stdout, "a rate may be tuned in several calls"


@pytest.mark.parametrize("arguments", [["nonsense"], ["--nonsense"]])
def test_a_wrong_call_is_one_line(folder, arguments):
    done = call(*arguments)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stderr.startswith("results: error: ")
