"""Numbers, tables and whole files, character by character; what is read; and how a tool ends."""
import contextlib
import math
import os
import pathlib
import signal
import stat
import subprocess
import sys

import pytest

from gradcomp.errors import ToolError, complete
from gradcomp.json_files import read_json
from gradcomp.output import files, markdown, text

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("value, said", [
    (0, "0"), (1234567, "1,234,567"), (999.4, "999"), (99.96, "100"), (9.996, "10.0"), (12.345, "12.3"), (1, "1.00"),
    (0.012345, "0.0123"), (-0.5, "-0.500"), (None, text.DASH), (math.nan, text.DASH)])
def test_numbers_have_three_digits(value, said):
    assert text.number(value) == said


def test_numbers_of_other_digits():
    assert text.number(1.23456, 5) == "1.2346" and text.number(12345, 1) == "12,345"


@pytest.mark.parametrize("count, said", [
    (0, "0 B"), (999, "999 B"), (999.5, "1.00 kB"), (1500, "1.50 kB"), (-1500, "-1.50 kB"), (2.5e6, "2.50 MB"), (3e9, "3.00 GB"),
    (4e12, "4,000 GB"), (None, text.DASH)])
def test_sizes_have_decimal_prefixes(count, said):
    assert text.size(count) == said


def test_fractions_factors_and_qualities():
    assert text.percent(0.1234) == "12.3 %" and text.percent(None) == text.DASH
    assert text.ratio(1.5) == "1.50\N{MULTIPLICATION SIGN}" and text.ratio(math.nan) == text.DASH
    assert text.quality("accuracy", 0.5) == "50.0 %" and text.quality("perplexity", 31.25) == "31.2"
    assert text.missing(None) and text.missing(math.nan) and not text.missing(0) and not text.missing("x")


def test_a_method_that_diverged_has_no_quality():
    whole, ended = {"metric": "accuracy", "test_quality": 0.5}, {"metric": "accuracy", "test_quality": None, "diverged_at_step": 812}
    assert text.diverged([whole]) == text.diverged([whole, whole]) == text.diverged([]) == ""
    assert text.diverged([ended]) == "diverged at step 812"
    assert text.diverged([whole, ended, whole]) == "diverged with 1 of 3 seeds"
    assert text.quality_of(whole) == "50.0 %" and text.quality_of(ended) == "diverged at step 812"


@pytest.mark.parametrize("words, status, said", [
    (["gradcomp-bench"], 0, True), (["mpirun", "-n", 2, "gradcomp-train", "--steps"], 3, True), (["/a/gradcomp-train"], 3, True),
    (["gradcomp-bench"], 3, False), (["gradcomp-train"], 1, False), (["gradcomp-train"], None, False)])
def test_a_training_with_a_method_that_diverged_is_complete(words, status, said):
    assert complete(words, status) == said


def test_intervals_follow_their_mean():
    assert text.within((0.5, 2)) == " (0.500 to 2.00)"
    assert text.within((0.5, 0.75), text.percent) == " (50.0 % to 75.0 %)"
    assert text.within(None) == ""


def test_crossovers_by_size():
    assert text.crossover(None) == "does not beat the best dense control at the largest size measured"
    assert text.crossover(0) == "beats the best dense control at every size measured"
    assert text.crossover(2000) == "beats the best dense control from about 2.00 kB of gradient on"


def test_words_are_listed_as_in_a_sentence():
    assert [text.listed(words) for words in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_tables_align_numbers_to_the_right():
    assert markdown.table(["a", "b", "c"], [["x|y", 1, 2], ["two\nlines", 3, None]]) == [
        "| a | b | c |", "|---|---:|---:|", "| x\\|y | 1 | 2 |", "| two lines | 3 | None |"]
    assert markdown.table(["a"], []) == ["| a |", "|---|"]


def test_markdown_of_names_that_mean_something_in_it():
    assert markdown.target("my plots/a#1.png") == "my%20plots/a%231.png"
    assert markdown.plain("5 $ and `label=$x` $") == "5 \\$ and `label=$x` \\$"
    assert markdown.table(["$a"], [["`$b`"]]) == ["| \\$a |", "|---|", "| `$b` |"]


def test_files_are_whole_or_as_they_were(tmp_path):
    files.write_whole(tmp_path / "page.md", "first")
    files.write_whole(str(tmp_path / "page.md"), "second")
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == "second"
    assert (tmp_path / "page.md").stat().st_mode & 0o777 == 0o644
    (tmp_path / "folder").mkdir()
    for path, why in ((tmp_path / "none" / "page.md", "No such file or directory"), (tmp_path / "folder", "Is a directory")):
        with pytest.raises(ToolError) as refused:
            files.write_whole(path, "third")
        assert str(refused.value) == f"cannot write '{path}': {why}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "page.md"]


def test_an_old_file_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path):
    (tmp_path / "old").write_text("first", encoding="utf-8")
    (tmp_path / "old").chmod(0o600)
    before = os.umask(0o027)
    try:
        files.write_all({tmp_path / "old": "second", tmp_path / "new": b"bytes"})
    finally:
        os.umask(before)
    assert [(path.name, path.stat().st_mode & 0o777, path.read_text(encoding="utf-8")) for path in sorted(tmp_path.iterdir())] == [
        ("new", 0o640, "bytes"), ("old", 0o600, "second")]


def test_links_stay_links(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/page")
    for content in ("made through the link", "made again"):
        files.write_whole(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink() and (tmp_path / "folder/page").read_text(encoding="utf-8") == content
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["page"]


def test_pipes_and_devices_are_written_into(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        files.write_whole(tmp_path / "pipe", "through")
        assert reader.communicate()[0] == "through" and (tmp_path / "pipe").is_fifo()
    if os.geteuid() == 0:
        try:
            os.mknod(tmp_path / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        except PermissionError:
            return
        files.require_writable([tmp_path / "null"])
        with contextlib.suppress(ToolError):  # where devices cannot be opened (nodev)
            files.write_whole(tmp_path / "null", "away")
        assert (tmp_path / "null").is_char_device()


def test_the_standard_output_as_a_file(tmp_path):
    words = [sys.executable, "-c", "from gradcomp.output import files\nprint('before', flush=True)\n"
             "files.write_whole('/dev/stdout', 'text\\n')\nprint('behind')"]
    with open(tmp_path / "out", "w", encoding="utf-8") as out:
        subprocess.run(words, stdout=out, check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
    written = (tmp_path / "out").read_text(encoding="utf-8")
    assert written.startswith("before\n") and "behind" in written and [path.name for path in tmp_path.iterdir()] == ["out"]


def test_all_files_or_none(tmp_path):
    (tmp_path / "a").write_text("old", encoding="utf-8")
    for bad in (tmp_path / "none" / "b", tmp_path / ("x" * 300)):
        with pytest.raises(ToolError, match="cannot write"):
            files.write_all({tmp_path / "a": "new", bad: "new"})
        assert (tmp_path / "a").read_text(encoding="utf-8") == "old" and [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_between_two_files_waits_for_the_second(tmp_path, monkeypatch, number):
    replace = os.replace

    def interrupted(*names):
        replace(*names)
        signal.raise_signal(number)
    monkeypatch.setattr(os, "replace", interrupted)
    before = signal.signal(number, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            files.write_all({tmp_path / "a": "new", tmp_path / "b": "new"})
    finally:
        signal.signal(number, before)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {"a": "new", "b": "new"}


def test_a_full_disk_leaves_the_old_files(tmp_path):
    (tmp_path / "a").write_text("old", encoding="utf-8")
    code = ("import resource\nfrom gradcomp.errors import ToolError\nfrom gradcomp.output import files\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
            "try: files.write_all({'a': 'new', 'b': 'x' * 5000})\nexcept ToolError as error: print(error)")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
    assert done.stdout == "cannot write 'b': File too large\n"
    assert (tmp_path / "a").read_text(encoding="utf-8") == "old" and [path.name for path in tmp_path.iterdir()] == ["a"]


def program(tmp_path, body):
    path = tmp_path / "tool.py"
    path.write_text(f"import sys\nfrom gradcomp.guarded import guarded\ndef work():\n    {body}\n    return 0\n"
                    "sys.exit(guarded('tool', work))", encoding="utf-8")
    return [sys.executable, str(path)]


@pytest.mark.parametrize("body, said", [
    ("{}['x']", "unforeseen KeyError: 'x' (tool.py:4); PYTHONDEVMODE=1 shows all of it"), ("open('none')", "cannot use 'none': No such"),
    ("raise ValueError('two\\nlines')", "unforeseen ValueError: two lines (tool.py:4)")])
def test_whatever_escapes_is_one_line(body, said, tmp_path):
    done = subprocess.run(program(tmp_path, body), capture_output=True, text=True, check=False, cwd=tmp_path,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
    assert done.returncode == 2 and done.stderr.startswith(f"tool: error: {said}") and done.stderr.count("\n") == 1, done.stderr


def test_output_that_nobody_takes_is_an_error(tmp_path):
    words, environment = program(tmp_path, "print('x' * 100000)"), os.environ | {"PYTHONPATH": str(ROOT / "python")}
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    assert done.returncode == 2 and done.stderr == "tool: error: No space left on device\n"
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as child:
        child.stdout.close()
        said = child.stderr.read()
    assert child.returncode == 2 and said == "tool: error: cannot write to the standard output: its reader has closed it\n"


@pytest.mark.parametrize("content, said", [
    (b'{"a": NaN}', "NaN is no JSON"), (b'{"a": -Infinity}', "-Infinity is no JSON"), (b'{"a": 1e999}', "1e999 is not finite"),
    (b'{"a": 18446744073709551616}', "more than 64 bits"), (b'{"a": ' + b"9" * 5000 + b"}", "more than 64 bits"),
    (b"[" * 100000, "too deeply nested"), ('{"a": "\xe9"}'.encode("latin-1"), "is not valid JSON"), (b"", "is not valid JSON")])
def test_json_that_no_program_of_ours_writes_is_refused(content, said, tmp_path):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(ToolError) as refused:
        read_json(tmp_path / "x.json")
    assert said in str(refused.value) and str(tmp_path / "x.json") in str(refused.value)


def test_json_keeps_the_numbers_of_our_programs(tmp_path):
    (tmp_path / "x.json").write_text('[18446744073709551615, -9223372036854775808, 1e-300, 0.1]', encoding="utf-8")
    assert read_json(tmp_path / "x.json") == [2**64 - 1, -2**63, 1e-300, 0.1]


@pytest.mark.parametrize("figure, said", [
    ((2.0,), "2.00"), ((None, None, None), text.DASH), ((2.0, 1.0, 3.0), "2.00 (1.00 to 3.00)"), ((2.0, 1.0, 3.01), text.UNMEASURED),
    ((2.0, -1.0, 5.0), text.UNMEASURED), ((0.0, 0.0, 0.0), "0 (0 to 0)")])
def test_a_figure_whose_interval_is_wide_is_not_shown(figure, said):
    assert text.measured(*figure) == said


def test_the_ends_of_a_factor_bear_no_sign():
    assert text.measured(2.0, 1.5, 2.5, show=text.ratio) == "2.00\N{MULTIPLICATION SIGN} (1.50 to 2.50)"
    assert text.measured(0.5, 0.4, 0.6, show=text.percent) == "50.0 % (40.0 % to 60.0 %)"
