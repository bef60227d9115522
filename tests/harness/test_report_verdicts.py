"""What a report says about whether compression pays: intervals over seeds decide, over one link and over several."""
import dataclasses
import math
import pathlib

import pytest

import example_results
from gradcomp.output import text
from gradcomp.report import answers, build, render, verdicts
from gradcomp.results.reading import Record

pytest.importorskip("pandas")
TOP_K, TIMES = "top_k:ratio=0.01", "\N{MULTIPLICATION SIGN}"


def between(mean, low, high):
    return {"mean": mean, "low": low, "high": high}


def record(gains=None, links=None, pays=None, seeds=3, matched=None):
    """A run of example_results.METHODS. `gains`: {label: speed-up against the best dense control over seeds}; `links`: the same over
    links of 100 and 1000 Mbit/s."""
    made, rows = example_results.train("100Mbit/s,50us"), []
    for row in made["benchmarks"]:
        label = row["label"]
        if matched is not None:
            row["quality_matched"] = label in matched
        if seeds == 1:
            if links:
                row |= {"speedup_vs_best_dense": None, "pays": (pays or {}).get(label), "over_links": [
                    {"rate_mbit_s": rate, "step_time_ms": {"median": 5.0}, "speedup_vs_fp32": None, "speedup_vs_best_dense": gain}
                    for rate, gain in zip((100, 1000), links.get(label, (None, None)), strict=True)]}
            rows.append(row)
            continue
        # The seeds alone look better than their mean: nothing may be told by them.
        rows += [row | {"seed": seed, "speedup_vs_best_dense": None if links else 9.0} for seed in range(1, seeds + 1)]
        total = {key: row[key] for key in ("name", "method", "label", "quality_matched", "metric")} | {
            "run_type": "aggregate", "seeds": list(range(1, seeds + 1)), "test_quality_over_seeds": between(0.9, 0.8, 1.0),
            "step_time_ms_over_seeds": between(60, 50, 70), "speedup_vs_best_dense_over_seeds": (gains or {}).get(label)}
        if links:
            total |= {"pays": (pays or {}).get(label), "over_links_over_seeds": [
                {"rate_mbit_s": rate, "step_time_ms": between(5.0, 4.0, 6.0), "speedup_vs_fp32": None, "speedup_vs_best_dense": gain}
                for rate, gain in zip((100, 1000), links.get(label, (None, None)), strict=True)]}
        rows.append(total)
    return Record(pathlib.Path("train.json"), made["context"], rows)


WHERE, AT = "emulated link, 100Mbit/s,50us (2 ranks)", "emulated link, {} Mbit/s (2 ranks)"
BOTH = (TOP_K, "powersgd:rank=2", "fp32")


@pytest.mark.parametrize("top_k, powersgd, said", [
    (between(1.2, 1.1, 1.3), between(1.5, 0.9, 2.1), "compression pays, because the whole 95 % interval of the speed-up against the "
     f"best dense control is above 1 for: {TOP_K} 1.20{TIMES} (1.10 to 1.30). 2 methods at the quality of fp32 compared; intervals "
     "are corrected for the number of methods of the job."),
    (between(1.06, 0.98, 1.14), between(0.5, 0.4, 0.6), "not told apart. No method at the quality of fp32 is faster than the best dense "
     f"control with its whole 95 % interval. The largest mean is 1.06{TIMES} (0.980 to 1.14), of {TOP_K}."),
    (between(0.8, 0.7, 0.9), between(0.5, 0.4, 0.6), "none pays here. All methods at the quality of fp32 are slower than the "
     f"best dense control with their whole 95 % interval. The largest mean is 0.800{TIMES} (0.700 to 0.900), of {TOP_K}.")])
def test_the_whole_interval_over_seeds_decides(top_k, powersgd, said):
    found = answers.findings(record({TOP_K: top_k, "powersgd:rank=2": powersgd}, matched=BOTH))
    assert found == [f"{WHERE}: {said}"], "no seed of its own is told"


def test_one_seed_has_no_interval():
    assert answers.findings(record(seeds=1)) == [
        f"{WHERE}: not told, because one seed has no interval. Of 1 method at the quality of fp32, {TOP_K} has the largest speed-up "
        f"against the best dense control: 1.73{TIMES}.", "Missed the quality of fp32, so no speed-up is shown: powersgd:rank=2."]


def test_a_quality_that_the_interval_leaves_open_is_not_missed():
    run = record({TOP_K: between(1.2, 1.1, 1.3)}, matched=(TOP_K, "fp32"))
    row = next(row for row in run.rows if row.get("run_type") == "aggregate" and row["label"] == "powersgd:rank=2")
    for low, said in ((0.015, "It is open whether these have the quality of fp32"), (0.025, "Missed the quality of fp32")):
        row["lack_over_seeds"] = between(0.03, low, 0.045)
        assert answers.findings(run)[1:] == [f"{said}, so no speed-up is shown: powersgd:rank=2."]


def test_buckets_that_were_timed_elsewhere_are_told():
    run = record({TOP_K: between(1.2, 1.1, 1.3)}, matched=(TOP_K, "fp32"))
    run.rows[0]["bucket_sweep"] = "real link, strategy overlapped"
    assert answers.findings(run)[-1] == (
        "Bucket sizes of the dense controls were timed elsewhere (real link, strategy overlapped); others may be faster here.")


def test_without_the_best_dense_control_nothing_is_told():
    found = answers.findings(record({}))
    assert found == [f"{WHERE}: this run cannot tell whether compression pays, because that needs fp32, fp16 and bf16 at their best "
                     "bucket sizes (gradcomp-tune)."]
    assert "fp32 itself learned too little" in answers.findings(record(matched=()))[0]
    assert "no compressing method reached" in answers.findings(record(matched=("fp32",)))[0]


@pytest.mark.parametrize("seeds, cell, verdict", [
    (1, "diverged at step 12", "diverged"), (3, "diverged with 2 of 3 seeds", "diverged with 2 of 3 seeds")])
def test_a_method_that_diverged_is_told(seeds, cell, verdict):
    def diverge(run, label):
        rows = [row for row in run.rows if row["label"] == label]
        for row in [row for row in rows if "step_time_ms" in row][:2]:
            example_results.diverge(row, 12)
        rows[-1]["quality_matched"] = False
        return next(one for one in verdicts.trained(run) if one.label == label)
    gain = between(1.2, 1.1, 1.3)
    run = record({TOP_K: gain}, matched=BOTH, seeds=seeds)
    one = diverge(run, "powersgd:rank=2")
    assert (one.diverged, one.quality(), one.pays(), one.gain()) == (cell, verdict, cell, None)
    said = answers.findings(run)
    assert said[-1] == f"powersgd:rank=2 {cell}." and not any("Missed the quality" in line for line in said)
    if seeds > 1:
        assert {line[0]: line[2] for line in verdicts.over_seeds(verdicts.trained(run))[1]}["powersgd:rank=2"] == cell
    diverge(run, "fp32")
    assert answers.findings(run) == [f"{WHERE}: this run cannot tell whether compression pays, because fp32 itself {cell}."]


def test_several_links_are_told_rate_by_rate():
    below = {TOP_K: {"where": "below", "rate_mbit_s": 340.0, "low": 310.0, "high": 370.0}}
    run = record(links={TOP_K: (between(2.0, 1.8, 2.2), between(0.8, 0.7, 0.9))}, pays=below)
    assert answers.findings(run)[:3] == [
        f"{AT.format('100')}: compression pays, because the whole 95 % interval of the speed-up against the best dense control is "
        f"above 1 for: {TOP_K} 2.00{TIMES} (1.80 to 2.20). 1 method at the quality of fp32 compared; intervals "
        "are corrected for the number of methods of the job.",
        f"{AT.format('1,000')}: none pays here. All methods at the quality of fp32 are slower than the best dense control "
        f"with their whole 95 % interval. The largest mean is 0.800{TIMES} (0.700 to 0.900), of {TOP_K}.",
        f"Against the best dense control: {TOP_K} pays below 340 Mbit/s (310 to 370)."]
    header, lines = verdicts.links(verdicts.trained(run))
    assert header == ["method", "step, 100 Mbit/s (ms)", "speed-up vs best dense", "step, 1,000 Mbit/s (ms)", "speed-up vs best dense",
                      "against the best dense"]
    assert {line[0]: line[1:] for line in lines}[TOP_K] == [
        "5.00 (4.00 to 6.00)", f"2.00{TIMES} (1.80 to 2.20)", "5.00 (4.00 to 6.00)", f"0.800{TIMES} (0.700 to 0.900)",
        "pays below 340 Mbit/s (310 to 370)"]
    assert {line[0]: line[1:] for line in lines}["fp32"] == 2 * ["5.00 (4.00 to 6.00)", text.DASH] + [text.DASH]


def test_a_step_of_one_seed_or_of_none_has_no_interval():
    one = verdicts.trained(record(links={"fp32": (1.0, 1.0)}, seeds=1))[0]
    assert verdicts.links([one])[1] == [["fp32", "5.00", f"1.00{TIMES}", "5.00", f"1.00{TIMES}", text.DASH]]
    one = verdicts.trained(record(links={TOP_K: (None, None)}))[0]
    one.total["over_links_over_seeds"][0]["step_time_ms"] = None  # a seed diverged
    assert verdicts.links([one])[1][0][1:4] == [text.DASH, text.DASH, "5.00 (4.00 to 6.00)"]


@pytest.mark.parametrize("where, lows, highs, low, high, said", [
    ("below", (2.0, 0.5), (4.0, 0.5), 316.0, 464.0, "pays below 340 Mbit/s (316 to 464)"),
    ("below", (0.9, 0.5), (4.0, 0.5), 0, 464.0, "pays below 340 Mbit/s (less than 100 to 464)"),
    ("below", (2.0, 0.5), (4.0, 1.1), 316.0, math.inf, "pays below 340 Mbit/s (316 to beyond 1,000)"),
    ("everywhere", (1.5, 1.2), (4.0, 4.0), math.inf, math.inf, "pays at every rate swept"),
    ("everywhere", (2.0, 0.5), (4.0, 4.0), 316.0, math.inf, "pays at every rate swept by its mean, for certain below 316 Mbit/s"),
    ("everywhere", (0.9, 0.5), (4.0, 4.0), 0, math.inf, "pays at every rate swept by its mean, for certain at none"),
    ("everywhere", (0.9, 1.1), (4.0, 4.0), math.inf, math.inf, "pays at every rate swept by its mean, for certain at some"),
    ("nowhere", (0.1, 0.1), (0.9, 1.0), 0, 0, "pays at no rate swept"),
    ("nowhere", (0.1, 0.1), (2.0, 0.5), 0, 316.0, "pays at no rate swept, perhaps below 316 Mbit/s"),
    ("nowhere", (0.1, 0.1), (1.2, 1.1), 0, math.inf, "pays at no rate swept, open at every rate"),
    ("nowhere", (0.1, 0.1), (0.9, 1.1), 0, math.inf, "pays at no rate swept, open at some rates")])
def test_the_ends_of_the_rate_are_told(where, lows, highs, low, high, said):
    answer = {"where": where, "rate_mbit_s": 340.0 if where == "below" else None, "low": low, "high": high}
    run = record(links={TOP_K: tuple(between(1, *ends) for ends in zip(lows, highs, strict=True))}, pays={TOP_K: answer})
    assert next(one for one in verdicts.trained(run) if one.label == TOP_K).pays() == said


@pytest.mark.parametrize("where, seeds, gains, said", [
    ("everywhere", 1, (2.0, 1.5), "pays at every rate swept (one seed, no interval)"),
    ("nowhere", 1, (0.5, 0.4), "pays at no rate swept (one seed, no interval)"),
    ("below", 3, (between(2, None, None), between(0.5, 0.4, 0.6)), "pays below 340 Mbit/s (no interval)"),
    ("below", 1, (2.0, 0.5), "pays below 340 Mbit/s (one seed, no interval)")])
def test_an_answer_without_an_interval_says_so(where, seeds, gains, said):
    answer = {"where": where, "rate_mbit_s": 340.0 if where == "below" else None, "low": None, "high": None}
    run = record(links={TOP_K: gains}, pays={TOP_K: answer}, seeds=seeds)
    assert next(one for one in verdicts.trained(run) if one.label == TOP_K).pays() == said
    assert f"{TOP_K} {said}." in answers.findings(run)[-2]


def named(name, run):
    """The run as if it were of another file."""
    return dataclasses.replace(run, path=pathlib.Path(name))


NONE, FASTER = {TOP_K: between(0.938, 0.9, 0.97)}, {TOP_K: between(1.2, 1.1, 1.3)}
TRAINED = f"resnet20 on invented over {WHERE}"
SPEED, CANNOT = f"{TIMES} the speed of the best dense", f"This run cannot tell: {TRAINED}"


def one_seed(gain):
    run = record(seeds=1)
    for row in run.rows:
        row["speedup_vs_best_dense"] = gain if row["quality_matched"] else None
    return run


@pytest.mark.parametrize("run, said", [
    (record(FASTER), f"Compression pays here with {TOP_K} (1.20{TIMES}) for {TRAINED}."),
    (record(NONE), f"None pays here for {TRAINED} (at most 0.938{SPEED})."),
    (one_seed(0.938), f"None pays here for {TRAINED} (at most 0.938{SPEED}, one seed, no interval)."),
    (one_seed(1.7), f"{CANNOT}, because one seed has no interval (at most 1.70{SPEED})."),
    (record({TOP_K: between(1.1, 0.9, 1.3)}), f"{CANNOT}, because no whole interval is above 1 (at most 1.10{SPEED})."),
    (record(matched=()), f"{CANNOT}, because fp32 itself learned too little or missed the target."),
    (record(matched=("fp32",)), f"{CANNOT}, because no compressing method reached the quality of fp32 for certain.")])
def test_a_report_begins_with_the_answer(run, said):
    assert answers.answer([run]) == said


def test_one_speed_up_below_1_pays_nowhere():
    assert answers.findings(one_seed(0.938))[0] == (
        f"{WHERE}: none pays here. Of 1 method at the quality of fp32, none is faster than the best dense control: at most "
        f"0.938{TIMES}, of {TOP_K} (one seed, no interval).")


def test_the_answer_of_many_runs_names_what_cannot_tell():
    runs = [record(FASTER), *(named(f"{name}.json", record(matched=())) for name in "ab")]
    assert answers.answer(runs) == (
        f"Compression pays here with {TOP_K} (1.20{TIMES}) for {TRAINED} in train.json; these runs cannot tell: {TRAINED} in a.json and "
        f"{TRAINED} in b.json, because fp32 itself learned too little or missed the target.")
    links = record(links={TOP_K: (between(2.0, 1.8, 2.2), between(0.8, 0.7, 0.9))})
    assert answers.answer([links]) == (
        f"Compression pays here with {TOP_K} (2.00{TIMES}) for resnet20 on invented over {AT.format('100')}; none pays here for "
        f"resnet20 on invented over {AT.format('1,000')} (at most 0.800{SPEED}).")
    reduced = Record(pathlib.Path("a.json"), example_results.allreduce()["context"], [])
    assert answers.answer([reduced]).startswith("Nothing here says whether compression pays, because there is no training")


def test_equal_verdicts_are_one_sentence():
    nowhere = {"where": "nowhere", "rate_mbit_s": None, "low": 0, "high": 0}
    gains = {TOP_K: (between(0.9, 0.8, 0.95), between(0.8, 0.7, 0.9)), "powersgd:rank=2": 2 * (between(0.5, 0.4, 0.6),)}
    run = record(links=gains, pays=dict.fromkeys(gains, nowhere), matched=BOTH)
    assert answers.findings(run) == [
        f"{AT.format('100 and 1,000')}: none pays here. All methods at the quality of fp32 are slower than the best dense control with "
        f"their whole 95 % interval. The largest mean is 0.900{TIMES} (0.800 to 0.950), of {TOP_K}.",
        f"Against the best dense control: {TOP_K} and powersgd:rank=2: pays at no rate swept."]
    alike = record(FASTER, matched=(TOP_K, "fp32"))
    for row in alike.rows:
        if row["label"] in ("powersgd:rank=2", "extra") and "step_time_ms" in row:
            example_results.diverge(row, 12)
    alike.rows += [row | {"label": "extra"} for row in alike.rows if row["label"] == "powersgd:rank=2"]
    assert answers.findings(alike)[-1] == "powersgd:rank=2 and extra: diverged with 3 of 3 seeds."


def test_the_page_has_both_tables():
    run = record(links={TOP_K: (between(2.0, 1.8, 2.2), between(0.8, 0.7, 0.9))})
    page = render.as_markdown("title", "lead", build.sections([run]), None, "plots")
    assert "Over several emulated links" in page and "Over the seeds: means with 95 % intervals" in page
    assert "90.0 % (80.0 % to 100.0 %)" in page
