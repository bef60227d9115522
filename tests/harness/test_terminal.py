"""What programs print fits a terminal: rows and help in 80 columns, headers in one line, a bar beside mpirun."""
import fcntl
import os
import pathlib
import pty
import re
import struct
import termios

import pytest

from gradcomp import demo
from test_run import run as run_project
from test_schema import BIN, one_line, replaced, run

WIDTH, TRAINED = 80, ["step ms", "of no_exchange", "bytes"]
pytestmark = pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
LONG = "top_k:ratio=0.01+qsgd:bits=4+huffman,sidco:ratio=0.001:feedback=residual:label=" + 70 * "l"


def commands():
    """The trainings and reductions of the demo, made short: their methods and options on few, generated data."""
    short = (["--steps", "2"], ["--evaluate-every", "2"], ["--batch", "4"], ["--repetitions", "2"], ["--sizes", "1024,65536"])
    for title, words in demo.jobs(demo.FULL, pathlib.Path("folder"), "letters", "text", False):
        if words[:1] != ["mpirun"] or words[3] not in ("gradcomp-train", "gradcomp-allreduce"):
            continue
        words = words[3:]
        for option in ("--output", "--rates"):
            if option in words:
                del words[words.index(option):words.index(option) + 2]
        for change in short:
            words = replaced(words, change) if change[0] in words else words
        if "--data" in words:
            text = words[words.index("--data") + 1].startswith("kjv")
            words = replaced(words, ["--data", "hmm:tokens=6000:test=700" if text else "shapetex10:train=64:test=32"])
        yield pytest.param(words, id=title)


def table(shown):
    """The tables of an output as (header, rows): rules of dashes follow the headers."""
    lines, found = shown.splitlines(), []
    for place, line in enumerate(lines):
        if re.fullmatch(r"-+(  -+)+", line):
            end = next((at for at in range(place, len(lines)) if not lines[at].strip()), len(lines))
            found.append((lines[place - 1], lines[place + 1:end]))
    return found


def fits(done, headers):
    """Checks that a program printed tables in 80 columns, the first with these headers."""
    assert done.returncode == 0, done.stderr
    assert not [line for line in done.stdout.splitlines() if len(line) > WIDTH]
    tables = table(done.stdout)
    assert re.split(" {2,}", tables[0][0]) == headers
    return tables


@pytest.mark.parametrize("words", commands())
def test_rows_of_the_demo_fit_a_terminal(words):
    headers = {"gradcomp-allreduce": ["method", "size", "payload", "time ms", "algbw GB/s", "busbw GB/s", "#wrong"]}.get(
        words[0], ["method", *TRAINED, "perplexity" if "--clip" in words else "accuracy", "speed-up"])
    _, rows = fits(run(*words), headers)[0]
    methods = words[words.index("--methods") + 1].split(",")
    assert {method.split(":")[0] for method in methods} <= {row.split()[0].split(":")[0] for row in rows}


def test_rows_of_evaluations_and_tunings_fit_a_terminal(tmp_path):
    done = run("gradcomp-evaluate", "--data", "laplace,pareto", "--size", 4099, "--timings", 3, "--methods",
               f"fp32,{LONG},powersgd:rank=4")
    assert len(fits(done, ["method", "payload", "of target", "error", "compress ms", "x read"])) == 2, "one for each gradient"
    assert re.search(r"\nfp32 +16.4 kB +- +0 +\S+ \(\S+-\S+\) +\S+\n", done.stdout), done.stdout
    assert "laplace: 4099 elements" in done.stdout
    small = ("--data", "shapetex10:train=64:test=32", "--model", "resnet8", "--batch", 4, "--methods", LONG)
    fits(run("gradcomp-tune", *small, "--rates", tmp_path / "r.json", "--tune-steps", 2, "--tune-trials", 3, "--tune-seeds", 2),
         ["method", "lr", "chosen lr", "validation accuracy", "trials", "seconds"])
    train = ("gradcomp-train", *small, "--steps", 4, "--block", 2, "--evaluate-every", 4)
    assert len(fits(run(*train, "--link", "1Gbit/s,10Gbit/s"), ["method", "bytes", "accuracy"])) == 2
    assert len(fits(run(*train, "--target", "accuracy=0.01", "--seeds", 2), ["method", *TRAINED, "accuracy", "speed-up"])) == 4


@pytest.mark.parametrize("words, more", [
    (["gradcomp-train", "--data", "shapetex10:train=64:test=32", "--model", "resnet8", "--batch", 4, "--steps", 2],
     ["compression ratio", "p95 ms", "forward ms", "hidden ms"]),
    (["gradcomp-evaluate", "--data", "laplace", "--size", 4099, "--methods", "top_k"], ["decompress ms", "index entropy"]),
    (["gradcomp-allreduce", "--sizes", 64, "--methods", "fp32"], ["p99 ms", "relative error"])])
def test_wide_tables_have_all_columns(words, more):
    done = run(*words, "--wide")
    assert done.returncode == 0, done.stderr
    headers = re.split(" {2,}", table(done.stdout)[0][0])
    assert set(more) < set(headers) and not set(more) & set(re.split(" {2,}", table(run(*words).stdout)[0][0]))


@pytest.mark.parametrize("program", ["train", "tune", "evaluate", "allreduce", "methods", "bench"])
def test_help_fits_a_terminal_and_shows_what_is_typed(program):
    shown = run(f"gradcomp-{program}", "--help").stdout
    assert "{false}" not in shown and "[{}]" not in shown and not re.search(r"--\w+\{", shown)
    # An option may be longer with its default; its text stands in lines of its own.
    assert not [line for line in shown.splitlines() if len(line) > WIDTH and not line.startswith("  -")]


def on_a_terminal(columns, *arguments):
    """What a command of ./run prints if its standard error is a terminal."""
    try:
        master, terminal = pty.openpty()
    except OSError:
        pytest.skip("this machine has no terminal")
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        return run_project(*arguments, stderr=terminal)
    finally:
        os.close(terminal)
        os.close(master)


def test_ranks_know_the_terminal_behind_mpirun():
    words = ("exec", "-n", "1", "--", "sh", "-c", "echo $GRADCOMP_PROGRESS $COLUMNS")
    assert on_a_terminal(93, *words).stdout == "always 93\n"
    assert run_project(*words).stdout == "\n", "without a terminal nothing is drawn"


@pytest.mark.skipif(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 90e9, reason="the largest gradient fits this machine")
def test_a_gradient_beyond_the_memory_is_refused_in_one_line(tmp_path):
    done = run("gradcomp-allreduce", "--sizes", f"1024,{2**31}", "--output", tmp_path / "a.json")
    one_line("gradcomp-allreduce", done)
    assert "2147483648 elements would take about 105 GB of memory for 1 rank on" in done.stderr and "allowed: at most " in done.stderr
    assert done.stdout == "" and not list(tmp_path.iterdir())


def test_a_large_gradient_is_announced_in_one_line():
    done = run("gradcomp-allreduce", "--sizes", f"1024,{2**24}", "--methods", "fp32", "--repetitions", 1, "--untimed", 0)
    assert done.returncode == 0 and len(done.stderr.splitlines()) == 1
    assert re.fullmatch(r"gradcomp-allreduce: 16777216 elements take about \S+ s, and 805 MB of \S+ GB of memory on this machine\n",
                        done.stderr), done.stderr


@pytest.mark.parametrize("what", ["text", "strategies", "samplers", "transports"])
def test_lists_fit_a_terminal(what):
    shown = run("gradcomp-methods", f"--list={what}").stdout
    assert shown.count("\n") > 5 and not [line for line in shown.splitlines() if len(line) > WIDTH and " " in line.strip()]
