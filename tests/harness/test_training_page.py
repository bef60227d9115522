"""tools/training_page: its tables from fabricated files, what it keeps and refuses, and a whole quick comparison."""
import json
import math
import os
import pathlib
import re
import subprocess
import sys

import pytest

import example_results
import tool_process
from gradcomp.errors import ToolError
from gradcomp.pages import comparisons, training_bars, training_links, training_tables
from gradcomp.report import verdicts
from gradcomp.results import records
from gradcomp.results.reading import Record, read_rates
from test_schema import BIN, VALIDATOR

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "training_page"
COMMIT = "0123456789ab"
DASH, TIMES = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"


def tool(*arguments, path):
    """Runs the tool with `path` before PATH."""
    environment = os.environ | {"PATH": f"{path}:{os.environ['PATH']}"}
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=environment)


def record(document):
    return Record(pathlib.Path("x.json"), document["context"], document["benchmarks"])


def training(chosen=None):
    """The training of the example with the columns of newer files, as if the Run `chosen` had made it."""
    document = example_results.train()
    for row in document["benchmarks"]:
        row |= {"learning_rate": 0.05, "batch_per_rank": 32, "steps": 30}
    if chosen:
        methods = ",".join(chosen.task.specs(chosen.methods))
        document["context"]["gradcomp"]["options"] = {"methods": methods, "steps": chosen.task.steps, "tuned": True, "skew": 0.0,
                                                      "quality_tolerance": 0.02}
        document["context"]["gradcomp"]["ranks"] = chosen.ranks
        document["context"]["gradcomp"]["git_hash"] = COMMIT
    return document


def test_programs_get_all_cpus():
    asks = "import os; print(len(os.sched_getaffinity(0)))"
    starts = f"import sys; from gradcomp.pages import commands; print(commands.command(sys.executable, '-c', {asks!r}))"
    found = subprocess.run([sys.executable, "-c", starts], capture_output=True, text=True, check=True,
                           env=os.environ | {"PYTHONPATH": str(ROOT / "python"), "OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"})
    assert int(found.stdout) == len(os.sched_getaffinity(0))


def table(made):
    header, lines = made
    assert all(len(line) == len(header) for line in lines)
    return {line[0].strip("`"): dict(zip(header, line, strict=True)) for line in lines}


def test_verdicts_never_show_a_speed_up_beside_a_missed_quality():
    lines = table(training_tables.methods(record(training())))
    assert lines["powersgd:rank=2"]["verdict"] == "misses the quality of fp32"
    assert TIMES in lines["top_k:ratio=0.01"]["verdict"]
    assert lines["no_exchange"]["verdict"] == "bound, misses the quality of fp32"
    assert lines["fp32"]["test accuracy"] == "95.0 %" and lines["fp32"]["rate"] == "0.05"
    assert "steps to target" not in lines["fp32"]


def test_a_method_that_diverged_says_when_and_has_no_other_verdict():
    document = training()
    example_results.diverge(document["benchmarks"][4], 12)
    line = table(training_tables.methods(record(document)))["top_k:ratio=0.01"]
    assert (line["test accuracy"], line["verdict"]) == ("diverged at step 12", "diverged")
    example_results.diverge(document["benchmarks"][0], 20)
    lines = table(training_tables.methods(record(document)))
    assert [lines[label]["verdict"] for label in ("fp32", "fp16", "top_k:ratio=0.01", "no_exchange")] == [
        "diverged", "none: fp32 diverged", "diverged", "none: fp32 diverged"]
    assert training_bars.bars({"a": record(document)}, {"a": ("accuracy", 0.5, "A")})[1][0][2:] == ["diverged at step 20", "missed"]


def test_over_seeds_it_says_how_many_diverged():
    document = training()
    rows = document["benchmarks"]
    rows += [rows[4] | {"seed": 2}, example_results.diverge(rows[4] | {"seed": 3}, 12),
             over_seeds("top_k:ratio=0.01", 0, test_quality=None) | {"quality_matched": False}]
    line = table(training_tables.methods(record(document)))["top_k:ratio=0.01"]
    assert line["test accuracy"] == line["verdict"] == "diverged with 1 of 3 seeds"
    _, lines = training_bars.separations(record(document))
    assert lines == [["`top_k:ratio=0.01`", "diverged with 1 of 3 seeds", "at most 5 points", "diverged"]]


def swept(ranks, rate):
    """A record over several links, over which top_k pays below `rate`."""
    document = training()
    for row in document["benchmarks"]:
        row["over_links"] = [{"rate_mbit_s": link, "step_time_ms": {"median": 4.0}, "speedup_vs_best_dense": gain}
                             for link, gain in ((10.0, 2.0), (100.0, 0.5))]
        row["pays"] = {"where": "below", "rate_mbit_s": rate, "low": rate - 1, "high": rate + 1}
    document["context"]["gradcomp"]["ranks"] = ranks
    return record(document)


def test_answers_of_several_links_stand_beside_each_other():
    header, lines = training_links.answers([swept(2, 40), swept(8, 90)])
    assert header == ["method", "2 ranks", "8 ranks"]
    assert lines == [["`top_k:ratio=0.01`", "pays below 40.0 Mbit/s (39.0 to 41.0)", "pays below 90.0 Mbit/s (89.0 to 91.0)"],
                     ["`powersgd:rank=2`", *2 * ["misses the quality of fp32"]]]


def test_the_figure_of_several_links_has_the_methods_with_the_quality_of_fp32():
    figure, alternative = training_links.figure([swept(2, 40), swept(8, 90)])
    assert [axis.get_title() for axis in figure.axes] == ["2 ranks", "8 ranks"] and "panel per number of ranks" in alternative
    [drawn] = figure.axes[1].containers
    assert drawn.get_label() == "top_k:ratio=0.01" and drawn.lines[0].get_xydata().tolist() == [[10, 2], [100, 0.5]]


def test_steps_over_several_links_stand_under_their_link():
    header, lines = training_links.table(swept(2, 40))
    assert header[1:3] == ["step, 10.0 Mbit/s (ms)", "speed-up vs best dense"] and lines[0][:3] == ["`fp32`", "4.00", f"2.00{TIMES}"]
    assert training_links.table(record(training())) is None
    assert "step (ms)" in training_tables.methods(record(training()))[0]
    assert "step (ms)" not in training_tables.methods(swept(2, 40))[0]


def test_without_a_reference_there_is_no_verdict():
    document = training()
    for row in document["benchmarks"]:
        row["quality_matched"] = row["quality_matched"] and row["label"] != "fp32"
    lines = table(training_tables.methods(record(document)))
    assert {line["verdict"] for line in lines.values()} == {"none: fp32 learned nothing"}
    for row in document["benchmarks"]:
        row["task_tells"] = False
    lines = table(training_tables.methods(record(document)))
    assert {line["verdict"] for line in lines.values()} == {"none: the task does not tell"}
    for row in document["benchmarks"]:
        row["task_tells"] = True
    for row in document["benchmarks"]:
        row |= {"target": 0.9, "steps_to_target": 10, "time_to_target_s": 1, "wire_bytes_to_target": 1}
    lines = table(training_tables.methods(record(document)))
    assert lines["top_k:ratio=0.01"]["verdict"] == "none: fp32 misses the target"


def test_targets_and_tuned_rates():
    document = training()
    for row in document["benchmarks"]:
        reached = row["label"] == "fp32"
        row |= {"target": 0.9, "target_reached": reached, "steps_to_target": 1200 if reached else None, "tuning_steps": 9,
                "time_to_target_s": 3.5 if reached else None, "wire_bytes_to_target": 2e6 if reached else None}
    lines = table(training_tables.methods(record(document)))
    assert [lines["fp32"][f"{what} to target"] for what in ("steps", "seconds", "bytes")] == ["1,200", "3.50", "2.00 MB"]
    assert lines["top_k:ratio=0.01"]["verdict"] == "misses the target" and lines["fp32"]["rate"] == "0.05 tuned"
    assert lines["top_k:ratio=0.01"]["bytes to target"] == DASH


def test_rates_at_the_edge_of_those_tried(tmp_path):
    path = tmp_path / "rates.json"
    path.write_text(json.dumps({"methods": {method: {"lr": rate, "trials": [{"lr": lr, "seconds": 2} for lr in (0.1, 0.4, 0.2)]}
                                            for method, rate in (("fp32", 0.2), ("sign", 0.1), ("dgc", 0.4))}}))
    edges = training_tables.at_edge(read_rates(path))
    assert edges == {"sign", "dgc"}
    document = training()
    assert table(training_tables.methods(record(document), {"fp32"}))["fp32"]["rate"] == "0.05", "set by hand"
    for row in document["benchmarks"]:
        row["tuning_steps"] = 9
    assert table(training_tables.methods(record(document), {"fp32"}))["fp32"]["rate"] == "0.05 edge"


def test_an_edge_is_where_the_trials_ended():
    said = training_tables.about_edges({"rates_a": record({"context": {}, "benchmarks": [{"name": "fp32", "trials": 6}] * 2}),
                                        "a": record(training())})
    assert said.endswith(" a better one may lie beyond, but the number of trials (6) ended the search there.")
    assert "the number of trials ended the search" in training_tables.about_edges({"a": record(training())})


def test_the_floor_of_the_text_is_the_one_that_a_test_holds():
    bars, lstm = comparisons.find("bars"), comparisons.find("lstm")
    for path in ("docs/datasets.md", "tests/unit/data/generated/hmm_test.cpp"):
        assert "27.548" in (ROOT / path).read_text(encoding="utf-8")
    assert "27.548 (" in bars.note and "27.548" not in lstm.note
    assert bars.runs[1].bar[:2] == ("perplexity", round(31 / 26.80 * 27.548, 1)), "31.865: the bar at the same ratio to the floor"


@pytest.mark.parametrize("content, said", [
    (None, "cannot read"), ("{", "not valid JSON"), ("[]", "not a file of tuned rates"),
    ('{"methods": {"fp32": {"lr": 1}}}', "not a file of tuned rates: KeyError('trials')")])
def test_bad_rates_are_one_line(tmp_path, content, said):
    path = tmp_path / "rates.json"
    if content:
        path.write_text(content)
    with pytest.raises(ToolError, match=re.escape(said)) as caught:
        read_rates(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_seeds_are_those_that_the_guide_names():
    found = {(run.task.data.split(":")[0], comparison.name if comparison.name.startswith(("full", "local")) else "", run.seeds)
             for comparison in comparisons.COMPARISONS for run in comparison.runs if run.task}
    assert found == {("shapetex10", "", 3), ("kjv", "", 3), ("letters", "", 5), ("hmm", "", 5), ("hmm", "full-text", 3),
                     ("hmm", "local", 5), ("shapetex10", "local-images", 5), ("shapetex10", "full-images", 3)}


def over_seeds(label, reached, **figures):
    """A row over three seeds, of which `reached` seeds reached the target."""
    keys = ("test_quality", "steps_to_target", "time_to_target_s", "wire_bytes_to_target", "wire_bytes", "step_time_ms",
            "speedup_vs_best_dense")
    return {"name": "a", "run_type": "aggregate", "label": label, "metric": "accuracy", "quality_matched": True, "seeds": [1, 2, 3],
            "seeds_at_target": reached} | {f"{key}_over_seeds": figures.get(key) for key in keys}


def interval(middle, half):
    return {"mean": middle, "low": middle - half, "high": middle + half}


def test_seeds_show_their_mean_and_a_gain_counts_where_its_interval_says_so():
    document = training()
    for row in document["benchmarks"]:
        row |= {"target": 0.9, "steps_to_target": 10}
    document["benchmarks"] += [
        over_seeds("fp16", 3, test_quality=interval(0.9, 0.1), steps_to_target=interval(1200, 100),
                   wire_bytes_to_target=interval(2e6, 1e5), speedup_vs_best_dense=interval(1.25, 0.1)),
        over_seeds("fp32", 2, test_quality=interval(0.95, 0.1)),
        over_seeds("top_k:ratio=0.01", 3) | {"quality_matched": False}]
    lines = table(training_tables.methods(record(document)))
    line = lines["fp16"]
    assert line["test accuracy"] == "90.0 % (80.0 % to 100.0 %)"
    assert line["verdict"] == f"quality of fp32, faster than the best dense: 1.25{TIMES} (1.15 to 1.35)"
    assert line["steps to target"] == "1,200 (1,100 to 1,300)" and line["bytes to target"] == "2.00 MB (1.90 MB to 2.10 MB)"
    assert lines["fp32"]["steps to target"] == "2 of 3 seeds" and lines["fp32"]["seconds to target"] == DASH
    assert lines["fp32"]["verdict"] == "quality of fp32, target reached with 2 of 3 seeds"
    assert lines["top_k:ratio=0.01"]["verdict"] == "misses the quality of fp32"
    assert lines["top_k:ratio=0.01"]["test accuracy"] == DASH, "a seed diverged"


@pytest.mark.parametrize("metric, mean, half, verdict, behind", [
    ("accuracy", 0.015, 0.01, "quality open", "1.5 (0.5 to 2.5) points"),
    ("accuracy", 0.035, 0.01, "misses the quality of fp32", "3.5 (2.5 to 4.5) points"),
    ("accuracy", 0.0, 0.01, "misses the quality of fp32", "0.0 (-1.0 to 1.0) points"),  # not matched for another reason
    ("perplexity", 0.0195, 0.0004, "quality open", "2.0 (1.9 to 2.0) %"),  # ln 1.02 = 0.0198 lies within
    ("perplexity", 0.0205, 0.0004, "misses the quality of fp32", "2.1 (2.0 to 2.1) %")])
def test_a_quality_is_missed_only_with_the_whole_interval(metric, mean, half, verdict, behind):
    document = training()
    for row in document["benchmarks"]:
        row |= {"metric": metric, "lack_allowed": 0.02 if metric == "accuracy" else math.log(1.02)}
    document["benchmarks"].append(over_seeds("powersgd:rank=2", 3) | {
        "metric": metric, "quality_matched": False, "lack_over_seeds": interval(mean, half)})
    made = record(document)
    line = table(training_tables.methods(made))["powersgd:rank=2"]
    assert (line["verdict"], line["behind `fp32`"]) == (verdict, behind)
    assert [one.quality() for one in verdicts.trained(made) if one.label == "powersgd:rank=2"] == [verdict]


@pytest.mark.parametrize("reached, seeds, said", [
    (5, 5, "quality of fp32"), (4, 5, "quality of fp32, target reached with 4 of 5 seeds"),
    (3, 5, "quality of fp32, target reached with 3 of 5 seeds"), (2, 5, "misses the target"), (2, 4, "misses the target"),
    (3, 4, "quality of fp32, target reached with 3 of 4 seeds"), (1, 1, "quality of fp32"), (0, 1, "misses the target")])
@pytest.mark.parametrize("gain, added", [(None, ""), (interval(1.25, 0.1), f", faster than the best dense: 1.25{TIMES} (1.15 to 1.35)")])
def test_more_than_half_of_the_seeds_reach_a_target(reached, seeds, said, gain, added):
    document = training()
    for row in document["benchmarks"]:
        row |= {"target": 0.9, "steps_to_target": 10 if reached else None, "speedup_vs_best_dense": None}
    if seeds > 1:
        document["benchmarks"].append(over_seeds("fp16", reached, speedup_vs_best_dense=gain) | {"seeds": list(range(seeds))})
    verdict = table(training_tables.methods(record(document)))["fp16"]["verdict"]
    assert verdict == (said if said.startswith("misses") or seeds == 1 else said + added)
    assert verdict.split(",")[0] == said.split(",")[0], "what the page of exchange says of it"


@pytest.mark.parametrize("middle, half, said", [(1.25, 0.24, "faster than"), (1.25, 0.26, "not told apart from"),
                                                (0.8, 0.19, "slower than"), (0.8, 0.21, "not told apart from")])
def test_faster_and_slower_are_what_the_whole_interval_says(middle, half, said):
    document = training()
    document["benchmarks"].append(over_seeds("fp16", 3, speedup_vs_best_dense=interval(middle, half)))
    assert f", {said} the best dense: " in table(training_tables.methods(record(document)))["fp16"]["verdict"]


def test_no_ratio_of_speeds_beside_a_missed_quality():
    lines = table(training_tables.throughputs(record(training())))
    assert [lines["powersgd:rank=2"][f"over `{name}`"] for name in ("fp32", "top_k", "dgc")] == [DASH] * 3
    document = training()
    next(row for row in document["benchmarks"] if row["label"].startswith("top_k"))["quality_matched"] = False
    lines = table(training_tables.throughputs(record(document)))
    assert lines["fp16"]["over `top_k`"] == DASH and lines["fp16"]["over `fp32`"] != DASH


def test_throughput_over_dense_and_top_k():
    lines = table(training_tables.throughputs(record(training())))
    assert lines["fp32"]["over `fp32`"] == f"1.00{TIMES}" and lines["fp32"]["over `dgc`"] == DASH
    assert lines["top_k:ratio=0.01"]["over `top_k`"] == f"1.00{TIMES}"
    assert lines["top_k:ratio=0.01"]["achieved / target density"] == "1.02"


def seed(label, number, speedup, samples, density=None):
    """The row of a seed with what the table of throughputs shows."""
    found = next(row for row in training()["benchmarks"] if row["label"] == "fp16")
    return found | {"label": label, "method": label, "seed": number, "speedup_vs_fp32": speedup, "samples_per_second": samples,
                    "density_ratio_mean": density}


def test_throughputs_are_means_over_seeds_with_their_intervals():
    rows = [seed("fp32", 1, 1.0, 100), seed("fp32", 2, 1.0, 102), seed("top_k", 1, 2.0, 200, 1.0), seed("top_k", 2, 2.0, 200, 1.0),
            seed("dgc", 1, 3.9, 400, 0.99), seed("dgc", 2, 4.1, 400, 1.01), seed("sidco", 1, None, 300), seed("sidco", 2, None, 300)]
    rows += [over_seeds(label, 2) | {"seeds": [1, 2]} for label in ("fp32", "top_k", "dgc")]
    rows.append(over_seeds("sidco", 2) | {"seeds": [1, 2], "quality_matched": False})
    lines = table(training_tables.throughputs(record(training() | {"benchmarks": rows})))
    # Half of an interval of two seeds is 12.706 x half of their difference: of 100 and 102, 12.7; of 3.9 and 4.1, 1.27; of their
    # halves 1.95 and 2.05, 0.635; of 0.99 and 1.01, 0.127. 2 / 3.9 and 2 / 4.1: mean 0.500, half a difference 0.012508, 0.159.
    assert lines["fp32"] == {"method": "`fp32`", "samples/s": "101 (88.3 to 114)", "over `fp32`": f"1.00{TIMES} (1.00 to 1.00)",
                             "over `top_k`": f"0.500{TIMES} (0.500 to 0.500)", "over `dgc`": f"0.250{TIMES} (0.171 to 0.330)",
                             "achieved / target density": DASH}
    assert lines["dgc"]["over `fp32`"] == f"4.00{TIMES} (2.73 to 5.27)" and lines["dgc"]["over `top_k`"] == f"2.00{TIMES} (1.36 to 2.64)"
    assert lines["dgc"]["achieved / target density"] == "1.00 (0.873 to 1.13)"
    assert lines["top_k"]["over `dgc`"] == f"0.500{TIMES} (0.341 to 0.659)"
    assert [lines["sidco"][f"over `{name}`"] for name in ("fp32", "top_k", "dgc")] == [DASH] * 3


@pytest.mark.parametrize("payload, said", [(183740, "equal"), (164500, "equal"), (240000, "differs")])
def test_bytes_of_an_epoch(payload, said):
    rows = [example_results.row("d", [0], "powersgd:rank=1") | {"payload_bytes": payload},
            example_results.row("d", [0], "atomo:rank=2") | {"payload_bytes": 4940168}]
    lines = table(training_bars.epochs(record({"context": example_results.context("gradcomp-train"), "benchmarks": rows})))
    assert lines["powersgd:rank=1"][""] == said
    assert lines["atomo:rank=2"] == {"method": "`atomo:rank=2`", "bytes a step": "at most 4,940,168",
                                     "MiB in 24 steps": "113.07", "published": "113", "": DASH}


def test_an_epoch_of_factors_in_turn_has_the_mean_of_both():
    fixed = "powersgd:rank=2:variant=unbiased:matrix=authors"
    rows = [example_results.row("d", [0], label) | {"payload_bytes": payload}
            for label, payload in ((fixed, 100000), (f"{fixed}:side=alternating", 260000))]
    lines = table(training_bars.epochs(record({"context": example_results.context("gradcomp-train"), "benchmarks": rows})))
    assert lines[fixed]["published"] == DASH and lines[fixed]["MiB in 24 steps"] == "2.29"
    # (100,000 + 260,000) / 2 x 24 / 2^20 = 4.12
    assert lines[f"{fixed}:side=alternating"] == {"method": f"`{fixed}:side=alternating`", "bytes a step": "100,000 or 260,000",
                                                  "MiB in 24 steps": "4.12", "published": "4", "": "equal"}


def test_bars_of_both_metrics():
    limits = {"a": ("accuracy", 0.96, "A"), "b": ("perplexity", 0.96, "B"), "c": ("accuracy", 0.5, "C")}
    _, lines = training_bars.bars({"a": record(training()), "b": record(training())}, limits)
    assert [line[3] for line in lines] == ["missed", "missed"], "one seed says nothing; a run that lacks has no line"
    document = training()
    document["benchmarks"].append(over_seeds("fp32", 3, test_quality=interval(0.95, 0.015625)))
    for metric, bar, said in (("accuracy", 0.93, "holds"), ("accuracy", 0.94, "open"), ("accuracy", 0.97, "missed"),
                              ("perplexity", 0.97, "holds"), ("perplexity", 0.96, "open"), ("perplexity", 0.93, "missed")):
        _, lines = training_bars.bars({"a": record(document)}, {"a": (metric, bar, "A")})
        assert lines[0][3] == said, (metric, bar)


@pytest.mark.parametrize("label, mean, half, said", [
    ("powersgd:rank=2", 0.04, 0.009, "holds"), ("powersgd:rank=2", 0.04, 0.011, "open"),
    ("powersgd:rank=2", 0.06, 0.009, "missed"), ("top_k:ratio=0.01:feedback=none", 0.25, 0.09, "holds"),
    ("top_k:ratio=0.01:feedback=none", 0.25, 0.11, "open"), ("top_k:ratio=0.01:feedback=none", 0.10, 0.04, "missed")])
def test_a_separation_counts_where_its_interval_says_so(label, mean, half, said):
    document = training()
    document["benchmarks"].append(dict(document["benchmarks"][0], label="top_k:ratio=0.01:feedback=none"))
    document["benchmarks"].append(over_seeds(label, 3, test_quality=interval(0.9, 0.1)) | {"lack_over_seeds": interval(mean, half)})
    line = table(training_bars.separations(record(document)))[label]
    assert line[""] == said and line["behind `fp32`"].startswith(f"{100 * mean:.1f} (")


def test_behind_in_perplexity_is_a_share():
    document = training()
    for row in document["benchmarks"]:
        row["metric"] = "perplexity"
    document["benchmarks"].append(over_seeds("powersgd:rank=2", 3, test_quality=interval(90, 1)) | {
        "metric": "perplexity", "lack_over_seeds": {"mean": math.log(1.05), "low": math.log(1.01), "high": math.log(1.09)}})
    lines = table(training_bars.separations(record(document)))
    assert lines["powersgd:rank=2"]["behind `fp32`"] == "5.0 (1.0 to 9.0) %" and lines["powersgd:rank=2"][""] == "holds"


@pytest.fixture(name="broken")
def fixture_broken(tmp_path):
    """Programs that fail, so that the tool reports whatever it starts. They say from which sources they are built."""
    folder = tmp_path / "bin"
    folder.mkdir()
    document = training()
    document["context"]["gradcomp"]["git_hash"] = COMMIT
    (folder / "built.json").write_text(json.dumps(document), encoding="utf-8")
    for name in ("gradcomp-methods", "gradcomp-tune", "gradcomp-train", "mpirun"):
        (folder / name).write_text(f'#!/bin/sh\ncase "$*" in *resnet8*) cp "{folder}/built.json" "${{@: -1}}" ;; *) exit 9 ;; esac\n'
                                   .replace("/bin/sh", "/bin/bash"))
        (folder / name).chmod(0o755)
    return folder


RATES = {"methods": {"fp32": {"lr": 0.05, "trials": [{"lr": lr, "seconds": 2} for lr in (0.025, 0.05, 0.1)]}}}


def kept(chosen, folder, name, words, leaves=()):
    """Writes a record as if the arguments `words` had made it. Returns its path."""
    made = folder / "made.json"
    made.write_text(json.dumps(training(chosen)), encoding="utf-8")
    records.keep(made, folder / f"{name}.json", list(map(str, words)), 1, leaves)
    made.unlink()
    return folder / f"{name}.json"


def test_finished_files_are_kept_and_others_refused(tmp_path, broken):
    results, page, rates = tmp_path / "records", tmp_path / "p.md", tmp_path / "rates.d"
    results.mkdir()
    rates.mkdir()
    chosen = comparisons.find("resnet20").runs[0]
    known = rates / "resnet20.json"
    known.write_text(json.dumps(RATES), encoding="utf-8")
    path = kept(chosen, results, "resnet20", comparisons.command(chosen, known))
    kept(chosen, results, "rates_resnet20", comparisons.tuning([chosen], known), [known])
    where = ("--folder", tmp_path / "raw", "--records", results, "--rates", rates, "--output", page, "--images", tmp_path)
    done = tool("--only", "resnet20", *where, path=broken)
    assert done.returncode == 0, done.stderr
    before = page.read_text(encoding="utf-8")
    assert "rates_resnet20: kept" in done.stdout and "[2/2] resnet20: kept" in done.stdout
    assert "| `fp32` | 0.05 |" in before and "## Commands" in before
    assert "`resnet20` (269,722 parameters) on `shapetex10:noise=0.2`, real link (2 ranks)" in before
    assert "target: accuracy" not in before, "the training of the example has none"
    [missing] = [line for line in before.splitlines() if line.startswith("**Not complete**")]
    assert "`bars_hmm`, `lstm`, " in missing and "full_hmm" not in missing, "those by default"
    assert (tmp_path / "training_resnet20.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert "](training_resnet20.svg)" in before

    done = tool("--only", "lstm", *where, path=broken)
    assert done.returncode == 2 and done.stderr.startswith("training_page: error: status 9 of: ")
    assert page.read_text(encoding="utf-8") == before

    assert tool("--page", *where, path=tool_process.bare()).returncode == 0 and page.read_text(encoding="utf-8") == before
    for old, new, said in (('"git_dirty": false', '"git_dirty": true', "with changes; commit them"),
                           (COMMIT, "unknown", "with changes"), ('"1100"', '"7"', "is from another command")):
        content = path.read_text(encoding="utf-8")
        assert old in content
        path.write_text(content.replace(old, new), encoding="utf-8")
        done = tool("--page", *where, path=broken)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
        done = tool("--only", "resnet20", *where, path=broken)
        assert done.returncode == 2 and "status 9" in done.stderr and "resnet20: ResNet-20 on images (its record is " in done.stdout
        path.write_text(content, encoding="utf-8")
    known.write_text(json.dumps(RATES) + " ", encoding="utf-8")
    done = tool("--page", *where, path=broken)
    assert done.returncode == 2 and "is not what the record rates_resnet20.json tells of" in done.stderr


def test_rates_come_first_and_long_runs_go_on(tmp_path, broken):
    """A folder with an mpirun that finds rates, and is then killed after its first checkpoint."""
    program, log, folder = broken / "mpirun", tmp_path / "log", tmp_path / "results" / f"full_hmm.{COMMIT}.checkpoints"
    rates = tmp_path / "rates" / "lstm.json"
    program.write_text(f'#!/bin/sh\necho "job $*" >> "{log}"\n'
                       f"case \"$*\" in *gradcomp-tune*) test -e '{rates}' || echo '{json.dumps(RATES)}' > '{rates}'; exit 0 ;; esac\n"
                       f"mkdir -p '{folder}/seed1'\ntouch '{folder}/seed1/checkpoint.json'\nexit 9\n")

    def start():
        done = tool("--only", "full-text", "--folder", tmp_path / "results", "--records", tmp_path / "records", "--rates",
                    tmp_path / "rates", "--output", tmp_path / "p.md", "--images", tmp_path, path=broken)
        assert done.returncode == 2 and "status 9" in done.stderr
        lines = log.read_text(encoding="utf-8").splitlines()
        log.unlink()
        return lines
    tune, first = start()
    assert f"--rates {rates} --tune-steps" in tune and "gradcomp-tune" in tune
    second, = start()
    output = f" --output {tmp_path}/results/full_hmm.json"
    assert f"--checkpoint {folder}" in first and second == f"{first.removesuffix(output)} --resume {folder}{output}"
    for stamp, stays in ((COMMIT, True), ("b" * 12, False)):  # trials of these sources, of others
        (tmp_path / "records" / "rates_lstm.json").unlink()
        rates.with_suffix(".commit").write_text(stamp, encoding="utf-8")
        rates.write_text(json.dumps(RATES | {"mark": 1}), encoding="utf-8")
        assert start()[0] == tune and ("mark" in rates.read_text(encoding="utf-8")) == stays
        assert rates.with_suffix(".commit").read_text(encoding="utf-8").strip() == COMMIT


def test_list_names_all_and_starts_nothing(broken):
    done = tool("--list", path=broken)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        one.name for one in comparisons.COMPARISONS if one.page == "training"]


def test_unknown_name_is_refused(broken):
    done = tool("--only", "nonsense", path=broken)
    assert done.returncode == 2 and done.stderr.startswith("training_page: error: ") and done.stderr.count("\n") == 1


@pytest.mark.skipif(not BIN, reason="GRADCOMP_BIN is not set")
def test_quick_page(tmp_path):
    page = tmp_path / "pages" / "p.md"
    done = tool("--quick", "--only", "lstm", "--only", "powersgd-ranks", "--folder", tmp_path / "results", "--output", page,
                "--images", tmp_path / "images", path=pathlib.Path(BIN).resolve())
    assert done.returncode == 0, done.stderr
    source = page.read_text(encoding="utf-8")
    for mebibytes in ("1023.01", "4.21", "7.53", "14.18", "31.97"):  # PowerSGD's table
        assert any(f"| {mebibytes} |" in line and "| equal |" in line for line in source.splitlines()), mebibytes
    assert "](../images/training_lstm.svg)" in source
    done = tool("--quick", "--page", "--folder", tmp_path / "results", "--output", page, "--images", tmp_path / "images",
                path=tool_process.bare())
    assert done.returncode == 0 and page.read_text(encoding="utf-8") == source, "the records alone make it again"
    for path in (tmp_path / "results").glob("*.json"):
        VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))
    assert len(list((tmp_path / "results").glob("*.json"))) == 3 and not list(page.parent.glob("*.part"))
    found = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "results" / "records").glob("*.json")]
    assert len(found) == 3 and all("step_times_ms" not in row for document in found for row in document["benchmarks"])
