"""tests/portability/check_defined: functions of the project that object files call and none of them defines. Neither it nor
check_objects passes without the files."""
import pathlib
import subprocess

import pytest

CHECK = pathlib.Path(__file__).resolve().parents[1] / "portability" / "check_defined"
SOURCES = {"caller": "namespace gradcomp { void sum(int); int all_models(); int call() { sum(1); return all_models(); } }",
           "callee": "namespace gradcomp { void sum(int) {} }"}


@pytest.fixture(name="check")
def fixture_check(tmp_path):
    for name, text in SOURCES.items():
        source = tmp_path / f"{name}.cpp"
        source.write_text(text)
        subprocess.run(["c++", "-c", source, "-o", source.with_suffix(".o")], check=True)

    def run(*names):
        (tmp_path / "list").write_text("".join(f"{tmp_path / name}.o\n" for name in names))
        return subprocess.run([CHECK, tmp_path / "list"], capture_output=True, text=True, check=False)
    return run


def test_a_function_without_a_definition_is_named(check):
    done = check("caller")
    assert done.returncode == 1
    assert done.stderr == "gradcomp::sum(int): called, but no file of a device build defines it\n"


def test_what_another_file_defines_is_there(check):
    done = check("caller", "callee")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("script", ["check_defined", "check_objects"])
def test_an_object_file_that_is_not_there_fails(tmp_path, script):
    (tmp_path / "list").write_text(f"{tmp_path}/gone.o\n")
    done = subprocess.run([CHECK.with_name(script), tmp_path / "list"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "gone.o" in done.stderr
