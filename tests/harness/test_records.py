"""tools/gradcomp_report/records: what is kept of a result file, and which files may stand on one page."""
import json
import pathlib

import example_results
import pytest
from gradcomp_report.load import Record, ReportError, read_record
from gradcomp_report.records import compact, keep, require_one_clean_commit


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
    keep(made, kept)
    before, after = read_record(made), read_record(kept)
    assert [row["name"] for row in after.rows] == [row["name"] for row in before.rows]
    assert all("step_times_ms" not in row and "curve" in row and "step_time_ms" in row for row in after.rows)
    assert kept.stat().st_size < made.stat().st_size and not list(kept.parent.glob("*.part"))
    assert len(kept.read_text(encoding="utf-8").splitlines()) == len(after.rows) + 2


def test_one_clean_commit():
    require_one_clean_commit([record("a"), record("b")])
    for other, said in ((record("b", git_dirty=True), "with changes"), (record("b", git_hash="unknown"), "with changes"),
                        (record("b", git_hash="b" * 40), "by commit bbbbbbbbbbbb, but 'a' by aaaaaaaaaaaa")):
        with pytest.raises(ReportError, match=said):
            require_one_clean_commit([record("a"), other])
