"""Result files and files of rates are read, or refused in one line that names the file and what is wrong."""
import json

import pytest

import example_results
from gradcomp.errors import ToolError
from gradcomp.results import reading


def document(program="gradcomp-train", link=None):
    made = example_results.bench() if program == "gradcomp-bench" else example_results.train(link)
    return made | {"context": example_results.context(program, link)}


def written(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def refused(read, *arguments, **more):
    with pytest.raises(ToolError) as error:
        read(*arguments, **more)
    return str(error.value)


def test_a_record_says_its_link_and_what_slowed_it(tmp_path):
    record = reading.read_record(written(tmp_path / "a.json", document()))
    assert (record.program, record.emulated, record.mark, record.link) == ("gradcomp-train", False, "", "real link (2 ranks)")
    one = document(link="100Mbit/s,50us")
    one["context"]["gradcomp"] |= {"ranks": 1, "tracer": "proot"}
    record = reading.read_record(written(tmp_path / "b.json", one))
    assert record.emulated and record.mark == ", slowed by proot"
    assert record.link == "emulated link, 100Mbit/s,50us (1 rank), slowed by proot"


def test_records_that_are_none(tmp_path):
    path = tmp_path / "a.json"
    assert refused(reading.read_record, path) == f"cannot read '{path}': No such file or directory"
    assert refused(reading.read_record, written(path, "{")).startswith(f"'{path}' is not valid JSON: ")
    broken = f"'{path}' breaks docs/results.schema.json at "
    assert refused(reading.read_record, written(path, {})) == broken + "$: 'context' is a required property"
    for spoilt, where in (({"benchmarks": [{}]}, "$.benchmarks[0]: "), ({"benchmarks": []}, "$.benchmarks: [] is too short"),
                          ({"benchmarks": None}, "$.benchmarks: None is not of type 'array'")):
        assert refused(reading.read_record, written(path, document() | spoilt)).startswith(broken + where)
    later = document()
    later["context"]["gradcomp"]["schema_version"] = 4
    assert refused(reading.read_record, written(path, later)) == (
        broken + "$.context.gradcomp.schema_version: 4 is not one of [2, 3]")
    assert refused(reading.read_record, written(path, document()), ("gradcomp-bench",)) == (
        f"'{path}' is of 'gradcomp-train'; known are gradcomp-bench")
    assert reading.read_record(path, ("gradcomp-train",)).program == reading.read_record(path, None).program == "gradcomp-train"


def test_a_folder_has_real_links_first(tmp_path):
    assert refused(reading.read_folder, tmp_path / "x") == f"'{tmp_path / 'x'}' is not a directory"
    assert refused(reading.read_folder, tmp_path) == f"there are no *.json files in '{tmp_path}'"
    assert reading.read_folder(tmp_path, may_lack=True) == []
    for name, program, link in (("a", "gradcomp-train", "1Gbit/s"), ("c", "gradcomp-train", None), ("b", "gradcomp-bench", None)):
        written(tmp_path / f"{name}.json", document(program, link))
    records = reading.read_folder(tmp_path)
    assert [record.path.name for record in records] == ["b.json", "c.json", "a.json"]
    assert [record.path.name for record in reading.of_program(records, "gradcomp-train")] == ["c.json", "a.json"]


def test_rates_with_the_seconds_of_their_trials(tmp_path):
    trials = [{"lr": 0.1, "seconds": 3}, {"lr": 0.2, "seconds": 4}]
    path = written(tmp_path / "r.json", {"methods": {"fp32": {"lr": 0.2, "trials": trials}}})
    assert reading.read_rates(path) == {"fp32": (0.2, {0.1: 3, 0.2: 4})}
    assert refused(reading.read_rates, written(path, {})) == f"'{path}' is not a file of tuned rates: KeyError('methods')"
    assert refused(reading.read_rates, written(path, "[]")).startswith(f"'{path}' is not a file of tuned rates: TypeError(")
