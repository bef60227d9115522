"""For tests of pages: a page with two records, and a program that writes them and logs its arguments."""
import json
import os
import pathlib
import subprocess
import sys

import tool_process
from gradcomp.pages import frame
from gradcomp.pages.page import Job, Page, Text
from test_schema import BIN

COMMIT, OTHER = "a" * 12, "b" * 12
PROGRAM = """#!/usr/bin/env -S 'PYTHONPATH={tests}' '{python}'
import json, os, pathlib, sys
import example_results
words = sys.argv[1:]
with open({log!r}, "a") as log:
    print(*words[:-2], file=log)
if "--fail" in words or pathlib.Path({folder!r}, "fail").exists() and "--size" in words:
    sys.exit("fake: error: asked to")
for word in words[:-1]:
    if word.endswith(".npy"):
        pathlib.Path(word).write_text(word)
made = example_results.written()
made["context"]["gradcomp"] |= json.loads(pathlib.Path({folder!r}, "built.json").read_text())
pathlib.Path(words[-1]).write_text(json.dumps(made))
status = pathlib.Path({folder!r}, "status")
sys.exit(int(status.read_text()) if status.exists() and "--built" not in words else 0)
"""


def programs(folder, *names):
    """Puts programs with these names into folder/bin, and returns that folder. Their arguments are logged in folder/log."""
    (folder / "bin").mkdir()
    for name in names:
        program = folder / "bin" / name
        program.write_text(PROGRAM.format(python=sys.executable, tests=str(pathlib.Path(__file__).parent),
                                          log=str(folder / "log"), folder=str(folder)), encoding="utf-8")
        program.chmod(0o755)
    build(folder)
    return folder / "bin"


def build(folder, commit=COMMIT, dirty=False):
    """Sets the sources from which the programs say that they are built."""
    (folder / "built.json").write_text(json.dumps({"git_hash": commit, "git_dirty": dirty}), encoding="utf-8")


def asked(folder):
    """The arguments of the programs since the last call, except for questions about their sources."""
    log = folder / "log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return [line for line in lines if line != "--built"]


class Toy(Page):
    """A page of two records. The second one reads a file that the first one leaves."""

    name, tool, about = "toy", "toy_page", "A page for tests."
    programs = ("fake-bench",)
    asks = ("fake-bench", "--built")

    def __init__(self, folder, size=1):
        self.leaf, self.size = folder / "gradient.npy", size

    def jobs(self, options):
        return [Job("first", ("fake-bench", "--dump", self.leaf), "a file", (self.leaf,)),
                Job("second", ("fake-bench", "--input", self.leaf, "--size", self.size), "what reads it")]

    def text(self, records, options):
        out = Text(self, "toy", records, "Two.")
        out.add("Rows", "Of both.", (["record", "rows"], [[name, len(record.rows)] for name, record in records.items()]))
        return out.whole()


def make(page, folder, *arguments):
    """Runs the tool of the page. All its files are in `folder`."""
    where = ("--folder", folder / "raw", "--records", folder / "records", "--output", folder / "page.md")
    return tool_process.call(lambda: frame.main(page), page.tool, *where, *arguments)


def quick(tool, folder):
    """Makes the quick version of a page with this build's programs. Returns its text and the first cells of its tables'
    lines, and checks that its records alone make it again."""
    page = folder / "page.md"
    environment = os.environ | {"PATH": f"{pathlib.Path(BIN).resolve()}:{os.environ['PATH']}"}
    words = [str(tool), "--quick", "--folder", folder / "raw", "--output", page]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    source = page.read_text(encoding="utf-8")
    again = subprocess.run([*words, "--page"], capture_output=True, text=True, check=False, env=environment)
    assert again.returncode == 0 and page.read_text(encoding="utf-8") == source, again.stderr
    return source, [line.split("`")[1] for line in source.splitlines() if line.startswith("| `")]
