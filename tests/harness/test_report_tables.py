"""The tables and plots of a report, cell by cell and line by line, from the figures of example_results.py."""
import pathlib

import numpy as np
import pytest

import example_results
from gradcomp.report import frames, plots, tables
from gradcomp.results.reading import Record

TIMES, DASH, STAR = "\N{MULTIPLICATION SIGN}", "\N{EN DASH}", " \N{BLACK STAR}"
LABELS = list(example_results.METHODS)


def record(document):
    return Record(pathlib.Path("f.json"), document["context"], document["benchmarks"])


def shown(table):
    """Header and rows as lines."""
    header, rows = table
    return [" | ".join(cells) for cells in (header, *rows)]


def training():
    return frames.training(record(example_results.train()))


def test_methods():
    assert shown(tables.methods(training())) == [line.replace("x |", f"{TIMES} |").replace("~", DASH) for line in (
        "method | payload per step | compression ratio | step, median (ms) | step, p95 (ms) | samples/s | test accuracy | "
        "quality of fp32 | speed-up vs fp32 | speed-up vs best dense",
        f"fp32 | 1.08 MB | 1.00x | 92.0 | 94.0 | 696 | 95.0 % | {tables.TICK} | 1.00x | 0.853{TIMES}",
        f"fp16 | 539 kB | 2.00x | 78.5 | 80.5 | 815 | 95.1 % | {tables.TICK} | 1.17x | 1.00{TIMES}",
        f"no_exchange | 0 B | ~ | 62.0 | 64.0 | 1,032 | 93.0 % | bound | 1.48x | 1.27{TIMES}",
        f"top_k:ratio=0.01 | 21.6 kB | 50.0x | 67.0 | 69.0 | 955 | 94.9 % | {tables.TICK} | 1.37x | 1.17{TIMES}",
        f"powersgd:rank=2 | 56.8 kB | 19.0x | 71.0 | 73.0 | 901 | 70.0 % | {tables.CROSS} | ~ | ~")]


def test_breakdown():
    lines = shown(tables.breakdown(training()))
    assert lines[0] == ("method | data (ms) | forward (ms) | backward (ms) | compress (ms) | exchange (ms) | exposed (ms) | "
                        "decompress (ms) | update (ms)")
    assert lines[4] == "top_k:ratio=0.01 | 1.00 | 20.0 | 38.0 | 3.00 | 2.00 | 2.00 | 0.400 | 0.600"


def test_reductions_have_a_star_for_the_fastest_method_of_each_size():
    frame = frames.allreduce(record(example_results.allreduce()))
    assert shown(tables.reductions(frame)) == [
        "method | 4.10 kB (ms) | 65.5 kB (ms) | 1.05 MB (ms) | 16.8 MB (ms) | NMSE, 16.8 MB",
        f"fp32 | 0.0541{STAR} | 0.116 | 1.10 | 16.8 | 0", f"fp16 | 0.0631 | 0.109{STAR} | 0.846 | 12.6 | 0.250",
        "no_exchange | 0.00110 | 0.00264 | 0.0272 | 0.420 | 0.250",
        f"top_k:ratio=0.01 | 0.500 | 0.507 | 0.605{STAR} | 2.18{STAR} | 0.250",
        "powersgd:rank=2 | 1.01 | 1.15 | 3.36 | 38.7 | 0.250"]
    assert shown(tables.kernels(frames.bench(record(example_results.bench())))) == [
        "method | compress, 1,024 | decompress, 1,024 | NMSE, 1,024", f"top_k | 2.50{TIMES} | 2.50{TIMES} | 0.500"]


def test_evaluations():
    rows = example_results.evaluate()["benchmarks"] + example_results.evaluate("s", "closed")["benchmarks"]
    assert shown(tables.evaluations(rows)) == [line.replace("~", DASH) for line in (
        "method | gradient | steps | target density | achieved / target | std | rms of - 1 | payload per step | bits per entry | "
        "index entropy | relative error | compress / read",
        f"fp32 | laplace | 2 | ~ | ~ | ~ | ~ | 80 B | ~ | ~ | 0.900 | 5.00{TIMES}",
        f"top_k:ratio=0.01 | laplace | 2 | 0.0100 | 1.02 | 0.100 | 0.110 | 80 B | 64.0 | 8.10 | 0.900 | 5.00{TIMES}",
        f"fp32 | s, with feedback | 2 | ~ | ~ | ~ | ~ | 80 B | ~ | ~ | 0.900 | 5.00{TIMES}",
        f"top_k:ratio=0.01 | s, with feedback | 2 | 0.0100 | 1.02 | 0.100 | 0.110 | 80 B | 64.0 | 8.10 | 0.900 | 5.00{TIMES}")]


def test_replicas_that_differ_are_named():
    document = example_results.train()
    assert not tables.broken(frames.training(record(document)))
    for number in (1, 3):
        document["benchmarks"][number]["replica_hash_equal"] = False
    assert tables.broken(frames.training(record(document))) == [
        "WARNING: replicas differ between ranks: fp16, top_k:ratio=0.01."]


def test_seeds_are_told_apart_and_controls_come_first():
    document = example_results.train()
    rows = document["benchmarks"]
    document["benchmarks"] = [rows[3], rows[0], rows[0] | {"seed": 2}]
    frame = frames.training(record(document))
    assert list(frame["label"]) == ["fp32 (seed 1)", "fp32 (seed 2)", "top_k:ratio=0.01"]
    assert list(frame["registry"]) == ["fp32", "fp32", "top_k"]
    assert frames.registry_name("top_k+qsgd:bits=4") == "top_k"


def test_a_crossover_needs_a_size_at_which_the_method_loses():
    sizes = np.log([1.0, 10.0, 100.0])
    assert frames._last_crossing(sizes, np.array([-1.0, 0.0, -1.0])) == pytest.approx(10), "equal times are no gain"
    assert frames._last_crossing(sizes, np.array([1.0, 1.0, 0.0])) is None
    assert frames._last_crossing(sizes, np.array([1.0, 3.0, -1.0])) == pytest.approx(10**1.75)


def drawn(axis):
    """{label: (x, y)} of the lines."""
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axis.lines}


def axis_words(axis):
    return axis.get_xlabel(), axis.get_ylabel(), axis.get_xscale(), axis.get_yscale()


def styles():
    return plots.styles([(label, label.split(":")[0]) for label in LABELS])


def test_controls_are_grey_and_methods_keep_a_colour():
    found = styles()
    assert found["fp32"] == {"color": "#000000", "linestyle": "-", "marker": "."}
    assert found["no_exchange"]["linestyle"] == ":"
    assert found["top_k:ratio=0.01"] == {"color": plots.COLOURS[0], "linestyle": "-", "marker": "o"}
    assert found["powersgd:rank=2"] == {"color": plots.COLOURS[1], "linestyle": "-", "marker": "s"}
    many = plots.styles([(f"m{number}", "m") for number in range(9)] + [("m0", "m")])
    assert many["m8"] == {"color": plots.COLOURS[0], "linestyle": "--", "marker": "o"} and len(many) == 9
    assert plots.styles([("fp32:lr=1", "fp32")])["fp32:lr=1"]["color"] == plots.COLOURS[0], "with an option it is a method"


def test_curves_have_loss_and_quality_over_time_and_bytes():
    figure, words = plots.curves(training(), styles(), "T")
    assert words == "T: training loss and test accuracy of each method, against time and against bytes sent"
    (over_time, over_bytes), (quality_time, quality_bytes) = figure.axes[:2], figure.axes[2:]
    assert axis_words(over_time) == ("", "training loss", "linear", "linear")
    assert axis_words(quality_time) == ("training time (s)", "test accuracy (%)", "linear", "linear")
    assert axis_words(over_bytes) == ("", "", "log", "linear")
    assert axis_words(quality_bytes) == ("sent by one rank (MB)", "", "log", "linear")
    x, y = drawn(over_time)["top_k:ratio=0.01"]
    assert x == pytest.approx([0.067 * step for step in range(0, 31, 5)]) and y[:2] == pytest.approx([2.3, 2.3 * np.exp(-5 / 12)])
    x, y = drawn(quality_bytes)["fp16"]  # points without a quality, and that without bytes, are not drawn
    assert x == pytest.approx([0.539444 * step for step in (10, 20, 30)])
    assert y == pytest.approx([95.1 * (1 - np.exp(-step / 8)) for step in (10, 20, 30)])
    assert list(drawn(over_time)) == LABELS and "no_exchange" not in drawn(over_bytes)
    alone = training().iloc[:1]
    assert list(drawn(plots.curves(alone, styles(), "T")[0].axes[0])) == ["fp32"]


def test_perplexity_is_drawn_on_a_logarithmic_axis():
    frame = training().assign(metric="perplexity", test_quality=50.0)
    figure, _ = plots.curves(frame, styles(), "T")
    assert axis_words(figure.axes[2]) == ("training time (s)", "test perplexity", "linear", "log")
    figure, _ = plots.quality(frame, styles(), "T")
    assert drawn(figure.axes[0])["fp16"] == ([539444], [50])


def test_stages_are_stacked():
    frame = training()
    figure, words = plots.stages(frame, "S")
    axis = figure.axes[0]
    assert words == "S: time of each stage of a step, stacked, per method"
    assert axis.get_xlabel() == "time per step (ms), median of each stage" and axis.get_title() == "S"
    assert [tick.get_text() for tick in axis.get_yticklabels()] == LABELS
    assert drawn(axis)["median step"] == ([92, 78.5, 62, 67, 71], [4, 3, 2, 1, 0])
    bars = {bar.get_label(): bar for bar in axis.containers}
    assert list(bars) == ["data", "forward", "backward", "compress", "exposed exchange", "decompress", "update"]
    assert [bar.get_x() for bar in bars["exposed exchange"]] == pytest.approx([59, 59.5, 59, 62, 65])
    assert [bar.get_width() for bar in bars["exposed exchange"]] == pytest.approx([30, 16, 0, 2, 3])


def test_reductions_are_drawn_over_sizes_with_a_ring_at_the_crossover():
    frame = frames.allreduce(record(example_results.allreduce()))
    figure, words = plots.allreduce([("here", frame), ("there", frame)], styles())
    assert words == "Time of one reduction against gradient size, per method, on: here and there"
    axis, other = figure.axes
    assert axis_words(axis) == ("dense gradient (float32)", "compress + exchange + decompress (ms)", "log", "log")
    assert (axis.get_title(), other.get_title(), other.get_ylabel()) == ("here", "there", "")
    assert drawn(axis)["fp32"][0] == [4096, 65536, 1048576, 16777216]
    [x], [y] = drawn(axis)["crossover with the best dense"]
    assert x == pytest.approx(frames.crossovers(frame)["top_k:ratio=0.01"]) and 0.109 < y < 0.846
    assert "crossover with the best dense" not in drawn(other), "one entry in the legend is enough"


def test_quality_is_drawn_over_payloads_and_hollow_where_it_was_missed():
    figure, words = plots.quality(training(), styles(), "Q")
    [axis] = figure.axes
    assert words == "Q: test accuracy against payload bytes per step, a point per method"
    assert axis_words(axis) == ("payload per step and rank", "test accuracy (%)", "log", "linear") and axis.get_title() == "Q"
    assert {label: (x, y) for label, ([x], [y]) in drawn(axis).items()} == {
        "fp32": (1078888, 95), "fp16": (539444, pytest.approx(95.1)), "top_k:ratio=0.01": (21576, pytest.approx(94.9)),
        "powersgd:rank=2": (56784, 70)}, "no_exchange has no payload"
    assert [line.get_markerfacecolor() == "white" for line in axis.lines] == [False, False, False, True]
