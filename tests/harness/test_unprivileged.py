"""./run where containers grant little: without mount namespaces it goes through proot, and an image that holds the
toolchain needs no privilege at all. Both are played by dropping capabilities; the toolchain's own root stands for the
image, since both are made of the same lists."""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("GRADCOMP_BIN", "/nonexistent"))
NO_MOUNTS = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")


def toolchain_path():
    done = subprocess.run([ROOT / "tools" / "toolchain", "path"], capture_output=True, text=True, check=False)
    return pathlib.Path(done.stdout.strip() or "/nonexistent")


def may_drop(words):
    try:
        return subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def traced():
    return not re.search(r"^TracerPid:\s+0$", pathlib.Path("/proc/self/status").read_text(), re.MULTILINE)


needs_proot = pytest.mark.skipif(
    not (shutil.which("proot") and toolchain_path().is_dir() and may_drop(NO_MOUNTS)) or traced(),
    reason="needs proot, the root that ./run makes, and the right to drop capabilities")
needs_root = pytest.mark.skipif(not (pathlib.Path("/opt/trilinos").is_dir() and may_drop(NOBODY)),
                                reason="needs to run in the root that ./run makes, and the right to drop capabilities")


def call(words, *command, cwd=ROOT, **variables):
    """Runs `command` with a separate environment, as in a new shell of a container."""
    clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(pathlib.Path.home()), "XDG_CACHE_HOME": str(CACHE)}
    return subprocess.run([*words, *command], cwd=cwd, env=clean | variables, capture_output=True, text=True, check=False)


def context(path):
    return json.loads(path.read_text(encoding="utf-8"))["context"]["gradcomp"]


def copy_project(folder):
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns("build", "results", ".git"))
    return folder


ALLREDUCE = ("gradcomp-allreduce", "--sizes", "1024", "--methods", "fp32,top_k", "--repetitions", "3", "--output")


def small_run(result, folder=BIN):
    """The arguments of a run on two ranks with the programs of the build."""
    assert (folder / ALLREDUCE[0]).exists(), "GRADCOMP_BIN names no folder with the programs"
    return ("./run", "exec", "-n", "2", "--", str(folder / ALLREDUCE[0]), *ALLREDUCE[1:], str(result))


@needs_proot
def test_without_mounts_two_ranks_run_under_proot_and_the_record_says_so(tmp_path):
    result = tmp_path / "allreduce.json"
    done = call(NO_MOUNTS, *small_run(result), GRADCOMP_TOOLCHAIN="debian")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("under proot") == 1 and done.stderr.count("\n") == 1
    assert context(result)["tracer"] == "proot" and context(result)["ranks"] == 2


@needs_proot
def test_without_mounts_it_builds(tmp_path):
    clone = copy_project(tmp_path / "gradcomp")
    done = call(NO_MOUNTS, "./run", "build", "openmp", "gradcomp_core", cwd=clone, GRADCOMP_TOOLCHAIN="debian",
                GRADCOMP_JOBS="1", CCACHE_DISABLE="1")
    assert done.returncode == 0, done.stderr
    assert list((clone / "build" / "openmp").rglob("libgradcomp_core.a"))


@needs_proot
def test_with_mounts_nothing_is_traced(tmp_path):
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespaces here")
    result = tmp_path / "allreduce.json"
    done = call((), *small_run(result), GRADCOMP_TOOLCHAIN="debian")
    assert done.returncode == 0 and done.stderr == "" and "tracer" not in context(result)


@needs_proot
def test_without_ptrace_either_one_line_says_what_is_missing(tmp_path):
    broken = tmp_path / "proot"
    broken.write_text("#!/bin/sh\necho 'proot error: ptrace(TRACEME): Operation not permitted' >&2; exit 1\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    done = call(NO_MOUNTS, "./run", "exec", "--", "true", GRADCOMP_TOOLCHAIN="debian",
                PATH=f"{tmp_path}:/usr/sbin:/usr/bin:/sbin:/bin")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "CAP_SYS_ADMIN" in done.stderr and "CAP_SYS_PTRACE" in done.stderr


@pytest.fixture
def public():
    """A folder for every user. Those of pytest are its own user's: whenever a session starts, it closes the folder of them all."""
    with tempfile.TemporaryDirectory(prefix="gradcomp-public-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        yield folder


@needs_root
def test_the_images_own_toolchain_needs_no_privilege(public):
    result = public / "allreduce.json"
    clone = copy_project(public / "gradcomp")
    shutil.copy(BIN / ALLREDUCE[0], clone)  # the user "nobody" may not be able to read the folder of the project
    subprocess.run(["chown", "-R", "65534:65534", clone], check=True)  # as a mounted project belongs to who mounts it
    done = call(NOBODY, *small_run(result, clone), cwd=clone, GRADCOMP_TOOLCHAIN="system", HOME=str(public),
                XDG_CACHE_HOME=str(public / "cache"))
    assert done.returncode == 0, done.stderr
    assert "tracer" not in context(result)


def test_both_images_are_made_of_the_same_lists():
    containers = ROOT / "tools" / "containers"
    docker, apptainer = ((containers / name).read_text() for name in ("Dockerfile", "apptainer.def"))
    base = re.compile(r"^From:? +(\S+)$", re.MULTILINE | re.IGNORECASE)
    assert base.findall(docker) == base.findall(apptainer) == ["debian:trixie-slim"]
    for text in (docker, apptainer):
        assert "tools/toolchain.d /tmp/toolchain.d" in text and "/tmp/toolchain.d/image" in text
        assert "GRADCOMP_TOOLCHAIN=system" in text
    assert "!tools/toolchain.d" in (containers / "Dockerfile.dockerignore").read_text().splitlines()
    assert os.access(ROOT / "tools" / "toolchain.d" / "image", os.X_OK)
