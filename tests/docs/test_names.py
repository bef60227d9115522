"""What pages name in backticks is there: files and folders of the project, and tests of `./run test -R`."""
import os
import pathlib
import re

import pytest

from blocks import ROOT, pages

SOURCES = ROOT / "src" / "gradcomp"
WRITTEN = {"report/report.html", "report/sweep.md"}  # by a sweep, in its own folder
FOLDERS = {path.name for above in (ROOT, SOURCES) for path in above.iterdir() if path.is_dir() and path.name[0] != "."} - {
    "build", "results"}
BUILT = pathlib.Path(os.environ.get("GRADCOMP_BIN", "/nonexistent")).parent / "tests"
NO_BUILD = pytest.mark.skipif(not (BUILT / "CTestTestfile.cmake").is_file(), reason="no tests are built (GRADCOMP_BIN)")


def paths(text):
    """Paths in backticks that begin with a folder of the project or a layer. A part in capitals stands for a name."""
    code = re.compile(r"^( *)(`{3,}|~{3,}).*?^ *\2`*$", re.MULTILINE | re.DOTALL)
    found = re.findall(r"`([\w.+-]+(?:/[\w.+-]+)+/?)`", code.sub("", text))
    return [path for path in found if path.split("/")[0] in FOLDERS and not re.search("[A-Z]{3}", path) and path not in WRITTEN]


def there(path, page):
    """Whether a path leads somewhere from the root, the sources or its page; the ending of a file may be left out."""
    places = [above / path for above in (ROOT, SOURCES, (ROOT / page).parent)]
    return any(place.exists() or any(place.parent.glob(f"{place.name}.*")) for place in places)


@pytest.mark.parametrize("page", [page for page in pages() if page != "CHANGELOG.md"])  # whose names are those of their time
def test_paths_exist(page):
    assert not [path for path in paths((ROOT / page).read_text(encoding="utf-8")) if not there(path, page)]


def test_a_path_that_is_gone_is_seen():
    found = paths("`kernels/clip`, `nn/optimisers/sgd`, `tests/docs`, `gone/away`, `src/NAME/x`\n```sh\n`nn/clip`\n```\n")
    assert found == ["kernels/clip", "nn/optimisers/sgd", "tests/docs"]
    assert [there(path, "README.md") for path in found] == [False, True, True]


def patterns(text):
    """The regular expressions of ./run test -R; in a table, | has a \\ before it. A part in capitals stands for a name."""
    found = re.findall(r"\./run test -R (?:'([^']+)'|([\w.|\\]+))", text)
    return [one.replace("\\|", "|") for both in found if (one := "".join(both)) and not re.search("[A-Z]{3}", one)]


def built_tests(folder=""):
    """The tests of a folder of tests/, as ctest names them."""
    texts = [path.read_text(encoding="utf-8") for path in (BUILT / folder).rglob("CTestTestfile.cmake")]
    return re.findall(r"^add_test\((?:\[=*\[)?\"?([\w.]+)", "\n".join(texts), re.MULTILINE)


@NO_BUILD
@pytest.mark.parametrize("page", [page for page in pages() if patterns((ROOT / page).read_text(encoding="utf-8"))])
def test_patterns_match_tests(page):
    known = built_tests()
    for pattern in patterns((ROOT / page).read_text(encoding="utf-8")):
        assert any(re.search(pattern, name) for name in known), pattern


@NO_BUILD
def test_the_table_of_folders_runs_tests_of_each_folder():
    checked = []
    for line in (ROOT / "docs" / "testing.md").read_text(encoding="utf-8").splitlines():
        for folder in re.findall(r"`tests/(\w+)`", line.split(" | ")[0]):
            names = built_tests(folder)
            assert not names or any(re.search(pattern, name) for pattern in patterns(line) for name in names), folder
            checked += names[:1]
    assert len(checked) > 7
