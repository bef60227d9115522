"""The plots of a report, line by line, from the figures of example_results.py."""
import numpy as np
import pytest

import example_results

pytest.importorskip("matplotlib")
from example_records import record, training
from gradcomp.report import frames, plots

LABELS = list(example_results.METHODS)


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
    assert list(drawn(over_time)) == LABELS
    assert list(drawn(over_bytes)) == [label for label in LABELS if label != "no_exchange"], "which sends nothing"
    assert len(drawn(over_bytes)["top_k:ratio=0.01"][0]) == 6, "megabytes below 1 are drawn too"
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
    assert drawn(axis)["median step"] == ([92, 78.5, 78.75, 62, 67, 71], [5, 4, 3, 2, 1, 0])
    bars = {bar.get_label(): bar for bar in axis.containers}
    assert list(bars) == ["data", "forward", "backward", "compress", "exposed exchange", "decompress", "update"]
    assert [bar.get_x() for bar in bars["exposed exchange"]] == pytest.approx([59, 59.5, 59.75, 59, 62, 65])
    assert [bar.get_width() for bar in bars["exposed exchange"]] == pytest.approx([30, 16, 16, 0, 2, 3])


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
        "fp32": (1078888, 95), "fp16": (539444, pytest.approx(95.1)), "bf16": (539444, pytest.approx(94.8)),
        "top_k:ratio=0.01": (21576, pytest.approx(94.9)), "powersgd:rank=2": (56784, 70)}, "no_exchange has no payload"
    assert [line.get_markerfacecolor() == "white" for line in axis.lines] == [False, False, False, False, True]
