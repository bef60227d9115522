"""What each page of docs/results answers first, computed by hand from small records."""
import types

import pytest

pytest.importorskip("matplotlib")
import test_exchange_page as of_exchange
import test_mercury_page as of_mercury
import test_training_page as of_training
from gradcomp.pages import (
    exchange_bars,
    exchange_stragglers,
    gate,
    intervals,
    kernels_tables,
    kokkos_kernels,
    letters,
    links,
    local_steps,
    mercury_links,
    mercury_samplers,
    page,
    quantisers_tables,
    scale,
    sparsifiers_tables,
    steps,
    traffic,
    training,
)
from test_traffic import row as of_traffic

TIMES, DASH = "\N{MULTIPLICATION SIGN}", "\N{EN DASH}"


def record(*rows, **known):
    return types.SimpleNamespace(rows=list(rows), gradcomp=known)


@pytest.mark.parametrize("found, word", [
    ((1.01, 2), "yes"), ((1, 2), "open"), ((0.5, 1), "open"), ((0.5, 0.99), "no"), ((None, None), "")])
def test_a_ratio_is_sure_with_its_whole_interval(found, word):
    assert intervals.sure(1.5, *found) == word


def test_steps_and_their_shares_of_the_peak():
    """The peaks are 100 / 0.5 and 150 / 0.75, both 200."""
    rows = [{"name": f"train_step/{model}/batch8", "gflop_per_second": rate, "sgemm_peak_ratio": rate / 200}
            for model, rate in (("vgg11", 100.0), ("resnet18", 150.0))]
    assert steps.answer([record(*rows, threads=2)]).endswith(": 50.0 % (`vgg11`) to 75.0 % (`resnet18`) with threads: 2.")


def test_kernels_are_told_beside_the_time_in_which_their_bytes_move():
    moves = {"read": 1, "written": 1, "updated": 0}
    rows = [{"method": line.spec, "phase": "pair", "operation": "pair", "elements": 100, "time_ms": {"median": 6.0}, "moves": moves,
             "payload_bytes": 0.0, "dense_bytes": 400.0} for line in kernels_tables.LINES]
    rows[0]["time_ms"] = {"median": 297.0}
    rows += [{"operation": name, "elements": 100, "time_ms": {"median": ms}} for name, ms in (("read", 1), ("write", 2), ("update", 3))]
    said, (_, lines) = kernels_tables.answer(record(*rows), 100)
    assert f"to 99.0 times (`{rows[0]['method']}`)" in said and "take 2.00 (`" in said
    assert lines[0] == ["`fp16`", "6.00", "3.00", f"2.00{TIMES}"]


def test_the_fastest_library_stands_beside_our_kernel():
    rows = [{"operation": operation, "rank": 1, "by": by, "ratio": ratio} for operation, by, ratio in (
        ("norm", "gradcomp", 1), ("norm", "a", 0.5), ("norm", "b", 0.25), ("project", "a", 2), ("project", "gradcomp, other", 0.1))]
    said, (_, lines) = kokkos_kernels.answer([record(*rows, options={"model": "m"})], native=False)
    assert said.startswith("In 1 of 2 cases") and "without the vector instructions" in said, "another kernel of ours is no library"
    assert lines == [["norm", f"0.250{TIMES}", f"0.250{TIMES}"], ["project", f"2.00{TIMES}", f"2.00{TIMES}"]]


def test_the_emulation_is_to_be_believed_if_every_step_is_near():
    near, short = ({word: int(word in found) for word in links.VERDICTS} for found in (("near",), ("near", "too short")))
    assert "believed? Yes: of 1 emulated steps, 1 last as long" in links.answer([("a", near)])[0]
    said, (_, lines) = links.answer([("a", near), ("b", short)])
    assert "Only in part: of 3 emulated steps, 2 last" in said and "1 are too short, 0 too long, 0 open." in said
    assert lines == [["a", "1", "0", "0", "0"], ["b", "1", "1", "0", "0"]]
    assert links.answer([]) == (page.UNKNOWN,)


def test_the_gate_is_told_by_its_exit_statuses():
    done = [gate.Experiment("", *one, spreads=[], ratios=[]) for one in ((25.0, [1, 1]), (5.0, [0, 1]), (0, [0, 3]), (0, [0, 1]))]
    said = gate.answer(done, 2)
    assert said.startswith("The gate called 1 of 4 comparisons of a build with itself a regression.")
    assert "it called 2 of 2 with 25 % more, 1 of 2 with 5 % more. These experiments contradict 2 of" in said


def test_large_models_have_their_fastest_methods_beside_each_other(monkeypatch):
    """Over the slow link 300 / 100 in both rounds, over the fast one 18 / 20 and 18 / 36, of which the geometric mean is 0.671."""
    monkeypatch.setattr(traffic, "METHODS", ("sign", "slow"))
    rows = [of_traffic(label, *both, parameters=2_000_000, step_times_ms=times) for label, both, times in (
        ("fp32", (900, 90), [900, 90, 900, 90]), ("fp16", (300, 18), [300, 18, 300, 18]), ("bf16", (400, 40), [400, 40, 400, 40]),
        ("sign", (100, 28), [100, 20, 100, 36]), ("slow", (900, 90), [900, 90, 900, 90]))]
    said, (header, lines) = traffic.answer({"m": record(*rows)})
    assert said.startswith(f"Compression speeds a step up by 3.00{TIMES} to 3.00{TIMES} over 100 Mbit/s, 0.671{TIMES} to 0.671{TIMES}")
    assert header == ["model, parameters", "100 Mbit/s", "1,000 Mbit/s"]
    assert lines == [["m, 2.0 M", f"3.00{TIMES}, yes", f"0.671{TIMES}, open"]]


def test_the_exchange_is_told_by_the_fastest_methods_and_by_a_slow_rank(monkeypatch):
    name = "bars_resnet8_2_100mbit"
    found = {name: of_exchange.with_blocks(1, 1)}
    said, (header, lines) = exchange_bars.answer(found, quick=True)
    assert said.startswith(f"Compression speeds a step up by 1.14{TIMES} to 1.14{TIMES} over 100 Mbit/s: ")
    assert header == ["model", "2 ranks, 100 Mbit/s"] and lines == [["resnet8", f"1.14{TIMES}\N{DAGGER}, yes"]], "125 / 110, twice"
    assert exchange_bars.answer({name: of_exchange.BARS}, quick=True)[1][1] == [["resnet8", f"1.14{TIMES}\N{DAGGER}"]], "no interval"
    monkeypatch.setattr(exchange_bars, "qualities", lambda *_: ({"sign": "quality open", "top_k:ratio=0.01": exchange_bars.SAME}, ""))
    assert exchange_bars.answer(found, quick=True)[1][1] == [["resnet8", f"0.781{TIMES}, no"]], "125 / 160: sign is faster, but open"
    assert exchange_bars.answer({}, quick=True) == ("", None) and exchange_stragglers.answer({}) == ""
    rows = [of_exchange.seed(label, time, 1.0) for label, times in (("fp32", (20, 22)), ("fp32:strategy=a", (10, 11)),
                                                                  ("fp32:strategy=b", (20, 22))) for time in times]
    assert "1 of 2 strategies help" in exchange_stragglers.answer({exchange_stragglers.SLOW_JOB: record(*rows)})


def test_samplers_are_told_by_time_and_by_steps():
    def seeds(label, steps, seconds):
        return [of_mercury.seed(label, 1, number=number, steps=one, seconds=time)
                for number, (one, time) in enumerate(zip(steps, seconds, strict=True), 1)]
    fewer, slower = seeds(mercury_links.ADAPTIVE, (290, 310), (8, 8)), seeds(mercury_links.UNIFORM, (390, 410), (4, 4))
    said, (_, lines) = mercury_links.answer({"links_100mbit": record(*slower, *fewer)}, quick=True)
    assert "in 0 of the 1 cases below" in said and lines[0][1] == f"0.500{TIMES} (0.500 to 0.500)"
    assert mercury_samplers.answer({"samplers_images": record(*slower, *fewer)}, quick=True) == (
        "In 1 of 1 comparisons it takes fewer steps for certain, and in 0 it takes more.")
    assert mercury_links.answer({}, quick=True) == ("", None) and mercury_samplers.answer({}, quick=True) == ""


def test_the_least_error_counts_among_methods_of_as_many_bits():
    rows = [{"method": method, "payload_bits_per_element": bits, "relative_l2_error": error, "compress_ms": 2.0, "decompress_ms": 1.0,
             "read_limit_ms": 0.5} for method, bits, error in (("a", 1.4, 0.5), ("b", 0.6, 0.25), ("c", 1.6, 0.1))]
    _, (_, lines) = quantisers_tables.answer(record(*rows), record(*rows))
    assert lines == [["1", "`b`", "0.250", f"6.00{TIMES}"], ["2", "`c`", "0.100", f"6.00{TIMES}"]]


def test_sparsifiers_are_near_if_they_are_at_every_target():
    names = ("top_k", "dgc", "sidco:sid=exponential", "redsync", "gaussian_k")

    def rows(loop, off):
        return [{"method": name, "stream": "laplace" if loop == "open" else "m", "loop": loop, "relative_l2_error": 0.5,
                 "density_ratio_mean": off if name == "dgc" else 1.09, "compress_ms": 2.0, "decompress_ms": 1.0, "read_limit_ms": 1.0}
                for name in names]
    records = {target: (record(*rows("open", 1), *rows("training", off)), {name: name for name in names})
               for target, off in (("0.01", 1.0), ("0.1", 1.2))}
    said, (_, lines) = sparsifiers_tables.answer(records, names, "0.01", "laplace")
    assert "4 of 5 sparsifiers" in said and "(0.01, 0.1). Not: `dgc`. At" in said
    assert lines[1] == ["`dgc`", "1.00", "0.500", f"3.00{TIMES}"]


def test_rates_below_which_methods_pay_stand_beside_each_other():
    said, (header, lines) = scale.PAGE.answer([of_training.swept(2, 40), of_training.swept(8, 90)])
    assert header == ["method", "2 ranks", "8 ranks"] and " parameters; " in said
    assert lines == [["`top_k:ratio=0.01`", "40.0", "90.0"], ["`powersgd:rank=2`", *2 * ["quality missed"]]]


def test_trainings_are_told_by_quality_and_by_speed():
    document = of_training.training()
    faster, slower = of_training.interval(1.25, 0.2), of_training.interval(1.25, 0.3)
    for gain, count in ((faster, 1), (slower, 0)):
        rows = [*document["benchmarks"], of_training.over_seeds("top_k:ratio=0.01", 3, speedup_vs_best_dense=gain)]
        said, (header, lines) = training.PAGE.answer([of_training.record(document | {"benchmarks": rows})])
        assert said.startswith(f"Over shared memory {count} of 1 trainings"), "its interval decides"
        assert lines == [["`top_k:ratio=0.01`", "kept"], ["`powersgd:rank=2`", "missed"]] and len(header) == 2


def test_local_steps_are_told_by_what_they_lose():
    document = of_training.training()
    document["context"]["gradcomp"]["options"] = {"skew": 0.1}
    label = local_steps.PLAIN + "8"
    rows = [*document["benchmarks"], document["benchmarks"][4] | {"label": label, "lack_allowed": 0.02},
            of_training.over_seeds(label, 3) | {"quality_matched": False, "lack_over_seeds": of_training.interval(0.015, 0.01)}]
    said, (header, lines) = local_steps.PAGE.answer([of_training.record(document | {"benchmarks": rows})])
    assert "in 0 of 1 trainings, miss it in 0 and leave it open in 1." in said and header[1].endswith(", skewed")
    assert lines == [["8", "1.5 (0.5 to 2.5) points"]]


def test_letters_are_told_by_what_ranks_lose_that_never_exchange():
    document = of_training.training()
    document["context"]["gradcomp"]["ranks"] = 4
    rows = [*document["benchmarks"], of_training.over_seeds("no_exchange", 3) | {"lack_over_seeds": of_training.interval(0.125, 0.01)}]
    said, (header, lines) = letters.PAGE.answer([of_training.record(document | {"benchmarks": rows})])
    assert said.startswith("Ranks that never exchange lose 12.5 (11.5 to 13.5) points of accuracy, with 4 ranks.")
    assert header == ["method", "4 ranks"] and ["`top_k:ratio=0.01`", "kept"] in lines and "`fp16`" not in dict(lines)
