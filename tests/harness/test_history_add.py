"""tools/gradcomp-history add: what it takes, what it refuses, and that a night is added completely or not at all."""
import json
import subprocess

import pytest

import example_results
from compare_files import CASE, edit
from history_files import TOOL, history, refused, write_counts, write_times

pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")
COMMIT, OTHER = "0123456789ab", "ba9876543210"


def content(folder):
    """All files below a folder."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_night_is_added_once(tmp_path):
    write_times(tmp_path / "one", COMMIT, 1)
    done = history("add", tmp_path / "history", tmp_path / "one", write_counts(tmp_path / "counts.json", COMMIT, 1, 5000))
    assert done.returncode == 0 and done.stdout == f"night 2025-01-01T020000Z_{COMMIT}: added\n", done.stderr
    before = content(tmp_path / "history")
    assert len(before) == 12 and b"times_ms" not in b"".join(before.values())
    again = history("add", tmp_path / "history", tmp_path / "one", tmp_path / "counts.json")
    assert again.returncode == 0 and "is there already" in again.stdout
    refused(history("add", tmp_path / "history", tmp_path / "one"), "each once")
    write_times(tmp_path / "two", OTHER, 1, label="b")
    edit(tmp_path / "two" / "b000.json", lambda made: made["context"].update(date="2024-01-01T00:00:00+00:00"))
    refused(history("add", tmp_path / "history", tmp_path / "two"), "in the order of their dates")
    after = content(tmp_path / "history")
    assert {path: after[path] for path in before} == before and len(after) == len(before) + 1, "a verdict alone was added"


@pytest.mark.parametrize("change, words", [
    (lambda made: made["context"]["gradcomp"].update(git_hash="unknown"), ["names no commit"]),
    (lambda made: made["context"]["gradcomp"].update(git_hash=OTHER), ["of several commits", COMMIT, OTHER]),
    (lambda made: made["benchmarks"][0].update(verified=False), ["breaks docs/results.schema.json at $.benchmarks[0]"]),
    (lambda made: made["benchmarks"][0].pop("allocations"), ["breaks docs/results.schema.json", "allocations"]),
    (lambda made: made["context"]["gradcomp"].update(compiler="Clang 1"), ["differ", "compiler"])])
def test_bad_records_are_refused(tmp_path, change, words):
    write_times(tmp_path / "one", COMMIT, 1)
    edit(tmp_path / "one" / "new003.json", change)
    refused(history("add", tmp_path / "history", tmp_path / "one"), *words)
    assert content(tmp_path / "history") == {}


def test_other_refusals(tmp_path):
    write_times(tmp_path / "few", COMMIT, 1, processes=9)
    refused(history("add", tmp_path / "history", tmp_path / "few"), "too few processes", "9 result files")
    write_times(tmp_path / "dirty", COMMIT, 1, context={"git_dirty": True})
    refused(history("add", tmp_path / "history", tmp_path / "dirty"), "dirty build", "--allow-dirty")
    assert history("add", tmp_path / "history", tmp_path / "dirty", "--allow-dirty").returncode == 0
    write_times(tmp_path / "other", OTHER, 2, context={"cpu_model": "Another"})
    refused(history("add", tmp_path / "history", tmp_path / "other"), "another-1-threads-openmp", "name another folder")
    for day in (3, 4):
        write_counts(tmp_path / f"counts{day}.json", OTHER, day, 5000)
    refused(history("add", tmp_path / "history", tmp_path / "counts3.json", tmp_path / "counts4.json"),
            f"two files hold instruction counts: '{tmp_path / 'counts3.json'}' and '{tmp_path / 'counts4.json'}'; a night has one")
    refused(history("add", tmp_path / "history", tmp_path / "nowhere"), "cannot read", "nowhere")
    refused(history("check", tmp_path / "empty"), "no nights in", "adds the first")
    refused(history("page", tmp_path / "history", "--output", tmp_path / "no" / "page.html"), "cannot write")


def test_results_without_a_gate_are_named_and_left_out(tmp_path):
    """A folder with records of trainings and reductions, which slurm/gather reads."""
    records = tmp_path / "records"
    records.mkdir()
    for name, made in (("training", example_results.train()), ("reduction", example_results.allreduce())):
        (records / f"{name}.json").write_text(json.dumps(made), encoding="utf-8")
    done = history("add", tmp_path / "history", records)
    assert done.returncode == 2 and "nothing to add" in done.stderr and not (tmp_path / "history").exists()
    assert "training.json' is a result of gradcomp-train, for which there is no gate" in done.stderr
    write_times(records, COMMIT, 1)
    done = history("add", tmp_path / "history", records)
    assert done.returncode == 0 and done.stderr.count("left out: ") == 2


def test_interrupted_add_leaves_no_part_of_a_night(tmp_path, monkeypatch):
    from gradcomp.history import add
    write_times(tmp_path / "one", COMMIT, 1)
    calls = []

    def interrupted(path):
        calls.append(path)
        if len(calls) == 5:
            raise KeyboardInterrupt
    monkeypatch.setattr(add.baselines, "shorten", interrupted)
    done = history("add", tmp_path / "history", tmp_path / "one")
    assert done.returncode == 130 and done.stderr == "gradcomp-history: interrupted\n"
    assert list((tmp_path / "history").iterdir()) == []
    monkeypatch.undo()
    assert history("add", tmp_path / "history", tmp_path / "one").returncode == 0
    [night] = (tmp_path / "history").iterdir()
    night.rename(tmp_path / "history" / ".night.killed")
    refused(history("check", tmp_path / "history"), "no nights in")


def test_nights_that_cannot_be_compared_need_acceptance(tmp_path):
    write_times(tmp_path / "1", COMMIT, 1)
    write_times(tmp_path / "2", OTHER, 2, context={"compiler": "Clang 1"})
    for day in "12":
        history("add", tmp_path / "history", tmp_path / day)
    done = history("check", tmp_path / "history")
    assert done.returncode == 2 and "not comparable: not comparable: compiler" not in done.stdout
    assert "not comparable: compiler: 'GNU 0' and 'Clang 1'" in done.stdout
    assert history("accept", tmp_path / "history", OTHER, "--reason", "Clang from now on").returncode == 0
    assert history("check", tmp_path / "history").returncode == 0
    write_times(tmp_path / "3", COMMIT, 3, context={"compiler": "Clang 1"}, slow={CASE: 1.3})
    history("add", tmp_path / "history", tmp_path / "3")
    assert history("check", tmp_path / "history").returncode == 1


def test_nights_of_unequal_options_are_not_compared(tmp_path):
    write_times(tmp_path / "1", COMMIT, 1)
    options = {"samples": 5, "seed": 1, "quick": False, "cache": "cold", "stream": 0, "interleave": False}
    write_times(tmp_path / "2", OTHER, 2, context={"options": options}, slow={CASE: 1.3})
    for day in "12":
        history("add", tmp_path / "history", tmp_path / day)
    done = history("check", tmp_path / "history")
    assert done.returncode == 2 and "not comparable: options.cache: 'warm' and 'cold'" in done.stdout, "no regression"


def test_help():
    done = subprocess.run([str(TOOL), "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "exit status" in done.stdout
    for verb in ("add", "check", "accept", "page", "bisect", "night"):
        assert verb in done.stdout
