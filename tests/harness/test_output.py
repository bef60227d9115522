"""Numbers, tables and whole files, character by character."""
import math

import pytest

from gradcomp.errors import ReportError, complete
from gradcomp.output import files, markdown, text


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
    assert text.crossover("a", None) == "a does not beat the best dense control at the largest size measured"
    assert text.crossover("a", 0) == "a beats the best dense control at every size measured"
    assert text.crossover("a", 2000) == "a beats the best dense control from about 2.00 kB of gradient on"


def test_tables_align_numbers_to_the_right():
    assert markdown.table(["a", "b", "c"], [["x|y", 1, 2], ["two\nlines", 3, None]]) == [
        "| a | b | c |", "|---|---:|---:|", "| x\\|y | 1 | 2 |", "| two lines | 3 | None |"]
    assert markdown.table(["a"], []) == ["| a |", "|---|"]


def test_files_are_whole_or_as_they_were(tmp_path):
    files.write_whole(tmp_path / "page.md", "first")
    files.write_whole(str(tmp_path / "page.md"), "second")
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == "second"
    assert (tmp_path / "page.md").stat().st_mode & 0o777 == 0o644
    (tmp_path / "folder").mkdir()
    for path, why in ((tmp_path / "none" / "page.md", "No such file or directory"), (tmp_path / "folder", "Is a directory")):
        with pytest.raises(ReportError) as refused:
            files.write_whole(path, "third")
        assert str(refused.value) == f"cannot write '{path}': {why}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "page.md"]
