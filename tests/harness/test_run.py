"""./run refuses wrong calls in one line, passes exit statuses on, and fits ranks x threads to the cores."""
import os
import pathlib
import shutil
import subprocess

import pytest

RUN = pathlib.Path(__file__).resolve().parents[2] / "run"
CORES = len(os.sched_getaffinity(0))


def run(*arguments, cwd=None, stderr=subprocess.PIPE, **variables):
    prefixes = ("OMP_", "OMPI_", "PRTE_", "PMIX_", "COLUMNS", "GRADCOMP_PROGRESS")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}
    # These tests already run inside some toolchain.
    clean |= {"GRADCOMP_TOOLCHAIN_ACTIVE": os.environ.get("GRADCOMP_TOOLCHAIN_ACTIVE", "debian")} | variables
    return subprocess.run([RUN, *arguments], stdout=subprocess.PIPE, stderr=stderr, text=True, env=clean, cwd=cwd, check=False)


@pytest.mark.parametrize("arguments", [
    ["nonsense"], ["build", "nonsense"], ["clean", "x"], ["format", "x"], ["shell", "x"], ["docs", "x"], ["lint", "x"],
    ["exec"], ["exec", "true"], ["exec", "--"], ["exec", "-n", "0", "--", "true"], ["exec", "-n", "x", "--", "true"],
    ["exec", "-n", "100000", "--", "true"], ["exec", "-n", "2", "true"],
    ["results", "nonsense"], ["results", "kernels", "--nonsense"], ["test", "nonsense"],
    ["test", "lanes", "nonsense"],
    ["fuzz", "nonsense"], ["fuzz", "texts", "arrays"], ["fuzz", "--seconds"], ["fuzz", "texts", "--seconds", "0"],
    ["fuzz", "texts", "nonsense"], ["fuzz", str(RUN)],
])
def test_wrong_calls(arguments):
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("run: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("variables", [
    {"GRADCOMP_TOOLCHAIN": "x"}, {"GRADCOMP_PRESET": "x"}, {"GRADCOMP_JOBS": "x"}, {"GRADCOMP_NCCL": "x"},
    {"OMP_NUM_THREADS": "x"}, {"GRADCOMP_LANES_SEED": "x"}])
def test_wrong_environment(variables):
    done = run("exec", "--", "true", **variables)
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def sourced(part, script, folder, **variables):
    """What bash says after it has read a part of ./run. The programs in `folder` come first on PATH."""
    clean = {k: v for k, v in os.environ.items() if k != "CXX" and not k.startswith("GRADCOMP_")}
    clean |= {"PATH": f"{folder}:{os.environ['PATH']}", "project": str(folder), "XDG_CACHE_HOME": str(folder)} | variables
    part = RUN.parent / "tools" / "run.d" / part
    return subprocess.run(["bash", "-euo", "pipefail", "-c", f"source '{part}'\n{script}"], capture_output=True, text=True,
                          env=clean, check=False)


def stub(folder, name, script):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def test_fuzzing_ends_with_the_input_that_failed(tmp_path):
    stub(tmp_path, "build/fuzz/fuzz/good", 'echo "stat::number_of_executed_units: 7"')
    stub(tmp_path, "build/fuzz/fuzz/bad", 'echo "Test unit written to FILE"; exit 77')
    call = "build() { :; }\nfuzzed=(bad good)\nverb_fuzz"
    done = sourced("verbs.sh", call, tmp_path)
    assert done.returncode == 1 and done.stdout == "run: fuzz good: passed 7 inputs\n"
    failed = f"run: fuzz bad: failed: './run fuzz bad FILE' repeats it; all output is in {tmp_path}/results/fuzz/bad.log"
    assert done.stderr.splitlines()[-1] == failed
    assert sourced("verbs.sh", f"{call} good --seconds 5", tmp_path).returncode == 0
    assert sourced("verbs.sh", f"{call} bad FILE", tmp_path).returncode == 77


@pytest.mark.parametrize("preset, compiler, used", [
    ("openmp", "", True), ("openmp", "g++", True), ("cuda-compile", "", True), ("cuda", "", False), ("cuda", "g++", False),
    ("cuda", "/opt/kokkos/bin/nvcc_wrapper", True), ("hip", "", False), ("hip", "hipcc", True), ("hip", "nvcc_wrapper", False)])
def test_the_launcher_of_kokkos_sees_no_ccache(tmp_path, preset, compiler, used):
    stub(tmp_path, "ccache", "")
    said = sourced("build.sh", f"launchers {preset}", tmp_path, CXX=compiler)
    assert said.returncode == 0 and said.stdout.count("_COMPILER_LAUNCHER=ccache\n") == (3 if used else 0)


@pytest.mark.parametrize("listed, verb, variables, refused", [
    ("GPU 0: NVIDIA H100", "device-check", {}, True), ("No devices found", "device-check", {}, False),
    ("GPU 0: NVIDIA H100", "test", {}, False), ("GPU 0: NVIDIA H100", "device-check", {"GRADCOMP_PRESET": "openmp"}, False),
    ("GPU 0: NVIDIA H100", "device-check", {"GRADCOMP_TOOLCHAIN": "debian"}, False)])
@pytest.mark.parametrize("tool", ["nvidia-smi", "rocm-smi"])
def test_a_gpu_is_not_left_out_in_silence(tmp_path, tool, listed, verb, variables, refused):
    for name in ("nvidia-smi", "rocm-smi"):
        stub(tmp_path, name, f"echo '{listed}'" if name == tool else "exit 9")
    stub(tmp_path, "tools/toolchain", "echo entered")
    script = f"""system_is_complete() {{ return 1; }}
die() {{ echo "run: $*" >&2 && exit 1; }}
enter_toolchain {verb}"""
    done = sourced("toolchain.sh", script, tmp_path, **variables)
    if refused:
        assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1 and "GPU" in done.stderr
    else:
        assert (done.returncode, done.stdout, done.stderr) == (0, "entered\n", "")


def test_help_names_every_verb():
    text = run("help").stdout
    assert run().stdout == text
    for verb in ("demo", "test", "build", "exec", "bench", "results", "device-check", "mutate", "docs", "shell", "format", "lint",
                 "clean", "help"):
        assert f"\n  {verb} " in text


@pytest.mark.parametrize("status", [0, 1, 3, 77])
def test_exit_status_is_the_commands(status):
    assert run("exec", "--", "sh", "-c", f"exit {status}").returncode == status


@pytest.mark.parametrize("ranks", [[], ["-n", "2"]])
def test_unknown_command_is_one_line(ranks):
    done = run("exec", *ranks, "--", "gradcomp-nonsense")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "gradcomp-nonsense" in done.stderr
    assert "builds the programs" in done.stderr


def test_a_cache_that_cannot_be_is_one_line(tmp_path):
    (tmp_path / "file").touch()
    for variables, said in (({"XDG_CACHE_HOME": str(tmp_path / "file")}, "cannot write"), ({"XDG_CACHE_HOME": "", "HOME": ""}, "HOME")):
        done = run("exec", "--", "true", **variables)
        assert done.returncode == 1 and done.stderr.startswith("run: ") and said in done.stderr and done.stderr.count("\n") == 1


def test_a_pattern_without_tests_is_an_error(tmp_path):
    stub(tmp_path, "ctest", 'case "$*" in *nonsense*) echo "Total Tests: 0" ;; *) echo "Total Tests: 2" ;; esac')
    script = ("die() { echo \"run: $*\" >&2; exit 1; }\nconfigure() { :; }\nbuild() { :; }\nrefresh_docs() { :; }\ncores() { echo 1; }\n"
              "mpi_environment() { :; }\nshow_skips() { :; }\n")
    done = sourced("verbs.sh", script + "verb_test -R nonsense", tmp_path)
    assert done.returncode == 1 and done.stderr == "run: no test matches '-R nonsense'; './run test -N' lists all\n"
    assert sourced("verbs.sh", script + "verb_test -R training", tmp_path).returncode == 0


def test_lanes_builds_and_runs_the_programs_that_it_names(tmp_path):
    stub(tmp_path, "ctest", 'echo "ctest $*"')
    script = ("lanes_tests=(test_a test_b test_c)\nbuild() { echo \"build $*\"; }\ncores() { echo 1; }\n"
              "mpi_environment() { :; }\n")
    for given, pattern in (("", "test_a|test_b|test_c"), ("test_b test_c", "test_b|test_c")):
        done = sourced("verbs.sh", script + f"verb_test lanes {given}", tmp_path)
        assert done.returncode == 0, done.stderr
        built, tested = done.stdout.splitlines()
        assert built == "build lanes " + pattern.replace("|", " ")
        assert tested.endswith(f"-R ^({pattern})\\.part")


def test_the_tests_of_a_method_are_those_named_after_it(tmp_path):
    tests = tmp_path / "build" / "openmp" / "tests"
    stub(tests, "test_conformance", 'echo "conformance $*"')
    stub(tests, "test_compressors", 'case "$*" in *list*) printf "TopK.\\n  A\\nThresholds/TopKToo.\\n  B\\nSign.\\n  C\\n" ;; '
                                    '*) echo "unit $*" ;; esac')
    script = "build() { :; }\nthread_environment() { :; }\n"
    done = sourced("verbs.sh", script + "verb_test top_k", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "conformance --gtest_brief=1 --gtest_filter=*/*_top_k:*/*_top_k_*\n" in done.stdout
    assert "unit --gtest_brief=1 --gtest_filter=TopK.*:Thresholds/TopKToo.*\n" in done.stdout
    assert "no unit tests are named after" in sourced("verbs.sh", script + "verb_test fp16", tmp_path).stdout


def test_working_directory_is_kept(tmp_path):
    folder = tmp_path / "with a space"
    folder.mkdir()
    assert run("exec", "--", "pwd", cwd=folder).stdout.strip() == str(folder)


def test_arguments_arrive_as_they_are():
    done = run("exec", "--", "printf", "%s|", "a b", "*", "$HOME", "--", "")
    assert done.stdout == "a b|*|$HOME|--||"


def test_one_rank_takes_all_cores():
    done = run("exec", "--", "sh", "-c", "echo $OMP_NUM_THREADS $OMP_PROC_BIND $OMP_PLACES")
    assert done.stdout.split() == [str(CORES), "spread", "cores"]


def test_what_the_user_set_stays():
    done = run("exec", "--", "sh", "-c", "echo $OMP_NUM_THREADS $OMP_PROC_BIND", OMP_NUM_THREADS="1", OMP_PROC_BIND="close")
    assert done.stdout.split() == ["1", "close"]


def test_spinning_beyond_the_cores_is_refused():
    done = run("exec", "--", "true", OMP_NUM_THREADS=str(CORES + 1))
    assert done.returncode == 2 and "OMP_WAIT_POLICY=passive" in done.stderr
    assert run("exec", "--", "true", OMP_NUM_THREADS=str(CORES + 1), OMP_WAIT_POLICY="passive").returncode == 0


@pytest.mark.skipif(not shutil.which("mpirun"), reason="no mpirun")
class TestRanks:
    def test_ranks_share_the_cores(self):
        done = run("exec", "-n", "2", "--", "sh", "-c", "echo $OMP_NUM_THREADS $OMP_PROC_BIND")
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [f"{max(1, CORES // 2)} false"] * 2

    def test_more_ranks_than_cores(self):
        done = run("exec", "-n", str(CORES + 1), "--", "sh", "-c", "echo $OMP_NUM_THREADS")
        assert done.stdout.split() == ["1"] * (CORES + 1)

    def test_exit_status(self):
        assert run("exec", "-n", "2", "--", "sh", "-c", "exit 5").returncode == 5


@pytest.mark.parametrize("ruff, mypy", [(0, 0), (1, 0), (0, 1)])
def test_lint_asks_both_tools_and_fails_with_either(tmp_path, ruff, mypy):
    for name, status in (("ruff", ruff), ("mypy", mypy)):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} $1 in $PWD\nexit {status}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    done = run("lint", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == max(ruff, mypy) and done.stderr == ""
    assert done.stdout.splitlines() == [f"ruff check in {RUN.parent}", f"mypy --python-executable in {RUN.parent}"]


@pytest.mark.skipif(pathlib.Path("/opt/python/bin/ruff").exists(), reason="ruff is there whatever PATH says")
def test_lint_says_what_is_left_out(tmp_path):
    for name in ("bash", "readlink", "dirname", "python3", "env", "grep"):
        (tmp_path / name).symlink_to(shutil.which(name))
    done = run("lint", PATH=str(tmp_path))
    assert done.returncode == 0 and done.stderr.count("\n") == 2, done.stderr
    assert all(f"warning: {name} is left out" in done.stderr for name in ("ruff", "mypy"))


def run_in(folder, *arguments):
    """Calls a copy of ./run that lies in another folder."""
    (folder / "tools").mkdir(parents=True)
    shutil.copy(RUN, folder)
    shutil.copytree(RUN.parent / "tools" / "run.d", folder / "tools" / "run.d")
    return subprocess.run([folder / "run", *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("letter", [":", ";", "|", "<", ">", "[", "]", '"', "\\", "$", "\n"])
def test_a_folder_that_cmake_cannot_use_is_refused(tmp_path, letter):
    done = run_in(tmp_path / f"one{letter}two", "build")
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("run: the path of this folder, ") and done.stderr.endswith(": rename it\n")


def test_other_letters_in_the_name_of_the_folder_do_no_harm(tmp_path):
    assert run_in(tmp_path / "1 'é`&%@=(2){3}*?!,~^#", "help").returncode == 0


class Checked:
    """tools/run.d/check.sh in a project whose `run build` only writes CMake's cache, and whose `run exec` writes a report."""

    def __init__(self, folder):
        self.folder, self.report = folder, folder / "results" / "check" / "registers.md"
        self.report.parent.mkdir(parents=True)
        self.report.write_text("an old report\n", encoding="utf-8")
        (folder / "run").write_text(f"""#!/bin/bash
if [ "$1" = exec ]; then echo "registers of $4" >"${{@: -1}}" && exit; fi
mkdir -p "{folder}/build/$2" && cd "{folder}/build/$2"
case $2 in cuda*) echo "CMAKE_CUDA_COMPILER:$NVCC" ;; *) echo CMAKE_HIP_COMPILER:STRING=/usr/bin/clang++ ;; esac >CMakeCache.txt
[ "$2" != "${{FAILS:-}}" ]
""", encoding="utf-8")
        (folder / "run").chmod(0o755)

    def run(self, *arguments, **variables):
        script = f"set -euo pipefail; project='{self.folder}'; source '{RUN.parent}/tools/run.d/check.sh'; check \"$@\""
        return subprocess.run(["bash", "-c", script, "check", *arguments], capture_output=True, text=True, cwd="/", check=False,
                              env=os.environ | variables)


def test_check_compiles_and_lists_registers_from_any_folder(tmp_path):
    done = Checked(tmp_path).run(NVCC="STRING=/usr/local/cuda/bin/nvcc")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["run: cuda-compile: passed", "run: hip-compile: passed",
                                        f"registers of {tmp_path}/build/cuda-compile"]


def test_check_without_a_compiler_is_not_passed(tmp_path):
    checked = Checked(tmp_path)
    done = checked.run("--all", NVCC="FILEPATH=NOTFOUND")
    assert (done.returncode, done.stderr) == (0, "") and not checked.report.exists()
    assert done.stdout.splitlines() == [
        "run: cuda-compile: skipped: no compiler", "run: hip-compile: passed", *(
            f"run: cuda-compile-{kind}: skipped: no compiler" for kind in ("tests", "sm_80", "sm_100")),
        "run: hip-compile-gfx942: passed"]


def test_check_that_fails_shows_no_old_report(tmp_path):
    checked = Checked(tmp_path)
    done = checked.run(NVCC="STRING=/usr/local/cuda/bin/nvcc", FAILS="cuda-compile")
    assert done.returncode == 1 and done.stdout == "run: hip-compile: passed\n" and not checked.report.exists()
    assert done.stderr == "run: cuda-compile: failed\n"
