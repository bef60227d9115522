"""tools/gradcomp_report/records: what is kept of a result file, and which files may stand on one page."""
import json
import pathlib
import subprocess

import pytest

import example_results
from gradcomp.errors import ReportError
from gradcomp.results import records
from gradcomp.results.reading import Record, read_record
from gradcomp.results.records import compact, keep, read_kept, require_one_clean_commit, same_sources


def record(name, **known):
    document = example_results.train()
    document["context"]["gradcomp"] |= {"git_hash": "a" * 40} | known
    return Record(pathlib.Path(name), document["context"], document["benchmarks"])


def test_compact_drops_samples_and_digits_that_no_clock_has():
    assert compact({"a": [1.23456789, 10, None, True], "step_times_ms": [1], "b": {"times_ms": [2], "c": 12345678.9}}) == {
        "a": [1.23457, 10, None, True], "b": {"c": 12345700.0}}


def test_a_kept_file_is_a_result_file_and_smaller(tmp_path):
    made, kept = tmp_path / "made.json", tmp_path / "deep" / "kept.json"
    made.write_text(json.dumps(example_results.train()), encoding="utf-8")
    keep(made, kept, ["program", 1], 2.34, [made, tmp_path / "none"])
    before, after = read_record(made), read_kept(kept)
    assert after.command == ["program", "1"] and after.seconds == 2.3
    assert after.leaves == {str(made): records.checksum(made), str(tmp_path / "none"): None}
    assert [row["name"] for row in after.rows] == [row["name"] for row in before.rows]
    assert all("step_times_ms" not in row and "curve" in row and "step_time_ms" in row for row in after.rows)
    assert kept.stat().st_size < made.stat().st_size and not list(kept.parent.glob("*.part"))
    assert len(kept.read_text(encoding="utf-8").splitlines()) == len(after.rows) + 5


def test_one_clean_commit():
    require_one_clean_commit([record("a"), record("b")])
    for other, said in ((record("b", git_dirty=True), "with changes"), (record("b", git_hash="unknown"), "with changes"),
                        (record("b", git_hash="b" * 40), "by commit bbbbbbbbbbbb, but 'a' by aaaaaaaaaaaa")):
        with pytest.raises(ReportError, match=said):
            require_one_clean_commit([record("a"), other])


def test_a_commit_of_records_is_no_other_source(tmp_path, monkeypatch):
    def git(*words):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a", "-C", tmp_path, *words], capture_output=True,
                              text=True, check=True).stdout.strip()

    def commit(name):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
        git("add", ".")
        git("commit", "-q", "-m", name)
        return git("rev-parse", "--short=12", "HEAD")
    monkeypatch.setattr(records, "ROOT", tmp_path)
    git("init", "-q")
    first, record, page, gate, other = map(commit, (
        "src/a.cpp", "docs/results/records/a.json", "tools/gradcomp_pages/a.py", "tools/gradcomp_compare/a.py", "CMakeLists.txt"))
    assert same_sources(first, record) and same_sources(first, page) and same_sources(other, other)
    assert not same_sources(page, gate) and not same_sources(gate, other) and not same_sources(first, "b" * 12)
    assert not same_sources(first, "unknown") and not same_sources("unknown", first)
