"""tools/exchange_page: its tables and sentences from fabricated records, and its quick version if links can be shaped."""
import json
import pathlib
import types

import pytest

import example_results
import tool_process
from gradcomp.links import cli
from gradcomp.results import records
from test_schema import BIN

pytest.importorskip("matplotlib")
import page_files
from gradcomp.pages import exchange, exchange_bars, exchange_scaling, exchange_stragglers, frame

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "exchange_page"
DASH, TIMES = "\N{EN DASH}", "\N{MULTIPLICATION SIGN}"


def record(*rows):
    return types.SimpleNamespace(rows=list(rows))


def options(quick=False, only=None, folder=pathlib.Path("raw")):
    return types.SimpleNamespace(quick=quick, only=only, folder=folder)


def step(label, time):
    return {"label": label, "step_time_ms": {"mean": time}, "wire_bytes": 2048, "batch_per_rank": 2}


BARS = record(step("fp32", 200), step("fp16", 125), step("no_exchange", 100), step("top_k:ratio=0.01", 160), step("sign", 110))


def test_the_best_of_their_kinds_are_marked():
    header, lines = exchange_bars.table(BARS, {}, {}, 2)
    assert header == ["method", "step, ms", "of the throughput of `no_exchange`",
                      "speed beside the fastest dense, buckets not swept", "NMSE", "KiB sent by a rank a step"]
    assert lines[0] == ["`fp32`", "200", "50.0 %", f"0.625{TIMES}", DASH, "2.00"]
    assert lines[1] == ["`fp16` **fastest dense**", "125", "80.0 %", f"1.00{TIMES}", DASH, "2.00"]
    assert lines[3] == ["`top_k:ratio=0.01`", "160", "62.5 %", f"0.781{TIMES}", DASH, "2.00"], "slower than the best dense"
    assert lines[4] == ["`sign` **best compressed**", "110", "90.9 %", f"1.14{TIMES}", DASH, "2.00"]


def test_errors_are_those_of_the_compressor_without_reducer_and_strategy():
    names = ("fp32:reducer=ring:strategy=priority:strategy.bucket_kib=64", "qsgd:bits=4:reducer=two_phase", "no_exchange", "sign")
    measured = record({"label": "fp32", "relative_l2_error": 0.0}, {"label": "qsgd:bits=4", "relative_l2_error": 0.5},
                      {"label": "sign", "relative_l2_error": None})
    found = exchange_bars.errors("resnet8", {"errors_resnet8": measured})
    assert found == {"fp32": 0.0, "qsgd:bits=4": 0.25, "sign": None}, "the square of the relative error"
    header, lines = exchange_bars.table(record(*map(step, names, (200, 160, 100, 110))), found, {}, 2)
    assert [line[header.index("NMSE")] for line in lines] == ["0", "0.250", DASH, DASH]
    assert exchange_bars.errors("resnet20", {"errors_resnet8": measured}) == {}, "of another model"


def test_errors_are_measured_of_one_gradient_of_each_model():
    jobs = {job.name: list(map(str, job.words)) for job in exchange.PAGE.jobs(options())}
    assert " ".join(jobs["gradient_lstm_2x200"]) == (
        "gradcomp-train --model lstm_2x200 --data hmm:vocabulary=10000:test=4000 --length 35 --batch 20 --lr 0.5 --steps 32 "
        "--methods fp32 --no-controls --dump-gradients raw/lstm_2x200 --at 31")
    assert " ".join(jobs["errors_lstm_2x200"]) == (
        "gradcomp-evaluate --input raw/lstm_2x200/fp32_step31_gradient.npy --layout raw/lstm_2x200/layout.txt --timings 1 "
        "--methods fp32,fp16,bf16,top_k:ratio=0.01,powersgd:rank=2,qsgd:bits=4,ef_sign,sign")
    assert jobs["errors_vgg11"][:5] == ["gradcomp-evaluate", "--input", "raw/vgg11/fp32_step7_gradient.npy", "--layout", "vgg11"]
    assert {name for name in jobs if name.startswith("errors_")} == {f"errors_{case.model}" for case in exchange_bars.FULL}


def test_a_method_that_diverged_is_no_best_and_has_no_speed():
    ended = record(*(row | ({"diverged_at_step": 3, "step_times_ms": [1]} if row["label"] == "sign" else {}) for row in BLOCKS.rows))
    _, lines = exchange_bars.table(ended, {}, {}, 3)
    assert lines[3][0].endswith("**best compressed**") and lines[4] == ["`sign`", "diverged at step 3", DASH, DASH, DASH, "2.00"]
    assert exchange_bars.verdict(ended, None, {}, 3).startswith("Best compressed: `top_k:ratio=0.01`")
    _, lines = exchange_scaling.table(ended, {2: ended}, {}, 3)
    assert lines[4] == ["`sign`", "diverged at step 3", DASH, "diverged at step 3", DASH, DASH, DASH]


def test_dense_is_best_if_its_buckets_were_swept():
    swept = record(*(row | {"bucket_kib": 64} if row["label"] in exchange_bars.CONTROLS else row for row in BARS.rows))
    header, lines = exchange_bars.table(swept, {}, {}, 2)
    assert "speed beside the best dense" in header and lines[1][0] == "`fp16` **best dense**"
    job = exchange_bars.jobs(options(quick=True))[0]
    words = list(map(str, job.words))
    assert words[-2] == exchange_bars.RATES
    earlier = words[:-2]
    for kept in (words, [*words[:-1], "elsewhere"], earlier, [*earlier, "--sweep-buckets"]):
        assert exchange.PAGE.accepts(kept, words), kept
    for kept in (earlier[:-1], [*earlier[:-1], "fp32"], [*earlier, "--seeds", "2"]):
        assert not exchange.PAGE.accepts(kept, words), kept


def test_verdicts_of_the_page_of_training_are_a_column():
    header, lines = exchange_bars.table(BARS, {}, {"fp32": "quality of fp32", "sign": "misses the quality of fp32"}, 2)
    assert header[-1] == "quality, of the page of training"
    assert [line[-1] for line in lines] == ["quality of fp32", DASH, DASH, DASH, "misses the quality of fp32"]


def with_blocks(*factors):
    """The record of BARS with two steps a block. Only `sign` has other times from block to block: 110 ms x factor."""
    return record(*(row | {"step_times_ms": [row["step_time_ms"]["mean"] * (factor if row["label"] == "sign" else 1) + off
                                             for factor in factors for off in (-1, 1)]} for row in BARS.rows))


BLOCKS = with_blocks(0.99, 1, 1 / 0.99)  # logarithms 0.01005 apart: half an interval is 4.3027 x 0.01005 / sqrt(3) = 0.02497


# `sign` is one of two, so the quantile is 6.2053 and half of the interval 0.03600: 87.7 % to 94.2 %.
@pytest.mark.parametrize("bar, said", [(0.88, "bar: 88 %: open"), (0.87, "bar: 87 %: holds"), (0.94, "bar: 94 %: open"),
                                       (0.95, "bar: 95 %: missed"), (None, "`sign`, 90.9 % (87.7 % to 94.2 %) of the throughput")])
def test_a_bar_holds_or_is_missed_only_with_the_whole_interval(bar, said):
    _, low, high = exchange_bars.ratio(BLOCKS, "sign", 3)
    assert low == pytest.approx(100 / 110 * 0.96464, rel=1e-4) and high == pytest.approx(100 / 110 / 0.96464, rel=1e-4)
    assert said in exchange_bars.verdict(BLOCKS, bar, {}, 3)


def test_a_speed_has_the_interval_of_its_blocks():
    _, lines = exchange_bars.table(BLOCKS, {}, {}, 3)
    assert lines[4][3] == f"1.14{TIMES} (1.10 to 1.18)"
    assert lines[1][3] == f"1.00{TIMES}", "beside itself"


def test_a_mean_step_has_the_interval_of_its_blocks():
    """The blocks of `sign` have means of 107, 110 and 113 ms: mean 110, deviation 3. With Student's 4.3027 for 2 degrees of freedom,
    half of the width is 4.3027 x 3 / sqrt(3) = 7.453."""
    blocks = with_blocks(107 / 110, 1, 113 / 110)
    _, lines = exchange_bars.table(blocks, {}, {}, 3)
    assert lines[4][1] == "110 (103 to 117)" and lines[1][1] == "125 (125 to 125)"
    assert exchange_bars.table(with_blocks(1), {}, {}, 1)[1][4][1] == "110", "one block gives no interval"
    assert exchange_bars.table(BARS, {}, {}, 3)[1][4][1] == "110", "without single steps there is none"


def test_one_block_gives_no_interval():
    assert exchange_bars.ratio(with_blocks(1), "sign", 1) == (pytest.approx(100 / 110), None, None)
    assert "(no interval)" in exchange_bars.verdict(with_blocks(1), 0.9, {}, 1)


def test_without_single_steps_there_is_no_verdict():
    assert exchange_bars.verdict(BARS, 0.95, {}, 2) == (
        "Best compressed: `sign`, 90.9 % of the throughput without communication (no interval); fastest dense, buckets not swept: "
        "`fp16`, 80.0 %.")


def test_records_of_the_bars_keep_single_steps(tmp_path):
    made = tmp_path / "made.json"
    made.write_text(json.dumps(example_results.train()), encoding="utf-8")
    job = exchange_bars.jobs(options(quick=True))[0]
    records.keep(made, tmp_path / "kept.json", job.words, 1, samples=job.samples)
    assert all(len(row["step_times_ms"]) == 30 for row in records.read_kept(tmp_path / "kept.json").rows)


def test_the_best_of_matched_quality_is_named_apart():
    said = exchange_bars.verdict(BARS, 0.9, {"sign": "misses the quality of fp32", "top_k:ratio=0.01": exchange_bars.SAME}, 2)
    assert said.endswith(": `top_k:ratio=0.01`, 62.5 % of the throughput without communication (no interval).")
    assert "`sign`, 90.9 %" in said
    assert exchange_bars.verdict(BARS, 0.9, {"sign": "misses the target"}, 2).endswith(
        "No compressed method of this table has the quality of `fp32` on the page of training.")


def test_qualities_are_those_of_the_page_of_training(tmp_path):
    assert exchange_bars.qualities("lstm_1x96", 2, tmp_path) == ({}, "") == exchange_bars.qualities("vgg11", 2, tmp_path)
    made = tmp_path / "made.json"
    made.write_text(json.dumps(example_results.train()), encoding="utf-8")
    records.keep(made, tmp_path / "lstm.json", ["gradcomp-train"], 1)
    found, source = exchange_bars.qualities("lstm_1x96", 2, tmp_path)
    assert found == {"fp32": "quality of fp32", "fp16": "quality of fp32", "bf16": "quality of fp32", "no_exchange": "bound",
                     "top_k:ratio=0.01": "quality of fp32", "powersgd:rank=2": "misses the quality of fp32"}
    assert source == "`lstm`, commit unknown"


def seed(label, time, loss, waiting=None, stale=None):
    found = {"label": label, "run_type": "iteration", "step_time_ms": {"mean": time}, "validation_loss": loss,
             "stages_ms": {} if waiting is None else {"waiting": waiting}}
    return found if stale is None else found | {"staleness_mean": stale[0], "staleness_max": stale[1]}


def test_a_slow_rank_stands_beside_even_ones_over_all_seeds():
    even = record(seed("fp32", 10, 2.0, 0.5), seed("a", 12, 2.0), seed("fp32", 10.2, 1.0, 0.5), seed("a", 12, None),
                  {"label": "fp32", "run_type": "aggregate"})
    slow = record(seed("fp32", 20.2, 2.0, 9), seed("a", 24, 1.5, stale=(1.0, 3)), seed("fp32", 20.4, 2.0, 11),
                  seed("a", 24, 1.5, stale=(2.0, 5)), {"label": "fp32", "run_type": "aggregate"})
    even.rows[3]["diverged_at_step"] = 7
    _, lines = exchange_stragglers.table(even, slow)
    # ln(20.2 / 10) and ln 2: mean 0.69812, half a difference 0.0049752; half an interval is 12.706 x 0.0049752 = 0.063216.
    # Two values with a difference of 0.2 have half an interval of 1.2706; with 2, of 12.706.
    assert lines == [["`fp32`", "10.1 (8.83 to 11.4)", "20.3 (19.0 to 21.6)", f"2.01{TIMES} (1.89 to 2.14)", DASH,
                      "not measured well enough", DASH, "1.50 (1.00 to 2.00)", "2.00 (2.00 to 2.00)"],
                     ["`a`", "12.0 (12.0 to 12.0)", "24.0 (24.0 to 24.0)", f"2.00{TIMES} (2.00 to 2.00)", DASH, DASH, "1.50, 5",
                      "diverged with 1 of 2 seeds", "1.50 (1.50 to 1.50)"]]


def test_a_strategy_stands_beside_the_same_compressor_without_one():
    rows = [seed(label, time, 1.0) for label, times in (("fp32", (20, 22)), ("fp32:strategy=local", (10, 11))) for time in times]
    _, lines = exchange_stragglers.table(record(*rows), record(*rows))
    assert [line[4] for line in lines] == [DASH, f"2.00{TIMES} (2.00 to 2.00)"]


def test_a_method_without_a_timed_step_has_no_ratio():
    even = record(seed("fp32", 20, 1.0), seed("fp32:strategy=local", 10, 1.0))
    slow = record(seed("fp32", 40, 1.0), seed("fp32:strategy=local", None, None) | {"diverged_at_step": 1})
    _, lines = exchange_stragglers.table(even, slow)
    assert lines[1][1:5] == ["10.0", DASH, DASH, DASH] and lines[1][-1] == "diverged at step 1"


def test_efficiency_is_beside_one_rank_and_beside_as_many():
    one = record(step("no_exchange", 100), step("fp32", 125))  # 20 and 16 samples a second
    four = record(step("no_exchange", 50), step("fp32", 100))
    header, lines = exchange_scaling.table(one, {4: four}, {"fp32": 0.0}, 3)
    assert header[3:6] == ["4 ranks: samples/s", f"of 4 {TIMES} 1 rank", "of `no_exchange`"]
    assert header[6:] == ["NMSE"]
    assert lines == [["`no_exchange`", "20.0", "100.0 %", "160", "200.0 %", "100.0 %", DASH],
                     ["`fp32`", "16.0", "80.0 %", "80.0", "100.0 %", "50.0 %", "0"]]


def test_efficiency_beside_as_many_has_the_interval_of_its_blocks():
    _, lines = exchange_scaling.table(BLOCKS, {2: BLOCKS}, {}, 3)  # the logarithms of 100 / 110 as above
    assert lines[4][2] == "90.9 % (87.7 % to 94.2 %)" and lines[4][5] == lines[4][2]
    assert lines[2][2] == "100.0 %", "beside itself"


def test_samples_a_second_have_the_interval_of_their_blocks():
    """2 samples in 110 ms are 18.182 a second. The logarithms are those of above: the ends are 18.182 x 0.97534 and / 0.97534."""
    _, lines = exchange_scaling.table(BLOCKS, {2: BLOCKS}, {}, 3)
    assert lines[4][1] == "18.2 (17.7 to 18.6)" and lines[4][3] == "36.4 (35.5 to 37.3)", "two ranks make twice as many"
    assert lines[2][1] == "20.0 (20.0 to 20.0)", "as even as its blocks"


def test_links_are_slower_where_ranks_share_cores():
    jobs = exchange.PAGE.jobs(options())
    asked = {job.name: job.words[job.words.index("--rate") + 1] for job in jobs if "--rate" in job.words}
    assert asked["bars_resnet20_2_1000mbit"] == "1000mbit" and asked["bars_resnet20_2_100mbit"] == "100mbit"
    assert asked["bars_resnet20_4_100mbit"] == asked["scaling_4_100mbit"] == "50mbit" and "bars_vgg11_4_100mbit" not in asked
    assert len({job.name for job in jobs}) == len(jobs)
    for job in (job for job in jobs if "--block" in job.words):  # blocks are whole, and `local` has whole periods
        steps, block = (int(job.words[job.words.index(word) + 1]) for word in ("--steps", "--block"))
        assert steps % block == 0 and (block % 8 == 0 or not job.name.startswith("stragglers")), job.name


def test_one_section_can_be_measured_alone():
    names = {job.name for job in exchange.PAGE.jobs(options(only=["stragglers"]))}
    all_names = set(exchange.PAGE.names(options(only=["stragglers"])))
    assert names == {"stragglers_even", "stragglers_slow", "stragglers_uneven"} < all_names
    assert list(exchange.PAGE.commands(options(only=["bars"]))) == exchange.PAGE.names(options())


def test_unknown_sections_are_refused():
    done = tool_process.call(lambda: frame.main(exchange.PAGE), TOOL, "--only", "nonsense")
    tool_process.refused(TOOL, done, "--only", "'nonsense'")


def page_of(tmp_path, *names):
    """The quick page from fabricated records with these names."""
    document = example_results.train()
    for row in document["benchmarks"]:
        row |= {"batch_per_rank": 4, "validation_loss": 2.0, "validation_quality": None}
    made = tmp_path / "made.json"
    for job in exchange.PAGE.jobs(options(quick=True, folder=tmp_path / "raw")):
        if job.name in names:
            made.write_text(json.dumps(example_results.evaluate() if job.name.startswith("errors_") else document), encoding="utf-8")
            records.keep(made, tmp_path / "records" / f"{job.name}.json", job.words, 1)
    where = ("--folder", tmp_path / "raw", "--records", tmp_path / "records", "--output", tmp_path / "page.md")
    done = tool_process.call(lambda: frame.main(exchange.PAGE), TOOL, "--quick", "--page", *where)
    return done, (tmp_path / "page.md").read_text(encoding="utf-8") if done.returncode == 0 else ""


def test_missing_records_are_named_and_their_sections_left_out(tmp_path):
    done, _ = page_of(tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("exchange_page: error: there are no records in ")
    done, page = page_of(tmp_path, "bars_resnet8_2_100mbit", "stragglers_slow", "stragglers_uneven", "scaling_2_memory")
    assert done.returncode == 0, done.stderr
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## How it was measured", "## resnet8, 2 ranks, 100 Mbit/s, throughput only", "## Commands"]
    assert "not been measured yet: `gradient_resnet8`, `errors_resnet8`, `stragglers_even`, `scaling_1`, `scaling_2_100mbit`." in page
    assert f"| {DASH} | 21.1 |" in page, "without its record there is no error"
    assert "Best compressed: `top_k:ratio=0.01`, " in page and "best dense: `fp16`, " in page


def test_a_page_with_all_records_has_all_sections(tmp_path):
    done, page = page_of(tmp_path, *exchange.PAGE.names(options(quick=True)))
    assert done.returncode == 0, done.stderr
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## How it was measured", "## resnet8, 2 ranks, 100 Mbit/s, throughput only", "## A slow rank", "## Ranks of uneven speed",
        "## Scaling over shared memory, throughput only",
        "## Scaling over links of 100 Mbit/s, throughput only", "## Commands"]
    assert "Not complete" not in page and "| 0.810 | 21.1 |" in page, "the error of top_k is 0.9"


@pytest.mark.skipif(not BIN or bool(cli.why_not()), reason=f"no shaped links on this machine: {cli.why_not() or 'GRADCOMP_BIN'}")
def test_quick_page(tmp_path):
    _, lines = page_files.quick(TOOL, tmp_path)
    assert lines == ["fp32", "fp16", "bf16", "no_exchange", *exchange_bars.RINGS,
                     *exchange_bars.by_priority(exchange_bars.QUICK[0]), *exchange_bars.COMPRESSED,
                     *2 * exchange_stragglers.METHODS, *2 * exchange_scaling.METHODS]
