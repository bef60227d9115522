"""The page: open regressions with their commits, the verdict of each night, and a figure for each case."""
import pathlib

from gradcomp.report import build, canvas, render
from gradcomp.report.canvas import plt

from . import check, drawing, regressions, series

TITLE = "Nightly regression"
STATES = {0: "good", 1: "REGRESSION", check.NOT_COMPARABLE: "not comparable", 3: "inconclusive"}


def _figure(name, drawn, caption):
    """The figure as SVG that keeps text as text: a third of the size, and searchable."""
    figure, alternative = drawn
    with plt.rc_context({"svg.fonttype": "none"}):
        return build.Plot(f"{name}.svg", canvas.saved(figure, "svg"), alternative, caption)


def sentence(history, one):
    """A regression in words; if the commit is not known yet, with what to do next."""
    words = f"{one.case}: {one.words}; since night {one.first.date}, {one.suspects}."
    if one.drift:
        return words + " No single night was over the gate's limit: many small steps add up."
    if one.commits and len(one.commits) > 1 and not one.bisected:
        words += f" gradcomp-history bisect {history} --case '{one.case}' finds it."
    return words


def _night_row(night):
    verdict = night.verdict
    state = f"accepted: {night.accepted}" if night.accepted else STATES[verdict["status"]]
    baseline = verdict[check.GOOD] or ""
    return [night.name, night.commit + (" with changes" if night.about["dirty"] else ""), state, baseline[-12:],
            "yes" if verdict["in_turn"] else "no", verdict["conclusion"]]


def _cases(judged, found):
    """[Plot] of all cases; those with open regressions come first."""
    drawn, plots = series.collect(judged), []
    slow = {one.case for one in found}
    for place, name in enumerate(sorted(drawn, key=lambda name: (name not in slow, name))):
        mine = [one for one in found if one.case == name and one.first in judged]
        caption = "Dashed: the first night of an open regression." if mine else ""
        plots.append(_figure(f"case{place}", drawing.draw(name, drawn[name], judged, mine), caption))
    return plots


def _newest_context(night):
    arm, counts = night.arm(), night.counts()
    return build.context([arm.processes[0].record]) if arm else [("Context of the newest night", (
        ["", night.name], [[key, str(value)] for key, value in counts["context"]["gradcomp"].items()]))]


def sections(history, judged, found, count):
    """The [Section] list of one history."""
    shown = judged[-count:]
    of_class = judged[-1].about["class"]
    first = build.Section(f"Open regressions: {of_class}")
    first.notes = [sentence(history, one) for one in found] or ["None."]
    if found:
        first.tables = [("What is slower or costs more than in the last good night, and since which commit", (
            ["case", "measure", "what", "first night", "last good commit", "first slow commit"],
            [[one.case, one.measure, one.words, one.first.name, one.good.commit, one.suspects] for one in found]))]
    known = regressions.bisections(pathlib.Path(history))
    first.notes += [f"Bisected by {one['by']}, {len(one['tried'])} commits tried: {one['conclusion']}." for one in known]
    table = build.Section(f"Nights: {of_class}")
    table.notes = [f"Newest night {judged[-1].name}: {judged[-1].verdict['conclusion']}.",
                   *judged[-1].verdict["notes"]]
    table.tables = [("Each night against the last good one before it. In turn: both programs ran in the same night, "
                     "alternating; otherwise times are divided by the time to read the gradient",
                     (["night", "commit", "verdict", "against", "in turn", "in figures"],
                      list(map(_night_row, reversed(shown)))))]
    cases = build.Section(f"Cases: {of_class}")
    cases.notes = ["Throughput: time to read the gradient once over the time of the case; 1 is as fast as reading. Higher is "
                   "better. Bars: 95 % interval of the median over processes. Instructions: one thread, counted by callgrind; "
                   "lower is better."]
    cases.plots = _cases(shown, found)
    return [first, table, cases]


def page(histories, source, count):
    """The page as text. Judges every night that has no verdict yet."""
    parts, total = [], 0
    for history in histories:
        judged = check.judged(history)
        found = regressions.named(history, judged, source)
        parts += sections(history, judged, found, count)
        total += len(found)
    lead = f"{total} open regression{'' if total == 1 else 's'}."
    return render.as_html(TITLE, lead, parts, _newest_context(judged[-1]))
