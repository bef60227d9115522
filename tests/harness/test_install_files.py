"""What is installed and how a build is configured: the public headers include only each other, every preset has its build and
tests, and every option is in docs/install.md. tests/install tests the installed tree itself."""
import json
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "gradcomp"
PRESETS = json.loads((ROOT / "CMakePresets.json").read_text())


def components():
    """{component: (the component it needs, its headers)}, as src/gradcomp/CMakeLists.txt says."""
    text = (SOURCES / "CMakeLists.txt").read_text()
    found = {}
    for name, body in re.findall(r"gradcomp_component\((\w+)([^)]*)\)", text):
        need = re.search(r"NEEDS (\w+)", body)
        found[name] = need and need.group(1), body.split("HEADERS")[1].split()
    return found


def reach(name, found):
    """The headers of a component and of the components that it needs."""
    need, headers = found[name]
    return set(headers) | (reach(need, found) if need else set())


@pytest.mark.parametrize("name", ["core", "exchange", "mpi"])
def test_public_headers_include_public_headers_only(name):
    found = components()
    allowed = reach(name, found)
    for header in found[name][1]:
        included = re.findall(r'#include "gradcomp/([^"]+)"', (SOURCES / header).read_text())
        assert set(included) <= allowed, f"{header} includes {sorted(set(included) - allowed)}"


def test_only_the_component_mpi_includes_mpi():
    found = components()
    for header in reach("exchange", found):
        assert "<mpi" not in (SOURCES / header).read_text(), header


def test_no_command_line_in_public_headers():
    for header in reach("mpi", components()):
        assert "CLI/" not in (SOURCES / header).read_text(), header


def test_what_another_project_can_register_is_documented():
    """Those entries that public headers define."""
    headers = "\n".join((SOURCES / header).read_text() for header in reach("mpi", components()))
    page = (ROOT / "docs" / "install.md").read_text()
    section = page[page.index("## Add a method of your own"):page.index("## A Debian package")]
    assert set(re.findall(r"^struct (\w*Entry)\b", headers, re.MULTILINE)) == set(re.findall(r"\b\w*Entry\b", section))


def visible(kind):
    return {p["name"]: p["configurePreset"] for p in PRESETS[kind] if not p.get("hidden")}


def test_every_preset_builds_and_tests_under_its_name():
    configured = {p["name"] for p in PRESETS["configurePresets"] if not p.get("hidden")}
    assert visible("buildPresets") == {name: name for name in configured}
    without = {name for name in configured if name == "fuzz" or "-compile" in name}  # ./run fuzz runs the one; others link nothing
    assert visible("testPresets") == {name: name for name in configured - without}
    run = (ROOT / "run").read_text()
    assert set(re.search(r"presets=\((.*?)\)", run, re.DOTALL).group(1).split()) == configured


def test_every_option_is_explained():
    page = (ROOT / "docs" / "install.md").read_text()
    files = [ROOT / "CMakeLists.txt", ROOT / "tests" / "CMakeLists.txt"]
    options = [found for file in files for found in re.findall(r"^option\((GRADCOMP_\w+)", file.read_text(), re.MULTILINE)]
    assert len(options) > 5
    for option in options:
        assert f"`{option}`" in page, option
    assert set(re.findall(r"GRADCOMP_(?:ENABLE|NATIVE)_\w+", page)) <= set(options)


def test_files_of_a_site_are_no_changes(tmp_path):
    """A build with changes is called dirty, and git counts files that it does not know as changes."""
    (tmp_path / ".gitignore").write_text((ROOT / ".gitignore").read_text())
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)

    def ignored(paths):
        words = ["git", "-C", tmp_path, "check-ignore", *paths]
        return subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()

    site = ["slurm/systems/mine.env", "slurm/systems/mine.checks.toml", "spack/environments/mine/spack.yaml",
            "spack/environments/cpu/spack.lock", "spack/environments/cpu/.spack-env/view"]
    ours = [*ROOT.glob("slurm/systems/example-*"), ROOT / "slurm/systems/local.env",
            *(ROOT / f"spack/environments/{name}/spack.yaml" for name in ("amd", "cpu", "nvidia"))]
    assert ignored(site) == site
    assert ignored([str(path.relative_to(ROOT)) for path in ours]) == []
