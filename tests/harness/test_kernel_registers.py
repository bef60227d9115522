"""tools/kernel_registers: the figures of ptxas as a table, by the function that launches, and their limits."""
import json
import pathlib
import subprocess

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "kernel_registers"
OURS = "_ZN6Kokkos4Impl6launchIZN8gradcomp7kernels4packERKNS_4CudaEEUl{}E_EEvT_"  # a lambda in gradcomp::kernels::pack
KOKKOS = "_ZN6Kokkos4Impl8ViewFillIfEEvT_"


def entry(name, registers, stack=0, stores=0, loads=0):
    return (f"ptxas info    : Compiling entry function '{name}' for 'sm_90'\n"
            f"ptxas info    : Function properties for {name}\n"
            f"    {stack} bytes stack frame, {stores} bytes spill stores, {loads} bytes spill loads\n"
            f"ptxas info    : Used {registers} registers, used 0 barriers\n")


def run(folder, *arguments):
    return subprocess.run([TOOL, folder, *arguments], capture_output=True, text=True)


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    text = "ptxas info    : 0 bytes gmem\n" + entry(OURS.format("i"), 32) + entry(KOKKOS, 99, 8, 4, 4)
    (tmp_path / "a.o.ptxas").write_text(text + entry(OURS.format("f"), 40, stack=16))
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 13.0, V13.0.88'\n")
    nvcc.chmod(0o755)
    (tmp_path / "CMakeCache.txt").write_text(f"A:STRING=b\nCMAKE_CUDA_COMPILER:STRING={nvcc}\n")
    return tmp_path


def test_largest_figures_of_a_function(folder):
    lines = run(folder).stdout.splitlines()
    assert lines[0].startswith("3 kernels for sm_90, 1 functions of ours")
    assert lines[-1] == "| `kernels::pack` | 2 | 40 | 16 | 0 | 0 |"


def check(folder, **exceptions):
    usual = {"registers": 64, "stack": 0, "spilled": 0, "staged": 0}
    limits = folder / "limits.json"
    limits.write_text(json.dumps({"toolkit": "13.0", "usual": usual, "exceptions": [{"reason": "few", "kernels": exceptions}]}))
    done = run(folder, "--limits", limits, "--output", folder / "out" / "page.md")
    assert done.stdout == ""
    assert "| `kernels::pack` |" in (folder / "out" / "page.md").read_text()
    return done.returncode, done.stderr.replace("kernel_registers: ", "").splitlines()


def test_what_is_above_the_limits_fails_and_is_named(folder):
    assert check(folder) == (1, ["kernels::pack: stack 16, allowed are 0"])  # and only Kokkos' own kernel spills
    assert check(folder, **{"kernels::pack": {"stack": 16}}) == (0, [])
    (folder / "b.o.ptxas").write_text(entry(OURS.format("d"), 255, 64, 24, 12))
    assert check(folder, **{"kernels::pack": {"stack": 64, "registers": 128}}) == (
        1, ["kernels::pack: registers 255, allowed are 128", "kernels::pack: spilled 36, allowed are 0"])


def test_arguments_that_kokkos_copies_fail(folder):
    (folder / "a.o.ptxas").write_text(entry(OURS.replace("6launch", "36cuda_parallel_launch_constant_memory").format("i"), 32))
    assert check(folder) == (1, ["kernels::pack: staged 1, allowed are 0"])


def test_exceptions_that_are_not_needed_fail(folder):
    exceptions = {"kernels::pack": {"stack": 16, "registers": 80}, "kernels::gone": {"stack": 8}}
    assert check(folder, **exceptions) == (
        1, ["kernels::gone launches no kernel; its exception can go", "kernels::pack: registers 40 need no exception"])


def test_limits_of_another_toolkit_are_not_compared(folder):
    (folder / "limits.json").write_text('{"toolkit": "12.9", "usual": {}, "exceptions": []}')
    done = run(folder, "--limits", folder / "limits.json", "--output", folder / "page.md")
    assert (done.returncode, done.stdout) == (
        0, "kernel_registers: not compared: the limits are those of CUDA 12.9, the build is by 13.0\n")
    (folder / "CMakeCache.txt").unlink()
    done = run(folder, "--limits", folder / "limits.json", "--output", folder / "page.md")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "is no build by nvcc" in done.stderr


def test_no_figures_is_one_line(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 2
    assert done.stderr == f"kernel_registers: error: '{tmp_path}': there are no *.ptxas files; ./run build cuda-compile writes them\n"
