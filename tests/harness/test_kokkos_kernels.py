"""cmake/KokkosKernelsLibrary.cmake says which libraries the installed Kokkos Kernels use, and what is missing."""
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = """
cmake_minimum_required(VERSION 3.25)
set(KokkosKernels_DIR "{folder}")
set(Kokkos_ENABLE_{device} ON)
include("{root}/cmake/KokkosKernelsLibrary.cmake")
message(STATUS "over: ${{GRADCOMP_KOKKOS_KERNELS_OVER}}")
"""


def ask(tmp_path, device, defined, include="include", package="lib/cmake/KokkosKernels"):
    """The exit status and the output of CMake for an installation whose header has these definitions."""
    header = tmp_path / include / "KokkosKernels_config.h"
    header.parent.mkdir(parents=True)
    lines = [f"#define KOKKOSKERNELS_ENABLE_{name}\n" for name in defined]
    header.write_text("".join(lines) + "/* #undef KOKKOSKERNELS_ENABLE_TPL_MKL */\n")
    (tmp_path / package).mkdir(parents=True)
    script = tmp_path / "ask.cmake"
    script.write_text(SCRIPT.format(folder=tmp_path / package, device=device, root=ROOT))
    answer = subprocess.run(["cmake", "-P", script], capture_output=True, text=True)
    return answer.returncode, " ".join((answer.stdout + answer.stderr).split())


BOTH = ("COMPONENT_BLAS", "COMPONENT_BATCHED")


@pytest.mark.parametrize("device,defined,over", [
    ("CUDA", ("TPL_BLAS", "TPL_CUBLAS"), "CUBLAS"), ("HIP", ("TPL_BLAS", "TPL_ROCBLAS"), "ROCBLAS"),
    ("SERIAL", ("TPL_BLAS",), "BLAS"), ("OPENMP", ("TPL_BLAS", "TPL_ARMPL"), "ARMPL")])
def test_names_the_library_beneath(tmp_path, device, defined, over):
    status, said = ask(tmp_path, device, BOTH + defined)
    assert (status, said) == (0, f"-- over: {over}")


@pytest.mark.parametrize("device,wanted", [("CUDA", "CUBLAS"), ("HIP", "ROCBLAS")])
def test_warns_of_a_gpu_without_its_vendors_library(tmp_path, device, wanted):
    status, said = ask(tmp_path, device, (*BOTH, "TPL_BLAS"))  # a host's BLAS is none
    assert status == 0 and "CMake Warning" in said and f"without any of: {wanted}." in said and "over: none" in said


@pytest.mark.parametrize("lacking", BOTH)
def test_refuses_a_lack_of_components(tmp_path, lacking):
    status, said = ask(tmp_path, "SERIAL", [name for name in (*BOTH, "TPL_BLAS") if name != lacking])
    assert status != 0 and f"do not have the component {lacking.removeprefix('COMPONENT_')}:" in said


def test_finds_the_header_of_trilinos(tmp_path):
    status, said = ask(tmp_path, "SERIAL", (*BOTH, "TPL_BLAS"), "include/trilinos",
                       "lib/x86_64-linux-gnu/cmake/KokkosKernels")
    assert (status, said) == (0, "-- over: BLAS")
