"""gradcomp.results.records: what is kept of a result file, and which files may be on the same page."""
import json
import pathlib
import subprocess

import pytest

import example_results
from gradcomp.errors import ToolError
from gradcomp.pages import results
from gradcomp.results import records
from gradcomp.results.provenance import machine, machines, too_fast
from gradcomp.results.reading import Record, read_record
from gradcomp.results.records import compact, keep, read_kept, require_one_clean_commit, same_sources
from gradcomp.results.schema import require_file, require_record


def record(name, **known):
    document = example_results.train()
    document["context"]["gradcomp"] |= {"git_hash": "a" * 40} | known
    return Record(pathlib.Path(name), document["context"], document["benchmarks"])


def test_compact_drops_samples_and_digits_that_no_clock_has():
    assert compact({"a": [1.23456789, 10, None, True], "step_times_ms": [1], "b": {"times_ms": [2], "c": 12345678.9}}) == {
        "a": [1.23457, 10, None, True], "b": {"c": 12345700.0}}


def test_a_kept_file_is_a_result_file_and_smaller(tmp_path):
    made, kept = tmp_path / "made.json", tmp_path / "deep" / "kept.json"
    document = example_results.train()
    document["context"]["gradcomp"]["environment"]["GRADCOMP_MEASURING"] = "/a/path/of/this/machine"
    made.write_text(json.dumps(document), encoding="utf-8")
    keep(made, kept, ["program", 1], 2.34, [made, tmp_path / "none"])
    assert "/a/path" not in kept.read_text(encoding="utf-8")
    before, after = read_record(made), read_kept(kept)
    assert after.command == ["program", "1"] and after.seconds == 2.3
    assert after.leaves == {str(made): records.checksum(made), str(tmp_path / "none"): None}
    assert [row["name"] for row in after.rows] == [row["name"] for row in before.rows]
    assert all("step_times_ms" not in row and "curve" in row and "step_time_ms" in row for row in after.rows)
    assert kept.stat().st_size < made.stat().st_size and not list(kept.parent.glob("*.part"))
    assert len(kept.read_text(encoding="utf-8").splitlines()) == len(after.rows) + 5


@pytest.mark.parametrize("change, said", [
    (lambda made: made["benchmarks"][0].pop("stages_ms"), r"'.*k\.json' breaks docs/results\.schema\.json at \$\.benchmarks\[0\]"),
    (lambda made: made["benchmarks"][1].update(quality_matched="yes"), r"at \$\.benchmarks\[1\]"),
    (lambda made: made["context"]["gradcomp"].update(threads=0), r"at \$\.context\.gradcomp\.threads: 0 is less"),
    (lambda made: made["context"].pop("host_name"), r"at \$\.context: 'host_name' is a required property")])
def test_a_record_that_breaks_the_schema_is_refused(tmp_path, change, said):
    kept, document = tmp_path / "k.json", example_results.train()
    change(document)
    (tmp_path / "made.json").write_text(json.dumps(document), encoding="utf-8")
    keep(tmp_path / "made.json", kept, ["program"], 1)
    with pytest.raises(ToolError, match=said):
        read_kept(kept)


def test_rows_of_a_page_are_its_own_but_the_context_is_a_programs(tmp_path):
    document = example_results.train()
    document["benchmarks"] = [{"name": "fp32", "lr": 0.1}]
    for broken in (False, True):
        document["context"] |= {"num_cpus": 0} if broken else {}
        (tmp_path / "made.json").write_text(json.dumps(document), encoding="utf-8")
        keep(tmp_path / "made.json", tmp_path / "k.json", ["tools/x"], 1)
        if broken:
            with pytest.raises(ToolError, match=r"at \$\.context\.num_cpus"):
                read_kept(tmp_path / "k.json")
        else:
            assert read_kept(tmp_path / "k.json").rows == [{"name": "fp32", "lr": 0.1}]


def test_samples_may_lack_in_records_alone():
    document = example_results.train()
    require_file(document, "f")
    document = compact(document)
    require_record(document, "f")
    with pytest.raises(ToolError, match="breaks"):
        require_file(document, "f")


def test_one_clean_commit():
    require_one_clean_commit([record("a"), record("b")])
    for other, said in ((record("b", git_dirty=True), "with changes"), (record("b", git_hash="unknown"), "with changes"),
                        (record("b", git_hash="b" * 40), "by commit bbbbbbbbbbbb, but 'a' by aaaaaaaaaaaa")):
        with pytest.raises(ToolError, match=said):
            require_one_clean_commit([record("a"), other])


def test_records_that_were_measured_at_the_same_time_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "ALL", tmp_path)
    made = tmp_path / "made.json"
    for page, name, minute, core in (("a", "first", 0, ""), ("a", "next", 1, ""), ("b", "later", 2, ""), ("c", "other", 0, "Zen")):
        document = example_results.train()
        document["context"]["date"] = f"2025-01-01T00:0{minute}:00+00:00"
        document["context"]["gradcomp"]["openblas_core"] = core
        made.write_text(json.dumps(document), encoding="utf-8")
        keep(made, tmp_path / page / f"{name}.json", ["program"], 90)
    first, late, later, other = (read_kept(tmp_path / name) for name in ("a/first.json", "a/next.json", "b/later.json", "c/other.json"))
    assert [records.beside(one) for one in (first, late, later, other)] == [[], ["b/later"], ["a/next"], []]
    records.require_alone([first, other])
    with pytest.raises(ToolError, match=r"next.json' was measured while b/later was; remove the record"):
        records.require_alone([first, late])


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
    first, record, page, entered, gate, judged, listed, other = map(commit, (
        "src/a.cpp", "docs/results/records/a.json", "python/gradcomp/pages/a.py", "tools/toolchain.d/enter",
        "tools/gradcomp_compare/a.py", "tools/gradcomp_compare/b.py", "tools/toolchain.d/packages", "CMakeLists.txt"))
    assert all(same_sources(first, one) for one in (record, page, entered)) and same_sources(other, other)
    assert not same_sources(gate, judged) and not same_sources(judged, listed) and not same_sources(listed, other)
    assert not same_sources(first, "unknown") and not same_sources("unknown", first) and not same_sources(first, "b" * 12)
    git("mv", "tools/gradcomp_compare", "python/gradcomp/gate")
    git("commit", "-q", "-m", "move")
    moved = git("rev-parse", "HEAD")
    assert same_sources(other, moved), "the gate has only moved"
    shaper = "python/gradcomp/links"
    shaped, reshaped = commit(f"{shaper}/rate.py"), commit(f"{shaper}/make")
    assert same_sources(shaped, reshaped) and not same_sources(shaped, reshaped, (shaper,))
    assert same_sources(moved, reshaped, (shaper,)), "one of them has no such place"
    changed = commit("python/gradcomp/gate/c.py")
    assert not same_sources(moved, changed) and same_sources(other, changed), "of what one of them lacks nothing is known"


def test_processors_of_one_name_are_told_apart():
    one, other = record("a", openblas_core="Haswell"), record("b", openblas_core="Cooperlake")
    one.context["caches"] = [{"type": "Data", "level": 1, "size": 49152, "num_sharing": 1},
                             {"type": "Instruction", "level": 1, "size": 32768, "num_sharing": 1},
                             {"type": "Unified", "level": 2, "size": 1 << 20, "num_sharing": 1},
                             {"type": "Unified", "level": 3, "size": 1 << 25, "num_sharing": 2}]
    assert machine(one).startswith("a <fabricated> CPU (L1 48 KiB, L2 1,024 KiB, OpenBLAS core Haswell), 2 CPUs, ")
    assert "; and a <fabricated> CPU (L1 32 KiB, OpenBLAS core Cooperlake), 2 CPUs, " in machines([one, other])


def test_sources_of_pages_are_places_of_the_repository():
    found = {name: page.sources for name, page in results.PAGES.items() if page.sources}
    assert all("python/gradcomp/links" in found[name] for name in ("exchange", "links", "mercury")) and "sparsifiers" in found
    assert all((records.ROOT / place).exists() for places in found.values() for place in places)


@pytest.mark.parametrize("rate, found", [
    (260, ["fp32"]), (300, []), (30, ["fp32", "fp16", "bf16", "top_k:ratio=0.01", "powersgd:rank=2"])])
def test_bytes_that_a_link_cannot_carry_are_found(rate, found):
    one = record("a", link={"kind": "shaped", "text": f"{rate}Mbit/s", "rate_mbit_s": rate, "latency_us": None})
    assert too_fast(one) == found
    one.gradcomp["link"]["kind"] = "emulated"
    assert too_fast(one) == []
