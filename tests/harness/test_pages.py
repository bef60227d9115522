"""The code that all tools for measured pages share: what is measured, kept and refused, and that a page follows from its
records."""
import fcntl
import json
import os
import shutil
import signal

import pytest

import page_files
from gradcomp.pages import commands
from gradcomp.pages.page import Job
from gradcomp.results import records
from page_files import COMMIT, OTHER, Toy, asked, make


@pytest.fixture(name="folder")
def fixture_folder(tmp_path, monkeypatch):
    """A folder with programs on PATH."""
    monkeypatch.setenv("PATH", str(page_files.programs(tmp_path, "fake-bench")), prepend=":")
    return tmp_path


def one_line(done, *words):
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stderr.startswith("toy_page: error: "), done.stderr
    assert all(word in done.stderr for word in words), done.stderr


def test_a_page_follows_from_its_records_alone(folder):
    done = make(Toy(folder), folder)
    assert done.returncode == 0, done.stderr
    leaf = folder / "gradient.npy"
    assert asked(folder) == [f"--dump {leaf}", f"--input {leaf} --size 1"]
    before = (folder / "page.md").read_text(encoding="utf-8")
    for said in (f"commit {COMMIT}, 2025-01-01.", "| second | 6 |", f"fake-bench --input '{leaf}' --size 1 --output second.json"):
        assert said in before
    (folder / "page.md").unlink()
    (folder / "bin" / "fake-bench").unlink()
    assert make(Toy(folder), folder, "--page").returncode == 0
    assert (folder / "page.md").read_text(encoding="utf-8") == before
    for path in (folder / "records").iterdir():
        kept = json.loads(path.read_text(encoding="utf-8"))
        assert all("step_times_ms" not in row for row in kept["benchmarks"]) and kept["seconds"] >= 0


@pytest.mark.parametrize("program, status, kept", [("gradcomp-train", 3, True), ("gradcomp-train", 1, False), ("fake-bench", 3, False)])
def test_a_training_in_which_a_method_diverged_is_measured(folder, program, status, kept):
    (folder / "status").write_text(str(status), encoding="utf-8")
    shutil.copy(folder / "bin" / "fake-bench", folder / "bin" / "gradcomp-train")

    class One(Toy):
        def jobs(self, options):
            return [Job("once", (program, "--size", 1), "one")]
    done = make(One(folder), folder)
    if kept:
        assert done.returncode == 0 and (folder / "records" / "once.json").is_file(), done.stderr
    else:
        one_line(done, f"status {status} of: {program}")


def test_records_of_one_command_share_its_line(folder):
    class Twice(Toy):
        def jobs(self, options):
            return [Job(name, ("fake-bench", "--size", 1), "the same") for name in ("once", "again")]
    assert make(Twice(folder), folder).returncode == 0
    text = (folder / "page.md").read_text(encoding="utf-8")
    assert "# once, again\n./run exec -- fake-bench --size 1 --output once.json\n```" in text
    assert "| again | 6 |" in text, "its rows count all the same"


def test_what_lacks_alone_is_measured(folder):
    page, leaf = Toy(folder), folder / "gradient.npy"
    (folder / "fail").touch()
    one_line(make(page, folder), "fake-bench")
    assert len(asked(folder)) == 2 and not (folder / "page.md").exists()
    (folder / "fail").unlink()
    assert make(page, folder).returncode == 0 and asked(folder) == [f"--input {leaf} --size 1"]
    assert make(page, folder).returncode == 0 and asked(folder) == []
    page.size = 2
    done = make(page, folder)
    assert asked(folder) == [f"--input {leaf} --size 2"] and "second: what reads it (its record is from another command)" in done.stdout
    page_files.build(folder, OTHER)
    assert f"(its record is of commit {COMMIT})" in make(page, folder).stdout and len(asked(folder)) == 2


@pytest.mark.parametrize("change", [lambda leaf: leaf.unlink(), lambda leaf: leaf.write_text("another")])
def test_a_file_that_is_needed_is_made_again(folder, change):
    make(Toy(folder), folder)
    change(folder / "gradient.npy")
    asked(folder)
    assert make(Toy(folder), folder).returncode == 0 and asked(folder) == [], "nothing reads it"
    (folder / "records" / "second.json").unlink()
    assert make(Toy(folder), folder).returncode == 0 and len(asked(folder)) == 2


@pytest.mark.parametrize("commit, dirty", [(COMMIT, True), ("unknown", False)])
def test_a_tree_with_changes_is_refused_before_anything_is_measured(folder, commit, dirty):
    page_files.build(folder, commit, dirty)
    one_line(make(Toy(folder), folder), "made from a source tree with changes")
    assert asked(folder) == []
    quick = make(Toy(folder), folder, "--quick")
    assert quick.returncode == 0 and len(asked(folder)) == 2, "a check, not a measurement"
    one_line(make(Toy(folder), folder, "--page"), "'", "first.json' was made from a source tree with changes")


def test_records_of_other_commits_are_refused(folder):
    make(Toy(folder), folder)
    path = folder / "records" / "second.json"
    path.write_text(path.read_text(encoding="utf-8").replace(COMMIT, OTHER), encoding="utf-8")
    one_line(make(Toy(folder), folder, "--page"), f"by commit {OTHER}", f"by {COMMIT}")


def test_several_commits_are_said_to_have_equal_sources(folder, monkeypatch):
    make(Toy(folder), folder)
    said = "; commit {}, 2025-01-01. The programs of these commits were built from equal sources.\n"
    assert "equal sources" not in (folder / "page.md").read_text(encoding="utf-8")
    path = folder / "records" / "second.json"
    path.write_text(path.read_text(encoding="utf-8").replace(COMMIT, OTHER), encoding="utf-8")
    monkeypatch.setattr(records, "same_sources", lambda *_: True)
    assert make(Toy(folder), folder, "--page").returncode == 0
    assert said.format(OTHER) in (folder / "page.md").read_text(encoding="utf-8")


def test_records_of_other_commands_and_missing_ones_are_refused(folder):
    make(Toy(folder), folder)
    one_line(make(Toy(folder, size=2), folder, "--page"), "second.json' is from another command")
    (folder / "records" / "second.json").unlink()
    one_line(make(Toy(folder), folder, "--page"), "there is no record '", "second.json'")


@pytest.mark.parametrize("content, said", [("{", "not valid JSON"), ("{}", "is a required property"),
                                           (None, "is not a record at $: 'command' is a required property")])
def test_a_bad_record_is_one_line(folder, content, said):
    make(Toy(folder), folder)
    if content is None:
        known = json.loads((folder / "records" / "second.json").read_text(encoding="utf-8"))
        content = json.dumps({key: known[key] for key in ("context", "benchmarks")})
    (folder / "records" / "second.json").write_text(content, encoding="utf-8")
    for arguments in ((), ("--page",)):
        one_line(make(Toy(folder), folder, *arguments), "second.json'", said)


@pytest.mark.parametrize("arguments", [["--nonsense"], ["word"], ["--records"]])
def test_a_wrong_argument_is_one_line(folder, arguments):
    done = make(Toy(folder), folder, *arguments)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stderr.startswith("toy_page: error: ")
    assert asked(folder) == [] and not (folder / "page.md").exists()


def test_a_missing_program_is_one_line(folder):
    (folder / "bin" / "fake-bench").unlink()
    one_line(make(Toy(folder), folder), "fake-bench is not on PATH; start with ./run exec -- tools/toy_page")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_page_ends_its_program_and_goes_on(folder, number):
    class Stopped(Toy):
        """A page that gets a signal while the program of its second job runs."""

        def jobs(self, options):
            def stop(output, built):
                commands.command("sh", "-c", f"echo $$ > '{folder}/pid'; kill -{number.value} {os.getpid()}; exec sleep 600")
            first, second = super().jobs(options)
            return [first, records.dataclasses.replace(second, make=stop)]
    done = make(Stopped(folder), folder)
    assert done.returncode == 130 and done.stderr == "toy_page: interrupted\n"
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text(encoding="utf-8")), 0)
    asked(folder)
    assert make(Toy(folder), folder).returncode == 0 and len(asked(folder)) == 1


def test_one_measurement_at_a_time(folder):
    with open(os.environ["GRADCOMP_MEASURING"], "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        one_line(make(Toy(folder), folder), "another measurement is running on this machine")
        assert asked(folder) == []
        assert make(Toy(folder), folder, "--quick").returncode == 0, "a check, not a measurement"
        assert make(Toy(folder), folder, "--page").returncode == 0
    assert make(Toy(folder), folder).returncode == 0
