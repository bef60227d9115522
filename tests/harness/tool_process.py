"""How the tests call a tool: its main() within this process, which saves the second that it takes to start; or a process of
its own, to be interrupted."""
import atexit
import contextlib
import functools
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest


def call(main, tool, *arguments):
    """Runs the main() of a tool. The result has the attributes of a finished process."""
    out, errors = io.StringIO(), io.StringIO()
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    argv, sys.argv = sys.argv, [str(tool), *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = main()
    except SystemExit as end:
        status = end.code
    finally:
        sys.argv = argv
        for one, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(one, handler)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), errors.getvalue())


@functools.cache
def bare():
    """A PATH with only the programs that a launcher needs in order to start."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="bare."))
    atexit.register(shutil.rmtree, folder)
    for name in ("dirname", "python3", "readlink"):
        (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def refused(tool, done, *words):
    """Checks that the exit status is 2 and that there is one line that contains `words`."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith(f"{tool.name}: error: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def interrupt(tool, arguments, number, mark, temporary, printed=False):
    """Sends the tool a signal as soon as a program that it started has written its process into the file `mark`: the tool
    says that it was interrupted, and takes the program along. Its temporary files go to `temporary`. `printed`: it may have
    told of its progress."""
    child = subprocess.Popen([str(tool), *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=os.environ | {"TMPDIR": str(temporary)})
    deadline = time.monotonic() + 60
    while not (mark.exists() and mark.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    child.send_signal(number)
    out, errors = child.communicate(timeout=60)
    assert child.returncode == 130 and (printed or out == "") and errors.endswith(f"{tool.name}: interrupted\n"), errors
    deadline = time.monotonic() + 30
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < deadline:  # init may be slow to end processes that are not children of the tool
            os.kill(int(mark.read_text()), 0)
            time.sleep(0.01)
