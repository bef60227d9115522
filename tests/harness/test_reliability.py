"""docs/reliability.md: some trials of every fault lose nothing, a loss is noticed, and the page counts what its records say."""
import pathlib
import shutil
import signal
import types

import pytest

pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")
from gradcomp.faults import interrupts
from gradcomp.faults.trial import BEFORE, Trial
from gradcomp.pages import reliability
from test_schema import BIN

needs_programs = pytest.mark.skipif(not BIN or not shutil.which("mpirun"), reason="GRADCOMP_BIN or mpirun is missing")
SLEEP = ("sleep", "300")


@pytest.fixture(name="trial")
def fixture_trial(tmp_path):
    (tmp_path / "folder").mkdir()
    made = Trial("toy", 1, tmp_path / "folder")
    yield made
    made.kill()


@needs_programs
@pytest.mark.parametrize("name", reliability.FAULTS)
def test_a_fault_costs_nothing(name, tmp_path, monkeypatch):
    fault = reliability.FAULTS[name]
    if reason := fault.why_not():
        pytest.skip(reason)
    monkeypatch.setenv("PATH", str(pathlib.Path(BIN).resolve()), prepend=":")
    for variable, value in (("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                            ("PRTE_MCA_rmaps_default_mapping_policy", ":OVERSUBSCRIBE")):
        monkeypatch.setenv(variable, value)
    rows = reliability.try_out(fault, fault.few, tmp_path / "trials")
    assert [row["lost"] for row in rows] == [[]] * fault.few, rows


def test_the_same_seed_gives_the_same_fault(tmp_path):
    numbers = [Trial(fault, seed, tmp_path).random.uniform(size=3).tolist() for fault, seed in (("a", 1), ("a", 1), ("a", 2), ("b", 1))]
    assert numbers[0] == numbers[1] and numbers[0] != numbers[2] and numbers[0] != numbers[3]


def test_a_process_that_is_left_is_a_loss_and_ends(trial, monkeypatch):
    monkeypatch.setattr("gradcomp.faults.trial.GONE", 0.2)
    assert trial.run("sh", "-c", "setsid sleep 300 & exit 3") == 3
    trial.require_gone()
    assert trial.lost == ["processes are left"]
    trial.require_gone()
    assert len(trial.lost) == 1, "it was ended"


def test_a_command_that_hangs_is_a_loss_and_ends(trial):
    assert trial.end(trial.start(*SLEEP), limit=0.2) is None
    assert trial.lost == ["hangs"] and not trial.processes()


def test_a_command_that_is_over_early_tells_how_long_it_takes(trial):
    duration = interrupts.Duration(1e6)
    assert interrupts.interrupt(trial, trial.start("true"), duration, [signal.SIGTERM]) == signal.SIGTERM
    assert trial.injected == BEFORE and duration.seconds < 60


@pytest.mark.parametrize("kinds, target", [([signal.SIGTERM], "launcher"), ([signal.SIGSTOP], "launcher")])
def test_the_signal_arrives(trial, kinds, target):
    process = trial.start(*SLEEP)
    assert interrupts.interrupt(trial, process, interrupts.Duration(0.1), kinds) == kinds[0]
    if kinds == [signal.SIGTERM]:
        assert trial.end(process) == -signal.SIGTERM
    assert trial.injected.startswith(f"{kinds[0].name} to ")


def test_half_a_result_is_not_whole(tmp_path):
    path = tmp_path / "out.json"
    path.write_text('{"context": {}, "benchmarks": [', encoding="utf-8")
    assert not interrupts.is_whole(path, 1)
    path.write_text('{"context": {}, "benchmarks": [{}]}', encoding="utf-8")
    assert not interrupts.is_whole(path, 1)


@pytest.mark.parametrize("script, lost", [
    ("printf n > pages/a; printf n > pages/b", []),
    ("printf n > pages/a; [ -e again ] || { touch again; kill -9 $$; }; printf n > pages/b", ["some files are new and some are not"]),
    ("printf h > pages/a; [ -e again ] || { touch again; kill -9 $$; }; printf n > pages/a; printf n > pages/b",
     ["a file is half written", "some files are new and some are not"])])
def test_pages_of_which_some_are_new_are_a_loss(trial, script, lost):
    shared = [(("sh", "-c", script), interrupts.Duration(60), {"a": b"o", "b": b"o"}, {"a": b"n", "b": b"n"})]
    interrupts.interrupt_tool(trial, shared)
    assert trial.lost == lost


def test_the_page_counts_what_was_lost():
    rows = [{"name": f"disk/{seed}", "injected": "x", "lost": lost, "parts": parts, "notes": []}
            for seed, (lost, parts) in enumerate([([], 0), (["hangs"], 0), (["hangs", "a file is half written"], 2), ([], 1)])]
    assert reliability.lost(rows) == "2 hangs, 1 a file is half written; a hidden temporary file stayed in 2 trials"
    assert reliability.lost(rows[:1]) == "nothing"
    records = {"disk": types.SimpleNamespace(rows=[*rows, rows[0] | {"injected": BEFORE}])}
    said = reliability.answer(records)
    assert said.startswith("Of 4 faults of 1 kinds, injected into real processes, 2 cost anything (`disk`). After the others, no ")
    assert "none cost anything. After them, no " in reliability.answer({"disk": types.SimpleNamespace(rows=rows[:1])})
    assert reliability.PAGE.broken(records) and not reliability.PAGE.broken({"disk": types.SimpleNamespace(rows=rows[:1])})
