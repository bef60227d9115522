"""The Python package: its programs start after it was installed without a network, and every launcher starts a module of it."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

import example_results

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LAUNCHERS = [path for folder in ("tools", "slurm") for path in sorted((ROOT / folder).iterdir())
             if path.is_file() and "run.d/module" in path.read_text(encoding="utf-8")]
STARTED = re.compile(r'run\.d/module" ([\w.]+) ')


def pythons():
    """Pythons that can build and install a package: this one, and the one of the toolchain's packages from PyPI."""
    for python in (sys.executable, "/opt/python/bin/python3"):
        asked = [python, "-c", "import pip, setuptools; assert int(setuptools.__version__.split('.')[0]) >= 77"]
        if shutil.which(python) and subprocess.run(asked, capture_output=True, check=False).returncode == 0:
            yield python


@pytest.fixture(name="installed", scope="module")
def fixture_installed(tmp_path_factory):
    """The folder into which the package was installed, from a copy, because a build leaves files beside the sources."""
    python = next(pythons(), None)
    if python is None:
        pytest.skip("no Python with pip and setuptools 77")
    copy, target = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("installed")
    for name in ("pyproject.toml", "README.md", "LICENSE", "docs/results.schema.json"):
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    shutil.copytree(ROOT / "python", copy / "python", symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    done = subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target",
                           target, copy], capture_output=True, text=True, check=False, env=os.environ | {"PIP_CONFIG_FILE": os.devnull})
    assert done.returncode == 0, done.stderr
    return target


def start(installed, name, *arguments, cwd=None):
    """Runs a console script with the Python of these tests, which has the dependencies of the package."""
    return subprocess.run([sys.executable, "-B", installed / "bin" / name, *arguments], capture_output=True, text=True, check=False,
                          cwd=cwd, env=os.environ | {"PYTHONPATH": str(installed)})


@pytest.mark.parametrize("name", sorted(PROJECT["scripts"]))
def test_an_installed_program_starts(installed, name, tmp_path):
    done = start(installed, name, "--help", cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("usage: "), done.stderr


def test_an_installed_report_is_whole(installed, tmp_path):
    """Its template and its style are beside its modules."""
    (tmp_path / "train.json").write_text(json.dumps(example_results.train()), encoding="utf-8")
    done = start(installed, "gradcomp-report", tmp_path, "--markdown", tmp_path / "report.md")
    assert done.returncode == 0, done.stderr
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# gradcomp report\n")


def test_what_the_package_reads_is_installed(installed):
    held = {path.relative_to(ROOT / "python") for path in (ROOT / "python").rglob("*")
            if path.is_file() and path.suffix != ".pyc" and ".egg-info" not in str(path)}
    lost = [str(path) for path in held if not (installed / path).is_file()]
    assert not lost
    schema = installed / "gradcomp/results/results.schema.json"
    assert not schema.is_symlink() and schema.read_bytes() == (ROOT / "docs/results.schema.json").read_bytes()


def test_pages_need_a_checkout(installed, tmp_path):
    done = start(installed, "gradcomp-pages", "--cost", cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "start it in a checkout" in done.stderr, done.stderr
    assert start(installed, "gradcomp-pages", "--cost", cwd=ROOT).returncode == 0


def test_the_version_is_that_of_the_programs():
    programs = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert re.search(r"project\(gradcomp VERSION ([\d.]+)", programs)[1] == PROJECT["version"]


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda path: path.name)
def test_a_launcher_starts_a_module_that_is_there(launcher):
    text = launcher.read_text(encoding="utf-8")
    module = STARTED.search(text)[1]
    assert os.access(launcher, os.X_OK) and len(text.splitlines()) == 3 and text.startswith("#!/bin/sh\n# ")
    assert importlib.util.find_spec(module), module
    if module.startswith("gradcomp.pages.one"):
        assert importlib.util.find_spec(f"gradcomp.pages.{text.split(module)[1].split()[0]}")


def test_there_are_launchers():
    assert {"report", "results", "gradcomp-compare", "training_page", "submit"} <= {path.name for path in LAUNCHERS}


def test_nothing_of_the_current_folder_becomes_a_module(tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong module')\n", encoding="utf-8")
    (tmp_path / "gradcomp").mkdir()
    (tmp_path / "gradcomp" / "__init__.py").write_text("raise SystemExit('the wrong package')\n", encoding="utf-8")
    done = subprocess.run([ROOT / "slurm" / "submit", "--help"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("usage: submit "), done.stderr


def test_an_old_python_is_told_in_one_line():
    done = subprocess.run([ROOT / "slurm" / "submit", "--help"], capture_output=True, text=True, check=False,
                          env=os.environ | {"GRADCOMP_PYTHON": "false"})
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "needs Python 3.11" in done.stderr


def test_a_missing_package_is_told_in_one_line(tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n", encoding="utf-8")
    bare.chmod(0o755)
    done = subprocess.run([ROOT / "tools" / "report", "--help"], capture_output=True, text=True, check=False,
                          env=os.environ | {"GRADCOMP_PYTHON": str(bare)})
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "needs the Python package '" in done.stderr, done.stderr


def test_nothing_edits_the_path_of_modules():
    edits = re.compile(r"sys\.path\.(insert|append|extend)|sys\.path\[|PYTHONPATH.*sys\.path")
    sources = [path for folder in ("python", "tools", "slurm") for path in (ROOT / folder).rglob("*")
               if path.is_file() and path.parent.name != "__pycache__"]
    assert not [path for path in sources if edits.search(path.read_text(encoding="utf-8", errors="replace"))]
