"""Rules of CONTRIBUTING.md for device code that no compiler here checks."""
import re

import pytest

from compare_files import ROOT

HEADERS = [path for folder in ("src", "bench", "miniapps") for path in sorted((ROOT / folder).rglob("*.hpp"))
           if "KOKKOS_LAMBDA(" in path.read_text(encoding="utf-8")]


def owners(text):
    """The first line of the function around each device lambda of a header."""
    found, start = [], ""
    for line in text.splitlines():
        if re.match(r"(?!template|namespace)[A-Za-z]", line):
            start = line
        if "KOKKOS_LAMBDA(" in line and not line.lstrip().startswith("//"):
            found.append(start)
    return found


@pytest.mark.parametrize("path", HEADERS, ids=lambda path: path.stem)
def test_functions_of_headers_that_launch_lambdas_are_static(path):
    assert [line for line in owners(path.read_text(encoding="utf-8")) if not line.startswith("static ")] == []


def test_the_search_finds_a_function():
    text = "/// KOKKOS_LAMBDA(int)\ntemplate <class T>\nvoid fill(int n,\n          T x) {\n  run(n, KOKKOS_LAMBDA(int i) {});\n}\n"
    assert HEADERS and owners(text) == ["void fill(int n,"]
