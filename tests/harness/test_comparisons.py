"""The comparisons of comparisons.toml: their commands and those of their tuning, and what a bad table says."""
import dataclasses
import re
import tomllib

import pytest

from gradcomp.errors import ToolError
from gradcomp.pages import comparisons
from test_schema import BIN, run


def test_the_same_batch_on_more_ranks():
    runs = comparisons.find("letters").runs[:2]
    two, four = (comparisons.command(run) for run in runs)
    batch = [run.ranks * words[words.index("--batch") + 1] for run, words in zip(runs, (two, four), strict=True)]
    assert four[four.index("-n") + 1] == 4 and batch[0] == batch[1] == runs[0].task.batch


@pytest.mark.parametrize("name", ["lstm", "lstm-4", "sparsifiers", "full-text"])
def test_tuning_is_the_same_training_without_a_result(name):
    chosen = comparisons.find(name).runs[0]
    words = comparisons.tuning([chosen], "rates.json")
    assert words[-2:] == ["--tune-steps", chosen.task.tuning_steps or chosen.task.steps]
    assert words[words.index("-n") + 1] == 2 and not {"--output", "--link", "--seeds", *comparisons.RESULTS} & set(words)
    later = comparisons.command(dataclasses.replace(chosen, ranks=2, seeds=1, link=""), "rates.json")
    extra = [word for before, word in zip(["", *later], later, strict=False) if not {before, word} & comparisons.RESULTS]
    assert extra == ["gradcomp-train" if word == "gradcomp-tune" else word for word in words[:-2]]


def test_every_name_is_used_once():
    names = [run.name for comparison in comparisons.COMPARISONS for run in comparison.runs]
    assert len(set(names)) == len(names)
    for comparison in comparisons.COMPARISONS:
        for chosen in comparison.runs:
            assert len(set(chosen.methods)) == len(chosen.methods)
            assert chosen.methods.count("fp32") + chosen.controls == 1


def test_comparisons_are_read_from_their_table():
    table = tomllib.loads(comparisons.TABLE.read_text(encoding="utf-8"))
    assert [one.name for one in comparisons.COMPARISONS] == [one["name"] for one in table["comparison"]]
    assert comparisons.find("full-text").runs[0].methods == (*table["methods"]["six"], *table["methods"]["rest"])
    hmm, local = comparisons.TASKS["hmm"], comparisons.TASKS["hmm_local"]
    assert local == dataclasses.replace(hmm, name="lstm_local", steps=384, evaluations=12, target="")
    assert comparisons.find("bars").runs[0].bar == ("accuracy", 0.88, "ResNet-20 on ShapeTex-10")
    assert comparisons.find("powersgd-ranks").runs[1].task is None


@pytest.mark.parametrize("run", [run for name in ("local", "local-images") for run in comparisons.find(name).runs],
                         ids=lambda run: run.name)
def test_every_period_has_its_outer_optimiser_and_a_control(run):
    assert run.controls and run.task.steps % run.period == run.task.tuning_steps % run.period == 0
    for period in (8, 32, 128):
        local = f"fp32:strategy=local:strategy.period={period}"
        outer = local + ":strategy.outer_rate=0.7:strategy.outer_momentum=0.9:strategy.outer_nesterov=on"
        assert {local, outer, outer + ":strategy.inner=mean"} <= set(run.methods), period


@pytest.mark.parametrize("text, said", [("[tasks", "comparisons.toml"), ("methods = {}\ntasks = {}\n[[comparison]]\n", "'run'"),
                                        ('methods = {}\ntasks = {}\n[[comparison]]\nname = "a"\n[[comparison.run]]\nname = "b"\n'
                                         'task = "no"\nmethods = []', "'no'")])
def test_a_bad_table_is_one_line(tmp_path, text, said):
    path = tmp_path / "comparisons.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ToolError, match=said):
        comparisons.read(path)


def test_middles_of_rates_are_of_methods_that_run():
    for task in (comparisons.TASKS["images"], comparisons.TASKS["hmm"]):
        used = {spec for c in comparisons.COMPARISONS for chosen in c.runs if chosen.task == task for spec in chosen.methods}
        assert set(dict(task.middles)) <= used
    assert comparisons.TASKS["images"].specs(("fp32", "sign")) == ["fp32", "sign:lr=0.004"]


def test_trials_of_the_tuning_are_whole_updates():
    for chosen in (each for one in comparisons.COMPARISONS for each in one.runs if each.task and "--accumulate" in each.options):
        words = comparisons.tuning([chosen], "rates.json")
        steps, every = (words[words.index(option) + 1] for option in ("--tune-steps", "--accumulate"))
        assert steps % every == 0 and chosen.task.steps % every == 0, chosen.name


@pytest.mark.parametrize("quick", [False, True])
def test_steps_blocks_and_evaluations_are_whole_periods(quick):
    chosen = [each for one in comparisons.COMPARISONS for each in one.runs if each.task]
    assert any(each.period > 1 for each in chosen)
    for each in chosen:
        words = comparisons.command(each, quick=quick)
        numbers = [words[words.index(option) + 1] for option in ("--steps", "--block", "--evaluate-every") if option in words]
        assert not any(number % each.period for number in numbers), each.name
        if each.links > 1:  # all links have as many blocks
            assert numbers[0] % (each.links * numbers[1]) == 0, each.name


def test_rates_of_a_task_are_tuned_for_all_of_its_runs():
    runs = comparisons.find("resnet20").runs + comparisons.find("powersgd-ranks-images").runs
    words = comparisons.tuning(runs, "rates.json")
    methods = words[words.index("--methods") + 1].split(",")
    assert len(set(methods)) == len(methods) and "fp32" not in methods and "--no-controls" not in words
    assert set(methods) == {spec for run in runs for spec in run.task.specs(run.methods)} - {"fp32"} and "--accumulate" in words
    words = comparisons.tuning(runs[1:], "rates.json")
    assert "fp32" in words[words.index("--methods") + 1].split(",") and "--no-controls" in words


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_programs_know_every_method():
    specs = {spec for comparison in comparisons.COMPARISONS for chosen in comparison.runs for spec in chosen.methods}
    done = run("gradcomp-methods", "--describe", "--methods", ",".join(sorted(specs)))
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
@pytest.mark.parametrize("chosen", [*comparisons.find("full-text").runs, comparisons.find("full-images").runs[0]],
                         ids=lambda chosen: chosen.name)
def test_full_comparisons_lack_no_method(chosen):
    known = set(re.findall(r"^([a-z]\w*)", run("gradcomp-methods").stdout, re.MULTILINE))
    assert len(known) > 30 and chosen.controls and chosen.seeds == 3
    assert {spec.split(":")[0] for spec in chosen.methods} == known - {"fp32", "fp16", "bf16", "no_exchange"}
