"""tools/toolchain: a set-up that fails or is interrupted leaves nothing behind, and is never taken for a finished one. A script
replaces mmdebstrap, so no network is needed. Namespaces, apt and dpkg are needed."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "toolchain"


def may_unshare():
    command = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"]
    tools = all(shutil.which(name) for name in ("apt-get", "dpkg", "unshare", "setpriv", "flock"))
    return tools and os.geteuid() == 0 and subprocess.run(command, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not may_unshare(), reason="needs Debian and the right to make namespaces")

# The root follows the suite: ... trixie ROOT "deb ..." "deb ..." "deb ..."
FAKE = """#!/bin/bash
while [ "$1" != trixie ]; do shift; done
mkdir -p "$2/mounted" && mount -t tmpfs none "$2/mounted" 2>/dev/null
mkdir -p "$2/usr/bin" && install -m 755 /dev/null "$2/usr/bin/env" && install -m 755 /dev/null "$2/usr/bin/bash"
echo "I: running apt-get update..."
touch "$2/begun"
"""


@pytest.fixture(name="place")
def fixture_place(tmp_path):
    (tmp_path / "bin").mkdir()
    return tmp_path


def start(place, script, verb="make"):
    fake = place / "bin" / "mmdebstrap"
    fake.write_text(FAKE + script)
    fake.chmod(0o755)
    environment = os.environ | {"PATH": f"{place / 'bin'}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(place / "cache"),
                                "GRADCOMP_MIRROR": "http://mirror.invalid/debian"}
    return subprocess.Popen([TOOL, verb], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def roots(place):
    return sorted(p.name for p in (place / "cache" / "gradcomp").glob("root-*"))


def mounts(place):
    return [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if str(place) in line]


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.05)


def test_success_then_nothing_to_do(place):
    first = start(place, "exit 0")
    output, messages = first.communicate()
    assert first.returncode == 0 and output == "" and "ready after" in messages
    assert len(roots(place)) == 1 and not roots(place)[0].endswith(".tmp") and mounts(place) == []
    second = start(place, "exit 1")
    assert second.communicate() == ("", "") and second.returncode == 0
    assert start(place, "", "path").communicate()[0].strip().endswith(roots(place)[0])
    assert start(place, "", "remove").wait() == 0 and roots(place) == []


def test_a_root_that_lost_its_programs_is_made_again(place):
    assert start(place, "exit 0").wait() == 0
    (place / "cache/gradcomp" / roots(place)[0] / "usr/bin/env").unlink()
    again = start(place, "exit 0")
    assert "has lost files" in again.communicate()[1] and again.returncode == 0
    assert (place / "cache/gradcomp" / roots(place)[0] / "usr/bin/env").exists()


def test_a_root_with_a_mount_is_not_removed(place):
    """In a mount namespace of the test: files of another folder are seen in the root, and must survive."""
    assert start(place, "exit 0").wait() == 0
    root = place / "cache/gradcomp" / roots(place)[0]
    (place / "files of others").mkdir()
    (place / "files of others" / "precious").write_text("here")
    (root / "bound here").mkdir()
    script = (f"mount --bind '{place}/files of others' '{root}/bound here' && ! XDG_CACHE_HOME='{place}/cache' '{TOOL}' remove && "
              f"! XDG_CACHE_HOME='{place}/cache' '{TOOL}' remove --all")
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr.count("is mounted, and removing") == 2, done.stderr
    assert (place / "files of others" / "precious").read_text() == "here" and root.is_dir()
    assert start(place, "", "remove").wait() == 0 and roots(place) == []


def test_enter_mounts_nothing_outside_a_namespace_of_its_own(place):
    own = os.readlink("/proc/self/ns/mnt")
    (place / "root").mkdir()
    for outside in (own, "", "nonsense"):
        words = [TOOL.with_name("toolchain.d") / "enter", "namespace", outside, place / "root", place, place, place, "true"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr == "enter: error: not in a mount namespace of its own; call tools/toolchain exec\n"
    assert list((place / "root").iterdir()) == [] and mounts(place) == []


def test_failure_names_the_log(place):
    failing = start(place, "echo 'E: no such package' >&2; exit 100")
    messages = failing.communicate()[1]
    assert failing.returncode == 1 and roots(place) == [] and mounts(place) == []
    assert "E: no such package" in messages and str(place / "cache" / "gradcomp" / "set-up.log") in messages


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_interrupt(place, number):
    running = start(place, f"echo $PPID >/dev/null; sleep 60.{os.getpid()}")
    wait_for(lambda: list(place.glob("cache/gradcomp/root-*.tmp/begun")))
    running.send_signal(number)
    running.communicate()
    assert running.returncode != 0 and mounts(place) == []
    sleeping = ["pgrep", "-f", f"sleep 60.{os.getpid()}"]
    wait_for(lambda: subprocess.run(sleeping, capture_output=True).returncode == 1)
    if number != signal.SIGKILL:  # after SIGKILL, no script can clean up, but the next set-up does
        assert roots(place) == []
    after = start(place, "exit 0")
    after.communicate()
    assert after.returncode == 0 and [name.endswith(".tmp") for name in roots(place)] == [False]


def test_two_at_once_make_one(place):
    both = [start(place, f"echo x >>'{place}/count'; sleep 1") for _ in range(2)]
    assert [one.communicate()[0] for one in both] == ["", ""] and [one.returncode for one in both] == [0, 0]
    assert (place / "count").read_text() == "x\n" and len(roots(place)) == 1


def test_wrong_calls(place):
    for verb in ("nonsense", "exec"):
        wrong = start(place, "exit 0", verb)
        assert wrong.communicate()[1].count("\n") == 1 and wrong.returncode == 2
