"""What programs print may be lost; their results are not, and the loss is an error."""
import os
import pathlib
import subprocess

import pytest

from test_schema import BIN, PROGRAMS

pytestmark = pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")


def started(program, *arguments, **streams):
    return subprocess.Popen([pathlib.Path(BIN).resolve() / program, *map(str, arguments)], stderr=subprocess.PIPE, text=True,
                            env=os.environ | {"OMP_NUM_THREADS": "1"}, **streams)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("to", ["a full disk", "a closed pipe"])
def test_results_are_written_whatever_becomes_of_the_table(program, to, tmp_path):
    arguments = [*PROGRAMS[program], "--output", tmp_path / "out.json"]
    if to == "a full disk":
        with open("/dev/full", "w", encoding="utf-8") as full:
            process = started(program, *arguments, stdout=full)
    else:
        process = started(program, *arguments, stdout=subprocess.PIPE)
        process.stdout.close()
        process.stdout = None
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1 and (tmp_path / "out.json").is_file(), errors
    assert errors.startswith(f"{program}: error: cannot write to the standard output") and errors.count("\n") == 1, errors


@pytest.mark.parametrize("words", [["gradcomp-methods"], ["gradcomp-methods", "--list=markdown"], ["gradcomp-train", "--help"]])
def test_a_list_that_nobody_gets_is_an_error(words):
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = started(*words, stdout=full)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "cannot write to the standard output" in errors and errors.count("\n") == 1, errors
