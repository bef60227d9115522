"""Every page of docs/results is what its records give, since no figure of it was typed, and begins with its answer."""
import pathlib
import subprocess

import pytest

import tool_process

pytest.importorskip("matplotlib")
from gradcomp.pages import frame, results

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_WORDS = 120
PUBLISHED = {name: page for name, page in results.PAGES.items()
             if (ROOT / page.home / f"{name}.md").exists() or (ROOT / "docs/results/records" / name).exists()}


def test_only_a_page_that_has_not_been_measured_is_missing():
    """The only one; this list becomes empty with its records."""
    assert set(results.PAGES) - set(PUBLISHED) <= {"peers"}


def history():
    """Whether git knows the commits of records, which a page compares if there are several."""
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True, check=False)
    return done.stdout.strip() == "false"


@pytest.mark.skipif(not history(), reason="git has no history here")
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_page_follows_from_its_records(name, tmp_path):
    page = results.PAGES[name]
    made = tmp_path / "results" / f"{name}.md"
    words = ["--page", "--output", made] + (["--images", tmp_path / "images"] if page.images else [])
    done = tool_process.call(lambda: frame.main(page), ROOT / "tools" / page.tool, *words)
    assert done.returncode == 0, done.stderr
    published = (ROOT / page.home / f"{name}.md").read_text(encoding="utf-8")
    assert made.read_text(encoding="utf-8") == published, f"./run results --page {name} makes it again"


@pytest.mark.parametrize("page", sorted({f"{page.home}/{name}.md" for name, page in PUBLISHED.items()} | {
    path.relative_to(ROOT).as_posix() for path in (ROOT / "docs/devices.md", *(ROOT / "docs/results").glob("**/*.md"))}))
def test_a_page_begins_with_a_short_answer(page):
    title, answer = (ROOT / page).read_text(encoding="utf-8").partition("\n## ")[0].split("\n", 1)
    assert title.startswith("# ") and answer.strip() and not answer.lstrip().startswith("Made by"), "the answer comes first"
    assert len(f"{title} {answer}".split()) <= MOST_WORDS
