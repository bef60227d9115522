"""./run docs: every page can be reached and searched, all links have a target, and nothing is loaded from other sites."""
import pathlib
import re
import shutil
import subprocess
import urllib.parse

import pytest

import links
import runner
from blocks import ROOT, pages

for module in ("sphinx", "myst_parser", "furo"):
    pytest.importorskip(module, reason=f"no {module}")


def sphinx(docs, out):
    """Runs Sphinx on other pages, as ./run docs does."""
    return subprocess.run(["sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "-d", f"{out}-state", docs, out],
                          capture_output=True, text=True, check=False, env=runner.environment())


@pytest.fixture(scope="module", name="site")
def fixture_site(tmp_path_factory):
    """{path: Page} for the site that ./run docs builds in a copy of the sources, and the folder of the site."""
    project = runner.project(tmp_path_factory.mktemp("site") / "gradcomp")
    done = subprocess.run(["./run", "docs"], cwd=project, capture_output=True, text=True, check=False,
                          env=runner.environment())
    assert done.returncode == 0, done.stderr
    folder = project / "build" / "site"
    assert done.stdout == f"{folder}/index.html\n" and done.stderr == ""
    yield folder, {path.relative_to(folder).as_posix(): links.Page(path.read_text(encoding="utf-8"))
                   for path in folder.rglob("*.html")}
    shutil.rmtree(project)


def target(page, link):
    """(path on the site, anchor) if the link leads to the site, otherwise None."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = pathlib.PurePosixPath(page).parent / urllib.parse.unquote(parts.path)
    return (page if not parts.path else str(pathlib.PurePosixPath(*simplified(path.parts)))), parts.fragment


def simplified(parts):
    """A path without `..`. A link that leaves the site keeps its `..`, and then has no target."""
    found = []
    for part in parts:
        if part == ".." and found and found[-1] != "..":
            found.pop()
        else:
            found.append(part)
    return found


def test_every_page_can_be_reached(site):
    _, built = site
    seen, waiting = set(), ["index.html"]
    while waiting:
        page = waiting.pop()
        if page not in seen and page in built:
            seen.add(page)
            waiting += [there[0] for link in built[page].links if (there := target(page, link))]
    wanted = {str(pathlib.PurePosixPath(page).relative_to("docs").with_suffix(".html"))
              for page in pages() if page.startswith("docs/")}
    assert not wanted - seen and len(wanted) > 25


def test_pages_can_be_searched(site):
    folder, built = site
    index = (folder / "searchindex.js").read_text(encoding="utf-8")
    assert "search.html" in built and '"powersgd"' in index and '"tutorials/which-method"' in index


def test_all_links_of_the_site_lead_somewhere(site):
    folder, built = site
    wrong = []
    for page, content in built.items():
        for link in content.links + content.loads:
            there = target(page, link)
            if there and not (folder / there[0]).is_file():
                wrong.append(f"{page}: {link}")
            elif there and there[1] and there[0] in built and there[1] not in built[there[0]].ids:
                wrong.append(f"{page}: no place {link}")
    assert not wrong


def test_nothing_is_loaded_from_elsewhere(site):
    folder, built = site
    assert sum(len(content.loads) for content in built.values()) > 100
    outside = [f"{page}: {load}" for page, content in built.items() for load in content.loads
               if re.match(r"([a-z]+:)?//", load)]
    for style in folder.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        found = re.findall(r"(?:@import\s|url\()\s*['\"]?((?:https?:)?//[^'\")]*)", text)
        outside += [f"{style.name}: {address}" for address in found]
    assert not outside


@pytest.mark.parametrize("page", pages())
def test_links_in_the_sources_lead_somewhere(page):
    path = ROOT / page
    text, wrong = path.read_text(encoding="utf-8"), []
    for link in links.markdown_links(text):
        name, _, anchor = link.partition("#")
        there = path.parent / name if name else path
        if not there.exists() or not there.resolve().is_relative_to(ROOT) or (
                anchor and anchor not in links.markdown_anchors(there.read_text(encoding="utf-8"))):
            wrong.append(link)
    assert not wrong


def made_up(tmp_path, index):
    """Builds the site of a project with the configuration of this one and the single page `index`."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("docs/conf.py", "CMakeLists.txt", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CONTRIBUTING.md").write_text("# Contributing\n", encoding="utf-8")
    (docs / "contributing.md").write_text("---\norphan: true\n---\n\n# How to help\n", encoding="utf-8")
    (docs / "index.md").write_text(index, encoding="utf-8")
    (tmp_path / "tools").mkdir()
    done = sphinx(docs, tmp_path / "site")
    return done, (tmp_path / "site" / "index.html").read_text(encoding="utf-8") if done.returncode == 0 else ""


@pytest.mark.parametrize("broken", [
    "[a](missing.md)", "[a](../missing.txt)", "[a](contributing.md#nowhere)", "[a](#nowhere)", "![a](missing.svg)",
    "```{nonsense}\n```", "```{toctree}\nmissing\n```"])
def test_a_broken_page_fails(broken, tmp_path):
    done, _ = made_up(tmp_path, f"# Title\n\n{broken}\n")
    assert done.returncode != 0 and re.search("WARNING|ERROR", done.stderr)


def test_links_out_of_the_folder_of_pages(tmp_path):
    done, page = made_up(tmp_path, "# Title\n\n[the way](../CONTRIBUTING.md), [terms](../LICENSE), [the tools](../tools)\n")
    assert done.returncode == 0, done.stderr
    found = links.Page(page).links
    assert "contributing.html" in found and any(re.fullmatch(r"_downloads/\w+/LICENSE", link) for link in found)
    assert "the tools" in page and not any("tools" in link for link in found)
