"""The plots of a report, line by line, from the figures of example_results.py. test_canvas.py looks at what all figures have in
common."""
import numpy as np
import pytest

import example_results

pytest.importorskip("matplotlib")
from example_records import methods, over_seeds, record
from gradcomp.report import canvas, curves, frames, plots

LABELS = list(example_results.METHODS)


def drawn(axis):
    """{label: (x, y)} of the lines that a legend names."""
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axis.lines
            if not line.get_label().startswith("_")}


def axis_words(axis):
    return axis.get_xlabel(), axis.get_ylabel(), axis.get_xscale(), axis.get_yscale()


def styles():
    return canvas.styles(LABELS)


def notes(figure):
    """What a figure says that it does not draw."""
    return figure.legends[0].get_title().get_text().replace("\n", " ")


def texts(change=lambda row: None):
    """The example as a training of a text, whose perplexities begin at 100 and end at 30."""
    document = example_results.train()
    for row in document["benchmarks"]:
        row |= {"metric": "perplexity", "test_quality": 30.0}
        row["curve"]["quality"] = [None if step % 10 else float(100 - 70 * step / 30) for step in row["curve"]["step"]]
        change(row)
    return document


def test_controls_are_grey_and_methods_keep_a_colour():
    found = styles()
    assert found["fp32"] == {"color": "#000000", "linestyle": "-", "marker": "."}
    assert found["no_exchange"]["linestyle"] == ":"
    assert found["top_k:ratio=0.01"] == {"color": canvas.COLOURS[0], "linestyle": "-", "marker": "o"}
    assert found["powersgd:rank=2"] == {"color": canvas.COLOURS[1], "linestyle": "-", "marker": "s"}
    many = canvas.styles([*(f"m{number}" for number in range(32)), "m0"])
    assert many["m8"] == {"color": canvas.COLOURS[0], "linestyle": "--", "marker": "o"}
    assert len({tuple(look.values()) for look in many.values()}) == 32, "as many can be told apart"
    assert canvas.styles(["fp32:lr=1"])["fp32:lr=1"]["color"] == canvas.COLOURS[0], "with an option it is a method"


def test_curves_have_loss_and_quality_over_time_and_bytes():
    figure, words = curves.curves(methods(), styles(), "T")
    assert words == "T: training loss and validation accuracy of each method against time and bytes, seed 1"
    (over_time, over_bytes), (quality_time, quality_bytes) = figure.axes[:2], figure.axes[2:]
    assert axis_words(over_time) == ("", "training loss", "linear", "linear")
    assert axis_words(quality_time) == ("training time (s)", "validation accuracy (%)", "linear", "linear")
    assert axis_words(over_bytes) == ("", "", "log", "linear")
    assert axis_words(quality_bytes) == ("sent by one rank (MB)", "", "log", "linear")
    x, y = drawn(over_time)["top_k:ratio=0.01"]
    assert x == pytest.approx([0.067 * step for step in range(0, 31, 5)]) and y[:2] == pytest.approx([2.3, 2.3 * np.exp(-5 / 12)])
    x, y = drawn(quality_bytes)["fp16"]  # points without a quality, and that without bytes, are not drawn
    assert x == pytest.approx([0.539444 * step for step in (10, 20, 30)])
    assert y == pytest.approx([95.1 * (1 - np.exp(-step / 8)) for step in (10, 20, 30)])
    assert list(drawn(over_time)) == LABELS
    assert list(drawn(over_bytes)) == [label for label in LABELS if label != "no_exchange"], "which sends nothing"
    assert notes(figure) == "Not drawn against bytes, because nothing was sent: no_exchange."
    assert len(drawn(over_bytes)["top_k:ratio=0.01"][0]) == 6, "megabytes below 1 are drawn too"
    figure, _ = curves.curves(methods()[:1], styles(), "T", ["quality"], ["step"])
    assert [axis_words(axis) for axis in figure.axes] == [("steps", "validation accuracy (%)", "linear", "linear")]
    assert list(drawn(figure.axes[0])) == ["fp32"] and not notes(figure)


def test_bands_show_the_other_seeds():
    figure, words = curves.curves(methods(over_seeds(example_results.train())), styles(), "T", ["quality"], ["step"])
    [axis] = figure.axes
    assert words.endswith("against steps, lines: seed 1; bands: all 3 seeds")
    assert figure.get_suptitle() == "T; lines: seed 1; bands: all 3 seeds"
    assert list(drawn(axis)) == LABELS, "a line per method"
    x, y = drawn(axis)["fp32"]
    [corners] = [path.vertices for path in axis.collections[0].get_paths()]
    assert max(corners[:, 1]) == pytest.approx(max(y) * 1.03 / 1.01) and min(corners[:, 0]) == min(x)
    assert len(axis.collections) == len(LABELS)


def test_a_curve_that_leaves_the_axes_has_a_mark_and_squashes_no_other():
    def explode(row):
        if row["label"] == "powersgd:rank=2":
            row |= {"quality_matched": False}
            row["curve"]["quality"] = [None if value is None else {10: 1.5e6}.get(step, value)
                                       for step, value in zip(row["curve"]["step"], row["curve"]["quality"], strict=True)]
    figure, _ = curves.curves(methods(texts(explode)), styles(), "T", ["quality"], ["step"])
    [axis] = figure.axes
    low, high = axis.get_ylim()
    assert axis.get_yscale() == "log" and 25 < low < 30 and 100 < high < 200
    assert list(drawn(axis)) == [*LABELS[:-1], "powersgd:rank=2, \u25b2\xa0perplexity\xa0to\xa01,500,000"]
    [mark] = [line for line in axis.lines if line.get_label().startswith("_")]
    assert list(mark.get_xdata()) == [10] and list(mark.get_ydata()) == [high] and mark.get_marker() == "^" and not mark.get_clip_on()


def test_an_axis_follows_the_methods_that_learn():
    good, bad = [np.array([100.0, 30.0])] * 3, np.array([1e9, 30.0])
    assert canvas.view([*good, bad], good, logarithmic=True)[1] < 200
    assert canvas.view([*good, bad], [*good, bad], logarithmic=True)[1] < 200, "also if it is one of them"
    assert canvas.view(good, good) == pytest.approx((27.2, 102.8))
    assert canvas.view([*good, np.array([500.0, 300.0])], good) == pytest.approx((30 - 0.04 * 270, 300 + 0.04 * 270)), "its end is seen"
    assert canvas.view([*good, np.array([500.0, 450.0])], good)[1] == pytest.approx(310 + 0.04 * 280), "too far away"
    assert canvas.view([np.array([60.0]), np.array([31.0]), np.array([32.0])], [np.array([31.0])], logarithmic=True)[1] > 60
    assert canvas.view([np.array([3.0])], [np.array([3.0])]) is None


@pytest.mark.parametrize("kept, note, label", [
    (0, "Not drawn, because no training loss was measured with seed 1: fp16 diverged at step 12. Not drawn, because no validation "
     "accuracy was measured with seed 1: fp16 diverged at step 12.", None),
    (12, "", "fp16, diverged at step 12")])
def test_a_method_that_diverged_is_named(kept, note, label):
    document = example_results.train()
    document["benchmarks"].pop(3)  # no_exchange
    row = example_results.diverge(document["benchmarks"][1], kept)
    row["diverged_at_step"] = 12
    figure, _ = curves.curves(methods(document), styles(), "T")
    assert notes(figure) == note
    assert (label in drawn(figure.axes[0])) == (label is not None)
    figure, _ = plots.quality(methods(document), styles(), "T")
    assert notes(figure) == "Not drawn, because there is no test quality: fp16 diverged at step 12."


def test_perplexity_is_drawn_on_a_logarithmic_axis():
    def explode(row):
        row["test_quality"] = {"powersgd:rank=2": 1e6, "fp16": 60.0}.get(row["label"], 30.0)
    figure, _ = curves.curves(methods(texts()), styles(), "T")
    assert axis_words(figure.axes[2]) == ("training time (s)", "validation perplexity", "linear", "log")
    figure, _ = plots.quality(methods(texts(explode)), styles(), "T")
    [axis] = figure.axes
    assert drawn(axis)["fp32"] == ([1078888], [30]) and axis.get_yscale() == "log"
    assert drawn(axis)["powersgd:rank=2, \u25b2 1,000,000"][1] == [axis.get_ylim()[1]] and axis.get_ylim()[1] < 1000


def test_stages_are_stacked_and_end_at_the_step():
    document = example_results.train()
    document["benchmarks"][4]["stages_ms"] |= {"transfer": 1.5, "waiting": 0.25, "importance": 1.0, "forward": 30.0}
    figure, words = plots.stages(methods(document), "S")
    axis = figure.axes[0]
    assert words == "S: time of each stage of a step, stacked, per method, seed 1"
    assert axis.get_xlabel() == "time per step (ms), median of each stage" and figure.get_suptitle() == "S, seed 1"
    assert [tick.get_text() for tick in axis.get_yticklabels()] == LABELS
    assert drawn(axis)["median step"] == ([92, 78.5, 78.75, 62, 67, 71], [5, 4, 3, 2, 1, 0])
    bars = {bar.get_label(): bar for bar in axis.containers}
    assert list(bars) == ["data", "importance", "forward", "backward", "compress", "exchange: transfer",
                          "exchange: waiting for other ranks", "exchange: exposed", "decompress", "update", "rest",
                          "counted twice (negative rest)"]
    ends = [max(bar.get_x() + bar.get_width() for bar in some) for some in zip(*(bars[name] for name in list(bars)[:-1]), strict=True)]
    assert ends == pytest.approx([92, 78.5, 78.75, 62, 75.75, 71]), "the step, unless stages are counted twice"
    assert [bar.get_x() for bar in bars["counted twice (negative rest)"]][4] == pytest.approx(67)


def test_reductions_are_drawn_over_sizes_with_a_ring_at_the_crossover():
    frame = frames.allreduce(record(example_results.allreduce()))
    figure, words = plots.allreduce([("here", frame), ("there", frame), ("elsewhere", frame)], styles())
    assert words == "Time of one reduction against gradient size, per method, on: here, there and elsewhere"
    axis, other, _ = figure.axes
    assert axis_words(axis) == ("dense gradient (float32)", "compress + exchange + decompress (ms)", "log", "log")
    assert (axis.get_title(), other.get_title(), other.get_ylabel()) == ("here", "there", "")
    assert drawn(axis)["fp32"][0] == [4096, 65536, 1048576, 16777216]
    [x], [y] = drawn(axis)["crossover with the best dense"]
    assert x == pytest.approx(frames.crossovers(frame)["top_k:ratio=0.01"]) and 0.109 < y < 0.846
    assert "crossover with the best dense" not in drawn(other), "one entry in the legend is enough"


def test_quality_is_drawn_over_payloads_and_hollow_where_it_was_missed():
    figure, words = plots.quality(methods(), styles(), "Q")
    [axis] = figure.axes
    assert words == "Q: test accuracy against payload bytes per step, a point per method and seed"
    assert axis_words(axis) == ("payload per step and rank", "test accuracy (%)", "log", "linear") and figure.get_suptitle() == "Q"
    assert {label: (x, y) for label, ([x], [y]) in drawn(axis).items()} == {
        "fp32": (1078888, 95), "fp16": (539444, pytest.approx(95.1)), "bf16": (539444, pytest.approx(94.8)),
        "top_k:ratio=0.01": (21576, pytest.approx(94.9)), "powersgd:rank=2": (56784, 70)}, "no_exchange has no payload"
    assert notes(figure) == "Not drawn, because nothing is sent: no_exchange."
    assert [line.get_markerfacecolor() == "white" for line in axis.lines] == [False, False, False, False, True]
