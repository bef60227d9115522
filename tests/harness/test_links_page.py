"""tools/links_page: its table, computed by hand, and its quick version if links can be shaped."""
import json
import math
import pathlib
import types

import pytest

import example_results
import page_files
from gradcomp.links import cli
from gradcomp.output import text
from gradcomp.pages import links
from gradcomp.results import records
from test_schema import BIN

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "links_page"


def options(quick=False):
    return types.SimpleNamespace(quick=quick, folder=pathlib.Path("raw"))


def record(rows):
    return types.SimpleNamespace(rows=rows)


def rounds(*times):
    """Records of two rounds of shaped steps."""
    return [record([{"label": "fp32", "step_time_ms": {"mean": time}}]) for time in times]


def test_verdicts_are_about_the_whole_interval():
    assert [links.verdict(*ends) for ends in ((0.7, 0.89), (0.7, 0.91), (0.91, 1.09), (0.95, 1.11), (1.11, 1.3))] == \
        ["too short", "open", "near", "open", "too long"]


def test_an_emulated_step_is_compared_with_the_shaped_one_of_the_same_round():
    """The logarithms of the two ratios differ from their mean by d, so the interval is the mean +- 12.706 d."""
    imitated = [record([{"label": "fp32", "over_links": [{"rate_mbit_s": rate, "step_time_ms": {"mean": time}}
                                                         for rate, time in both]}])
                for both in (((100, 50.0), (300, 20.2)), ((100, 100.0), (300, 39.6)))]
    (header, lines), counts = links.table(imitated, {100: rounds(100.0, 200.0), 300: rounds(20.0, 40.0)}, {"fp32": 0.25})
    assert header[1:4] == ["100 Mbit/s: shaped, ms", "emulated, ms", "off"] and header[7:] == ["NMSE"]
    middle, half = (1.01 * 0.99) ** 0.5, math.log(1.01 / 0.99) / 2 * 12.706
    ends = [f"{100 * (middle * math.exp(end) - 1):+.0f} %" for end in (-half, half)]
    assert ends == ["-12 %", "+14 %"]
    # Two times have half a width of 12.706 times half of their difference: 50, 25, 10 and 9.7.
    assert lines == [["`fp32`", *[text.UNMEASURED] * 2, "-50 % (-50 % to -50 %) too short", *[text.UNMEASURED] * 2,
                      f"-0 % ({ends[0]} to {ends[1]}) open", "0.250"]]
    assert counts == {"near": 0, "too short": 1, "too long": 0, "open": 1}


def test_a_method_without_a_timed_step_has_no_verdict():
    imitated = [record([{"label": "fp32", "over_links": [{"rate_mbit_s": 100, "step_time_ms": {"mean": time}}]}])
                for time in (9.0, None)]
    (_, lines), counts = links.table(imitated, {100: rounds(10.0, 10.0)}, {})
    assert lines == [["`fp32`", "10.0 (10.0 to 10.0)", *[text.DASH] * 3]] and sum(counts.values()) == 0


def test_shaped_links_are_slower_where_ranks_share_cores():
    jobs = links.PAGE.jobs(options())
    rates = {job.name: job.words[job.words.index("--rate") + 1] for job in jobs if "--rate" in job.words}
    assert rates["resnet20_2_300mbit_1"] == "300mbit" and rates["resnet20_4_300mbit_4"] == "150mbit"
    assert len(rates) == 4 * 2 * 2 * len(links.RATES)
    assert all(case.steps % len(links.RATES) == 0 for case in links.FULL), "emulated links take turns"
    assert [job.name for job in jobs[:5]] == ["resnet20_2_emulated_1", "resnet20_2_100mbit_1", "resnet20_2_300mbit_1",
                                              "resnet20_2_1000mbit_1", "resnet20_2_emulated_2"]


def test_errors_are_measured_of_one_gradient_of_each_model():
    jobs = {job.name: " ".join(map(str, job.words)) for job in links.PAGE.jobs(options())}
    assert jobs["gradient_resnet20"] == ("gradcomp-train --model resnet20 --data shapetex10 --batch 16 --steps 15 --methods fp32 "
                                         "--no-controls --dump-gradients raw/resnet20 --at 14")
    assert jobs["errors_lstm_1x96"] == (
        "gradcomp-evaluate --input raw/lstm_1x96/fp32_step20_gradient.npy --layout raw/lstm_1x96/layout.txt --timings 1 "
        "--methods fp32,fp16,bf16,top_k:ratio=0.01,powersgd:rank=2,qsgd:bits=4,ef_sign")


def test_missing_records_are_named_and_their_sections_left_out(tmp_path):
    document = example_results.train()
    for row in document["benchmarks"]:
        row["over_links"] = [{"rate_mbit_s": rate, "step_time_ms": row["step_time_ms"], "speedup_vs_fp32": None,
                              "speedup_vs_best_dense": None} for rate in links.RATES[:2]]
    made, kept = tmp_path / "made.json", {}
    made.write_text(json.dumps(document), encoding="utf-8")
    for job in links.PAGE.jobs(options(quick=True)):
        if not job.name.startswith(("gradient", "errors")):
            records.keep(made, tmp_path / f"{job.name}.json", job.words, 1)
            kept[job.name] = records.read_kept(tmp_path / f"{job.name}.json")
    page = links.PAGE.text(kept, options(quick=True))
    assert "not been measured yet: `gradient_resnet8`, `errors_resnet8`." in page
    assert "## resnet8, 2 ranks, throughput only" in page and "near | \N{EN DASH} |" in page, "without its record there is no error"
    del kept["resnet8_2_100mbit_2"]
    assert "## resnet8" not in links.PAGE.text(kept, options(quick=True))


@pytest.mark.skipif(not BIN or bool(cli.why_not()), reason=f"no shaped links on this machine: {cli.why_not() or 'GRADCOMP_BIN'}")
def test_quick_page(tmp_path):
    source, lines = page_files.quick(TOOL, tmp_path)
    assert lines == ["resnet8", "fp32", "fp16", "bf16", "no_exchange", *links.METHODS] and "resnet8, 2 ranks" in source
