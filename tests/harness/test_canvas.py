"""Every figure of the package, drawn: all labels and legends are inside the canvas, nothing covers the axes, and every method is drawn
or named as left out."""
import ast
import functools
import json
import pathlib
import warnings

import numpy as np
import pytest

import example_results

pytest.importorskip("matplotlib")
from matplotlib.text import Text

from example_records import methods, over_seeds, record
from gradcomp.gate.decide import OK, REGRESSION
from gradcomp.history import drawing, series
from gradcomp.output import text
from gradcomp.pages import training_links, training_sections
from gradcomp.report import canvas, curves, frames, gradients, plots
from gradcomp.results import records

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = "fp32:strategy=local:strategy.period=128:strategy.outer_rate=0.7:strategy.outer_momentum=0.9:strategy.outer_nesterov=on"
LINK = "emulated link, " + ",".join(f"{rate}Mbit/s" for rate in range(100, 2100, 100)) + " (8 ranks), slowed by a tracer"


def many(document):
    """The training with 40 methods, most of them with long names."""
    rows = document["benchmarks"]
    return document | {"benchmarks": rows + [
        json.loads(json.dumps(rows[4])) | {"label": label, "method": label}
        for label in (f"{LONG}:strategy.inner={number}" if number > 12 else "x" * 8 * number for number in range(1, 35))]}


def bad(document):
    """The training of a text in which one method explodes, and two diverge, one of them before anything was measured."""
    for row in document["benchmarks"]:
        row |= {"metric": "perplexity", "test_quality": 1e7 if row["label"] == "fp16" else 30.0}
        row["curve"]["quality"] = [None if value is None else 1.5e6 if row["label"] == "fp16" else 100 - value
                                   for value in row["curve"]["quality"]]
    example_results.diverge(document["benchmarks"][-1], 12)
    example_results.diverge(document["benchmarks"][2], 0)
    return document


def failed(document):
    """The training in which fp32 learned nothing."""
    for row in document["benchmarks"]:
        row["quality_matched"] = False
    return document


TRAININGS = {
    "one seed": example_results.train, "seeds": lambda: over_seeds(example_results.train()),
    "many": lambda: many(example_results.train()), "bad": lambda: bad(example_results.train()),
    "many bad seeds": lambda: over_seeds(many(bad(example_results.train()))),
    "failed": lambda: failed(example_results.train()),
    "one method": lambda: example_results.train() | {"benchmarks": example_results.train()["benchmarks"][3:4]}}


def check(figure, labels=()):
    """Asserts what the head of this file says."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # such as axes that collapse because there is no room for them
            figure.canvas.draw()
        renderer = figure.canvas.get_renderer()
        box, (width, height) = figure.get_tightbbox(renderer), figure.get_size_inches()
        assert (np.array([box.x0, box.y0, width - box.x1, height - box.y1]) > -0.02).all(), f"{box.extents} is not in {width} x {height}"
        for axis in figure.axes:
            inches = axis.get_window_extent(renderer).size / figure.dpi
            assert min(inches) > 0.5, f"axes of {inches} inches"
            for other in (*figure.legends, *(figure.axes[:figure.axes.index(axis)])):
                assert not axis.get_window_extent(renderer).overlaps(other.get_tightbbox(renderer))
        shown = "".join(found.get_text() for found in figure.findobj(Text)).replace("\n", "")
        for label in labels:
            assert label in shown, f"{label} is neither drawn nor named"
    finally:
        canvas.plt.close(figure)


def draw_trainings():
    for name, made in TRAININGS.items():
        found = methods(made())
        labels = [one.label for one in found]
        for function in (curves.curves, plots.quality):
            yield function.__name__, name, function(found, canvas.styles(labels), LINK)[0], labels
        yield "curves", f"{name}, a page", curves.curves(found, canvas.styles(labels), LINK, ["quality"], list(curves.ACROSS))[0], labels
        yield "stages", name, plots.stages(found, LINK)[0], labels


def draw_kept():
    for path in sorted(records.ALL.glob("*/*.json")):
        if path.parent.name in ("training", "local-steps") and (ROOT / f"docs/images/training_{path.stem}.svg").exists():
            kept = records.read_kept(path)
            yield "curves", path.stem, training_sections.curves_of(kept)[0], training_links.trained(kept)


def draw_links():
    kept = [records.read_kept(records.ALL / "scale" / f"scale_{ranks}.json") for ranks in (2, 4, 8)]
    for name, some in (("scale", kept), ("one panel", kept[:1]), ("no links", [record(failed(many(example_results.train())))])):
        yield "links", name, training_links.figure(some)[0], training_links.trained(some[0])


def draw_reductions():
    frame = frames.allreduce(record(example_results.allreduce()))
    longer = frame.assign(label=[f"{LONG}:{label}" if label.startswith("top") else label for label in frame["label"]])
    for count in (1, 2, 5):
        panels = [(LINK, longer if number % 2 else frame) for number in range(count)]
        labels = list(dict.fromkeys(label for _, some in panels for label in some["label"]))
        yield "allreduce", count, plots.allreduce(panels, canvas.styles(labels))[0], labels


def draw_gradients():
    kept = gradients.of_rows(records.read_kept(records.ALL / "sparsifiers" / "distributions.json").rows)
    constant = {"a name of a file " * 20: [gradients.summary("gradient", 7, np.full(5, 2.0))]}
    for title, members in (kept | constant).items():
        yield "distributions", title, plots.distributions(title, members, gradients.KINDS)[0], [fit.name for fit in members[0].fits]


def draw_nights():
    class Night:
        date, commit = "2025-01-05", "0123456789ab"

    class Open:
        first, suspects = None, "commit 0123456789ab: change"
    states = list(drawing.STYLES)
    for nights in (1, 9, 60):
        points = [series.Point(number, 1.0, 0.9, 1.1, states[number % len(states)]) for number in range(nights)]
        known = [Night() for _ in range(nights)]
        one = Open()
        one.first = known[-1]
        panels = {("throughput", series.SHARE): points, (series.INSTRUCTIONS, series.INSTRUCTIONS): points}
        yield "draw", nights, drawing.draw(f"compress/{LONG}/16384", panels, known, [one])[0], {
            drawing.NAMES.get(point.state, point.state) for point in points} | {OK if nights > 1 else "ok"} - {REGRESSION}


DRAWERS = (draw_trainings, draw_kept, draw_links, draw_reductions, draw_gradients, draw_nights)


@functools.cache
def drawn_by():
    """Functions of the package that make a figure."""
    found = set()
    for path in (ROOT / "python/gradcomp").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(name in ast.unparse(node) for name in (".subplots(", "plt.figure(", "Figure(")):
                found.add(node.name)
    return found


@pytest.mark.parametrize("drawer", DRAWERS, ids=lambda drawer: drawer.__name__)
def test_all_is_inside_the_canvas_and_every_method_is_named(drawer):
    wrong = []
    for function, name, figure, labels in drawer():
        assert function in drawn_by()
        try:
            check(figure, labels)
        except (AssertionError, UserWarning) as error:
            wrong.append(f"{function} of {name}: {text.listed(str(error).splitlines()[:1])}")
    assert not wrong, "\n".join(wrong)


def test_every_function_that_draws_is_in_these_tests():
    assert drawn_by() == {"curves", "stages", "quality", "allreduce", "links", "distributions", "draw"}


def test_the_check_itself_sees_what_is_outside():
    figure, axis = canvas.plt.subplots()
    axis.plot([1, 2], label="x" * 300)
    figure.legend(loc="lower center")
    with pytest.raises(AssertionError):
        check(figure)
    figure, axis = canvas.plt.subplots()
    with pytest.raises(AssertionError, match="neither drawn nor named"):
        check(figure, ["fp32"])
