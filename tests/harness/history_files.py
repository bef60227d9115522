"""For test_history*.py: small git repositories, fabricated nights with known distributions, and the tool, which runs in this
process."""
import functools
import json
import os
import subprocess
import sys

import compare_files
import tool_process
from compare_files import ROOT

TOOL = ROOT / "tools" / "gradcomp-history"
COUNTED = "compress/top_k/16384"


def of_commit(document, commit, **context):
    """Turns a document into one of a commit."""
    document["context"]["gradcomp"] |= {"git_hash": commit} | context
    return document


def write_times(folder, commit, day, processes=10, label=None, context=None, **options):
    """Writes the processes of one night. The label is the seed, so that the same arguments give the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(processes):
        date = f"2025-01-{day:02d}T02:{30 * number // processes:02d}:00+00:00"  # arms of one night overlap
        made = compare_files.document(f"{label or commit} {day} {number}", date=date, **options)
        of_commit(made, commit, **context or {})
        (folder / f"{label or 'new'}{number:03d}.json").write_text(json.dumps(made), encoding="utf-8")
    return folder


def write_counts(path, commit, day, instructions, **changes):
    """The result of counting.count(): one row with its number of instructions."""
    made = compare_files.document("counts", date=f"2025-01-{day:02d}T03:00:00+00:00", cases={COUNTED: 1.0})
    of_commit(made, commit)["benchmarks"][0] |= {"instructions": instructions, "elements": 16384} | changes
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


# A gradcomp-bench that reads its speed and instructions from the file `speed` beside it, and its commit from `commit`. With
# size 16384 it counts instructions. Every start adds a line to the file that `log` names.
FAKE = r"""#!/usr/bin/env -S 'PYTHONPATH={tests}' '{python}'
import json, os, pathlib, sys
import compare_files, history_files
if "--version" in sys.argv:
    sys.exit()
here, output = pathlib.Path(__file__).resolve().parent, pathlib.Path(sys.argv[sys.argv.index("--output") + 1])
factor, instructions = json.loads((here / "speed").read_text())
commit = (here / "commit").read_text().strip()
counted = "16384" in sys.argv
cases = {{history_files.COUNTED: 1.0}} if counted else {{compare_files.CASE: 1.0}}
made = compare_files.document(commit + output.stem, slow={{compare_files.CASE: factor}}, cases=cases)
history_files.of_commit(made, commit[:12])
made["context"]["date"] = os.environ.get("FAKE_DATE", made["context"]["date"])
if counted:
    made["benchmarks"][0] |= {{"instructions": instructions, "elements": 16384}}
output.write_text(json.dumps(made))
"""
VALGRIND = """#!/bin/bash
# Runs the program, and says of its case what the program itself put into its result.
for word in "$@"; do case $word in --callgrind-out-file=*) out=${word#*=} ;; --*) ;; *) break ;; esac; shift; done
"$@" || exit
while [ "$1" != --output ]; do shift; done
counted=$(sed -n 's/.*"instructions": \\([0-9]*\\).*/\\1/p' "$2")
printf 'desc: Trigger: Client Request: compress/top_k/16384\\nsummary: %s\\n' "$counted" >"$out.1"
"""


def fake_programs(folder):
    """A folder with a fake gradcomp-bench and a fake valgrind."""
    folder.mkdir()
    for name, text in (("gradcomp-bench", FAKE.format(python=sys.executable, tests=str(ROOT / "tests" / "harness"))),
                       ("valgrind", VALGRIND)):
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def git(folder, *words):
    """Runs git and returns what it printed."""
    identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
                for what, value in (("NAME", "A Tester"), ("EMAIL", "tester@localhost"), ("DATE", "2025-01-01T00:00:00Z"))}
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True,
                          env=os.environ | identity | {"GIT_CONFIG_GLOBAL": "/dev/null"})
    return done.stdout.strip()


def repository(folder, contents):
    """Makes a repository with one commit for each {file: text}. Returns their hashes, oldest first."""
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    made = []
    for number, files in enumerate(contents, 1):
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", f"Change number {number}")
        made.append(git(folder, "rev-parse", "HEAD"))
    return made


def history(*arguments):
    """Runs the main() of the tool. The result has the attributes of a finished process."""
    from gradcomp.history import cli
    return tool_process.call(cli.main, TOOL, *arguments)


refused = functools.partial(tool_process.refused, TOOL)
